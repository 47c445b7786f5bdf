#include "data/generation.h"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/threads.h"
#include "data/sample_store.h"

namespace lano {
namespace {

constexpr std::int64_t kMostAttempts = 20;

// The arrays of one sample in one buffer, as the store keeps them.
class Room {
 public:
  Room(const SetDescription& d, bool own_coordinates) {
    const auto points = static_cast<std::size_t>(d.points()), frames = std::max<std::size_t>(1, d.time.size());
    const auto floats = [&](std::int64_t channels) { return points * static_cast<std::size_t>(channels); };
    const std::size_t coordinates = own_coordinates ? floats(d.dims()) : 0, input = floats(d.input_channels());
    const std::size_t output = frames * floats(d.output_channels()), kept = floats(d.kept_channels());
    values.resize(coordinates + input + output + kept);
    const std::span<float> all(values);
    arrays = {all.subspan(0, coordinates), all.subspan(coordinates, input), all.subspan(coordinates + input, output),
              all.subspan(coordinates + input + output, kept)};
  }
  std::vector<float> values;
  SampleArrays arrays;
};

}  // namespace

Generated generate_dataset(const std::filesystem::path& path, const SetDescription& description,
                           const std::vector<Split>& splits, std::span<const float> shared_coordinates,
                           const SampleMaker& make, bool replace, Listener& listener) {
  const auto samples = static_cast<std::int64_t>(splits.size());
  const bool own = shared_coordinates.empty();
  // Sample i depends on the description alone, so a store with more or fewer samples of the same dataset is still
  // valid; but its size is part of the header to keep one meaning of "finished".
  const std::string header = nlohmann::json{{"set", to_json(description)}, {"samples", samples}}.dump();
  const auto parent = path.parent_path();
  if (!parent.empty() && !std::filesystem::is_directory(parent)) {
    fail_plainly(fmt::format("writing '{}'", path.string()),
                 fmt::format("the folder '{}' does not exist", parent.string()), "create it first");
  }
  SampleStore store(path.string() + ".samples", header, samples,
                    static_cast<std::int64_t>(Room(description, own).values.size()), replace);
  Generated result;
  result.resumed = store.found();
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  {
    CountedWork progress(listener, "generating " + description.name, samples, "samples");
    progress.advance(store.found());
#pragma omp parallel
    {
      Room room(description, own);
#pragma omp for schedule(LANO_SCHEDULE, 1)
      for (std::int64_t i = 0; i < samples; ++i) {
        if (failed || store.has(i))
          continue;  // an exception may not leave the parallel region: keep the first, skip the rest
        try {
          std::int64_t attempt = 0;
          while (!make(i, attempt, room.arrays)) {
            if (++attempt == kMostAttempts) {
              fail_plainly(fmt::format("generating sample {}", i),
                           fmt::format("none of {} draws converged", kMostAttempts),
                           "finished samples are kept; choose other parameters");
            }
          }
          store.add(i, attempt, room.values);
          progress.advance();
        } catch (...) {
#pragma omp critical(lano_generation_failure)
          if (!failed.exchange(true)) failure = std::current_exception();
        }
      }
    }
    if (failure) std::rethrow_exception(failure);
    progress.finish();
  }
  DatasetWriter writer(path, description, splits, shared_coordinates);
  Room room(description, own);
  for (std::int64_t i = 0; i < samples; ++i) {
    store.read(i, room.values);
    writer.write(i, room.arrays.coordinates, room.arrays.input, room.arrays.output, room.arrays.kept);
    result.redrawn += store.attempts(i);
  }
  writer.commit();
  store.remove();
  return result;
}

}  // namespace lano
