#include "experiment/studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/dataset.h"
#include "experiment/ablation.h"
#include "experiment/paper_numbers.h"
#include "model_spec/model_catalogue.h"

namespace lano {
namespace {

constexpr const char* kAgentsAxis = "agents M";

void sort_unique(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::int64_t nearest_to(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  return *std::min_element(values.begin(), values.end(), [&](std::int64_t a, std::int64_t b) {
    const auto far = [&](std::int64_t v) {
      return std::abs(std::log(static_cast<double>(v) / static_cast<double>(wanted)));
    };
    return far(a) < far(b);
  });
}

}  // namespace

std::vector<Variant> agents_study(const StudyBase& base, std::vector<std::int64_t> agents) {
  sort_unique(agents);
  const std::int64_t points = DatasetReader(base.recipe.data).description().points();
  std::erase_if(agents, [&](std::int64_t m) { return m < 1 || m > points; });
  if (agents.size() < 2)
    fail_usage(fmt::format("studying agents on {}", base.benchmark),
               fmt::format("at least two numbers of agents between 1 and its {} points", points),
               std::to_string(agents.size()), "choose others with --agents");
  const std::int64_t reference = nearest_to(agents, base.recipe.lano.agents);
  const auto place = [&](const char* series, std::int64_t m) {
    return Place{kAgentsAxis,
                 series,
                 fmt::format("M = {}", m),
                 static_cast<double>(m),
                 m == reference,
                 paper::agents(base.benchmark, m)};
  };
  const auto name = [](std::int64_t m) { return fmt::format("agents-{}", m); };
  std::vector<Variant> variants;
  Variant any{base.benchmark, "any-agents", place("one model, trained with random M", reference), base.recipe};
  any.place.label = "random M";
  any.recipe.agents_range = {static_cast<double>(agents.front()), static_cast<double>(agents.back())};
  any.epochs_of = name(reference);
  any.shown = false;
  for (const std::int64_t m : agents) {
    Variant variant{base.benchmark, name(m), place("trained again", m), base.recipe};
    variant.recipe.lano.agents = m;
    if (m != reference) variant.epochs_of = name(reference);
    variants.push_back(std::move(variant));
    any.questions.push_back({name(m), place("one model, trained with random M", m), base.recipe.data, m});
  }
  variants.push_back(std::move(any));
  return variants;
}

std::vector<Variant> size_study(const StudyBase& base, std::vector<std::int64_t> depths,
                                std::vector<std::int64_t> widths) {
  const LanoConfig& own = base.recipe.lano;
  depths.push_back(own.layers);
  widths.push_back(own.width);
  sort_unique(depths);
  sort_unique(widths);
  const Place reference{"blocks L", "depth", fmt::format("L = {}, C = {}", own.layers, own.width),
                        static_cast<double>(own.layers), true};
  std::vector<Variant> variants{{base.benchmark, "reference", reference, base.recipe}};
  for (const std::int64_t layers : depths) {
    if (layers == own.layers) continue;
    Variant variant{base.benchmark, fmt::format("depth-{}", layers),
                    Place{"blocks L", "depth", fmt::format("L = {}", layers), static_cast<double>(layers)}, base.recipe,
                    "reference"};
    variant.recipe.lano.layers = layers;
    variants.push_back(std::move(variant));
  }
  for (const std::int64_t width : widths) {
    if (width == own.width) continue;
    Variant variant{base.benchmark, fmt::format("width-{}", width),
                    Place{"width C", "width", fmt::format("C = {}", width), static_cast<double>(width)}, base.recipe,
                    "reference"};
    variant.recipe.lano.width = width;
    if (base.recipe.optimiser.kind == OptimiserKind::muon)
      variant.recipe.schedule.learning_rate *= std::sqrt(static_cast<double>(own.width) / static_cast<double>(width));
    variants.push_back(std::move(variant));
  }
  Place on_width = reference;
  on_width.axis = "width C";
  on_width.series = "width";
  on_width.x = static_cast<double>(own.width);
  variants.front().also = {on_width};
  return variants;
}

std::vector<Variant> resolution_study(const StudyBase& base, const std::vector<MeshSet>& meshes) {
  std::vector<Variant> variants;
  const std::string finest = "at-" + meshes.back().label;
  for (const MeshSet& mesh : meshes) {
    Variant variant{base.benchmark, "at-" + mesh.label,
                    Place{"points N", "trained and tested on each mesh", mesh.label, mesh.points,
                          mesh.label == meshes.back().label, paper::resolution(base.benchmark, mesh.label)},
                    base.recipe};
    variant.recipe.data = mesh.data.string();
    if (variant.name != finest) variant.epochs_of = finest;
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Variant> zero_shot_study(const std::vector<StudyBase>& operators, const std::vector<MeshSet>& meshes,
                                     std::size_t trained) {
  std::vector<Variant> variants;
  for (const StudyBase& base : operators) {
    const std::string& model = base.recipe.model;
    const auto place = [&](const MeshSet& mesh, bool here) {
      return Place{
          "points N",
          model_label(model),
          mesh.label + (here ? ", trained" : ", zero-shot"),
          mesh.points,
          here,
          meshes[trained].label == "111x26" ? paper::zero_shot(model, base.benchmark, mesh.label) : std::nan("")};
    };
    Variant variant{base.benchmark, model, place(meshes[trained], true), base.recipe};
    variant.recipe.data = meshes[trained].data.string();
    for (std::size_t i = 0; i < meshes.size(); ++i) {
      if (i != trained) variant.questions.push_back({"at-" + meshes[i].label, place(meshes[i], false), meshes[i].data});
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Variant> ablation_study(const StudyBase& base) {
  const DatasetReader reader(base.recipe.data);
  std::vector<Variant> variants;
  for (const AblationRow& row : ablation_rows(reader.description().geometry, base.recipe.lano)) {
    const bool reference = row.changes.empty();
    std::string name = row.name;
    std::replace(name.begin(), name.end(), ' ', '-');
    const double printed = base.benchmark == "elasticity" ? paper::ablation(row.name) : std::nan("");
    Variant variant{base.benchmark, name, Place{"", "ablation", row.name, 0, reference, printed}, base.recipe};
    Schema schema;
    bind_train_config(schema, variant.recipe);
    for (const std::string& change : row.changes) schema.override_with(change);
    if (!reference) variant.epochs_of = "reference";
    variants.push_back(std::move(variant));
  }
  return variants;
}

std::vector<Variant> horizon_study(const std::vector<StudyBase>& operators) {
  std::vector<Variant> variants;
  for (const StudyBase& base : operators) {
    const std::string& model = base.recipe.model;
    variants.push_back({base.benchmark, model,
                        Place{"frame", model_label(model), model_label(model), 0, model == "lano"}, base.recipe});
  }
  return variants;
}

}  // namespace lano
