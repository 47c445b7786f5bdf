// A trained LANO in use, without LibTorch: physical values in, physical values out, computed by the fused kernels.
// Loaded once, it may be called from many threads at the same time; concurrent calls have separate teams of threads
// (set_thread_count).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model_spec/lano_config.h"
#include "runtime/model_file.h"

namespace lano {

// The agents of an operator after they have seen a field: new points are decoded against them one by one, without the
// cost of all points.
class Prepared {
 public:
  // Query points: coordinates [Q, dx], input [Q, da], autoregressive models state [K, Q, du] -> output [Q, du]. At a
  // prepared point with its own input the result is that of predict. Safe from many threads; keeps the operator's
  // weights alive.
  void decode(std::span<const float> coordinates, std::span<const float> input, std::span<float> output,
              std::span<const float> state = {}) const;
  std::vector<float> decode(std::span<const float> coordinates, std::span<const float> input,
                            std::span<const float> state = {}) const;
  const SetDescription& set() const;  // of the operator
  std::int64_t state_frames() const;

 private:
  friend class Operator;
  struct Parts;
  explicit Prepared(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

class Operator {
 public:
  // Fails with one sentence where the file is damaged or holds a model this runtime does not know.
  static Operator load(const std::filesystem::path& path);
  explicit Operator(ModelFile file);
  ~Operator();
  Operator(Operator&&) noexcept;
  Operator& operator=(Operator&&) noexcept;

  const ModelFile& file() const;      // as it was loaded
  const SetDescription& set() const;  // the kind of data it was trained on: geometry, fields, training mesh
  const std::vector<float>& coordinates()
      const;  // [N, dx] of the training grid where all samples shared it, else empty
  Task task() const;
  std::int64_t state_frames() const;  // autoregressive models: frames of their state; else 0
  std::int64_t parameter_count() const;
  std::int64_t agents() const;

  // Another number of agents than in training; returns the number used (on grids the nearest patch grid). Not while
  // others predict.
  std::int64_t use_agents(std::int64_t agents);

  // What a call may specify besides its points.
  struct Call {
    Shape mesh{};     // axes of the points; empty: those of training, or a cloud
    double time = 0;  // time_conditional models: the physical time
    // autoregressive models: the state to step from, [N, du], or [K, N, du] with K = state_frames(), oldest first
    std::span<const float> state{};
    std::vector<double> span{};  // of a mesh (core/set_description.h, stretch_of)
    // Where the points of a mesh are divided over several ranks (core/ranks.h, mesh_ranks): this rank is given only its
    // own, own_points() of the mesh, and predicts at them. One query at a time.
    struct Part {
      std::int64_t first = 0;      // of the mesh's points
      std::vector<float> corners;  // of a grid: coordinates of its grid_corners (core/set_description.h)
    };
    std::optional<Part> part{};
  };

  // coordinates [N, dx] (empty: the training grid), input [N, da] -> output [N, du]. One sample; steady models need no
  // Call. Autoregressive models give the next state.
  void predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output,
               const Call& call) const;
  void predict(std::span<const float> coordinates, std::span<const float> input, std::span<float> output) const {
    predict(coordinates, input, output, Call{});
  }
  std::vector<float> predict(std::span<const float> coordinates, std::span<const float> input, const Call& call) const;
  std::vector<float> predict(std::span<const float> coordinates, std::span<const float> input) const {
    return predict(coordinates, input, Call{});
  }

  // Several samples in one pass, each with its own points: small ones keep all cores busy together.
  struct Query {
    std::span<const float> coordinates, input;
    std::span<float> output;
    Call call{};
  };
  void predict(std::span<const Query> queries) const;

  // Time-conditional models: one prediction for each time, output [times, N, du]; call.time is ignored.
  void predict_times(std::span<const float> coordinates, std::span<const float> input, std::span<const double> times,
                     std::span<float> output, const Call& call) const;

  // Autoregressive models: steps from call.state on, each prediction the newest frame of the next step's state. output
  // takes all of them, [steps, N, du]; the mesh of a call holds for every step.
  void roll_out(std::span<const float> coordinates, std::span<const float> input, std::int64_t steps,
                std::span<float> output, const Call& call) const;
  std::vector<float> roll_out(std::span<const float> coordinates, std::span<const float> input, std::int64_t steps,
                              const Call& call) const;

  // The gradient of a scalar function of the prediction with respect to its inputs: with slopes dL/du [N, du], the
  // dL/dx of the coordinates, the dL/da of the input and, of autoregressive models, the dL/ds of the state, all in
  // physical units. What is discrete or follows from the points is held fixed: their order, pooling, spacing, and the
  // neighbours of a cloud's stencil. One sample; through the backward pass of training, which keeps all activations.
  struct Slopes {
    std::vector<float> coordinates, input, state;  // [N, dx], [N, da], [K, N, du]
  };
  Slopes vjp(std::span<const float> coordinates, std::span<const float> input, std::span<const float> output_slopes,
             const Call& call) const;

  // Computes what each block's agents hold for these points, once. Where the model has a stencil its values at the
  // points are kept too: L C floats per point. docs/runtime.md says which models can; others fail with the reason of
  // why_not_prepare.
  Prepared prepare(std::span<const float> coordinates, std::span<const float> input, const Call& call) const;
  Prepared prepare(std::span<const float> coordinates, std::span<const float> input) const {
    return prepare(coordinates, input, Call{});
  }
  std::string why_not_prepare() const;  // empty where the model can

 private:
  friend class Prepared;
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace lano
