// A trained LANO in use, without LibTorch: physical values in, physical values out, computed by the fused kernels. Loaded once,
// it may be called from many threads at the same time; calls share the OpenMP pool.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "core/lano_config.h"
#include "runtime/model_file.h"

namespace lano {

class Operator {
 public:
  // Fails with one sentence where the file is damaged or holds a model this runtime does not know.
  static Operator load(const std::filesystem::path& path);
  explicit Operator(ModelFile file);
  ~Operator();
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;

  const SetDescription& set() const;                // the kind of data it was trained on: geometry, fields, training mesh
  const std::vector<float>& coordinates() const;    // [N, dx] of the training grid where all samples shared it, else empty
  Task task() const;
  std::int64_t parameter_count() const;
  std::int64_t agents() const;

  // Another number of agents than in training; returns the number used (on grids the nearest patch grid). Not while others predict.
  std::int64_t use_agents(std::int64_t agents);

  // What a call may say beside its points.
  struct Call {
    Shape mesh{};                       // axes of the points; empty: those of training, or a cloud
    double time = 0;                    // time_conditional models: the physical time asked for
    std::span<const float> state{};     // autoregressive models: [N, du], the state to step from
  };

  // coordinates [N, dx] (empty: the training grid), input [N, da] -> output [N, du]. One sample; steady models need no Call. Autoregressive
  // models give the next state.
  void predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output, const Call& call) const;
  void predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output) const { predict(coordinates, input, output, Call{}); }
  std::vector<float> predict(std::span<const float> coordinates, std::span<const float> input, const Call& call) const;
  std::vector<float> predict(std::span<const float> coordinates, std::span<const float> input) const { return predict(coordinates, input, Call{}); }

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lano
