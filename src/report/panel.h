// One picture of a field with its labels and its colour bar, and a whole sample as rows of them: what `--picture`, the
// HTML report and `lano info --plot` show is made here once. How a field is drawn follows from the shape of the
// dataset: lines in one dimension, three slices of a volume, points of space seen along each axis.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/set_description.h"
#include "evaluate/shown_samples.h"
#include "report/picture.h"

namespace lano {

struct Panel {
  std::string title;  // "Truth", "Prediction, t = 0.5"
  std::string field;  // "pressure [Pa]", and which part of it
  Image image;
  bool plot = false;  // has its own axes and no colour bar
  bool bar = true;
  double low = 0, high = 1;
  ColourMap map = ColourMap::field;
  std::int64_t bar_top = 0, bar_height = 0;  // position of the bar next to an image with axes; 0: next to all of it
};
using PanelRows = std::vector<std::vector<Panel>>;

using Bounds = std::pair<double, double>;

std::string field_label(const FieldInfo& field);  // "pressure [Pa]"; the name alone where it has no unit

// The panel with title, field, colour bar and numbers as one picture.
Image draw_panel(const Panel& panel);

// Draws the fields of one sample.
class SamplePainter {
 public:
  // coordinates [N, dx]; cells [cells, corners] where they are known.
  SamplePainter(const SetDescription& set, std::span<const float> coordinates, std::optional<CellKind> kind,
                std::span<const std::int64_t> cells, std::int64_t pixels = 260);

  bool is_line() const { return set_.dims() == 1; }
  std::size_t parts() const { return is_line() ? 1 : parts_.size(); }  // three in space, else one

  // One field, values [N], in part `part`. In one dimension `behind` is drawn faintly under it, with a legend.
  Panel draw(const std::string& title, const FieldInfo& field, std::span<const float> values, Bounds bounds,
             ColourMap map, std::size_t part = 0, std::span<const float> behind = {}) const;
  // One dimension: values [T, N], x across and time down.
  Panel draw_in_time(const std::string& title, const FieldInfo& field, std::span<const float> values, Bounds bounds,
                     ColourMap map) const;

 private:
  struct Part {
    std::string label;                // "x-y at z = 0.5"; may be empty
    std::vector<std::size_t> points;  // of the sample; empty: all
    FieldView view;
  };
  void add_slices(std::span<const float> coordinates);

  SetDescription set_;
  std::int64_t pixels_;
  std::vector<Part> parts_;
  std::vector<double> x_;           // one dimension: of points, rising
  std::vector<std::size_t> order_;  // of the points along x
};

// Relative L2 of the sample at each time, over all channels, as a plot.
Panel error_in_time(const SetDescription& set, const ShownSample& sample, std::int64_t pixels = 260);

// Input, truth, prediction and absolute error of an evaluated sample. Steady datasets: a row per output channel (per
// slice of a volume). Time-dependent ones: x across and time down in one dimension, else rows of five frames.
PanelRows judged_panels(const SetDescription& set, const ShownSample& sample, std::optional<CellKind> kind,
                        std::int64_t pixels = 260);

// Every field of a sample that was not evaluated: input, output, kept. Shapes: coordinates [N, dx], input [N, da],
// output [T, N, du], kept [N, dk].
struct PlainSample {
  std::span<const float> coordinates, input, output, kept;
  std::span<const std::int64_t> cells;
};
PanelRows sample_panels(const SetDescription& set, const PlainSample& sample, std::optional<CellKind> kind,
                        std::int64_t pixels = 260);

// Truth, prediction and absolute error of every frame shown, a row of panels for each; empty where there is one frame.
std::vector<std::vector<Panel>> frame_panels(const SetDescription& set, const ShownSample& sample,
                                             std::optional<CellKind> kind, std::int64_t pixels);

// The least and greatest of both; {1e300, -1e300} of nothing.
Bounds value_range(std::span<const float> a, std::span<const float> b = {});
std::vector<float> absolute_error(std::span<const float> prediction, std::span<const float> truth);

}  // namespace lano
