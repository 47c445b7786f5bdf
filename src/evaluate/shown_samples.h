// Which samples are shown, and what a picture of one needs: best, median and worst by relative L2, with input, truth
// and prediction. A run keeps those of its test split in evaluation.h5.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/evaluation.h"

namespace lano {

struct ShownSample {
  std::string label{};  // "best", "median", "worst"
  std::int64_t id = 0;
  double relative_l2 = 0;
  std::vector<float> coordinates{};   // [N, dx]
  std::vector<float> input{};         // [N, da]
  std::vector<float> truth{};         // [N, du], or [F, N, du] at the F times of the dataset that are shown
  std::vector<float> prediction{};    // likewise
  std::vector<std::int64_t> cells{};  // [cells, corners] of the kind below; empty if the dataset has none
};

struct ShownSamples {
  SetDescription set{};  // of the fields; its time holds the frames that are shown
  std::vector<ShownSample> samples{};
  std::optional<CellKind> cell_kind{};
  std::vector<double>
      times{};  // all times of the dataset, empty if it has none, or in a file with too many or of an older version
};

// Which of `frames` frames are shown: all if they are few numbers, otherwise some at even distances with first and
// last.
std::vector<std::int64_t> frames_to_show(std::int64_t frames, std::int64_t points);

// With the last frame alone, as for a steady dataset.
ShownSamples at_last_frame(ShownSamples shown);

// The cells of the samples, where the file has any.
void add_cells(ShownSamples& shown, const DatasetReader& reader);

// Best, median and worst, each once: rows of the evaluation, in rising order of error.
std::vector<std::size_t> rows_to_show(const Evaluation& evaluation);

// Those samples of some that were evaluated together.
ShownSamples shown_samples(const SetDescription& set, const Samples& samples, const Judged& judged);

// Those of samples that were evaluated in pieces, with their cells: read and predicted again. `ids` instead of
// rows_to_show's where given.
ShownSamples shown_samples(Predictor& predictor, const DatasetReader& reader, const std::vector<std::int64_t>& ids);
std::vector<std::int64_t> ids_to_show(const Evaluation& evaluation);

// As a dataset whose output holds truth then prediction of each point.
void write_shown(const std::filesystem::path& path, const ShownSamples& shown);
ShownSamples read_shown(const std::filesystem::path& path);

}  // namespace lano
