#include "train/split_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "data/sample_feed.h"

namespace lano {

NormaliserFit::NormaliserFit(const SetDescription& d, const Asked& asked)
    : description_(d),
      asked_(asked),
      coordinates_(d.dims()),
      input_(d.input_channels()),
      output_(d.output_channels()),
      change_squares_(static_cast<std::size_t>(asked.increments ? d.output_channels() : 0)) {
  if (asked.displacement) meshes_.emplace(d.shape);
  if (asked.mean_output) outputs_.emplace(d.shape);
}

void NormaliserFit::add(const Samples& samples, bool first_piece) {
  const SetDescription& d = description_;
  for (std::int64_t i = 0; i < samples.count; ++i) {
    if (asked_.coordinates && (!samples.shared_coordinates || (first_piece && i == 0)))
      coordinates_.add(samples.coordinates_of(i, d.dims()));
    if (meshes_) meshes_->add(samples.coordinates_of(i, d.dims()));
    if (asked_.input) input_.add(samples.input_of(i, d.input_channels()));
    const std::span<const float> output = samples.output_of(i, d.output_channels());
    if (asked_.output) output_.add(output);
    if (!change_squares_.empty()) add_changes(output, samples.frames);
    const std::size_t frame = output.size() / static_cast<std::size_t>(samples.frames);
    for (std::size_t at = 0; outputs_ && at < output.size(); at += frame) outputs_->add(output.subspan(at, frame));
  }
}

void NormaliserFit::add_changes(std::span<const float> frames, std::int64_t count) {
  const std::size_t size = frames.size() / static_cast<std::size_t>(count), channels = change_squares_.size();
  for (std::size_t i = size; i < frames.size(); ++i) {
    const double change = static_cast<double>(frames[i]) - static_cast<double>(frames[i - size]);
    change_squares_[i % channels] += change * change;
  }
  changes_ += static_cast<double>(frames.size() - size) / static_cast<double>(channels);
}

Normaliser NormaliserFit::result() const {
  const auto map = [](bool scale, const ChannelStatistics& statistics, std::int64_t channels) {
    return scale ? statistics.map() : ChannelMap::identity(channels);
  };
  Normaliser fitted{map(asked_.coordinates, coordinates_, description_.dims()),
                    map(asked_.input, input_, description_.input_channels()),
                    map(asked_.output, output_, description_.output_channels()),
                    {},
                    {},
                    {}};
  if (meshes_) fitted.mean_mesh = meshes_->result();
  if (outputs_) {
    fitted.mean_output = outputs_->result();
    const std::vector<double>& scale = fitted.mean_output.scale();
    fitted.output = ChannelMap(std::vector<double>(scale.size(), 0.0), scale);
  }
  for (std::size_t c = 0; c < change_squares_.size(); ++c) {
    const double change = std::sqrt(change_squares_[c] / std::max(changes_, 1.0)) / fitted.output.scale()[c];
    fitted.increment.push_back(change > 0 ? change : 1);
  }
  return fitted;
}

std::vector<std::int64_t> training_ids(const DatasetReader& reader, TrainOn train_on) {
  std::vector<std::int64_t> ids = reader.indices(Split::train);
  if (train_on == TrainOn::train) return ids;
  const std::vector<std::int64_t> more = reader.indices(Split::validation);
  ids.insert(ids.end(), more.begin(), more.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::int64_t> validation_ids(const DatasetReader& reader, TrainOn train_on) {
  return train_on == TrainOn::train ? reader.indices(Split::validation) : std::vector<std::int64_t>{};
}

TrainOn trained_on(const nlohmann::json& provenance) {
  const auto said = provenance.is_object() ? provenance.find("train_on") : provenance.end();
  return said != provenance.end() && *said == kTrainAndValidation ? TrainOn::train_and_validation : TrainOn::train;
}

SplitSurvey survey_split(const DatasetReader& reader, const TrainConfig& config) {
  const SetDescription& set = reader.description();
  SplitSurvey survey;
  if (!reader.has_output()) fail_plainly("training", "the dataset has no output");
  survey.ids = training_ids(reader, config.train_on);
  if (survey.ids.empty()) fail_plainly("training", "the train split has no samples", "import with --train");
  survey.in_memory = static_cast<double>(sample_bytes(reader, survey.ids)) <= config.memory_gb * 1e9;
  NormaliserFit fit(set, {.coordinates = config.coordinates == Scaling::channel,
                          .input = config.input == Scaling::channel,
                          .output = config.output == Scaling::channel,
                          .increments = config.increments,
                          .displacement = config.displacement,
                          .mean_output = config.output == Scaling::field});
  if (config.output == Scaling::field && set.geometry != Geometry::mesh) {
    fail_usage("training", "a mesh for normalise.output = \"field\"", fmt::format("a {}", geometry_name(set.geometry)),
               "set normalise.output = \"channel\"");
  }
  if (config.displacement && (set.geometry == Geometry::points || reader.shared_coordinates())) {
    fail_usage("training", "a mesh with coordinates of each sample for normalise.displacement",
               set.geometry == Geometry::points ? "a point cloud" : "one mesh for all samples",
               "set normalise.displacement = false");
  }
  bool first = true;
  float largest = 0;  // of the output
  const auto see = [&](const Samples& piece) {
    fit.add(piece, first);
    for (const float value : piece.output) largest = std::max(largest, std::abs(value));
    const std::vector<double> box = bounds(piece.coordinates, set.dims());
    if (first) {
      survey.box = box;
      survey.origin.assign(piece.coordinates.begin(), piece.coordinates.begin() + set.dims());
      if (set.geometry == Geometry::grid && piece.on_one_mesh())
        uniform_grid_spacing(set.shape, piece.coordinates, &survey.spacing);
      if (piece.shared_coordinates) survey.shared_coordinates = piece.coordinates;
    }
    for (std::size_t i = 0; i < box.size(); i += 2) {
      survey.box[i] = std::min(survey.box[i], box[i]);
      survey.box[i + 1] = std::max(survey.box[i + 1], box[i + 1]);
    }
    first = false;
  };
  if (survey.in_memory) {
    survey.samples = reader.read(survey.ids);
    see(survey.samples);
  } else {
    read_in_pieces(reader, survey.ids, kPieceBytes, see);
  }
  // Below, float32 has fewer digits the smaller a number is, and none of what is learned would be true.
  if (largest > 0 && largest < std::numeric_limits<float>::min())
    fail("training", "output values that float32 holds with all digits (above 1.2e-38)",
         fmt::format("{} at most", largest), "give them in another unit");
  survey.normaliser = fit.result();
  // Scales are above zero, so the ends stay the ends.
  std::vector<float> ends;
  for (const std::size_t side : {0u, 1u}) {
    for (std::size_t a = 0; a < survey.box.size() / 2; ++a)
      ends.push_back(static_cast<float>(survey.box[2 * a + side]));
  }
  std::vector<float> seen(ends.size());
  survey.normaliser.coordinates.encode(ends, seen);
  survey.network_box = bounds(seen, set.dims());
  if (!reader.counts().empty()) {
    std::vector<std::int64_t> counts;
    for (const std::int64_t id : survey.ids) counts.push_back(reader.counts()[static_cast<std::size_t>(id)]);
    std::sort(counts.begin(), counts.end());
    survey.median_points = counts[counts.size() / 2];
  }
  return survey;
}

}  // namespace lano
