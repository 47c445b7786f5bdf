// Your own PDE as a benchmark, in one file: its samples, a dataset, a trained LANO, its test, a prediction. Here a rod
// of random conductivity k(x), heated evenly, its ends kept at 0:  -(k u')' = 1 on (0, 1),  u(0) = u(1) = 0.
// Usage: own_benchmark FOLDER (for the dataset and the run; the same command resumes a run that was stopped)
#include <lano/generation.h>
#include <lano/metrics.h>
#include <lano/operator.h>
#include <lano/problem.h>
#include <lano/training.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kPoints = 65;
constexpr std::uint64_t kSeed = 0;

class Rod final : public lano::Problem {
 public:
  lano::SetDescription describe() const override {
    lano::SetDescription set;
    set.name = "rod";
    set.shape = {kPoints};  // a uniform grid of one axis
    set.coordinates = {{"x", "m"}};
    set.input = {{"conductivity", "W/(m K)"}};
    set.output = {{"temperature", "K"}};
    set.box = {0, 1};
    set.generator = R"({"program": "own_benchmark", "seed": )" + std::to_string(kSeed) + "}";
    return set;
  }

  std::vector<float> coordinates() const override {
    std::vector<float> x;
    for (std::int64_t i = 0; i < kPoints; ++i) x.push_back(static_cast<float>(i) / (kPoints - 1));
    return x;
  }

  // A function of the sample's number alone, so that any thread can make any sample.
  bool make(std::int64_t sample, std::int64_t attempt, const lano::SampleArrays& to) const override {
    lano::RandomStream random(kSeed, lano::kOwnProblem, static_cast<std::uint64_t>(attempt),
                              static_cast<std::uint64_t>(sample));
    std::vector<double> k(kPoints), u(kPoints, 0.0), slope(kPoints, 0.0);
    for (int wave = 1; wave <= 4; ++wave) {
      const double height = random.normal() / wave;
      for (std::size_t i = 0; i < k.size(); ++i)
        k[i] += height * std::cos(wave * std::numbers::pi * static_cast<double>(i) / (kPoints - 1));
    }
    for (double& value : k) value = std::exp(value);
    // Finite volumes, solved by elimination from the left and substitution from the right: u_i = u[i] + slope[i] u_i+1.
    const double h = 1.0 / (kPoints - 1);
    for (std::size_t i = 1; i + 1 < k.size(); ++i) {
      const double left = (k[i - 1] + k[i]) / 2, right = (k[i] + k[i + 1]) / 2;
      const double pivot = left + right - left * slope[i - 1];
      u[i] = (h * h + left * u[i - 1]) / pivot;
      slope[i] = right / pivot;
    }
    for (std::size_t i = k.size() - 1; i-- > 1;) u[i] += slope[i] * u[i + 1];
    for (std::size_t i = 0; i < k.size(); ++i) {
      to.input[i] = static_cast<float>(k[i]);
      to.output[i] = static_cast<float>(u[i]);
    }
    return true;  // false: a solver that did not converge asks for another draw
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]), data = folder / "rod.h5", run = folder / "run";
  std::filesystem::create_directories(folder);
  const Rod rod;
  lano::generate_dataset(data, rod.describe(), lano::make_splits(/*train=*/200, /*test=*/50), rod.coordinates(),
                         std::bind_front(&Rod::make, &rod));

  // The keys are those of `lano train --set`; what is not named keeps its default (lano train --keys).
  const lano::TrainConfig recipe =
      lano::read_recipe_files({}, {"data.file=" + data.string(), "model.layers=2", "model.heads=2", "model.width=32",
                                   "model.agents=16", "model.first_weights=scaled", "train.epochs=60", "train.clip=1",
                                   "optimiser.kind=muon", "schedule.learning_rate=8e-3"});
  lano::TrainOptions options;
  options.resume = true;
  options.baselines = true;  // the errors of a few lines of statistics on the same samples, as a scale
  const lano::TrainResult result = lano::train(recipe, run, options);
  std::printf("test error: LANO %.2e, %s\n", result.test_l2, lano::baselines_text(result.test_baselines).c_str());

  // A rod that is in no dataset, by the model file alone.
  std::vector<float> conductivity(kPoints), truth(kPoints);
  rod.make(1'000'000, 0, {{}, conductivity, truth, {}});
  const lano::Operator op = lano::Operator::load(run / "model.safetensors");
  const std::vector<float> temperature = op.predict(op.coordinates(), conductivity);
  std::printf("a new rod: %.4f in the middle, %.4f by the solver, error %.2e\n",
              static_cast<double>(temperature[kPoints / 2]), static_cast<double>(truth[kPoints / 2]),
              lano::relative_l2(temperature, truth));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
