#include "data/generation.h"

#include <atomic>
#include <exception>

#include "core/progress.h"

namespace lano {

void generate_dataset(const std::filesystem::path& path, const SetDescription& description,
                      const std::vector<Split>& splits, std::span<const float> shared_coordinates,
                      const SampleMaker& make) {
  const auto samples = static_cast<std::int64_t>(splits.size());
  DatasetWriter writer(path, description, splits, shared_coordinates);
  Progress progress("generating " + description.name, samples, "samples");
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
#pragma omp parallel
  {
    std::vector<float> input(static_cast<std::size_t>(description.points() * description.input_channels()));
    const std::size_t frames = std::max<std::size_t>(1, description.time.size());
    std::vector<float> output(frames * static_cast<std::size_t>(description.points() * description.output_channels()));
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < samples; ++i) {
      if (failed) continue;  // an exception may not leave the parallel region: keep the first, skip the rest
      try {
        make(i, input, output);
        writer.write(i, {}, input, output);
        progress.advance();
      } catch (...) {
#pragma omp critical(lano_generation_failure)
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  writer.commit();
  progress.finish();
}

}  // namespace lano
