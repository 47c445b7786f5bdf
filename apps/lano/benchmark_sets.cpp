#include "benchmark_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/nearest.h"
#include "data/dataset.h"
#include "data/thin_dataset.h"
#include "run_options.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;
using SetSizes = std::vector<std::string>;

// What `lano generate` makes of a benchmark for the laptop: datasets small enough that minutes of training are epochs,
// and that are made in minutes.
const std::map<std::string, SetSizes> kLaptopSets{
    {"darcy", {"--resolution", "85", "--stride", "3"}},
    {"elasticity", {}},
    {"plasticity", {"--train", "120", "--test", "20"}},
    {"airfoil", {"--stride", "2", "--train", "200", "--test", "30"}},
    {"pipe", {"--stride", "2", "--train", "400", "--test", "80"}},
    {"burgers", {"--train", "200", "--test", "20"}},
    {"navier-stokes", {"--stride", "4", "--train", "120", "--test", "20"}}};

// The strides of a family, from coarse to fine; the first `trained` in order of docs: where zero-shot trains.
struct Family {
  SetSizes laptop, smoke, paper;
  std::vector<std::int64_t> strides;  // of those that are trained on
  std::int64_t trained, asked_only;   // stride of zero-shot's training; a finer one for evaluation only, 0: none
};
const std::map<std::string, Family> kFamilies{
    {"airfoil", {{"--train", "200", "--test", "30"}, {"--preset", "smoke"}, {}, {3, 2, 1}, 2, 0}},
    {"darcy",
     {{"--resolution", "169", "--stride", "1"},
      {"--preset", "smoke", "--resolution", "41", "--stride", "1"},
      {"--resolution", "421", "--stride", "1"},
      {8, 4, 2},
      4,
      1}},
    {"pipe", {{"--train", "400", "--test", "80"}, {"--preset", "smoke"}, {}, {4, 2, 1}, 2, 0}}};

// Frames of a motion in all and those learned from: three to six times the trained horizon is evaluated.
struct LongFrames {
  std::int64_t frames, learned, smoke_frames, smoke_learned;
};
const std::map<std::string, LongFrames> kLongFrames{{"burgers", {31, 6, 9, 4}}, {"navier-stokes", {40, 20, 16, 13}}};

const SetSizes& words_of(const Family& family, const std::string& preset) {
  return preset == "laptop" ? family.laptop : preset == "smoke" ? family.smoke : family.paper;
}

// The arguments of `lano generate` for a benchmark and a preset.
SetSizes sizes_of(const std::string& benchmark, const std::string& preset) {
  if (preset == "laptop") return kLaptopSets.at(benchmark);
  if (preset == "smoke") return {"--preset", "smoke"};
  SetSizes sizes{"--preset", "paper"};
  // A stepping model is given the first frame, the undeformed block, and predicts the paper's 20.
  if (benchmark == "plasticity") sizes.insert(sizes.end(), {"--frames", "21"});
  return sizes;
}

void generate(const std::string& benchmark, const fs::path& file, const SetSizes& sizes, int threads) {
  SetSizes words{"generate", benchmark, "--out", file.string(), "--threads", std::to_string(threads)};
  words.insert(words.end(), sizes.begin(), sizes.end());
  make_folder(file.parent_path());
  fmt::print("== lano {}\n", fmt::join(words, " "));
  std::fflush(stdout);
  const bool made = run_child(program_folder() / "lano", words).good();
  leave_if_interrupted();
  if (!made) fail_plainly(fmt::format("making '{}'", file.string()), "'lano generate' failed", "see the lines above");
}

std::vector<std::string> keys_of(const auto& map) {
  std::vector<std::string> names;
  for (const auto& [name, rest] : map) names.push_back(name);
  return names;
}

std::string mesh_text(const Shape& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

}  // namespace

std::vector<std::string> made_benchmarks() { return keys_of(kLaptopSets); }
std::vector<std::string> mesh_benchmarks() { return keys_of(kFamilies); }
std::vector<std::string> long_benchmarks() { return keys_of(kLongFrames); }

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* what,
                 const std::string& doing) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail_usage(doing, fmt::format("{} among {}", what, fmt::join(known, ", ")), fmt::format("'{}'", name),
                 did_you_mean(name, known));
    }
  }
}

void make_missing_sets(const std::vector<std::string>& benchmarks, const std::string& preset, const fs::path& data,
                       int threads) {
  for (const std::string& benchmark : benchmarks) {
    const fs::path file = data / (benchmark + ".h5");
    if (fs::exists(file)) continue;
    generate(benchmark, file, sizes_of(benchmark, preset), threads);
  }
}

LongSet make_long_set(const std::string& benchmark, const std::string& preset, const fs::path& data, int threads) {
  const LongFrames& frames = kLongFrames.at(benchmark);
  const bool smoke = preset == "smoke";
  const LongSet made{data / (benchmark + "-long.h5"), smoke ? frames.smoke_learned : frames.learned};
  if (fs::exists(made.data)) return made;
  SetSizes words = preset == "laptop" ? kLaptopSets.at(benchmark) : smoke ? SetSizes{"--preset", "smoke"} : SetSizes{};
  words.insert(words.end(), {"--frames", std::to_string(smoke ? frames.smoke_frames : frames.frames)});
  generate(benchmark, made.data, words, threads);
  return made;
}

MeshFamily make_mesh_family(const std::string& benchmark, const std::string& preset, const fs::path& data, int threads,
                            bool trainable) {
  const Family& family = kFamilies.at(benchmark);
  const fs::path finest = data / (benchmark + "-fine.h5");
  if (!fs::exists(finest)) generate(benchmark, finest, words_of(family, preset), threads);
  std::vector<std::int64_t> strides = family.strides;
  if (!trainable && family.asked_only > 0) strides.push_back(family.asked_only);
  MeshFamily made;
  for (const std::int64_t stride : strides) {
    const Shape shape = thinned_shape(DatasetReader(finest).description().shape, stride);
    const fs::path file = data / fmt::format("{}-{}.h5", benchmark, mesh_text(shape));
    if (!fs::exists(file)) thin_dataset(finest, stride, file);
    if (stride == family.trained) made.trained = made.meshes.size();
    made.meshes.push_back({mesh_text(shape), file, static_cast<double>(element_count(shape))});
  }
  return made;
}

}  // namespace lano::cli
