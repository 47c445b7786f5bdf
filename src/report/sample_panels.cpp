// Which panels a sample has, by the shape of its dataset; each is drawn by report/panel.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/panel.h"

namespace lano {
namespace {

constexpr std::size_t kStrip = 5;         // frames side by side
constexpr std::size_t kMostAcross = 5;    // panels of a row
constexpr std::size_t kBesideInputs = 2;  // more inputs than that are in separate rows

// From the last frame that was given.
std::vector<std::size_t> strip_frames(const SetDescription& set) {
  const std::size_t first = static_cast<std::size_t>(set.given_frames - 1), frames = set.time.size() - first,
                    count = std::min(kStrip, frames);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(first + (count == 1 ? frames - 1 : i * (frames - 1) / (count - 1)));
  return out;
}

std::string time_text(double time) { return fmt::format("t = {:.3g}", time); }

// One field at the frames of a strip; the colour bar, which is of all, comes after the last.
std::vector<Panel> strip(const SamplePainter& painter, const std::string& title, const SetDescription& set,
                         const FieldInfo& field, const std::vector<float>& values, Bounds bounds, ColourMap map) {
  std::vector<Panel> row;
  const std::size_t frames = set.time.size(), size = values.size() / frames;
  for (const std::size_t f : strip_frames(set)) {
    const std::string words = title.empty() ? time_text(set.time[f]) : title + ", " + time_text(set.time[f]);
    row.push_back(painter.draw(words, field, std::span(values).subspan(f * size, size), bounds, map));
    row.back().bar = false;
  }
  row.back().bar = true;
  return row;
}

std::vector<Panel> inputs_of(const SamplePainter& painter, const SetDescription& set, std::span<const float> input,
                             std::size_t part) {
  std::vector<Panel> row;
  for (std::int64_t a = 0; a < set.input_channels() && !input.empty(); ++a) {
    const std::vector<float> values = channel(input, set.input_channels(), a);
    row.push_back(painter.draw("Input", set.input[static_cast<std::size_t>(a)], values, value_range(values),
                               ColourMap::field, part));
  }
  return row;
}

// Many panels as rows, filled evenly.
void add_wrapped(PanelRows& rows, std::vector<Panel> panels, std::size_t most = kMostAcross) {
  const std::size_t lines = (panels.size() + most - 1) / most;
  const std::size_t across = lines == 0 ? 1 : (panels.size() + lines - 1) / lines;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (i % across == 0) rows.emplace_back();
    rows.back().push_back(std::move(panels[i]));
  }
}

// Blank in place of panels that stand in the first row only, so that columns stay columns.
std::vector<Panel> blanks_of(std::vector<Panel> panels) {
  for (Panel& panel : panels) {
    panel.title.clear();
    panel.field.clear();
    panel.bar = false;
    std::fill(panel.image.rgb.begin(), panel.image.rgb.end(), std::uint8_t{255});
  }
  return panels;
}

void add_judged_in_time(PanelRows& rows, const SamplePainter& painter, const SetDescription& set,
                        const ShownSample& sample, std::int64_t pixels) {
  const std::int64_t du = set.output_channels();
  std::vector<Panel> first = inputs_of(painter, set, sample.input, 0);
  first.push_back(error_in_time(set, sample, pixels));
  add_wrapped(rows, std::move(first));
  for (std::int64_t c = 0; c < du; ++c) {
    const auto truth = channel(sample.truth, du, c), prediction = channel(sample.prediction, du, c),
               error = absolute_error(prediction, truth);
    const FieldInfo& field = set.output[static_cast<std::size_t>(c)];
    const Bounds shared = value_range(truth, prediction), off{0.0, value_range(error).second};
    if (painter.is_line()) {
      rows.push_back({painter.draw_in_time("Truth", field, truth, shared, ColourMap::field),
                      painter.draw_in_time("Prediction", field, prediction, shared, ColourMap::field),
                      painter.draw_in_time("Absolute error", field, error, off, ColourMap::error)});
    } else {
      rows.push_back(strip(painter, "Truth", set, field, truth, shared, ColourMap::field));
      rows.push_back(strip(painter, "Prediction", set, field, prediction, shared, ColourMap::field));
      rows.push_back(strip(painter, "Error", set, field, error, off, ColourMap::error));
    }
  }
}

}  // namespace

PanelRows judged_panels(const SetDescription& set, const ShownSample& sample, std::optional<CellKind> kind,
                        std::int64_t pixels) {
  PanelRows rows;
  const bool strips = set.time.size() > 1;
  const SamplePainter painter(set, sample.coordinates, kind, sample.cells,
                              strips && set.dims() > 1 ? pixels * 3 / 4 : pixels);
  const std::int64_t du = set.output_channels();
  if (strips) {
    add_judged_in_time(rows, painter, set, sample, pixels);
    return rows;
  }
  const bool beside = set.input.size() <= kBesideInputs;
  for (std::size_t part = 0; part < painter.parts(); ++part) {
    const std::vector<Panel> inputs = inputs_of(painter, set, sample.input, part);
    if (!beside) add_wrapped(rows, inputs);
    for (std::int64_t c = 0; c < du; ++c) {
      std::vector<Panel> row;
      if (beside) row = c == 0 ? inputs : blanks_of(inputs);
      const auto truth = channel(sample.truth, du, c), prediction = channel(sample.prediction, du, c),
                 error = absolute_error(prediction, truth);
      const FieldInfo& field = set.output[static_cast<std::size_t>(c)];
      const Bounds shared = value_range(truth, prediction);
      row.push_back(painter.draw("Truth", field, truth, shared, ColourMap::field, part));
      row.push_back(painter.draw("Prediction", field, prediction, shared, ColourMap::field, part, truth));
      row.push_back(
          painter.draw("Absolute error", field, error, {0.0, value_range(error).second}, ColourMap::error, part));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

PanelRows sample_panels(const SetDescription& set, const PlainSample& sample, std::optional<CellKind> kind,
                        std::int64_t pixels) {
  PanelRows rows;
  const SamplePainter painter(set, sample.coordinates, kind, sample.cells, pixels);
  const std::int64_t du = set.output_channels();
  const bool in_time = set.time.size() > 1 && !sample.output.empty();
  std::vector<Panel> panels;
  const auto add = [&](const char* title, const std::vector<FieldInfo>& fields, std::span<const float> all) {
    const auto channels = static_cast<std::int64_t>(fields.size());
    for (std::int64_t c = 0; c < channels && !all.empty(); ++c) {
      const std::vector<float> values = channel(all, channels, c);
      const FieldInfo& field = fields[static_cast<std::size_t>(c)];
      for (std::size_t part = 0; part < painter.parts(); ++part)
        panels.push_back(painter.draw(title, field, values, value_range(values), ColourMap::field, part));
    }
  };
  add("Input", set.input, sample.input);
  if (!in_time) add("Output", set.output, sample.output);
  for (std::int64_t c = 0; c < du && in_time && painter.is_line(); ++c) {
    const auto values = channel(sample.output, du, c);
    panels.push_back(painter.draw_in_time("Output", set.output[static_cast<std::size_t>(c)], values,
                                          value_range(values), ColourMap::field));
  }
  add("Kept", set.kept, sample.kept);
  add_wrapped(rows, std::move(panels), painter.parts() > 1 ? painter.parts() : kMostAcross);
  for (std::int64_t c = 0; c < du && in_time && !painter.is_line(); ++c) {
    const auto values = channel(sample.output, du, c);
    rows.push_back(strip(painter, "", set, set.output[static_cast<std::size_t>(c)], values, value_range(values),
                         ColourMap::field));
  }
  return rows;
}

std::vector<std::vector<Panel>> frame_panels(const SetDescription& set, const ShownSample& sample,
                                             std::optional<CellKind> kind, std::int64_t pixels) {
  const std::size_t frames = set.time.size();
  std::vector<std::vector<Panel>> rows;
  if (frames < 2) return rows;
  const SamplePainter painter(set, sample.coordinates, kind, sample.cells, pixels);
  const std::int64_t du = set.output_channels();
  // The first channel: a page of them would be as large as the data.
  const auto truth = channel(sample.truth, du, 0), prediction = channel(sample.prediction, du, 0),
             error = absolute_error(prediction, truth);
  const Bounds shared = value_range(truth, prediction), off{0.0, value_range(error).second};
  for (std::size_t f = 0; f < frames; ++f) {
    const std::string now = ", " + time_text(set.time[f]);
    const auto draw = [&](const std::string& title, const std::vector<float>& values, Bounds bounds, ColourMap map) {
      const std::size_t size = values.size() / frames;
      return painter.draw(title, set.output[0], std::span(values).subspan(f * size, size), bounds, map);
    };
    rows.push_back({draw("Truth" + now, truth, shared, ColourMap::field),
                    draw("Prediction", prediction, shared, ColourMap::field),
                    draw("Absolute error", error, off, ColourMap::error)});
    rows.back()[0].bar = false;  // the one of the prediction is the same
  }
  return rows;
}

}  // namespace lano
