// Prediction where the samples of a dataset, or the points of each sample, are divided over several ranks: every rank
// reads its own points from the dataset, one sample at a time, and writes their predictions to their places in one file
// (docs/decisions/014).
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/ranks.h"
#include "data/part_file.h"
#include "evaluate/set_fit.h"
#include "kernels/mesh_part.h"
#include "prediction_files.h"

namespace lano::cli {
namespace {

// Rank 0's file, known to all.
DatasetWriter::Room make_room(const PredictOptions& o, const Query& query, std::unique_ptr<DatasetWriter>& writer) {
  std::string said;
  if (ranks().first()) {
    remove_leftovers(o.out);
    const std::vector<Split> splits(static_cast<std::size_t>(query.samples.count), Split::test);
    writer = std::make_unique<DatasetWriter>(o.out, predicted_set(query), splits,
                                             DatasetWriter::InParts{query.samples.shared_coordinates});
    write_cells(query, *writer);
    const DatasetWriter::Room room = writer->make_room();
    said =
        nlohmann::json{
            {"file", room.file.string()}, {"coords", room.coords}, {"input", room.input}, {"output", room.output}}
            .dump();
  }
  const nlohmann::json room = nlohmann::json::parse(ranks().from_first(said));
  return {room.at("file").get<std::string>(), room.at("coords"), room.at("input"), room.at("output")};
}

}  // namespace

Share group_samples(const Query& query, int group) {
  const std::int64_t groups = std::min<std::int64_t>(mesh_groups(), query.samples.count);
  return group < groups ? share_of(query.samples.count, group, groups) : Share();
}

bool can_be_in_parts(const PredictOptions& o) {
  return !ranks().alone() && !o.data.empty() && std::filesystem::path(o.out).extension() == ".h5";
}

void predict_in_parts(const PredictOptions& o, const Query& query, Predictor& predictor) {
  const auto start = std::chrono::steady_clock::now();
  const SetDescription& set = query.set;
  const std::int64_t points = set.points(), frames = query.frames(), outputs = set.output_channels();
  const Share own = kernels::predicted_points(points, mesh_ranks());
  const DatasetReader reader = open_dataset(o.data, predictor.task());
  std::unique_ptr<DatasetWriter> writer;
  const DatasetWriter::Room room = make_room(o, query, writer);
  PartFile file(room.file, o.out);
  const auto write = [&](std::int64_t place, std::int64_t row, std::int64_t channels, std::span<const float> values) {
    if (!values.empty()) file.write(place, (row * points + own.first) * channels, values);
  };
  const Share samples = group_samples(query, mesh_group());
  for (std::int64_t i = samples.first; i < samples.last; ++i) {
    const std::int64_t id = query.samples.ids[static_cast<std::size_t>(i)];
    SampleSlab part = reader.read_part(id, own.first, own.count(), predictor.given_frames(set));
    if (predictor.task() == Task::time_conditional) part.samples.frames = frames;
    const Prediction prediction = predictor.predict(set, part, query.steps);
    const Samples& s = part.samples;
    if (i == 0 || !query.samples.shared_coordinates)
      write(room.coords, query.samples.shared_coordinates ? 0 : i, set.dims(), s.coordinates);
    write(room.input, i, set.input_channels(), s.input);
    const auto frame = static_cast<std::size_t>(own.count() * outputs);
    for (std::int64_t f = 0; f < frames; ++f)
      write(room.output, i * frames + f, outputs,
            std::span(prediction.values).subspan(static_cast<std::size_t>(f) * frame, frame));
  }
  file.finish();
  ranks().meet();  // all parts are on disk
  if (!ranks().first()) return;
  writer->commit();
  say_written(o, query, frames, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace lano::cli
