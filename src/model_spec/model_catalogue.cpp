#include "model_spec/model_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "model_spec/architecture.h"

namespace lano {
namespace {

constexpr ModelInfo kModels[] = {
    {"lano", "LANO", "transformer", "Zhong and Yan 2025", "O(N M C)", true, true, true, 1104513, 1098369,
     "layers heads width agents ffn_ratio bias dwc ffn_stencil exchange agent_tokens pool order "
     "stencil position decoder dwc_spacing padding first_weights dropout task state_frames"},
    {"fno", "FNO", "spectral", "Li et al., ICLR 2021", "O(N C (log N + C))", true, true, true, 18990977, 28491907,
     "width modes position task state_frames latent_grid", false, true},
    {"wmt", "WMT", "spectral", "Gupta et al., NeurIPS 2021", "O(N k^4)", true, true, true, 24618, 135020,
     "layers width modes wavelets position task state_frames latent_grid", false, true},
    {"u-fno", "U-FNO", "spectral", "Wen et al., Adv. Water Resources 2022", "O(N C (log N + C))", true, true, true,
     157373057, 166873987, "width modes position task state_frames latent_grid", false, true},
    {"geo-fno", "geo-FNO", "spectral", "Li et al., JMLR 2023", "O(N K^2 C + n^2 C (log n + C))", true, true, true,
     28491907, 28491907, "width modes position task state_frames latent_grid", true, true},
    {"u-no", "U-NO", "spectral", "Rahman et al., TMLR 2023", "O(N C (log N + C))", true, true, true, 328880661,
     338381591, "width modes position task state_frames latent_grid", false, true},
    {"f-fno", "F-FNO", "spectral", "Tran et al., ICLR 2023", "O(N C (log N + C K / n))", true, true, true, 6342017,
     15842947, "layers width modes position task state_frames latent_grid", false, true},
    {"lsm", "LSM", "spectral", "Wu et al., ICML 2023", "O(N C (C + T))", true, true, true, 76673153, 86174083,
     "heads width modes basis tokens position task state_frames latent_grid", false, true},
    {"galerkin", "Galerkin", "transformer", "Cao, NeurIPS 2021", "O(N C^2 / H)", true, true, true, 1096321, 1096321,
     "layers heads width ffn_ratio dropout attention position task state_frames"},
    {"ht-net", "HT-Net", "transformer", "Liu et al., J. Comput. Phys. 506 (2024)", "O(N w^2 C)", true, true, false,
     1615489, 0, "layers heads width ffn_ratio dropout window levels position task state_frames", true, false},
    {"oformer", "OFormer", "transformer", "Li et al., TMLR 2023", "O(N C^2 / H)", true, true, true, 1614529, 1614529,
     "layers heads width ffn_ratio dropout attention position task state_frames"},
    {"gnot", "GNOT", "transformer", "Hao et al., ICML 2023", "O(N C^2 (E + 1 / H))", true, true, true, 4870809, 4870809,
     "layers heads width ffn_ratio dropout experts position task state_frames"},
    {"factformer", "FactFormer", "transformer", "Li et al., NeurIPS 2023", "O(N n C)", true, true, false, 1767041, 0,
     "layers heads width ffn_ratio dropout position task state_frames"},
    {"ono", "ONO", "transformer", "Xiao et al., ICML 2024", "O(N C (C / H + F))", true, true, true, 1599745, 1599745,
     "layers heads width ffn_ratio dropout features position task state_frames"},
    {"transolver", "Transolver", "transformer", "Wu et al., ICML 2024", "O(N G C + G^2 C)", true, true, true, 3074241,
     977089, "layers heads width ffn_ratio dropout slices position task state_frames"},
    {"deeponet", "DeepONet", "other", "Lu et al., Nature Machine Intelligence 2021", "O(N C^2)", true, true, true,
     1024385, 224001, "width position task state_frames"},
    {"softmax", "softmax attention", "transformer", "Vaswani et al., NeurIPS 2017", "O(N^2 C)", true, true, true,
     1091201, 1091201, "layers heads width ffn_ratio dropout position task state_frames"},
    {"ano", "ANO", "other", "Lanthaler et al. 2025", "O(N C^2)", true, true, true, 166145, 166145,
     "layers width dropout position task state_frames"},
};

}  // namespace

std::span<const ModelInfo> model_catalogue() { return kModels; }

const ModelInfo* find_model(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kModels), std::end(kModels), [&](const ModelInfo& model) { return model.name == name; });
  return found == std::end(kModels) ? nullptr : found;
}

std::string model_label(std::string_view name) {
  const ModelInfo* const model = find_model(name);
  return std::string(model == nullptr ? name : model->label);
}

bool reads_key(const ModelInfo& model, std::string_view key) {
  constexpr std::string_view kTable = "model.";
  if (key == "train.engine" || key == "train.agents_range") return is_lano(model.name);
  if (!key.starts_with(kTable) || key == "model.name") return true;
  key.remove_prefix(kTable.size());
  for (std::size_t from = 0; from < model.keys.size();) {
    const std::size_t end = std::min(model.keys.find(' ', from), model.keys.size());
    if (model.keys.substr(from, end - from) == key) return true;
    from = end + 1;
  }
  return false;
}

void fail_without_torch(std::string_view doing, std::string_view name) {
  if (find_model(name) == nullptr) {
    std::vector<std::string> names;
    for (const ModelInfo& model : model_catalogue()) names.emplace_back(model.name);
    fail_usage(doing, fmt::format("one of: {}", fmt::join(names, ", ")), fmt::format("'{}'", name),
               did_you_mean(std::string(name), names));
  }
  fail(doing, "a LANO on the fused engine, as this build has no LibTorch",
       is_lano(name) ? "the composite engine" : fmt::format("'{}'", name), kTorchAdvice);
}

}  // namespace lano
