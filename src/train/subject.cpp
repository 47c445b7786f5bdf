#include "train/subject.h"

#include <fmt/format.h>

#include "core/error.h"
#include "evaluate/set_fit.h"
#include "model_spec/architecture.h"
#include "model_spec/baseline_size.h"
#include "train/memory_need.h"
#include "train/recipe_check.h"
#include "train/start_model.h"
#include "train/training_set.h"

namespace lano {
namespace {

// The recipe's switches, and what the training data fix.
nlohmann::json architecture_for(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey) {
  LanoConfig switches = config.lano;
  switches.state_frames = chosen_state_frames(config.lano, set);
  const bool other = !is_lano(config.model);
  if (other) {  // whose points need no order and no patches
    switches.pool = Pool::sequence;
    switches.order = Order::file;
  }
  LanoShape shape =
      lano_shape(switches, set, survey.spacing, survey.spacing.empty() ? std::vector<double>{} : survey.origin);
  shape.input_channels += survey.normaliser.mean_mesh.channels();
  if (!shape.order_box.empty()) shape.order_box = survey.box;
  // The others' waves in space are as long as this box (libtorch/features.h); a LANO has none.
  if (other || !shape.reference_box.empty()) shape.reference_box = survey.network_box;
  if (survey.median_points > 0) shape.points = survey.median_points;
  return architecture_json(config.model, switches, config.baseline, shape);
}

}  // namespace

Subject::Subject(const TrainConfig& config, bool test)
    : Subject(std::make_shared<const DatasetReader>(open_training_set(config)), config, test) {}

Subject::Subject(std::shared_ptr<const DatasetReader> set, const TrainConfig& config, bool test)
    : start(config.from.empty() ? std::nullopt : std::optional(read_model_file(config.from))),
      owned(std::move(set)),
      reader(*owned),
      shown(config.times == Times::channels
                ? std::make_shared<const DatasetReader>(open_with_frames(config, config.lano.task))
                : owned),
      survey(survey_split(reader, config)),
      validation(reader, validation_ids(reader, config.train_on)) {
  if (start) {
    check_fits(start->set, reader.description(), fmt::format("starting from '{}'", config.from));
    if (to_toml(with_start(config, *start)) != to_toml(config))
      fail_usage_plainly(fmt::format("starting from '{}'", config.from), "the recipe changes switches of its model",
                         "leave out [model], train.increments and normalise.displacement in the recipe");
    if (config.from_normaliser == StartScaling::keep)
      survey.normaliser = start_normaliser(*start, reader.description());
  }
  check_recipe_fits(config, reader.description(), survey, validation.count() > 0);
  // A NaN in the test split is reported now, not after hours of training; nothing else is taken from it here.
  if (test) read_in_pieces(reader, reader.indices(Split::test), kPieceBytes, [](const Samples&) {});
}

nlohmann::json Subject::architecture(const TrainConfig& config) const {
  return start ? start->architecture : architecture_for(config, reader.description(), survey);
}

std::unique_ptr<Trainable> Subject::make_model(const TrainConfig& config) const {
  const SetDescription& set = reader.description();
  const nlohmann::json made = architecture(config);
  if (!is_lano(config.model)) {
    BaselineConfig baseline;
    LanoShape shape;
    baseline_from_json(made, baseline, shape);
    check_baseline_fits(baseline, shape);
  }
  check_memory(config, made, static_cast<std::int64_t>(survey.ids.size()));
  auto model = make_trainable(made, config,
                              {survey.normaliser.output, set.shape, survey.spacing, survey.normaliser.increment,
                               survey.normaliser.mean_output.values()});
  if (start) load_start(*start, *model, config.from);
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
