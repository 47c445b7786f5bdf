#include "experiment/ablation.h"

#include <fmt/format.h>

#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "data/dataset.h"
#include "experiment/finish_run.h"
#include "experiment/seeds.h"

namespace lano {
namespace {

std::string folder_name(std::string name) {
  for (char& c : name) {
    if (c == ' ') c = '-';
  }
  return name;
}

TrainConfig changed(TrainConfig config, const std::vector<std::string>& changes) {
  Schema schema;
  bind_train_config(schema, config);
  for (const std::string& change : changes) schema.override_with(change);
  return config;
}

}  // namespace

std::vector<AblationRow> ablation_rows(Geometry geometry, const LanoConfig& reference) {
  std::vector<AblationRow> rows{{"reference", {}, {}, 0},
                                {"without bias", {"model.bias=none"}, {}, 0},
                                {"without DWC", {"model.dwc=false"}, {}, 0},
                                {"without bias and DWC", {"model.bias=none", "model.dwc=false"}, {}, 0},
                                {"latent agents", {"model.agent_tokens=latent"}, {}, 0}};
  rows.push_back(reference.ffn_stencil ? AblationRow{"without FFN stencil", {"model.ffn_stencil=false"}, {}, 0}
                                       : AblationRow{"with FFN stencil", {"model.ffn_stencil=true"}, {}, 0});
  rows.push_back(reference.bias == Bias::sum ? AblationRow{"outer bias", {"model.bias=outer"}, {}, 0}
                                             : AblationRow{"sum bias", {"model.bias=sum"}, {}, 0});
  if (geometry == Geometry::points) {
    rows.push_back(reference.order == Order::file ? AblationRow{"hilbert order", {"model.order=hilbert"}, {}, 0}
                                                  : AblationRow{"file order", {"model.order=file"}, {}, 0});
    rows.push_back(reference.stencil == Stencil::neighbours
                       ? AblationRow{"stencil along the order", {"model.stencil=order"}, {}, 0}
                       : AblationRow{"stencil over neighbours", {"model.stencil=neighbours"}, {}, 0});
  } else {
    rows.push_back(reference.pool == Pool::sequence ? AblationRow{"grid pooling", {"model.pool=grid"}, {}, 0}
                                                    : AblationRow{"sequence pooling", {"model.pool=sequence"}, {}, 0});
  }
  return rows;
}

std::vector<AblationRow> run_ablation(const TrainConfig& config, std::int64_t seeds,
                                      const std::filesystem::path& folder, Listener& listener) {
  if (seeds < 1) fail_usage("running an ablation", "at least one seed", std::to_string(seeds));
  const DatasetReader reader(config.data);
  if (reader.indices(Split::test).empty()) fail("running an ablation", "a set with a test split", "none");
  make_folder(folder);
  const FolderLock lock(folder, fmt::format("training into '{}'", folder.string()));
  std::vector<AblationRow> rows = ablation_rows(reader.description().geometry, config.lano);
  for (AblationRow& row : rows) {
    for (std::int64_t seed = 0; seed < seeds; ++seed) {
      TrainConfig each = changed(config, row.changes);
      each.seed = config.seed + seed;
      const auto run = folder / fmt::format("{}-{}", folder_name(row.name), seed);
      const auto outcome = finish_run(each, run, fmt::format("{}, seed {}", row.name, each.seed), listener);
      if (!outcome) return rows;
      if (!std::isfinite(outcome->test_l2())) {
        fail("running an ablation", "a test error of every run", fmt::format("none in '{}'", run.string()));
      }
      row.test_l2.push_back(outcome->test_l2());
      row.parameters = outcome->parameters;
      write_file_atomically(folder / "ablation.md", ablation_markdown(rows));
      write_file_atomically(folder / "ablation.csv", ablation_csv(rows));
    }
  }
  return rows;
}

std::string ablation_markdown(const std::vector<AblationRow>& rows) {
  std::string text =
      "| configuration | relative L2 on test | deviation | against reference | parameters | seeds "
      "|\n|---|---|---|---|---|---|\n";
  const double reference = rows.empty() || rows[0].test_l2.empty() ? 0 : mean_and_deviation(rows[0].test_l2).mean;
  for (const AblationRow& row : rows) {
    if (row.test_l2.empty()) continue;
    const auto [mean, deviation] = mean_and_deviation(row.test_l2);
    text += fmt::format("| {} | {:.4e} | {} | {:+.1f} % | {} | {} |\n", row.name, mean,
                        std::isfinite(deviation) ? fmt::format("{:.1e}", deviation) : "-", 100 * (mean / reference - 1),
                        row.parameters, row.test_l2.size());
  }
  return text;
}

std::string ablation_csv(const std::vector<AblationRow>& rows) {
  std::string text = "configuration,seed,relative_l2,parameters\n";
  for (const AblationRow& row : rows) {
    for (std::size_t seed = 0; seed < row.test_l2.size(); ++seed) {
      text += fmt::format("{},{},{:.9g},{}\n", row.name, seed, row.test_l2[seed], row.parameters);
    }
  }
  return text;
}

}  // namespace lano
