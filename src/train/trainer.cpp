// The course of a run: epochs of steps (train/learner.h), validation, selection, checkpoints, the test at the end.
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/fnv.h"
#include "core/interrupt.h"
#include "core/progress.h"
#include "core/random.h"
#include "core/threads.h"
#include "core/version.h"
#include "data/dataset.h"
#include "evaluate/evaluation.h"
#include "train/learner.h"
#include "train/run_folder.h"
#include "train/sample_changes.h"
#include "train/split_survey.h"

namespace lano {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(); }

// What decides about the result: all but where the set lies, how it is read and when states are saved.
std::string recipe_of(TrainConfig config) {
  const TrainConfig plain;
  config.data = plain.data;
  config.memory_gb = plain.memory_gb;
  config.checkpoint_minutes = plain.checkpoint_minutes;
  config.checkpoint_steps = plain.checkpoint_steps;
  return to_toml(config);
}

// Of a text that an older version may have written, with fewer keys.
std::string recipe_of_text(const std::string& toml) {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  schema.load_text(toml, "reading the config of a checkpoint");
  return recipe_of(config);
}

// The set in words, and a fingerprint of its description, its splits and its first and last training sample.
std::string data_text(const DatasetReader& reader, const std::vector<std::int64_t>& ids) {
  Fnv hash;
  const SetDescription& set = reader.description();
  hash.add(set.generator + fields_to_json(set).dump());
  hash.add(set.time);
  hash.add(reader.splits());
  const Samples ends = reader.read(std::vector<std::int64_t>{ids.front(), ids.back()});
  hash.add(ends.coordinates);
  hash.add(ends.input);
  hash.add(ends.output);
  return fmt::format("{} training samples of '{}', {} {}, {} input and {} output channels, fingerprint {:016x}",
                     ids.size(), set.name, geometry_name(set.geometry), shape_text(set.shape), set.input_channels(),
                     set.output_channels(), hash.value());
}

// What make_model needs: the recipe's switches, and what the training data fix.
nlohmann::json architecture_for(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey) {
  LanoConfig switches = config.lano;
  if (config.model != "lano") {  // whose points need no order and no patches
    switches.pool = Pool::sequence;
    switches.order = Order::file;
  }
  LanoShape shape =
      lano_shape(switches, set, survey.spacing, survey.spacing.empty() ? std::vector<double>{} : survey.origin);
  if (!shape.order_box.empty()) shape.order_box = survey.box;
  // The others' waves in space are as long as this box (models/features.h); a LANO has none.
  if (config.model != "lano" || !shape.reference_box.empty()) shape.reference_box = survey.network_box;
  if (survey.median_points > 0) shape.points = survey.median_points;
  return config.model == "lano" ? to_json(switches, shape)
                                : to_json(baseline_config(config.model, switches, config.baseline), shape);
}

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

class Trainer {
 public:
  Trainer(const TrainConfig& config, const std::filesystem::path& folder, const TrainOptions& options)
      : config_(config),
        options_(options),
        reader_(config.data),
        survey_(survey_split(reader_, config)),
        start_(Clock::now()) {
    const SetDescription& set = reader_.description();
    validation_ids_ = reader_.indices(Split::validation);
    if (validation_ids_.empty() && (config.selection == Selection::best || config.patience > 0)) {
      fail_usage("training",
                 fmt::format("a validation split for {}",
                             config.patience > 0 ? "train.patience" : "train.selection = \"best\""),
                 "none", "import with a validation share, or --set train.selection=last");
    }
    if (sample_bytes(reader_, validation_ids_) <= kPieceBytes) validation_ = reader_.read(validation_ids_);
    prepare_task(set);
    check_loss(set);
    const Objective objective{survey_.normaliser.output, set.shape, survey_.spacing};
    learner_ =
        std::make_unique<Learner>(config, make_trainable(architecture_for(config, set, survey_), config, objective));
    for (const double agents : config.agents_range)
      model().use_agents(static_cast<std::int64_t>(agents));  // fails here, not in mid-run
    if (!config.agents_range.empty()) model().use_agents(config.lano.agents);
    feed_ = std::make_unique<SampleFeed>(reader_, survey_.ids, std::move(survey_.samples), survey_.normaliser,
                                         model().order_box());
    const std::int64_t items_a_step = config.batch * config.accumulate;
    steps_per_epoch_ = (items() + items_a_step - 1) / items_a_step;
    state_.config = to_toml(config);
    state_.data = data_text(reader_, survey_.ids);
    state_.threads = thread_count();
    state_.best_validation = std::nan("");
    folder_ = std::make_unique<RunFolder>(
        folder);  // last: what is wrong with recipe and data has been said, and nothing written
  }

  void resume() {
    const CheckpointFolder checkpoints = folder_->checkpoints();
    std::vector<std::string> said;
    std::optional<CheckpointFolder::Found> found = checkpoints.newest(said);
    for (const std::string& text : said) fmt::print(stderr, "lano: passing over a damaged checkpoint: {}\n", text);
    if (!found && std::filesystem::exists(folder_->path() / "checkpoint/last.safetensors")) {
      fail("resuming a run", "checkpoints of this version", "one of an earlier build",
           "finish the run with the lano that began it");
    }
    const bool begun = std::filesystem::exists(folder_->config());
    if (begun || found) check_recipe(found ? found->checkpoint.config : read_file(folder_->config(), "reading"));
    if (!found) {
      if (begun) fmt::print("no checkpoint yet: starting from the beginning\n");
      return;
    }
    Checkpoint& state = found->checkpoint;
    if (state.data != state_.data)
      fail_usage("resuming a run", state.data, state_.data,
                 "give the path of its dataset with --data, or start a new run");
    if (state.threads != state_.threads && needs_torch(config_)) {
      fmt::print(stderr,
                 "lano: this run was begun with --threads {}; with {} LibTorch's own operations round differently\n",
                 state.threads, state_.threads);
    }
    learner_->restore(state.steps, state.weights, state.buffers, state.average, state.first_moment,
                      state.second_moment);
    state.config = state_.config;
    state_ = std::move(state);
    saved_ = found->path;
    // A kill may have come between the checkpoint and these.
    folder_->write_metrics(state_.history);
    if (state_.epoch > 0 && state_.best_epoch == state_.epoch && state_.steps == state_.epoch * steps_per_epoch_)
      checkpoints.keep_as_best(saved_);
    if (!state_.best_weights.empty()) write_model();
    fmt::print("resuming after step {} (epoch {} of {})\n", state_.steps, state_.epoch, config_.epochs);
    was_finished_ =
        (state_.epoch == config_.epochs || state_.ended) && std::filesystem::exists(folder_->evaluation_json());
  }

  TrainResult run() {
    write_file_atomically(folder_->config(), state_.config);
    const auto count = static_cast<std::int64_t>(survey_.ids.size());
    folder_->event("start", {{"version", kVersion},
                             {"parameters", model().parameter_count()},
                             {"train", count},
                             {"validation", validation_ids_.size()},
                             {"epoch", state_.epoch},
                             {"step", state_.steps}});
    fmt::print("{} parameters; {} training and {} validation samples of {} points{}; {} epochs of {} steps\n",
               model().parameter_count(), count, validation_ids_.size(), reader_.description().points(),
               survey_.in_memory ? "" : ", read ahead from the file", config_.epochs, steps_per_epoch_);
    const std::int64_t last = options_.stop_after > 0 ? std::min(options_.stop_after, config_.epochs) : config_.epochs;
    checkpointed_ = Clock::now();
    {
      const std::int64_t begun = std::max<std::int64_t>(0, state_.steps - state_.epoch * steps_per_epoch_) *
                                 config_.batch * config_.accumulate;
      Progress progress("training", std::max<std::int64_t>(0, (last - state_.epoch) * items() - begun), "samples");
      while (state_.epoch < last && !state_.ended && !interrupted()) {
        if (epoch(progress)) finish_epoch();
      }
      progress.finish();
    }
    TrainResult result = summary();
    result.finished = state_.epoch == config_.epochs || state_.ended;
    if (result.finished && was_finished_) {
      result.test_l2 = known_test_error();
    } else if (result.finished) {
      keeping([&] { judge(result); });
    }
    return result;
  }

 private:
  Trainable& model() { return learner_->model(); }

  void check_recipe(const std::string& toml) const {
    if (recipe_of_text(toml) == recipe_of(config_)) return;
    fail_usage("resuming a run", "the config it was started with", "another",
               "start a new run, or give no --set and no --config beside --resume");
  }

  // Of a run that was judged before: the test split is read once.
  double known_test_error() const {
    try {
      const json evaluation = json::parse(read_file(folder_->evaluation_json(), "reading"));
      return evaluation.contains("test") ? evaluation["test"]["relative_l2"]["mean"].get<double>() : std::nan("");
    } catch (const json::exception& error) {
      fail(fmt::format("reading '{}'", folder_->evaluation_json().string()), "the evaluation of a finished run",
           error.what(), "remove it and resume");
    }
  }

  // A full disk or another failure to write: what is safe, and how to go on.
  void keeping(const std::function<void()>& write) const {
    try {
      write();
    } catch (const DivergedError&) {
      throw;
    } catch (const Error& error) {
      throw Error(fmt::format("{}; {}: 'lano train --resume {} --threads {}' goes on from there", error.what(),
                              last_state(), folder_->path().string(), state_.threads));
    }
  }

  void prepare_task(const SetDescription& set) {
    const auto known = set.time.empty() ? 1 : static_cast<std::int64_t>(set.time.size());
    const std::int64_t frames = config_.frames > 0 ? std::min(config_.frames, known) : known;
    const Task task = config_.lano.task;
    if ((task == Task::steady) != set.time.empty()) {
      fail_usage(
          "training",
          task == Task::steady ? "a steady set for model.task = \"steady\"" : "a set with output at several times",
          set.time.empty() ? "a steady one" : "a time-dependent one",
          "set model.task to steady, autoregressive or time_conditional");
    }
    starts_ = training_starts(config_, set);
    if (starts_ < 1) {
      fail_usage("training", fmt::format("more than {} frames for train.rollout", config_.rollout),
                 std::to_string(frames));
    }
    const std::int64_t weighted = task == Task::autoregressive ? config_.rollout : task == Task::steady ? 0 : frames;
    const auto given = static_cast<std::int64_t>(config_.loss.frame_weights.size());
    if (given != 0 && given != weighted) {
      fail_usage("training",
                 fmt::format("{} train.frame_weights, one a {}", weighted,
                             task == Task::autoregressive ? "rolled-out step" : "frame"),
                 std::to_string(given));
    }
  }

  void check_loss(const SetDescription& set) const {
    const auto weights = static_cast<std::int64_t>(config_.loss.channel_weights.size());
    if (weights != 0 && weights != set.output_channels()) {
      fail_usage("training", fmt::format("{} train.channel_weights, one an output channel", set.output_channels()),
                 std::to_string(weights));
    }
    if (config_.points > 0 && set.geometry != Geometry::points) {
      fail_usage("training", "a point cloud for train.points",
                 fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape)));
    }
    check_augment(config_.augment, set, survey_.spacing, survey_.origin);
    if (config_.augment != Augment::none && config_.lano.task != Task::steady)
      fail_usage("training", "a steady set for train.augment", "a time-dependent one");
    if (config_.loss.gradient_weight == 0) return;
    const bool thick = std::all_of(set.shape.begin(), set.shape.end(), [](std::int64_t extent) { return extent >= 3; });
    if (survey_.spacing.empty() || !thick) {
      fail_usage("training", "a uniform grid of at least 3 points an axis for train.gradient_weight",
                 fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape)),
                 "set train.gradient_weight = 0");
    }
  }

  std::int64_t all_items() const { return static_cast<std::int64_t>(survey_.ids.size()) * starts_; }
  std::int64_t items() const {
    return config_.epoch_samples > 0 ? std::min(config_.epoch_samples, all_items()) : all_items();
  }  // of an epoch

  // The batches of the epoch under way, from the step it stands at: all of one step together.
  std::vector<std::vector<Item>> batches(std::int64_t first_step) const {
    std::vector<std::int64_t> order(static_cast<std::size_t>(all_items()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    RandomStream stream(static_cast<std::uint64_t>(config_.seed), Purpose::shuffle,
                        static_cast<std::uint64_t>(state_.epoch));
    shuffle(order, stream);
    std::vector<std::vector<Item>> all;
    for (std::int64_t at = first_step * config_.accumulate * config_.batch; at < items(); at += config_.batch) {
      all.emplace_back();
      for (std::int64_t i = at; i < std::min(at + config_.batch, items()); ++i) {
        const std::int64_t item = order[static_cast<std::size_t>(i)];
        all.back().push_back({item / starts_, item % starts_});
      }
    }
    return all;
  }

  // True where it came to its end; false where it was interrupted, with a checkpoint.
  bool epoch(Progress& progress) {
    const std::int64_t first = state_.steps - state_.epoch * steps_per_epoch_;
    std::vector<std::vector<Item>> plan = batches(first);
    const double before = state_.epoch_seconds;
    const auto begun = Clock::now();
    std::size_t taken = 0;
    feed_->plan(plan);
    for (std::int64_t s = first; s < steps_per_epoch_; ++s) {
      std::vector<PreparedBatch> parts;
      std::vector<Item> rows;
      for (std::int64_t a = 0; a < config_.accumulate && taken < plan.size(); ++a, ++taken) {
        parts.push_back(feed_->next());
        rows.insert(rows.end(), plan[taken].begin(), plan[taken].end());
      }
      const Learner::Step done = learner_->step(parts, config_.epochs * steps_per_epoch_, steps_per_epoch_);
      if (!done.finite) fail_not_finite("a finite loss and gradient", sample_text(rows));
      state_.steps = learner_->steps();
      state_.epoch_loss += done.loss * static_cast<double>(rows.size());
      state_.epoch_seconds = before + seconds_since(begun);
      learning_rate_ = done.learning_rate;
      progress.advance(static_cast<std::int64_t>(rows.size()), detail(done.loss));
      if (options_.after_step) options_.after_step(state_.steps);
      const bool last = s + 1 == steps_per_epoch_;
      if (!last && interrupted()) {
        save(false);
        return false;
      }
      if (!last && due()) save(false);
    }
    return true;
  }

  bool due() const {
    return (config_.checkpoint_steps > 0 && state_.steps % config_.checkpoint_steps == 0) ||
           (config_.checkpoint_minutes > 0 && seconds_since(checkpointed_) >= 60 * config_.checkpoint_minutes);
  }

  double validation_error() {
    if (validation_ids_.empty()) return std::nan("");
    const auto predictor = model().predictor(about_model());
    const SetDescription& set = reader_.description();
    if (validation_.count > 0) return summarise(evaluate(*predictor, set, validation_).relative_l2).mean;
    return summarise(evaluate_in_pieces(*predictor, reader_, validation_ids_, kPieceBytes).relative_l2).mean;
  }

  // Of the running mean: put in the weights' place for as long as it takes.
  double average_error() {
    if (learner_->average().empty()) return std::nan("");
    const std::span<float> values = model().values();
    const std::vector<float> raw(values.begin(), values.end());
    std::copy(learner_->average().begin(), learner_->average().end(), values.begin());
    const double error = validation_error();
    std::copy(raw.begin(), raw.end(), values.begin());
    return error;
  }

  // Validation, choice of weights, the end by patience, the checkpoint, the metrics and (where it changed) the model
  // file.
  void finish_epoch() {
    ++state_.epoch;
    const auto begun = Clock::now();
    const double raw = validation_error(), average = average_error();
    state_.history.push_back({state_.epoch, state_.steps, learning_rate_,
                              state_.epoch_loss / static_cast<double>(items()), raw, average,
                              state_.epoch_seconds + seconds_since(begun)});
    state_.epoch_loss = state_.epoch_seconds = 0;
    const bool last_kept = config_.selection == Selection::last;
    const bool use_average = !learner_->average().empty() && (last_kept || !std::isfinite(raw) || average < raw);
    const double error = use_average ? average : raw;
    const bool better = last_kept || !std::isfinite(state_.best_validation) || error < state_.best_validation;
    if (better) {
      const std::span<const float> values = model().values();
      state_.best_weights = use_average ? learner_->average() : std::vector<float>(values.begin(), values.end());
      state_.best_buffers =
          model().buffers();  // statistics are running means already: averaged weights take them as they are
      state_.best_is_average = use_average;
      state_.best_validation = error;
      state_.best_epoch = state_.epoch;
    }
    state_.ended = config_.patience > 0 && state_.epoch - best_validation_epoch() >= config_.patience &&
                   state_.epoch < config_.epochs;
    save(better);
    keeping([&] {
      folder_->write_metrics(state_.history);
      const EpochMetrics& m = state_.history.back();
      folder_->event("epoch", {{"epoch", m.epoch},
                               {"train_loss", m.train_loss},
                               {"seconds", m.seconds},
                               {"validation_l2", number_or_null(raw)},
                               {"validation_ema_l2", number_or_null(average)}});
      if (better) write_model();
    });
  }

  std::int64_t best_validation_epoch() const {
    std::int64_t epoch = 0;
    double best = std::numeric_limits<double>::infinity();
    for (const EpochMetrics& m : state_.history) {
      const double error =
          std::isfinite(m.validation_ema_l2) ? std::min(m.validation_l2, m.validation_ema_l2) : m.validation_l2;
      if (error < best) {
        best = error;
        epoch = m.epoch;
      }
    }
    return epoch;
  }

  std::string detail(double loss_now) const {
    std::string text = fmt::format("epoch {}/{}  loss {:.4f}", state_.epoch + 1, config_.epochs, loss_now);
    if (!state_.history.empty() && std::isfinite(state_.history.back().validation_l2)) {
      text += fmt::format("  validation {:.4f}", state_.history.back().validation_l2);
    }
    return text + fmt::format("  rate {:.2g}", learning_rate_);
  }

  std::string last_state() const {
    return saved_.empty() ? "there is no checkpoint yet"
                          : fmt::format("the last finite state is in '{}'", saved_.string());
  }

  [[noreturn]] void fail_not_finite(const std::string& what, const std::string& found) const {
    throw DivergedError(
        error_message(fmt::format("training, step {}", learner_->steps() + 1), what, found,
                      fmt::format("lower schedule.learning_rate or look at these samples; {}", last_state())));
  }

  std::string sample_text(const std::vector<Item>& items) const {
    std::vector<std::int64_t> ids;
    for (const Item& item : items) ids.push_back(survey_.ids[static_cast<std::size_t>(item.row)]);
    return fmt::format("NaN or infinity on samples {}", fmt::join(ids, ", "));
  }

  void save(bool best) {
    state_.weights.assign(model().values().begin(), model().values().end());
    state_.buffers = model().buffers();
    state_.average = learner_->average();
    state_.first_moment = learner_->optimiser().first_moment();
    state_.second_moment = learner_->optimiser().second_moment();
    if (!all_finite(state_.weights) || !all_finite(state_.buffers) || !all_finite(state_.average))
      fail_not_finite("finite weights after the last step", "NaN or infinity");
    keeping([&] { saved_ = folder_->checkpoints().save(state_, best); });
    checkpointed_ = Clock::now();
  }

  // A model file without weights.
  ModelFile about_model() const {
    ModelFile file;
    file.architecture = learner_->model().architecture();
    file.set = reader_.description();
    file.coordinates = survey_.shared_coordinates;
    file.normaliser = survey_.normaliser;
    return file;
  }

  void write_model() {
    ModelFile file = about_model();
    file.provenance = {{"version", kVersion},
                       {"recipe", recipe_of(config_)},
                       {"epoch", state_.best_epoch},
                       {"weights", state_.best_is_average ? "ema" : "raw"},
                       {"train_samples", survey_.ids.size()},
                       {"validation_l2", number_or_null(state_.best_validation)}};
    file.weights = name_tensors(model().layout(), state_.best_weights);
    file.buffers = model().name_buffers(state_.best_buffers);
    write_model_file(folder_->model(), file);
  }

  TrainResult summary() const {
    TrainResult result;
    result.parameters = learner_->model().parameter_count();
    result.epochs = state_.epoch;
    result.best_epoch = state_.best_epoch;
    result.validation_l2 = state_.best_validation;
    result.test_l2 = std::nan("");
    for (const EpochMetrics& m : state_.history) result.seconds += m.seconds;
    return result;
  }

  std::string selection_text() const {
    const std::string weights = state_.best_is_average ? "the running mean of the weights" : "the weights";
    const std::string which =
        config_.selection == Selection::best
            ? fmt::format("{} after epoch {} of {}, which had the lowest validation error{}", weights,
                          state_.best_epoch, state_.epoch,
                          learner_->average().empty() ? "" : " of raw and averaged weights")
            : fmt::format("{} after the last epoch ({}), without choice", weights, state_.best_epoch);
    return which + (options_.test ? "; the test split was read once, after training" : "; the test split was not read");
  }

  // The chosen weights meet the test split, once.
  void judge(TrainResult& result) {
    std::copy(state_.best_weights.begin(), state_.best_weights.end(), model().values().begin());
    model().load_buffers(state_.best_buffers, "judging a model");
    const auto predictor = model().predictor(about_model());
    json about{{"model", config_.model},
               {"parameters", result.parameters},
               {"epochs", result.epochs},
               {"best_epoch", result.best_epoch},
               {"selection", config_.selection == Selection::best ? "best on validation" : "last epoch"},
               {"weights", state_.best_is_average ? "ema" : "raw"},
               {"selection_text", selection_text()},
               {"early_stop", state_.ended},
               {"seed", config_.seed},
               {"train_samples", survey_.ids.size()},
               {"validation_samples", validation_ids_.size()},
               {"validation_l2", number_or_null(result.validation_l2)},
               {"training_seconds", result.seconds},
               {"set", reader_.description().name}};
    const auto ids = options_.test ? reader_.indices(Split::test) : std::vector<std::int64_t>{};
    if (!ids.empty()) {
      const Evaluation evaluation = evaluate_in_pieces(*predictor, reader_, ids, kPieceBytes);
      result.test_l2 = summarise(evaluation.relative_l2).mean;
      about["test"] = to_json(evaluation);
      std::vector<std::int64_t> picked;
      for (const std::size_t row : picked_rows(evaluation)) picked.push_back(evaluation.ids[row]);
      const Samples few = reader_.read(picked);
      write_picked(folder_->evaluation_data(), evaluate(*predictor, reader_.description(), few), few,
                   reader_.description());
    }
    write_file_atomically(folder_->evaluation_json(), about.dump(1) + "\n");
    folder_->event("finish", {{"test_l2", number_or_null(result.test_l2)}, {"seconds", seconds_since(start_)}});
  }

  TrainConfig config_;
  TrainOptions options_;
  DatasetReader reader_;
  SplitSurvey survey_;
  Clock::time_point start_, checkpointed_;
  std::vector<std::int64_t> validation_ids_;
  Samples validation_;  // empty where it is read in pieces each time
  std::unique_ptr<Learner> learner_;
  std::unique_ptr<SampleFeed> feed_;
  std::unique_ptr<RunFolder> folder_;
  std::filesystem::path saved_;  // the newest state on disk
  bool was_finished_ = false;    // and judged, before this start
  std::int64_t steps_per_epoch_ = 0, starts_ = 1;
  double learning_rate_ = 0;
  Checkpoint state_;
};

}  // namespace

std::int64_t training_starts(const TrainConfig& config, const SetDescription& set) {
  const auto known = set.time.empty() ? 1 : static_cast<std::int64_t>(set.time.size());
  const std::int64_t frames = config.frames > 0 ? std::min(config.frames, known) : known;
  return config.lano.task == Task::autoregressive ? frames - config.rollout : frames;
}

TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, const TrainOptions& options) {
  check_train_config(config);
  Trainer trainer(config, run_folder, options);
  if (options.resume) trainer.resume();
  return trainer.run();
}

}  // namespace lano
