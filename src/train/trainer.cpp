// One epoch: shuffle by (seed, epoch), for each batch  loss = mean relative L2 (+ weight * gradient term), backward, clip,
// AdamW at the schedule's rate. Cost of a step: three forward passes.
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/random.h"
#include "core/version.h"
#include "data/dataset.h"
#include "train/evaluation.h"
#include "train/flat_parameters.h"
#include "train/loss.h"
#include "train/rollout.h"
#include "train/run_folder.h"
#include "train/tensor_set.h"

namespace lano {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Trainer {
 public:
  Trainer(const TrainConfig& config, const std::filesystem::path& folder)
      : config_(config), reader_(config.data), folder_(folder), start_(Clock::now()) {
    const SetDescription& set = reader_.description();
    if (!reader_.has_output()) fail("training", "a set with output", "none");
    train_samples_ = reader_.read(reader_.indices(Split::train));
    if (train_samples_.count == 0) fail("training", "samples in the train split", "none", "import with --train");
    normaliser_ = fit_normaliser(train_samples_, set, config.coordinates == Scaling::channel,
                                 config.input == Scaling::channel, config.output == Scaling::channel);
    validation_samples_ = reader_.read(reader_.indices(Split::validation));
    if (config.selection == Selection::best && validation_samples_.count == 0) {
      fail_usage("training", "a validation split for train.selection = \"best\"", "none",
                 "import with a validation share, or --set train.selection=last");
    }
    prepare_task(set);
    prepare_gradient_term(set);
    if (config.model != "lano") {
      fail_usage("training", "model.name = \"lano\"", fmt::format("\"{}\"", config.model));
    }
    std::vector<double> origin;
    if (!spacing_.empty()) origin.assign(train_samples_.coordinates.begin(), train_samples_.coordinates.begin() + set.dims());
    LanoShape shape = lano_shape(config.lano, set, spacing_, origin);
    if (!shape.order_box.empty()) shape.order_box = bounds(train_samples_.coordinates, set.dims());
    if (!shape.reference_box.empty()) {
      std::vector<float> network(train_samples_.coordinates.size());
      normaliser_.coordinates.encode(train_samples_.coordinates, network);
      shape.reference_box = bounds(network, set.dims());
    }
    if (!train_samples_.counts.empty()) {
      std::vector<std::int64_t> counts = train_samples_.counts;
      std::sort(counts.begin(), counts.end());
      shape.points = counts[counts.size() / 2];
    }
    model_ = make_model(to_json(config.lano, shape), static_cast<std::uint64_t>(config.seed));
    model_->use_engine(config.engine);
    flat_ = std::make_unique<FlatParameters>(*model_);
    optimiser_ = std::make_unique<Adamw>(flat_->values().size(), config.optimiser);
    steps_per_epoch_ = (items() + config.batch - 1) / config.batch;
    state_.config = to_toml(config);
    state_.best_validation = std::nan("");
  }

  void resume() {
    if (!std::filesystem::exists(folder_.checkpoint())) return;
    Checkpoint found = read_checkpoint(folder_.checkpoint());
    if (found.config != state_.config) {
      fail_usage("resuming a run", "the config it was started with", "another",
                 "start a new run, or give no --set and no --config beside --resume");
    }
    load_weights(*model_, found.weights, "resuming a run");
    optimiser_->restore(found.optimiser_steps, found.first_moment, found.second_moment);
    state_ = std::move(found);
    // A kill may have come between the checkpoint and these.
    folder_.write_metrics(state_.history);
    write_model();
    fmt::print("resuming after epoch {} of {}\n", state_.epoch, config_.epochs);
  }

  TrainResult run(std::int64_t stop_after, bool test) {
    write_file_atomically(folder_.config(), state_.config);
    folder_.event("start", {{"version", kVersion}, {"parameters", parameter_count(*model_)},
                            {"train", train_samples_.count}, {"validation", validation_samples_.count},
                            {"epoch", state_.epoch}});
    fmt::print("{} parameters; {} training and {} validation samples of {} points; {} epochs of {} steps\n",
               parameter_count(*model_), train_samples_.count, validation_samples_.count, train_samples_.points,
               config_.epochs, steps_per_epoch_);
    const TensorSet set(train_samples_, reader_.description(), normaliser_, model_->order_box());
    {
      const std::int64_t last = stop_after > 0 ? std::min(stop_after, config_.epochs) : config_.epochs;
      Progress progress("training", std::max<std::int64_t>(0, last - state_.epoch) * items(), "samples");
      while (state_.epoch < last) epoch(set, progress);
      progress.finish();
    }
    TrainResult result = summary();
    if (state_.epoch == config_.epochs) {
      test_once(result, test);
    } else {
      result.finished = false;
    }
    return result;
  }

 private:
  // Frames to start from: steady sets have one, a roll-out needs its steps ahead of it.
  void prepare_task(const SetDescription& set) {
    const std::int64_t frames = config_.frames > 0 ? std::min(config_.frames, train_samples_.frames) : train_samples_.frames;
    const Task task = config_.lano.task;
    if ((task == Task::steady) != set.time.empty()) {
      fail_usage("training", task == Task::steady ? "a steady set for model.task = \"steady\"" : "a set with output at several times",
                 set.time.empty() ? "a steady one" : "a time-dependent one",
                 "set model.task to steady, autoregressive or time_conditional");
    }
    starts_ = task == Task::autoregressive ? frames - config_.rollout : frames;
    if (starts_ < 1) {
      fail_usage("training", fmt::format("more than {} frames for train.rollout", config_.rollout), std::to_string(frames));
    }
  }

  std::int64_t items() const { return train_samples_.count * starts_; }

  void prepare_gradient_term(const SetDescription& set) {
    const bool uniform = set.geometry == Geometry::grid && (train_samples_.shared_coordinates || train_samples_.count == 1) &&
                         uniform_grid_spacing(set.shape, train_samples_.coordinates, &spacing_);
    if (config_.gradient_weight == 0) return;
    bool thick = true;
    for (const std::int64_t extent : set.shape) thick = thick && extent >= 3;
    if (!uniform || !thick) {
      fail_usage("training", "a uniform grid of at least 3 points an axis for train.gradient_weight",
                 fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape)),
                 "set train.gradient_weight = 0");
    }
  }

  // Of network values against the truth at the items' frames.
  torch::Tensor field_loss(const TensorSet& set, const std::vector<Item>& items, const torch::Tensor& network) const {
    const torch::Tensor prediction = decode_output(network, normaliser_.output), truth = set.truth(items);
    if (!train_samples_.counts.empty()) {  // packed clouds: each is a sample of its own
      torch::Tensor sum;
      std::int64_t first = 0;
      for (const Item& item : items) {
        const std::int64_t points = set.points_of(item.row);
        const torch::Tensor one = relative_l2_loss(prediction.narrow(1, first, points), truth.narrow(1, first, points));
        sum = sum.defined() ? sum + one : one;
        first += points;
      }
      return sum / static_cast<double>(items.size());
    }
    torch::Tensor value = relative_l2_loss(prediction, truth);
    if (config_.gradient_weight > 0) {
      value = value + config_.gradient_weight * relative_l2_loss(central_gradient(prediction, set.mesh(), spacing_),
                                                                 central_gradient(truth, set.mesh(), spacing_));
    }
    return value;
  }

  torch::Tensor loss(const TensorSet& set, std::vector<Item> items) {
    if (config_.lano.task != Task::autoregressive) return field_loss(set, items, model_->forward(set.batch(items)));
    torch::Tensor sum;
    const torch::Tensor start = encode_output(set.truth(items), normaliser_.output);
    roll_out(*model_, set.batch(items), start, config_.rollout, [&](std::int64_t, const torch::Tensor& state) {
      for (Item& item : items) ++item.frame;
      const torch::Tensor one = field_loss(set, items, state);
      sum = sum.defined() ? sum + one : one;
    });
    return sum / static_cast<double>(config_.rollout);
  }

  void epoch(const TensorSet& set, Progress& progress) {
    const auto epoch_start = Clock::now();
    std::vector<std::int64_t> order(static_cast<std::size_t>(items()));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    RandomStream stream(static_cast<std::uint64_t>(config_.seed), Purpose::shuffle,
                        static_cast<std::uint64_t>(state_.epoch));
    shuffle(order, stream);
    model_->train();
    double total_loss = 0, rate = 0;
    for (std::int64_t s = 0; s < steps_per_epoch_; ++s) {
      const auto first = order.begin() + s * config_.batch;
      const auto last = order.begin() + std::min((s + 1) * config_.batch, items());
      std::vector<Item> chosen;
      for (auto at = first; at != last; ++at) chosen.push_back({*at / starts_, *at % starts_});
      const ScheduleValue now = schedule_value(config_.schedule, optimiser_->steps(), config_.epochs * steps_per_epoch_);
      flat_->zero_gradients();
      if (config_.lano.dropout > 0) {
        // LibTorch draws the masks from its own generator: give each step a seed of its own, so that a resumed run agrees.
        RandomStream masks(static_cast<std::uint64_t>(config_.seed), Purpose::dropout, static_cast<std::uint64_t>(optimiser_->steps()));
        torch::manual_seed(masks.next());
      }
      const torch::Tensor value = loss(set, chosen);
      value.backward();
      const double number = value.item<double>();
      const double norm = clip_gradients(flat_->gradients(), config_.clip);
      if (!std::isfinite(number) || !std::isfinite(norm)) fail_not_finite(chosen);
      optimiser_->step(flat_->values(), flat_->gradients(), now.learning_rate, now.beta1);
      total_loss += number * static_cast<double>(chosen.size());
      rate = now.learning_rate;
      progress.advance(static_cast<std::int64_t>(chosen.size()), detail(number));
    }
    ++state_.epoch;
    double validation = std::nan("");
    if (validation_samples_.count > 0) {
      model_->eval();
      validation = summarise(evaluate(*model_, normaliser_, reader_.description(), validation_samples_).relative_l2).mean;
    }
    state_.history.push_back({state_.epoch, optimiser_->steps(), rate, total_loss / static_cast<double>(items()),
                              validation, seconds_since(epoch_start)});
    save(validation);
  }

  std::string detail(double loss_now) const {
    std::string text = fmt::format("epoch {}/{}  loss {:.4f}", state_.epoch + 1, config_.epochs, loss_now);
    if (!state_.history.empty() && std::isfinite(state_.history.back().validation_l2)) {
      text += fmt::format("  validation {:.4f}", state_.history.back().validation_l2);
    }
    return text;
  }

  [[noreturn]] void fail_not_finite(const std::vector<Item>& items) const {
    std::vector<std::int64_t> ids;
    for (const Item& item : items) ids.push_back(train_samples_.ids[static_cast<std::size_t>(item.row)]);
    fail(fmt::format("training, step {}", optimiser_->steps() + 1), "a finite loss and gradient",
         fmt::format("NaN or infinity on samples {}", fmt::join(ids, ", ")),
         fmt::format("lower schedule.learning_rate; the state after epoch {} is in {}", state_.epoch,
                     folder_.checkpoint().string()));
  }

  // Keeps the better weights, writes the checkpoint, the metrics and (where it changed) the model file.
  void save(double validation) {
    state_.weights = copy_weights(*model_);
    const bool better = config_.selection == Selection::last || !std::isfinite(state_.best_validation) ||
                        validation < state_.best_validation;
    if (better) {
      state_.best_weights = state_.weights;
      state_.best_validation = validation;
      state_.best_epoch = state_.epoch;
    }
    state_.optimiser_steps = optimiser_->steps();
    state_.first_moment = optimiser_->first_moment();
    state_.second_moment = optimiser_->second_moment();
    write_checkpoint(folder_.checkpoint(), state_);
    folder_.write_metrics(state_.history);
    const EpochMetrics& m = state_.history.back();
    folder_.event("epoch", {{"epoch", m.epoch}, {"train_loss", m.train_loss}, {"seconds", m.seconds},
                            {"validation_l2", std::isfinite(validation) ? nlohmann::json(validation) : nlohmann::json()}});
    if (better) write_model();
  }

  void write_model() {
    ModelFile file;
    file.architecture = model_->architecture();
    file.set = reader_.description();
    if (train_samples_.shared_coordinates) file.coordinates = train_samples_.coordinates;
    file.normaliser = normaliser_;
    TrainConfig recipe = config_;
    recipe.data.clear();  // a path of this machine is no property of the model
    file.provenance = {{"version", kVersion},
                       {"recipe", to_toml(recipe)},
                       {"epoch", state_.best_epoch},
                       {"train_samples", train_samples_.count},
                       {"validation_l2", std::isfinite(state_.best_validation) ? nlohmann::json(state_.best_validation)
                                                                              : nlohmann::json()}};
    file.weights = state_.best_weights;
    write_model_file(folder_.model(), file);
  }

  TrainResult summary() const {
    TrainResult result;
    result.parameters = parameter_count(*model_);
    result.epochs = state_.epoch;
    result.best_epoch = state_.best_epoch;
    result.validation_l2 = state_.best_validation;
    result.test_l2 = std::nan("");
    for (const EpochMetrics& m : state_.history) result.seconds += m.seconds;
    return result;
  }

  // The chosen weights meet the test split, once; or never, where it is not to be read.
  void test_once(TrainResult& result, bool read_test) {
    load_weights(*model_, state_.best_weights, "evaluating the trained model");
    model_->eval();
    const Samples test = read_test ? reader_.read(reader_.indices(Split::test)) : Samples{};
    nlohmann::json about{{"parameters", result.parameters},
                           {"epochs", result.epochs},
                           {"best_epoch", result.best_epoch},
                           {"selection", config_.selection == Selection::best ? "best on validation" : "last epoch"},
                           {"train_samples", train_samples_.count},
                           {"validation_samples", validation_samples_.count},
                           {"validation_l2", std::isfinite(result.validation_l2) ? nlohmann::json(result.validation_l2)
                                                                                 : nlohmann::json()},
                           {"training_seconds", result.seconds},
                           {"set", reader_.description().name}};
    if (test.count > 0) {
      const Evaluation evaluation = evaluate(*model_, normaliser_, reader_.description(), test);
      result.test_l2 = summarise(evaluation.relative_l2).mean;
      about["test"] = to_json(evaluation);
      write_picked(folder_.evaluation_data(), evaluation, test, reader_.description());
    }
    write_file_atomically(folder_.evaluation_json(), about.dump(1) + "\n");
    folder_.event("finish", {{"test_l2", std::isfinite(result.test_l2) ? nlohmann::json(result.test_l2) : nlohmann::json()},
                             {"seconds", seconds_since(start_)}});
  }

  TrainConfig config_;
  DatasetReader reader_;  // before the folder: a missing dataset leaves no folder behind
  RunFolder folder_;
  Clock::time_point start_;
  Samples train_samples_, validation_samples_;
  Normaliser normaliser_;
  std::vector<double> spacing_;
  std::shared_ptr<OperatorModel> model_;
  std::unique_ptr<FlatParameters> flat_;
  std::unique_ptr<Adamw> optimiser_;
  std::int64_t steps_per_epoch_ = 0, starts_ = 1;
  Checkpoint state_;
};

}  // namespace

TrainResult train(const TrainConfig& config, const std::filesystem::path& run_folder, const TrainOptions& options) {
  check_train_config(config);
  Trainer trainer(config, run_folder);
  if (options.resume) trainer.resume();
  return trainer.run(options.stop_after, options.test);
}

}  // namespace lano
