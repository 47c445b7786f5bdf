#include "train/subject.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/resident_memory.h"
#include "model_spec/architecture.h"
#include "runtime/lano_tensors.h"
#include "train/recipe_check.h"

namespace lano {
namespace {

// The recipe's switches, and what the training data fix.
nlohmann::json architecture_for(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey) {
  LanoConfig switches = config.lano;
  const bool other = !is_lano(config.model);
  if (other) {  // whose points need no order and no patches
    switches.pool = Pool::sequence;
    switches.order = Order::file;
  }
  LanoShape shape =
      lano_shape(switches, set, survey.spacing, survey.spacing.empty() ? std::vector<double>{} : survey.origin);
  if (!shape.order_box.empty()) shape.order_box = survey.box;
  // The others' waves in space are as long as this box (libtorch/features.h); a LANO has none.
  if (other || !shape.reference_box.empty()) shape.reference_box = survey.network_box;
  if (survey.median_points > 0) shape.points = survey.median_points;
  return architecture_json(config.model, switches, config.baseline, shape);
}

// What a LANO's weights take, before they take it: they themselves, gradients, two moments, the best and the copies of
// a checkpoint.
void check_memory(const LanoConfig& switches, const LanoShape& shape) {
  constexpr double kCopies = 7;
  double parameters = 0;
  make_lano_tensors<int>(switches, shape, [&](const std::string&, const Shape& extents) {
    double count = 1;
    for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
    parameters += count;
    return 0;
  });
  const double needed = kCopies * sizeof(float) * parameters, there = static_cast<double>(machine_memory());
  if (needed > there) {
    fail_usage("training", fmt::format("a model whose training fits in this machine's {:.3g} GB", there / 1e9),
               fmt::format("one of {:.3g} parameters, which takes {:.3g} GB", parameters, needed / 1e9),
               "lower model.width, model.layers or model.ffn_ratio");
  }
}

}  // namespace

Subject::Subject(const TrainConfig& config, bool test)
    : reader(config.data), survey(survey_split(reader, config)), validation(reader) {
  check_recipe_fits(config, reader.description(), survey, validation.count() > 0);
  // A NaN in the test split is said now, not after hours of training; nothing else is learned from it here.
  if (test) read_in_pieces(reader, reader.indices(Split::test), kPieceBytes, [](const Samples&) {});
}

std::unique_ptr<Trainable> Subject::make_model(const TrainConfig& config) const {
  const SetDescription& set = reader.description();
  const nlohmann::json architecture = architecture_for(config, set, survey);
  if (is_lano(config.model)) {
    LanoConfig switches;
    LanoShape shape;
    lano_from_json(architecture, switches, shape);
    check_memory(switches, shape);
  }
  auto model = make_trainable(architecture, config, {survey.normaliser.output, set.shape, survey.spacing});
  // A number of agents it cannot have fails here, not in mid-run.
  for (const double agents : config.agents_range) model->use_agents(static_cast<std::int64_t>(agents));
  if (!config.agents_range.empty()) model->use_agents(config.lano.agents);
  return model;
}

std::unique_ptr<SampleFeed> Subject::make_feed(const Trainable& model) {
  return std::make_unique<SampleFeed>(reader, survey.ids, std::move(survey.samples), survey.normaliser,
                                      model.order_box());
}

ModelFile Subject::about_model(nlohmann::json architecture) const {
  ModelFile file;
  file.architecture = std::move(architecture);
  file.set = reader.description();
  file.coordinates = survey.shared_coordinates;
  file.normaliser = survey.normaliser;
  return file;
}

}  // namespace lano
