// Your own operator next to LANO, in one file: a module of LibTorch, registered under a name, then trained, tested and
// stored as every operator of the comparison. Here the integral operator of a kernel of low rank,
//   v_{l+1}(x) = v_l(x) + gelu( W v_l(x) + b + sum_r phi_r(x) mean_y psi_r(y) v_l(y) ),
// whose phi and psi are linear maps of v_l(x). Cost O(N C R) in addition to the maps.
// Usage: own_operator FOLDER (for the dataset and the runs; the same command resumes a run that was stopped)
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/generation.h"
#include "libtorch/baseline.h"
#include "libtorch/torch_trainable.h"
#include "pde/darcy_problem.h"
#include "train/recipes.h"
#include "train/trainer.h"

namespace {

namespace nn = torch::nn;

class LowRank : public lano::Baseline {
 public:
  LowRank(const lano::BaselineConfig& config, const lano::LanoShape& shape) : Baseline(config, shape) {
    register_encoder(/*placeholder=*/false);  // [position, input] -> config.width
    for (std::int64_t l = 0; l < config.layers; ++l) {
      const std::string layer = "layer" + std::to_string(l);
      local_.push_back(register_module(layer + "_local", nn::Linear(config.width, config.width)));
      phi_.push_back(register_module(layer + "_phi", nn::Linear(config.width, config.features)));
      psi_.push_back(register_module(layer + "_psi", nn::Linear(config.width, config.features)));
    }
    decoder_ = register_module("decoder", nn::Linear(config.width, shape.output_channels));
  }

 private:
  // Samples [B, N, ...] to their output [B, N, du], normalised; points.mesh has the axes of a grid or mesh.
  torch::Tensor apply(const lano::Points& points) override {
    torch::Tensor v = encode(points);
    for (std::size_t l = 0; l < local_.size(); ++l) {
      const torch::Tensor told = psi_[l](v).transpose(1, 2).matmul(v) / v.size(1);  // [B, R, C]
      v = v + torch::gelu(local_[l](v) + phi_[l](v).matmul(told));
    }
    return decoder_(v);
  }

  std::vector<nn::Linear> local_, phi_, psi_;
  nn::Linear decoder_{nullptr};
};

std::shared_ptr<lano::OperatorModel> make_low_rank(const lano::BaselineConfig& config, const lano::LanoShape& shape) {
  return std::make_shared<LowRank>(config, shape);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const std::filesystem::path folder(argv[1]), data = folder / "darcy.h5";
  std::filesystem::create_directories(folder);
  lano::register_torch_models();
  lano::register_model("low-rank", make_low_rank);

  lano::DarcyConfig darcy;
  darcy.resolution = 43;
  darcy.stride = 2;
  const lano::DarcyProblem problem(darcy);
  lano::generate_dataset(data, problem.describe(), lano::make_splits(/*train=*/200, /*test=*/40), problem.coordinates(),
                         std::bind_front(&lano::DarcyProblem::make, &problem));

  std::printf("%-10s %10s %10s %8s\n", "model", "parameters", "test error", "seconds");
  lano::TrainResult result;
  for (const std::string name : {"low-rank", "lano"}) {
    const lano::TrainConfig recipe = lano::read_recipe_files(
        {}, {"data.file=" + data.string(), "model.name=" + name, "model.layers=4", "model.width=32", "model.heads=2",
             "model.agents=16", "model.features=16", "model.first_weights=scaled", "train.epochs=20", "train.batch=4",
             "train.clip=1", "optimiser.kind=muon", "schedule.learning_rate=8e-3"});
    lano::TrainOptions options;
    options.resume = true;
    options.baselines = true;
    result = lano::train(recipe, folder / name, options);
    std::printf("%-10s %10lld %10.2e %8.1f\n", name.c_str(), static_cast<long long>(result.parameters), result.test_l2,
                result.seconds);
  }
  std::printf("on the same samples: %s\n", lano::baselines_text(result.test_baselines).c_str());
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
