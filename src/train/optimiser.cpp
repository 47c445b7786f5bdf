#include "train/optimiser.h"

#include <algorithm>

#include "core/error.h"
#include "kernels/tile_kernels.h"

namespace lano {
namespace {

bool is_map(const Shape& shape) {
  if (shape.size() < 2) return false;
  const std::int64_t rows = shape[0], columns = element_count(shape) / std::max<std::int64_t>(rows, 1);
  const bool filters = shape.size() > 2 && shape[1] == 1;  // one per channel: nothing is mapped to another channel
  return !filters && std::min(rows, columns) >= kLeastSide;
}

// Neighbours of one kind joined: what the weight decay shrinks, and what it leaves. Without the matrices.
std::vector<ParameterGroup> groups_without(const std::vector<NamedShape>& layout, Decay decay,
                                           const std::vector<Matrix>& matrices) {
  std::vector<ParameterGroup> groups;
  std::size_t at = 0, taken = 0;
  for (const auto& [name, shape] : layout) {
    const auto size = static_cast<std::size_t>(element_count(shape));
    const std::size_t end = at + size;
    if (taken < matrices.size() && matrices[taken].first == at) {
      while (taken < matrices.size() && matrices[taken].first < end) ++taken;
    } else {
      const bool decays = decay == Decay::all || shape.size() >= 2;
      const bool joins =
          !groups.empty() && groups.back().decays == decays && groups.back().first + groups.back().size == at;
      if (!joins) groups.push_back({at, 0, decays});
      groups.back().size += size;
    }
    at = end;
  }
  return groups;
}

std::size_t size_of(const std::vector<NamedShape>& layout) {
  std::size_t size = 0;
  for (const auto& [name, shape] : layout) size += static_cast<std::size_t>(element_count(shape));
  return size;
}

}  // namespace

std::vector<Matrix> linear_maps(const std::vector<NamedShape>& layout) {
  std::vector<Matrix> maps;
  std::size_t at = 0;
  for (const auto& [name, shape] : layout) {
    const auto size = static_cast<std::size_t>(element_count(shape));
    if (is_map(shape)) {
      // Queries, keys and values apart, and so the maps of the heads.
      const bool three = name.find("qkv") != std::string::npos && shape[0] % 3 == 0;
      const std::int64_t parts = three                                  ? 3
                                 : name.ends_with("attention.exchange") ? shape[0] / shape[1]
                                                                        : 1,
                         rows = shape[0] / parts;
      const auto columns = static_cast<std::int64_t>(size) / shape[0];
      for (std::int64_t part = 0; part < parts; ++part)
        maps.push_back({at + static_cast<std::size_t>(part * rows * columns), rows, columns, true});
    }
    at += size;
  }
  return maps;
}

Optimiser::Optimiser(const OptimiserConfig& config, const std::vector<NamedShape>& layout)
    : config_(config),
      matrices_(config.kind == OptimiserKind::muon ? linear_maps(layout) : std::vector<Matrix>{}),
      groups_(groups_without(layout, config.decay, matrices_)),
      first_(size_of(layout)),
      second_(first_.size()) {
  kernels::kernels();  // fails on an unknown LANO_SIMD: now, not at the first step
}

void Optimiser::step(std::span<float> parameters, std::span<const float> gradients, double learning_rate,
                     double beta1) {
  ++steps_;
  adamw_step(config_, groups_, steps_, learning_rate, beta1, parameters, gradients, first_, second_);
  if (!matrices_.empty()) {
    muon_step({learning_rate, config_.momentum, config_.weight_decay}, matrices_, parameters, gradients, first_);
  }
}

void Optimiser::restore(std::int64_t steps, std::span<const float> first_moment, std::span<const float> second_moment) {
  if (first_moment.size() != first_.size() || second_moment.size() != second_.size()) {
    fail("restoring the optimiser", std::to_string(first_.size()) + " values", std::to_string(first_moment.size()));
  }
  steps_ = steps;
  std::copy(first_moment.begin(), first_moment.end(), first_.begin());
  std::copy(second_moment.begin(), second_moment.end(), second_.begin());
}

}  // namespace lano
