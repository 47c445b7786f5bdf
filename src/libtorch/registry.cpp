#include <fmt/format.h>

#include "core/error.h"
#include "core/nearest.h"
#include "libtorch/baselines.h"
#include "libtorch/lano.h"
#include "libtorch/operator_model.h"
#include "model_spec/architecture.h"
#include "model_spec/parameter_name.h"

namespace lano {

namespace {

// Every model but LANO by its name, in the order of the paper's table, then the others.
constexpr std::pair<const char*, MakeModel> kBaselines[] = {
    {"fno", make_fno},           {"wmt", make_wmt},
    {"u-fno", make_u_fno},       {"geo-fno", make_geo_fno},
    {"u-no", make_u_no},         {"f-fno", make_f_fno},
    {"lsm", make_lsm},           {"galerkin", make_galerkin},
    {"ht-net", make_ht_net},     {"oformer", make_oformer},
    {"gnot", make_gnot},         {"factformer", make_factformer},
    {"ono", make_ono},           {"transolver", make_transolver},
    {"deeponet", make_deeponet}, {"softmax", make_softmax},
    {"ano", make_ano},
};

std::vector<std::pair<std::string, MakeModel>>& registered() {
  static std::vector<std::pair<std::string, MakeModel>> models;
  return models;
}

// LibTorch draws first weights from one generator of the process; it is left as it was found, whatever happens.
class SeededGenerator {
 public:
  explicit SeededGenerator(std::uint64_t seed)
      : generator_(at::detail::getDefaultCPUGenerator()), before_(generator_.get_state()) {
    generator_.set_current_seed(seed);
  }
  ~SeededGenerator() { generator_.set_state(before_); }
  SeededGenerator(const SeededGenerator&) = delete;
  SeededGenerator& operator=(const SeededGenerator&) = delete;

 private:
  at::Generator generator_;
  torch::Tensor before_;
};

std::shared_ptr<OperatorModel> make_seeded(MakeModel make, const nlohmann::json& architecture, std::uint64_t seed) {
  BaselineConfig config;
  LanoShape shape;
  baseline_from_json(architecture, config, shape);
  const SeededGenerator seeded(seed);
  return make(config, shape);
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names{"lano"};
  for (const auto& [name, make] : kBaselines) names.push_back(name);
  for (const auto& [name, make] : registered()) names.push_back(name);
  return names;
}

void register_model(const std::string& name, MakeModel make) {
  for (const std::string& known : model_names()) {
    if (name == known) fail("registering a model", "a new name", fmt::format("'{}'", name));
  }
  registered().emplace_back(name, make);
}

std::shared_ptr<OperatorModel> make_model(const nlohmann::json& architecture, std::uint64_t seed) {
  const std::string name = architecture_name(architecture);
  if (is_lano(name)) return std::make_shared<Lano>(architecture, seed);
  for (const auto& [known, make] : kBaselines) {
    if (name == known) return make_seeded(make, architecture, seed);
  }
  for (const auto& [known, make] : registered()) {
    if (name == known) return make_seeded(make, architecture, seed);
  }
  fail_usage("making a model", fmt::format("one of: {}", fmt::join(model_names(), ", ")), fmt::format("'{}'", name),
             did_you_mean(name, model_names()));
}

std::int64_t OperatorModel::use_agents(std::int64_t) {
  fail_usage_plainly("choosing the agents", "this model has no agent tokens", "leave out --agents");
}

std::int64_t parameter_count(const OperatorModel& model) {
  std::int64_t count = 0;
  for (const auto& item : model.named_parameters())
    count += item.value().numel() / (is_complex_weight(item.key()) ? 2 : 1);
  return count;
}

}  // namespace lano
