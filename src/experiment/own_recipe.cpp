// The choice, in the order of the decisions:
//   geometry -> stencil, pooling, gradient term;  points -> batch and agents;  times -> task;  channels -> loss
//   weights; a few timed steps -> the largest size whose samples are seen often enough -> epochs that fill the minutes.
#include "experiment/own_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/duration.h"
#include "core/error.h"
#include "core/ranks.h"
#include "data/dataset.h"
#include "evaluate/set_fit.h"
#include "experiment/pair_run.h"
#include "model_spec/lano_sizes.h"
#include "train/recipe_check.h"
#include "train/split_survey.h"
#include "train/start_model.h"
#include "train/training_set.h"

namespace lano {
namespace {

constexpr const char* kDoing = "choosing a recipe";
constexpr std::int64_t kPointsPerStep =
    1600;  // a step of fewer points is mostly overhead, one of more learns too rarely
constexpr std::int64_t kStepsOfAnEpoch = 40;    // of an epoch, where the samples allow it
constexpr std::int64_t kMostEpochs = 400;       // beyond them nothing was gained on any dataset tried
constexpr std::size_t kMiddleSize = 3;          // of own_sizes(), where the choice begins
constexpr double kStateNoise = 0.1;             // of models that step in time, relative to what changes in a step
constexpr double kMostStateNoise = 0.03;        // relative to the state
constexpr double kSmallDifference = 0.2;        // samples that differ by less from their mean field hide in it
constexpr double kFineTuningRate = 0.25;        // of the rate a new model learns at
constexpr std::int64_t kMostTimesAtOnce = 256;  // times by fields
constexpr double kUnequalChannels = 10;         // deviations further apart are weighed in the loss

// Visits of samples that a size needs before it beats the next smaller one, measured on Darcy and Elasticity
// (docs/accuracy.md): about the square root of its parameters.
double needed_visits(const Size& size) {
  const double parameters = static_cast<double>(8 * size.layers * size.width * size.width);
  return 5000 * std::sqrt(parameters / (8.0 * 6 * 32 * 32));
}

// The spectral norm of Muon's steps grows with the root of the width at one rate.
double rate_of(std::int64_t width) { return 8e-3 * std::sqrt(32.0 / static_cast<double>(width)); }

std::int64_t frames_of(const DataFacts& facts) {
  return facts.set.time.empty() ? 1 : static_cast<std::int64_t>(facts.set.time.size());
}

// The number of agents nearest to `wanted` that the geometry takes: a quarter of the points at most.
std::int64_t agents_for(const DataFacts& facts, std::int64_t wanted) {
  wanted = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, facts.set.points() / 4));
  if (facts.set.geometry == Geometry::points) return wanted;
  return element_count(nearest_patches(wanted, facts.set.shape));
}

Task task_for(const DataFacts& facts) {
  if (facts.set.time.empty()) return Task::steady;
  // Inputs that are no state drive the whole history: it is learned as a function of time. A history without inputs is
  // its own cause: it is stepped, and so is one whose first frames are given.
  return !facts.initial && facts.set.input_channels() > 0 && facts.set.input_channels() != facts.set.output_channels()
             ? Task::time_conditional
             : Task::autoregressive;
}

// What the user says of one key, if anything: others of the recipe follow from it.
std::optional<TrainConfig> said_of(const char* key, const std::vector<std::string>& overrides) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  bool said = false;
  for (const std::string& assignment : overrides) {
    if (!assignment.starts_with(std::string(key) + "=")) continue;
    schema.override_with(assignment);
    said = true;
  }
  return said ? std::optional(config) : std::nullopt;
}

// Inputs that drive the whole history give all of it in one prediction, at the price of one frame: on Plasticity 40 %
// less error in the same time than a function of time (docs/accuracy.md).
bool all_times_at_once(const DataFacts& facts) {
  return task_for(facts) == Task::time_conditional &&
         frames_of(facts) * facts.set.output_channels() <= kMostTimesAtOnce;
}

std::string geometry_text(const DataFacts& facts) {
  return facts.set.geometry == Geometry::points
             ? fmt::format("clouds of {} points", facts.set.points())
             : fmt::format("{} {}", geometry_name(facts.set.geometry), shape_text(facts.set.shape));
}

DataFacts facts_of(const TrainConfig& data, std::optional<Task> task) {
  // If first frames are given and nothing else is requested, the history is stepped.
  const DatasetReader reader = open_training_set(data, task.value_or(Task::autoregressive));
  DataFacts facts;
  facts.set = reader.description();
  facts.initial = reader.initial_frames() > 0;
  std::vector<std::int64_t> train = reader.indices(Split::train);
  facts.training = static_cast<std::int64_t>(train.size());
  facts.validation = static_cast<std::int64_t>(reader.indices(Split::validation).size());
  if (!reader.has_output() || train.empty())
    fail_usage_plainly(kDoing, "the dataset has no training samples with output", "import with --train and --output");
  facts.deformed = facts.set.geometry != Geometry::points && !reader.shared_coordinates();
  constexpr std::size_t kLooked = 32;  // samples are enough to tell scales apart
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < std::min(kLooked, train.size()); ++i)
    some.push_back(train[i * train.size() / std::min(kLooked, train.size())]);
  const Samples samples = reader.read(some);
  facts.uniform = facts.set.geometry == Geometry::grid && samples.on_one_mesh() &&
                  uniform_grid_spacing(facts.set.shape, samples.coordinates, nullptr);
  const bool timed = facts.set.time.size() > 1;
  NormaliserFit fit(facts.set, {.output = true, .increments = timed});
  fit.add(samples, true);
  const Normaliser fitted = fit.result();
  facts.output_scale = fitted.output.scale();
  if (timed) facts.change = *std::max_element(fitted.increment.begin(), fitted.increment.end());
  if (facts.set.geometry == Geometry::mesh) {
    NormaliserFit differences(facts.set, {.mean_output = true});
    differences.add(samples, true);
    const std::vector<double> scale = differences.result().output.scale();
    for (std::size_t c = 0; c < scale.size(); ++c)
      facts.difference = std::min(facts.difference, scale[c] / facts.output_scale[c]);
  }
  return facts;
}

}  // namespace

DataFacts data_facts(const std::string& file, std::optional<Task> task) {
  TrainConfig data;
  data.data = file;
  return data_facts(data, task);
}

DataFacts data_facts(const TrainConfig& data, std::optional<Task> task) {
  if (data.times == Times::channels) {
    TrainConfig with_frames = data;
    with_frames.times = Times::frames;
    const std::vector<double> of_fields = data_facts(with_frames, task).output_scale;
    DataFacts facts = facts_of(data, Task::steady);
    for (std::size_t c = 0; c < facts.output_scale.size(); ++c) facts.output_scale[c] = of_fields[c % of_fields.size()];
    return facts;
  }
  return facts_of(data, task);
}

const std::vector<Size>& own_sizes() {
  static const std::vector<Size> sizes{{3, 16, 2, 16}, {4, 24, 3, 32}, {4, 32, 4, 64},   {6, 32, 4, 64},
                                       {6, 48, 6, 64}, {6, 64, 8, 64}, {8, 96, 12, 128}, {8, 128, 16, 128}};
  return sizes;
}

TrainConfig recipe_of_size(const DataFacts& facts, const Size& size, std::optional<Task> task) {
  TrainConfig config;
  LanoConfig& model = config.lano;
  model.layers = size.layers;
  model.width = size.width;
  model.heads = size.heads;
  const bool cloud = facts.set.geometry == Geometry::points;
  model.agents = agents_for(facts, cloud ? std::min<std::int64_t>(size.agents, 32) : size.agents);
  model.stencil = Stencil::neighbours;  // of clouds
  model.ffn_stencil = !cloud;
  if (!cloud) model.padding = Padding::edge;  // other resolutions: docs/accuracy.md
  // On the fixed grid of Darcy it gains nothing, on curved meshes 40 % and more (docs/accuracy.md).
  model.exchange = cloud || facts.deformed || facts.set.geometry == Geometry::mesh;
  model.first_weights = FirstWeights::scaled;
  model.task = task.value_or(task_for(facts));
  if (!facts.set.channel_times.empty()) config.times = Times::channels;
  const std::int64_t starts =
      std::max<std::int64_t>(1, frames_of(facts) - (model.task == Task::autoregressive ? facts.set.given_frames : 0));
  const std::int64_t items = facts.training * starts;
  config.batch = std::clamp<std::int64_t>((kPointsPerStep + facts.set.points() / 2) / facts.set.points(), 1, 32);
  config.batch = std::min(config.batch, std::max<std::int64_t>(1, items / kStepsOfAnEpoch));
  config.batch = std::max<std::int64_t>(config.batch, mesh_groups());  // a sample for each of them
  config.clip = 1;
  const bool thick = std::all_of(facts.set.shape.begin(), facts.set.shape.end(), [](std::int64_t n) { return n >= 8; });
  if (facts.uniform && thick) config.loss.gradient_weight = 0.1;
  config.coordinates = Scaling::channel;
  config.displacement = facts.deformed;
  if (facts.difference < kSmallDifference && model.task != Task::autoregressive) config.output = Scaling::field;
  if (model.task == Task::autoregressive) {
    config.increments = true;
    config.noise = std::min(kMostStateNoise, kStateNoise * facts.change);
  }
  config.optimiser.kind = OptimiserKind::muon;
  config.optimiser.weight_decay = 1e-5;
  config.schedule.kind = ScheduleKind::one_cycle;
  config.schedule.pct_start = 0.1;
  config.schedule.learning_rate = rate_of(size.width);
  const auto [least, most] = std::minmax_element(facts.output_scale.begin(), facts.output_scale.end());
  if (*most > kUnequalChannels * *least) {
    for (const double scale : facts.output_scale) config.loss.channel_weights.push_back(1 / (scale * scale));
  }
  if (facts.validation == 0) config.selection = Selection::last;
  return config;
}

double step_operations(const DataFacts& facts, const TrainConfig& config) {
  const auto n = static_cast<double>(facts.set.points()), c = static_cast<double>(config.lano.width),
             m = static_cast<double>(config.lano.agents), l = static_cast<double>(config.lano.layers),
             r = static_cast<double>(config.lano.ffn_ratio);
  return 3 * (l * (2 * n * c * (4 * c + 2 * r * c) + 8 * n * m * c) + 4 * n * c * c);
}

OwnRecipe own_recipe(const std::string& file, const std::vector<std::string>& overrides, double minutes,
                     const std::filesystem::path& scratch, const std::string& from) {
  TrainConfig said;
  said.data = file;
  said.from = from;
  return own_recipe(said, overrides, minutes, scratch);
}

OwnRecipe own_recipe(const TrainConfig& given, const std::vector<std::string>& overrides, double minutes,
                     const std::filesystem::path& scratch) {
  TrainConfig said = given;
  const std::string& from = said.from;
  check_data_file(said.data);
  const std::optional<ModelFile> start = from.empty() ? std::nullopt : std::optional(read_model_file(from));
  const std::optional<TrainConfig> said_task = said_of("model.task", overrides),
                                   said_times = said_of("data.times", overrides);
  const std::optional<Task> task = start       ? std::optional(with_start({}, *start).lano.task)
                                   : said_task ? std::optional(said_task->lano.task)
                                               : std::nullopt;
  if (start || said_times) said.times = start ? with_start({}, *start).times : said_times->times;
  DataFacts facts = data_facts(said, task);
  if (!start && !said_times && !task && all_times_at_once(facts)) {
    said.times = Times::channels;
    facts = data_facts(said, task);
  }
  if (start) check_fits(start->set, facts.set, fmt::format("starting from '{}'", from));
  if (task) check_task_fits(*task, facts.set);
  const auto made = [&](const Size& size) {
    TrainConfig config = recipe_of_size(facts, size, task);
    config.data = said.data;
    config.arrays = said.arrays;
    if (start) {
      config = with_start(config, *start);
      config.from = from;
      config.schedule.learning_rate = kFineTuningRate * rate_of(config.lano.width);
    }
    Schema schema;
    bind_train_config(schema, config);
    for (const std::string& assignment : overrides) schema.override_with(assignment);
    check_train_config(config);
    return config;
  };
  const auto says = [&](const char* key) {
    return std::any_of(overrides.begin(), overrides.end(),
                       [&](const std::string& o) { return o.starts_with(std::string(key) + "="); });
  };
  const double seconds = 60 * minutes;
  const auto timed = [&](const TrainConfig& config) {
    return measure_pace(config, scratch, std::clamp(seconds / 60, 0.3, 3.0));
  };
  const std::vector<Size>& sizes = own_sizes();
  std::size_t chosen = kMiddleSize;
  Pace pace;
  OwnRecipe own;
  if (start && !says("train.epochs")) {  // nothing to choose but how long
    const TrainConfig config = made(sizes[chosen]);
    pace = timed(config);
    own.config = fit_to_budget(config, pace, seconds);
    own.config.epochs = std::min(own.config.epochs, kMostEpochs);
  } else if (says("train.epochs")) {  // the user knows how long: nothing to time
    own.config = made(sizes[chosen]);
  } else {
    // Small models leave the machine idler than large ones: the choice is timed again at the size it fell on.
    for (int look = 0; look < 3; ++look) {
      const TrainConfig config = made(sizes[chosen]);
      pace = timed(config);
      const double speed = step_operations(facts, config) * static_cast<double>(config.batch) / pace.step_seconds;
      std::size_t best = 0;
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const TrainConfig other = made(sizes[i]);
        // Samples of a step beyond two count for little: what a size needs is steps.
        const double visits = 0.9 * seconds * speed / step_operations(facts, other) *
                              std::min(1.0, 2.0 / static_cast<double>(other.batch));
        if (visits >= needed_visits(sizes[i])) best = i;
      }
      if (best == chosen) break;
      chosen = best;
      if (look == 2) pace = timed(made(sizes[chosen]));
    }
    own.config = fit_to_budget(made(sizes[chosen]), pace, seconds);
    own.config.epochs = std::min(own.config.epochs, kMostEpochs);
  }
  const TrainConfig& c = own.config;
  const std::int64_t at_once = std::ssize(facts.set.channel_times);
  const std::string kind = at_once > 0                           ? fmt::format(", all {} times at once", at_once)
                           : c.lano.task == Task::steady         ? ""
                           : c.lano.task == Task::autoregressive ? ", stepping from frame to frame"
                                                                 : ", a function of time";
  const SetDescription shown = channels_as_times(facts.set);
  own.because = {
      fmt::format("data    {}, {} training and {} validation samples{}, {} input and {} output channel{}",
                  geometry_text(facts), facts.training, facts.validation,
                  shown.time.empty() ? "" : fmt::format(" of {} frames", shown.time.size()), shown.input_channels(),
                  shown.output_channels(), shown.output_channels() == 1 ? "" : "s"),
      fmt::format("model   LANO of {} blocks, width {}, {} agents{}{}", c.lano.layers, c.lano.width, c.lano.agents,
                  kind,
                  start ? ": " + start_text(c)
                  : pace.step_seconds > 0
                      ? fmt::format(": the largest that sees its samples often enough in {}", duration_text(seconds))
                      : "")};
  if (pace.step_seconds > 0) {
    const std::int64_t steps = ((c.epoch_samples > 0 ? c.epoch_samples : pace.items) + c.batch - 1) / c.batch;
    const double epoch = static_cast<double>(steps) * pace.step_seconds + pace.validation_seconds;
    own.because.push_back(fmt::format("steps   {} epochs of {} steps at {:.1f} ms, batch {}: about {}", c.epochs, steps,
                                      1e3 * pace.step_seconds, c.batch,
                                      duration_text(static_cast<double>(c.epochs) * epoch)));
  }
  return own;
}

}  // namespace lano
