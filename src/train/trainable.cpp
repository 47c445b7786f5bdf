#include "train/trainable.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "model_spec/architecture.h"
#include "model_spec/model_catalogue.h"
#include "train/lano_trainable.h"

namespace lano {
namespace {

MakeTrainable& torch_trainables() {
  static MakeTrainable make;
  return make;
}

}  // namespace

void Trainable::learn_samples(const Lesson&, SampleLessons&) {
  fail_plainly("training on several ranks", "only a LANO on the fused engine can be divided",
               "start it without mpirun");
}

void Trainable::load_buffers(const std::map<std::string, Tensor>& named, std::string_view doing) {
  if (!named.empty())
    fail_plainly(doing, fmt::format("the model has no running statistics, the file has {}", named.size()),
                 "the file is of another model");
}

void Trainable::load_buffers(std::span<const float> flat, std::string_view doing) {
  if (!flat.empty()) {
    fail_plainly(doing, fmt::format("the model has no running statistics, the state has {}", flat.size()),
                 "the state is of another model");
  }
}

std::map<std::string, Tensor> Trainable::name_buffers(std::span<const float>) const { return {}; }

std::map<std::string, Tensor> name_tensors(const std::vector<NamedShape>& layout, std::span<const float> flat) {
  std::map<std::string, Tensor> tensors;
  std::size_t at = 0;
  for (const auto& [name, shape] : layout) {
    const auto part = flat.subspan(at, static_cast<std::size_t>(element_count(shape)));
    tensors[name] = {shape, std::vector<float>(part.begin(), part.end())};
    at += part.size();
  }
  return tensors;
}

void set_torch_trainables(MakeTrainable make) { torch_trainables() = std::move(make); }

bool needs_torch(const TrainConfig& config) { return !is_lano(config.model) || config.engine == Engine::composite; }

std::unique_ptr<Trainable> make_trainable(const nlohmann::json& architecture, const TrainConfig& config,
                                          const Objective& objective) {
  if (!needs_torch(config)) return std::make_unique<LanoTrainable>(architecture, config, objective);
  if (torch_trainables() == nullptr) fail_without_torch("training", config.model);
  return torch_trainables()(architecture, config, objective);
}

}  // namespace lano
