#include "report/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/canvas.h"
#include "report/png_file.h"

namespace lano {
namespace {

constexpr std::int64_t kGap = 22;

void widen_to_largest(std::vector<Image>& images) {
  std::int64_t width = 0, height = 0;
  for (const Image& image : images) {
    width = std::max(width, image.width);
    height = std::max(height, image.height);
  }
  for (Image& image : images) {
    Canvas canvas(width, height);
    canvas.paste(image, 0, 0);
    image = canvas.take();
  }
}

}  // namespace

Image join_images(const std::vector<std::vector<Image>>& rows, std::int64_t gap) {
  Image sheet;
  for (const auto& row : rows) {
    std::int64_t width = 0, height = 0;
    for (const Image& image : row) {
      width += image.width + (width > 0 ? gap : 0);
      height = std::max(height, image.height);
    }
    sheet.width = std::max(sheet.width, width);
    sheet.height += height + (sheet.height > 0 ? gap : 0);
  }
  sheet.rgb.assign(static_cast<std::size_t>(sheet.width * sheet.height * 3), 255);
  std::int64_t top = 0;
  for (const auto& row : rows) {
    std::int64_t left = 0, height = 0;
    for (const Image& image : row) {
      for (std::int64_t y = 0; y < image.height; ++y) {
        std::copy_n(image.rgb.begin() + static_cast<std::ptrdiff_t>(3 * y * image.width), 3 * image.width,
                    sheet.rgb.begin() + static_cast<std::ptrdiff_t>(3 * ((top + y) * sheet.width + left)));
      }
      left += image.width + gap;
      height = std::max(height, image.height);
    }
    top += height + gap;
  }
  return sheet;
}

Image draw_sheet(const PanelRows& rows) {
  std::vector<std::vector<Image>> images;
  std::map<std::size_t, std::vector<std::int64_t>> widths;  // of the columns, by the number of panels in a row
  for (const auto& row : rows) {
    images.emplace_back();
    for (const Panel& panel : row) images.back().push_back(draw_panel(panel));
    std::vector<std::int64_t>& columns = widths[row.size()];
    columns.resize(row.size(), 0);
    for (std::size_t c = 0; c < row.size(); ++c) columns[c] = std::max(columns[c], images.back()[c].width);
  }
  for (auto& row : images) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      Canvas wide(widths[row.size()][c], row[c].height);
      wide.paste(row[c], 0, 0);
      row[c] = wide.take();
    }
  }
  const Image all = join_images(images, kGap);
  Canvas framed(all.width + kGap, all.height + kGap);
  framed.paste(all, kGap / 2, kGap / 2);
  return framed.take();
}

Image draw_judged(const ShownSamples& shown, std::int64_t pixels) {
  std::vector<std::vector<Image>> parts;
  for (const ShownSample& sample : shown.samples) {
    const Image sheet = draw_sheet(judged_panels(shown.set, sample, shown.cell_kind, pixels));
    const std::string headline =
        fmt::format("{}: sample {}{}, relative L2 {:.3e}", shown.set.name, sample.id,
                    sample.label == "sample" ? "" : fmt::format(" ({})", sample.label), sample.relative_l2);
    const std::int64_t above = kTextHeight + kGap;
    Canvas titled(std::max(sheet.width, text_width(headline) + kGap), above + sheet.height);
    titled.text(kGap / 2, kGap / 2, headline, kInk);
    titled.line(kGap / 2.0, static_cast<double>(above), static_cast<double>(titled.width() - kGap / 2),
                static_cast<double>(above), kQuietInk, 1);
    titled.paste(sheet, 0, above);
    parts.push_back({titled.take()});
  }
  return join_images(parts, kGap);
}

std::string animate(const ShownSamples& shown, std::size_t sample) {
  constexpr std::size_t kMostBytes = 300000;
  std::string bytes;
  for (const std::int64_t pixels : {220, 160, 110, 80}) {
    std::vector<Image> frames;
    for (const auto& row : frame_panels(shown.set, shown.samples.at(sample), shown.cell_kind, pixels))
      frames.push_back(draw_sheet({row}));
    if (frames.empty()) return "";
    widen_to_largest(frames);  // the words of a time may be longer than the picture
    // All of a movement in about four seconds.
    bytes = encode_animation(frames, std::clamp(4.0 / static_cast<double>(frames.size()), 0.05, 0.5));
    if (bytes.size() <= kMostBytes) break;
  }
  return bytes;
}

}  // namespace lano
