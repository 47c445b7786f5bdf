#include "report/sheet.h"

#include <algorithm>
#include <cmath>

#include "report/html_parts.h"

namespace lano {

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

std::vector<Image> draw_sample(const SetDescription& set, std::span<const float> coordinates,
                               std::span<const float> input, std::span<const float> output, std::span<const float> kept,
                               std::int64_t pixels) {
  std::vector<Image> row;
  const auto add = [&](std::span<const float> values, std::int64_t channels) {
    for (std::int64_t c = 0; c < channels && !values.empty(); ++c) {
      const std::vector<float> field = channel(values, channels, c);
      const auto [low, high] = std::minmax_element(field.begin(), field.end());
      row.push_back(
          draw_field(set.geometry, set.shape, coordinates, set.dims(), field, *low, *high, ColourMap::field, pixels));
    }
  };
  const std::size_t frame = set.time.empty() ? output.size() : output.size() / set.time.size();
  add(input, set.input_channels());
  add(output.empty() ? output : output.last(frame), set.output_channels());
  add(kept, set.kept_channels());
  return row;
}

std::vector<std::vector<Image>> draw_judged(const SetDescription& set, const std::vector<ShownSample>& samples,
                                            std::int64_t pixels) {
  std::vector<std::vector<Image>> rows;
  for (const ShownSample& sample : samples) {
    const auto draw = [&](const std::vector<float>& field, std::pair<double, double> range, ColourMap map) {
      return draw_field(set.geometry, set.shape, sample.coordinates, set.dims(), field, range.first, range.second, map,
                        pixels);
    };
    for (std::int64_t c = 0; c < set.output_channels(); ++c) {
      std::vector<Image> row;
      for (std::int64_t a = 0; a < set.input_channels(); ++a) {
        const auto input = channel(sample.input, set.input_channels(), a);
        Image image = draw(input, value_range(input), ColourMap::field);
        if (c > 0) std::fill(image.rgb.begin(), image.rgb.end(), std::uint8_t{255});
        row.push_back(std::move(image));
      }
      const auto truth = channel(sample.truth, set.output_channels(), c),
                 prediction = channel(sample.prediction, set.output_channels(), c);
      std::vector<float> error(truth.size());
      for (std::size_t i = 0; i < truth.size(); ++i) error[i] = std::abs(prediction[i] - truth[i]);
      const auto shared = value_range(truth, prediction);
      row.push_back(draw(truth, shared, ColourMap::field));
      row.push_back(draw(prediction, shared, ColourMap::field));
      row.push_back(draw(error, {0.0, value_range(error).second}, ColourMap::error));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace lano
