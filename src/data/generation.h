// Generation of a dataset, using all cores: samples are independent jobs. Sample i may depend on nothing but its index,
// so the file's arrays do not depend on the number of threads, nor on where a generation was stopped: finished samples
// are kept in a side store (OUT.samples) until all are there, and the file is assembled from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "core/listener.h"
#include "core/set_description.h"
#include "data/dataset.h"

namespace lano {

// Fills the arrays of sample i, draw `attempt`; false where that draw did not converge. Called from several threads at
// once.
using SampleMaker = std::function<bool(std::int64_t sample, std::int64_t attempt, const SampleArrays& to)>;

struct Generated {
  std::int64_t resumed = 0;  // samples found in the side store
  std::int64_t redrawn = 0;  // draws that did not converge and were drawn again
};

// Resumes from OUT.samples if it was begun for the same dataset; one begun for another is refused, or replaced. A
// sample that fails to converge twenty times fails the generation; what is finished stays in the store.
Generated generate_dataset(const std::filesystem::path& path, const SetDescription& description,
                           const std::vector<Split>& splits, std::span<const float> shared_coordinates,
                           const SampleMaker& make, bool replace = false, Listener& listener = quiet());

}  // namespace lano
