// The course of a run: epochs of steps (train/learner.h), validation, the choice of weights (run/selection.h),
// checkpoints, the test at the end.
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/ranks.h"
#include "core/threads.h"
#include "core/version.h"
#include "evaluate/shown_samples.h"
#include "kernels/mesh_part.h"
#include "kernels/tile_kernels.h"
#include "run/run_folder.h"
#include "run/run_record.h"
#include "train/checkpoint.h"
#include "train/epoch_plan.h"
#include "train/learner.h"
#include "train/recipe_check.h"
#include "train/run_identity.h"
#include "train/subject.h"
#include "train/training_cost.h"

namespace lano {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(); }

bool all_finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

// A resumed run begins with the model file it once began with, whatever became of it elsewhere.
TrainConfig with_kept_start(TrainConfig config, const std::filesystem::path& folder, bool resume) {
  if (resume && !config.from.empty() && std::filesystem::exists(start_file(folder)))
    config.from = start_file(folder).string();
  return config;
}

Checkpoint beginning(const TrainConfig& config, const Subject& subject) {
  Checkpoint state;
  state.config = to_toml(config);
  state.data = data_identity(subject.reader, subject.survey.ids);
  state.threads = thread_count();
  return state;
}

class Trainer {
 public:
  Trainer(const TrainConfig& config, const std::filesystem::path& folder, const TrainOptions& options)
      : config_(config),
        options_(options),
        subject_(with_kept_start(config, folder, options.resume), options.test),
        learner_(config, subject_.make_model(config)),
        feed_(subject_.make_feed(model())),
        plan_(config, static_cast<std::int64_t>(subject_.survey.ids.size()),
              training_starts(config, subject_.reader.description())),
        state_(beginning(config, subject_)),
        folder_(checked(folder),
                ranks().first()),  // last: recipe and data have been checked, and nothing written
        checkpoints_(folder_.checkpoints()) {
    if (folder_.writes() && subject_.start && !std::filesystem::exists(start_file(folder)))
      write_model_file(start_file(folder), *subject_.start);
  }

  void resume();
  TrainResult run();

 private:
  Trainable& model() { return learner_.model(); }
  Listener& listener() const { return *options_.listener; }
  const std::filesystem::path& checked(const std::filesystem::path& folder) const;
  bool done() const { return state_.epoch == config_.epochs || state_.ended; }

  void announce() const;
  TrainingWork work_until(std::int64_t last) const;
  std::vector<BaselineError> baselines_on(Split split) const;
  bool epoch(CountedWork& progress);
  void finish_epoch();
  double validation_error();
  std::optional<double> average_error();
  bool out_of_patience() const;
  bool checkpoint_due() const;
  bool wants_to_stop() const;
  void save(bool best);
  void write_model();
  TrainResult summary() const;
  void judge(TrainResult& result);
  std::string selection_text() const;
  std::string detail(double loss) const;
  std::string last_state() const;
  void keeping(const std::function<void()>& write) const;
  [[noreturn]] void fail_not_finite(const std::string& what, const std::string& found) const;

  TrainConfig config_;
  TrainOptions options_;
  Subject subject_;
  Learner learner_;
  std::unique_ptr<SampleFeed> feed_;
  EpochPlan plan_;
  Checkpoint state_;
  RunFolder folder_;
  CheckpointFolder checkpoints_;
  std::filesystem::path saved_;  // the newest state on disk
  Clock::time_point start_ = Clock::now(), checkpointed_ = start_;
  double learning_rate_ = 0;
  std::optional<TrainingCost> cost_;
  std::vector<BaselineError> validation_baselines_;
};

// The run folder, once it is known that all ranks do the same work: with another program, recipe or dataset one would
// compute something meaningless.
const std::filesystem::path& Trainer::checked(const std::filesystem::path& folder) const {
  if (ranks().alone()) return folder;
  if (!mesh_ranks().alone()) {
    LanoConfig switches;
    LanoShape shape;
    lano_from_json(learner_.model().architecture(), switches, shape);
    const std::int64_t points = subject_.reader.description().points(),
                       most = kernels::most_training_ranks(points, kernels::network_shape(switches, shape));
    if (mesh_ranks().size() > most)
      fail_usage(fmt::format("dividing each mesh over {} ranks", mesh_ranks().size()),
                 fmt::format("at most {}: {} points are cut into as many pieces", most, points),
                 fmt::format("--mesh-ranks {}", mesh_ranks().size()), "give a smaller --mesh-ranks");
  }
  const std::string doing = fmt::format("training on {} ranks", ranks().size());
  // The number of the first rank that has something else than rank 0, and all they have.
  const auto differing = [](const std::string& mine) {
    std::vector<std::string> all = ranks().gather(mine);
    const auto other = std::find_if(all.begin(), all.end(), [&](const std::string& one) { return one != all[0]; });
    const auto rank = other == all.end() ? std::size_t{0} : static_cast<std::size_t>(other - all.begin());
    return std::pair(rank, std::move(all));
  };
  const auto same = [&](const char* name, const std::string& mine) {
    if (const auto [rank, all] = differing(mine); rank > 0)
      fail(doing, fmt::format("on rank {} the {} of rank 0: {}", rank, name, all[0]), all[rank],
           fmt::format("give all ranks the same {}", name));
  };
  same("version", fmt::format("lano {}", kVersion));
  same("kernels", std::string(kernels::kernels().name));
  same("dataset", state_.data);
  if (const auto [rank, all] = differing(deciding_recipe(config_)); rank > 0)
    fail_plainly(doing, fmt::format("the recipe of rank {} differs from that of rank 0", rank),
                 "give all ranks the same recipe");
  return folder;
}

void Trainer::resume() {
  std::vector<std::string> said;
  std::optional<CheckpointFolder::Found> found;
  if (folder_.writes()) found = checkpoints_.newest(said);
  if (!ranks().alone()) {
    const std::string newest = ranks().from_first(found ? found->path.string() : std::string());
    if (!folder_.writes() && !newest.empty()) found = {read_checkpoint(newest), newest};
  }
  for (const std::string& text : said) listener().warn("skipping a damaged checkpoint: " + text);
  if (!found && std::filesystem::exists(folder_.checkpoints() / "last.safetensors")) {
    fail("resuming a run", "checkpoints of this version", "one of an earlier build",
         "finish the run with the lano that began it");
  }
  const bool begun = std::filesystem::exists(folder_.config());
  if (begun || found)
    check_same_recipe(found ? found->checkpoint.config : read_file(folder_.config(), "reading"), config_);
  if (!found) {
    if (begun) listener().say("no checkpoint yet: starting from the beginning");
    return;
  }
  Checkpoint& state = found->checkpoint;
  if (state.data != state_.data)
    fail_usage("resuming a run", state.data, state_.data,
               "give the path of its dataset with --data, or start a new run");
  if (state.threads != state_.threads && needs_torch(config_)) {
    listener().warn(
        fmt::format("this run was begun with --threads {}; with {} LibTorch's own operations round differently",
                    state.threads, state_.threads));
  }
  learner_.restore(state.steps, state.weights, state.buffers, state.average, state.first_moment, state.second_moment);
  state.config = state_.config;
  state_ = std::move(state);
  saved_ = found->path;
  // A kill may have come between the checkpoint and these.
  folder_.write_metrics(state_.history);
  if (folder_.writes() && state_.epoch > 0 && state_.best.epoch == state_.epoch &&
      state_.steps == state_.epoch * plan_.steps())
    checkpoints_.keep_as_best(saved_);
  if (!state_.best_weights.empty()) write_model();
  listener().say(fmt::format("resuming after step {} (epoch {} of {})", state_.steps, state_.epoch, config_.epochs));
}

TrainResult Trainer::run() {
  const bool judged_before = done() && is_finished(folder_.path());
  if (folder_.writes()) write_file_atomically(folder_.config(), state_.config);
  announce();
  if (folder_.writes() && options_.baselines && subject_.validation.count() > 0 && !judged_before) {
    validation_baselines_ = baselines_on(Split::validation);
    listener().say("for comparison, on validation: " + baselines_text(validation_baselines_));
  }
  const std::int64_t last = options_.stop_after > 0 ? std::min(options_.stop_after, config_.epochs) : config_.epochs;
  const std::int64_t begun = (state_.steps - state_.epoch * plan_.steps()) * plan_.items_per_step();
  CountedWork progress(
      listener(), "training",
      std::max<std::int64_t>(0, (last - state_.epoch) * plan_.items() - std::max<std::int64_t>(0, begun)), "samples");
  checkpointed_ = Clock::now();
  cost_.emplace(work_until(last));
  while (state_.epoch < last && !state_.ended && !wants_to_stop()) {
    if (epoch(progress)) finish_epoch();
  }
  progress.finish();
  TrainResult result = summary();
  result.finished = done();
  if (judged_before) {  // the test split is evaluated once
    const RunRecord record = read_run_record(folder_.path());
    result.test_l2 = record.test_l2();
    result.validation_baselines = record.validation_baselines;
    result.test_baselines = record.test_baselines;
  } else if (result.finished && mesh_group() == 0) {
    keeping([&] { judge(result); });
  }
  ranks().meet();
  return result;
}

std::vector<BaselineError> Trainer::baselines_on(Split split) const {
  const SetDescription& set = subject_.shown->description();
  const std::int64_t given = given_frames(config_.lano.task, chosen_state_frames(config_.lano, set), set);
  return SimpleBaselines(*subject_.shown, subject_.survey.ids, given)
      .judge(*subject_.shown, subject_.shown->indices(split));
}

void Trainer::announce() const {
  const SplitSurvey& survey = subject_.survey;
  for (const std::string& line : options_.preface) listener().say(line);
  const std::int64_t parameters = learner_.model().parameter_count();
  folder_.event("start", {{"version", kVersion},
                          {"set", subject_.reader.description().name},
                          {"parameters", parameters},
                          {"train", survey.ids.size()},
                          {"validation", subject_.validation.count()},
                          {"epoch", state_.epoch},
                          {"step", state_.steps}});
  listener().say(
      fmt::format("{} parameters; {} training and {} validation samples of {} points{}; {} epochs of {} steps",
                  parameters, survey.ids.size(), subject_.validation.count(), subject_.reader.description().points(),
                  survey.in_memory ? "" : ", read ahead from the file", config_.epochs, plan_.steps()));
}

TrainingWork Trainer::work_until(std::int64_t last) const {
  // Coarse steps first would tell nothing of the later ones.
  if (config_.points > 0 && config_.points_share < 1) return {};
  const auto looked_at =
      static_cast<double>(subject_.validation.count() * training_starts(config_, subject_.reader.description()));
  // A prediction is about a third of a step.
  return {last - state_.epoch, plan_.steps(), looked_at / (3.0 * static_cast<double>(plan_.items_per_step()))};
}

// What this rank has of each batch.
std::vector<Share> own_shares(const std::vector<std::vector<Item>>& batches) {
  std::vector<Share> shares;
  for (const std::vector<Item>& batch : batches)
    shares.push_back(share_of(static_cast<std::int64_t>(batch.size()), mesh_group(), mesh_groups()));
  return shares;
}

std::vector<std::vector<Item>> own_items(const std::vector<std::vector<Item>>& batches,
                                         const std::vector<Share>& shares) {
  std::vector<std::vector<Item>> own;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (shares[i].count() > 0)
      own.emplace_back(batches[i].begin() + shares[i].first, batches[i].begin() + shares[i].last);
  }
  return own;
}

// A signal may reach one rank before another: all stop at the same step.
bool Trainer::wants_to_stop() const {
  if (ranks().alone()) return interrupted();
  const double mine = interrupted() ? 1 : 0;
  const std::vector<double> all = ranks().gather(std::span(&mine, 1));
  return std::any_of(all.begin(), all.end(), [](double one) { return one != 0; });
}

// True where it came to its end; false where it was interrupted, with a checkpoint.
bool Trainer::epoch(CountedWork& progress) {
  subject_.reader.check_unchanged();  // also where all samples are in memory: the test split is not
  const std::int64_t first = state_.steps - state_.epoch * plan_.steps();
  const std::vector<std::vector<Item>> batches = plan_.batches(state_.epoch, first);
  const std::vector<Share> shares = own_shares(batches);
  const double before = state_.epoch_seconds;
  const auto begun = Clock::now();
  std::size_t taken = 0;
  feed_->plan(own_items(batches, shares));
  for (std::int64_t s = first; s < plan_.steps(); ++s) {
    std::vector<PreparedBatch> parts;
    std::vector<std::int64_t> ids;
    for (std::int64_t a = 0; a < config_.accumulate && taken < batches.size(); ++a, ++taken) {
      parts.push_back(shares[taken].count() > 0 ? feed_->next() : PreparedBatch());
      parts.back().before = shares[taken].first;
      parts.back().of = static_cast<std::int64_t>(batches[taken].size());
      for (const Item& item : batches[taken]) ids.push_back(subject_.survey.ids[static_cast<std::size_t>(item.row)]);
    }
    const Learner::Step done = learner_.step(parts, config_.epochs * plan_.steps(), plan_.steps());
    if (!done.finite)
      fail_not_finite("a finite loss and gradient", fmt::format("NaN or infinity on samples {}", fmt::join(ids, ", ")));
    state_.steps = learner_.steps();
    state_.epoch_loss += done.loss * static_cast<double>(ids.size());
    state_.epoch_seconds = before + seconds_since(begun);
    learning_rate_ = done.learning_rate;
    progress.advance(static_cast<std::int64_t>(ids.size()), detail(done.loss));
    if (const auto cost = cost_->after_step()) listener().say(*cost);
    if (options_.after_step) options_.after_step(state_.steps);
    if (s + 1 == plan_.steps()) break;
    const bool stop = wants_to_stop();
    if (stop || checkpoint_due()) save(false);
    if (stop) return false;
  }
  return true;
}

// Validation, choice of weights, the end by patience, the checkpoint, the metrics and (where it changed) the model
// file.
void Trainer::finish_epoch() {
  ++state_.epoch;
  const auto begun = Clock::now();
  const double raw = validation_error();
  const std::optional<double> average = average_error();
  state_.history.push_back({state_.epoch, state_.steps, learning_rate_,
                            state_.epoch_loss / static_cast<double>(plan_.items()), raw, average.value_or(std::nan("")),
                            state_.epoch_seconds + seconds_since(begun)});
  state_.epoch_loss = state_.epoch_seconds = 0;
  const bool better = offer(state_.best, config_.selection, state_.epoch, raw, average);
  if (better) {
    const std::span<const float> values = model().values();
    state_.best_weights = state_.best.average ? learner_.average() : std::vector<float>(values.begin(), values.end());
    // Statistics are running means already: averaged weights take them as they are.
    state_.best_buffers = model().buffers();
  }
  state_.ended = state_.epoch < config_.epochs && out_of_patience();
  save(better);
  keeping([&] {
    folder_.write_metrics(state_.history);
    const EpochMetrics& m = state_.history.back();
    folder_.event("epoch", {{"epoch", m.epoch},
                            {"train_loss", m.train_loss},
                            {"seconds", m.seconds},
                            {"validation_l2", number_or_null(m.validation_l2)},
                            {"validation_ema_l2", number_or_null(m.validation_ema_l2)}});
    if (better) write_model();
  });
}

double Trainer::validation_error() {
  if (subject_.validation.count() == 0) return std::nan("");
  const auto predictor = model().predictor(subject_.about_model(model().architecture()));
  return subject_.validation.error(*predictor);
}

// Of the running mean, put in the weights' place for as long as it takes; none without train.ema.
std::optional<double> Trainer::average_error() {
  if (learner_.average().empty()) return std::nullopt;
  const std::span<float> values = model().values();
  const std::vector<float> raw(values.begin(), values.end());
  std::copy(learner_.average().begin(), learner_.average().end(), values.begin());
  const double error = validation_error();
  std::copy(raw.begin(), raw.end(), values.begin());
  return error;
}

bool Trainer::out_of_patience() const {
  if (config_.patience == 0) return false;
  KeptWeights best;  // by validation, whichever weights the run keeps
  for (const EpochMetrics& m : state_.history) {
    offer(best, Selection::best, m.epoch, m.validation_l2,
          learner_.average().empty() ? std::nullopt : std::optional(m.validation_ema_l2));
  }
  return state_.epoch - best.epoch >= config_.patience;
}

bool Trainer::checkpoint_due() const {
  return (config_.checkpoint_steps > 0 && state_.steps % config_.checkpoint_steps == 0) ||
         (config_.checkpoint_minutes > 0 && seconds_since(checkpointed_) >= 60 * config_.checkpoint_minutes);
}

void Trainer::save(bool best) {
  if (!all_finite(model().values()) || !all_finite(model().buffers()) || !all_finite(learner_.average()))
    fail_not_finite("finite weights after the last step", "NaN or infinity");
  if (folder_.writes()) {
    state_.weights.assign(model().values().begin(), model().values().end());
    state_.buffers = model().buffers();
    state_.average = learner_.average();
    state_.first_moment = learner_.optimiser().first_moment();
    state_.second_moment = learner_.optimiser().second_moment();
    keeping([&] { saved_ = checkpoints_.save(state_, best); });
  }
  checkpointed_ = Clock::now();  // on all ranks: those that write nothing have nothing due either
}

void Trainer::write_model() {
  if (!folder_.writes()) return;
  ModelFile file = subject_.about_model(model().architecture());
  file.provenance = {{"version", kVersion},
                     {"recipe", deciding_recipe(config_)},
                     {"epoch", state_.best.epoch},
                     {"weights", state_.best.average ? "ema" : "raw"},
                     {"from", std::filesystem::path(config_.from).filename().string()},
                     {"train_samples", subject_.survey.ids.size()},
                     {"validation_l2", number_or_null(state_.best.error)}};
  if (config_.train_on == TrainOn::train_and_validation) file.provenance["train_on"] = kTrainAndValidation;
  file.weights = name_tensors(model().layout(), state_.best_weights);
  file.buffers = model().name_buffers(state_.best_buffers);
  write_model_file(folder_.model(), file);
}

TrainResult Trainer::summary() const {
  TrainResult result;
  result.parameters = learner_.model().parameter_count();
  result.epochs = state_.epoch;
  result.best_epoch = state_.best.epoch;
  result.validation_l2 = state_.best.error;
  result.test_l2 = std::nan("");
  for (const EpochMetrics& m : state_.history) result.seconds += m.seconds;
  return result;
}

// The chosen weights meet the test split, once.
void Trainer::judge(TrainResult& result) {
  std::copy(state_.best_weights.begin(), state_.best_weights.end(), model().values().begin());
  model().load_buffers(state_.best_buffers, "judging a model");
  const auto predictor = model().predictor(subject_.about_model(model().architecture()));
  RunRecord record;
  record.model = config_.model;
  record.set = subject_.reader.description().name;
  record.parameters = result.parameters;
  record.epochs = result.epochs;
  record.best_epoch = result.best_epoch;
  record.selection = config_.selection == Selection::best ? "best on validation" : "last epoch";
  record.selection_text = selection_text();
  record.averaged = state_.best.average;
  record.early_stop = state_.ended;
  record.seed = config_.seed;
  record.train_samples = static_cast<std::int64_t>(subject_.survey.ids.size());
  record.validation_samples = subject_.validation.count();
  record.validation_l2 = result.validation_l2;
  record.training_seconds = result.seconds;
  const auto ids = options_.test ? subject_.reader.indices(Split::test) : std::vector<std::int64_t>{};
  if (!ids.empty()) {
    record.test = judge_in_pieces(*predictor, *subject_.shown, ids, kPieceBytes);
    if (options_.shown) {
      const auto shown = shown_samples(*predictor, *subject_.shown, ids_to_show(*record.test));
      if (folder_.writes()) write_shown(folder_.shown_samples(), shown);
    }
    if (options_.baselines) record.test_baselines = baselines_on(Split::test);
  }
  record.validation_baselines = result.validation_baselines = validation_baselines_;
  result.test_baselines = record.test_baselines;
  if (folder_.writes()) write_run_record(folder_.path(), record);
  result.test_l2 = record.test_l2();
  folder_.event("finish", {{"test_l2", number_or_null(result.test_l2)}, {"seconds", seconds_since(start_)}});
}

std::string Trainer::selection_text() const {
  const std::string weights = state_.best.average ? "the running mean of the weights" : "the weights";
  const std::string which =
      config_.selection == Selection::best
          ? fmt::format("{} after epoch {} of {}, which had the lowest validation error{}", weights, state_.best.epoch,
                        state_.epoch, learner_.average().empty() ? "" : " of raw and averaged weights")
          : fmt::format("{} after the last epoch ({}), without choice", weights, state_.best.epoch);
  return which + (subject_.reader.indices(Split::test).empty() ? "; the dataset has no test split"
                  : options_.test                              ? "; the test split was evaluated once, after training"
                                                               : "; the test split was not read");
}

std::string Trainer::detail(double loss) const {
  std::string text = fmt::format("epoch {}/{}  loss {:.4f}", state_.epoch + 1, config_.epochs, loss);
  if (!state_.history.empty() && std::isfinite(state_.history.back().validation_l2)) {
    text += fmt::format("  validation {:.4f}", state_.history.back().validation_l2);
  }
  return text + fmt::format("  rate {:.2g}", learning_rate_);
}

std::string Trainer::last_state() const {
  return saved_.empty() ? "there is no checkpoint yet"
                        : fmt::format("the last finite state is in '{}'", saved_.string());
}

// A full disk or another failure to write: what is safe, and how to resume.
void Trainer::keeping(const std::function<void()>& write) const {
  try {
    write();
  } catch (const DivergedError&) {
    throw;
  } catch (const Error& error) {
    throw Error(fmt::format("{}; {}: 'lano train --resume {} --threads {}' resumes from there", error.what(),
                            last_state(), folder_.path().string(), state_.threads));
  }
}

void Trainer::fail_not_finite(const std::string& what, const std::string& found) const {
  throw DivergedError(
      error_message(fmt::format("training, step {}", learner_.steps() + 1), what, found,
                    fmt::format("lower schedule.learning_rate or look at these samples; {}", last_state())));
}

}  // namespace

namespace {

void check_ranks(const TrainConfig& config) {
  if (config.batch >= mesh_groups()) return;
  const bool shared = !mesh_ranks().alone();
  fail_usage(fmt::format("training on {} ranks", ranks().size()),
             fmt::format("at least one sample of a batch for each{}",
                         shared ? fmt::format(" {} that share a mesh", mesh_ranks().size()) : ""),
             fmt::format("train.batch = {}", config.batch),
             "start fewer ranks, divide each mesh over more of them by --mesh-ranks, or give a larger --set "
             "train.batch");
}

}  // namespace

TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, const TrainOptions& options) {
  check_train_config(config);
  check_ranks(config);
  Trainer trainer(config, run_folder, options);
  ranks().meet();  // a folder that the first rank cannot use is heard of here
  if (options.resume) trainer.resume();
  return trainer.run();
}

}  // namespace lano
