// bytes -> a TOML recipe over a small one -> checked against a tiny dataset -> one step of training -> a model file
// that can be read again. Recipes of other operators than LANO go as far as the check of their memory. What the program
// says a recipe needs is believed: a training that takes much more than that ends the run (libFuzzer's and the replay's
// limits).
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "data/dataset.h"
#include "fuzzer.h"
#include "runtime/operator.h"
#include "train/config.h"
#include "train/epoch_plan.h"
#include "train/learner.h"
#include "train/memory_need.h"
#include "train/recipe_check.h"
#include "train/subject.h"

namespace {

using namespace lano;

constexpr double kMostBytes = 32e6;  // of a recipe that is trained here
constexpr const char* kBase =
    "[model]\nlayers = 1\nheads = 2\nwidth = 4\nagents = 4\nffn_ratio = 1\n[train]\nepochs = 2\nbatch = 2\n";

// In memory where the machine has such a folder. A reader looks at its file as long as it lives.
struct TinySet {
  TinySet(Geometry geometry, const Shape& shape, std::size_t frames);
  ~TinySet() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TinySet(const TinySet&) = delete;
  TinySet& operator=(const TinySet&) = delete;

  std::filesystem::path path;
  std::shared_ptr<const DatasetReader> reader;
};

TinySet::TinySet(Geometry geometry, const Shape& shape, std::size_t frames) {
  SetDescription set;
  set.name = "tiny";
  set.geometry = geometry;
  set.shape = shape;
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.box = {0, 1, 0, 1};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}, {"v", "1"}};
  for (std::size_t t = 0; t < frames; ++t) set.time.push_back(0.5 * static_cast<double>(t));
  set.generator = "{}";
  const auto points = static_cast<std::size_t>(set.points());
  std::vector<float> coordinates;
  for (std::size_t p = 0; p < points; ++p) {
    const std::size_t columns = shape.size() == 2 ? static_cast<std::size_t>(shape[1]) : 1;
    if (geometry == Geometry::grid) {
      coordinates.push_back(0.25f * static_cast<float>(p / columns));
      coordinates.push_back(0.25f * static_cast<float>(p % columns));
    } else {
      coordinates.push_back(static_cast<float>(p * 7 % points) / static_cast<float>(points));
      coordinates.push_back(static_cast<float>(p * 3 % points) / static_cast<float>(points));
    }
  }
  const std::filesystem::path folder =
      std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  path = folder / ("lano-fuzz-" + std::to_string(::getpid()) + "-" + std::to_string(points) + ".h5");
  const std::vector<Split> splits{Split::train, Split::train, Split::train, Split::validation, Split::test};
  {
    DatasetWriter writer(path, set, splits, coordinates);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      std::vector<float> input, output;
      for (std::size_t p = 0; p < points; ++p) input.push_back(0.1f * static_cast<float>((p + i) % 7));
      for (std::size_t v = 0; v < 2 * points * std::max<std::size_t>(1, frames); ++v)
        output.push_back(1 + 0.2f * static_cast<float>((v + 3 * i) % 5));
      writer.write(static_cast<std::int64_t>(i), {}, input, output);
    }
    writer.commit();
  }
  reader = std::make_shared<const DatasetReader>(path);
}

const std::shared_ptr<const DatasetReader>& set_for(Task task, std::size_t choice) {
  static const TinySet grid(Geometry::grid, {5, 4}, 0), cloud(Geometry::points, {12}, 0),
      frames(Geometry::grid, {3, 3}, 4);
  if (task != Task::steady) return frames.reader;
  return choice % 2 == 0 ? grid.reader : cloud.reader;
}

void train_one_step(const TrainConfig& config, std::size_t choice) {
  Subject subject(set_for(config.lano.task, choice), config, true);
  const auto samples = static_cast<std::int64_t>(subject.survey.ids.size());
  if (memory_need(config, subject.architecture(config), samples).bytes > kMostBytes) return;
  Learner learner(config, subject.make_model(config));
  const auto feed = subject.make_feed(learner.model());
  const EpochPlan plan(config, samples, training_starts(config, subject.reader.description()));
  const auto batches = plan.batches(0, 0);
  if (batches.empty() || plan.steps() < 1) std::abort();  // an epoch without a step would end as if it had learned
  feed->plan(batches);
  std::vector<PreparedBatch> parts;
  for (std::size_t a = 0; a < static_cast<std::size_t>(config.accumulate) && a < batches.size(); ++a)
    parts.push_back(feed->next());
  const Learner::Step done = learner.step(parts, config.epochs * plan.steps(), plan.steps());
  if (!done.finite) return;
  ModelFile file = subject.about_model(learner.model().architecture());
  file.weights = name_tensors(learner.model().layout(), learner.model().values());
  file.provenance = nlohmann::json::object();
  Operator(parse_model_file(format_model_file(file), "reading the model of a step"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    TrainConfig config, again;
    Schema schema, second;
    bind_train_config(schema, config);
    schema.load_text(kBase, "reading");
    schema.load_text(text, "reading");
    config.data = "the tiny dataset";
    check_train_config(config);
    const std::string written = to_toml(config);
    bind_train_config(second, again);
    second.load_text(written, "reading");
    if (to_toml(again) != written) std::abort();
    train_one_step(config, size);
  } catch (const Error&) {
  }
  return 0;
}

namespace lano::fuzz {

std::vector<std::string> seeds() {
  return {
      to_toml(TrainConfig{}),
      "[model]\nbias = 'sum'\npool = 'sequence'\ndwc = false\nposition = 'reference'\n[train]\nema = 0.9\n",
      "[model]\nagent_tokens = 'latent'\ndecoder = 'mlp'\ndropout = 0.1\n[schedule]\nkind = 'cosine'\n",
      "[model]\ntask = 'autoregressive'\n[train]\nrollout = 2\nframes = 3\nframe_weights = [1, 2]\n",
      "[model]\ntask = 'time_conditional'\n[train]\nbatch = 3\naccumulate = 2\nepoch_samples = 5\n",
      "[train]\naugment = 'rotations'\ngradient_weight = 0.1\ngradient_kind = 'axes'\nchannel_weights = [1, 0]\nloss = "
      "'l2'\nclip = 0\n",
      "[train]\nagents_range = [1, 8]\npoints = 5\n[data]\nmemory_gb = 0\n[normalise]\ncoordinates = 'channel'\n ",
      "[optimiser]\ndecay = 'matrices'\nbeta2 = 0.9\n[schedule]\nkind = 'step'\nwarmup = 0.5\nlearning_rate = 1e30\n",
      "[model]\nname = 'fno'\nmodes = 3\n[normalise]\noutput = 'none'\ninput = 'none'\n",
      "[model]\nname = 'lsm'\nbasis = 3\ntokens = 2\nlatent_grid = 16\n ",
      "[model]\nname = 'transolver'\nslices = 4\n[train]\nselection = 'last'\npatience = 0\n[data]\ntrain_on = "
      "'train+validation'\n"};
}

std::vector<std::string> words() {
  std::vector<std::string> all{
      "=",    "\n",    "[",      "]",   "0",   "1",          "2",     "3",     "5",    "-1",
      "0.5",  "1e-30", "1e30",   "inf", "nan", "1000000000", "65536", "65535", "1024", "9223372036854775807",
      "true", "false", "[1, 1]", "[]"};
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  for (const Schema::Key& key : schema.keys()) {
    const std::size_t dot = key.name.find('.');
    all.push_back("[" + key.name.substr(0, dot) + "]\n");
    all.push_back(key.name.substr(dot + 1) + " = ");
  }
  for (const char* const value : {"outer",
                                  "sum",
                                  "none",
                                  "latent",
                                  "pooled",
                                  "sequence",
                                  "grid",
                                  "file",
                                  "hilbert",
                                  "reference",
                                  "mlp",
                                  "physical",
                                  "index",
                                  "autoregressive",
                                  "time_conditional",
                                  "steady",
                                  "fno",
                                  "u-no",
                                  "wmt",
                                  "galerkin",
                                  "deeponet",
                                  "ht-net",
                                  "flips",
                                  "rotations",
                                  "composite",
                                  "one_cycle",
                                  "cosine",
                                  "step",
                                  "constant",
                                  "matrices",
                                  "channel",
                                  "l2",
                                  "best",
                                  "last"}) {
    all.push_back("'" + std::string(value) + "'");
  }
  return all;
}

}  // namespace lano::fuzz
