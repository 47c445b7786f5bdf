#include "train/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/ranks.h"
#include "core/resident_memory.h"
#include "model_spec/architecture.h"
#include "model_spec/baseline_size.h"
#include "model_spec/model_catalogue.h"
#include "runtime/lano_tensors.h"

namespace lano {
namespace {

// A LANO keeps the field in front of every block and what its agents gathered; the rest it computes again.
BaselineSize lano_size(const LanoConfig& switches, const LanoShape& shape) {
  BaselineSize size;
  make_lano_tensors<int>(switches, shape, [&](const std::string&, const Shape& extents) {
    double count = 1;
    for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
    size.weights += count;
    return 0;
  });
  double points = shape.axes == 0 ? static_cast<double>(shape.points) : 1;
  for (const std::int64_t n : shape.mesh) points *= static_cast<double>(n);
  size.pass = static_cast<double>(switches.layers) * (points + static_cast<double>(switches.agents)) *
              static_cast<double>(switches.width);
  return size;
}

// The keys that make a model larger, of those it reads.
std::string size_keys(const std::string& model) {
  std::vector<std::string> keys;
  const ModelInfo* const info = find_model(model);
  for (const char* const key :
       {"model.width", "model.layers", "model.ffn_ratio", "model.modes", "model.wavelets", "model.latent_grid",
        "model.slices", "model.experts", "model.basis", "model.tokens", "model.window", "model.features"}) {
    if (info == nullptr || reads_key(*info, key)) keys.emplace_back(key);
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace

MemoryNeed memory_need(const TrainConfig& config, const nlohmann::json& architecture, std::int64_t samples) {
  constexpr double kCopies = 7;  // weights, gradients, two moments, the best and the copies of a checkpoint
  BaselineSize size;
  LanoShape shape;
  if (is_lano(config.model)) {
    LanoConfig switches;
    lano_from_json(architecture, switches, shape);
    size = lano_size(switches, shape);
  } else {
    BaselineConfig baseline;
    baseline_from_json(architecture, baseline, shape);
    size = baseline_size(baseline, shape);
  }
  const double passes = config.lano.task == Task::autoregressive ? static_cast<double>(config.rollout) : 1,
               batch = static_cast<double>(std::min(config.batch, samples));
  const double here = 1.0 / mesh_ranks().size();  // of the points of a sample
  return {size.weights, sizeof(float) * (kCopies * (size.weights + size.buffers) + batch * passes * size.pass * here)};
}

void check_memory(const TrainConfig& config, const nlohmann::json& architecture, std::int64_t samples) {
  const MemoryNeed need = memory_need(config, architecture, samples);
  const auto there = static_cast<double>(machine_memory());
  if (need.bytes <= there) return;
  fail_usage("training", fmt::format("a model whose training fits in this machine's {:.3g} GB", there / 1e9),
             fmt::format("one of {:.3g} numbers, which takes at least {:.3g} GB", need.weights, need.bytes / 1e9),
             fmt::format("lower train.batch or one of {}", size_keys(config.model)));
}

}  // namespace lano
