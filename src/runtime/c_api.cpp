// The C interface over Operator: exceptions become a status and a message here, and go no further.
#include <algorithm>
#include <new>
#include <string>

#include "core/error.h"
#include "core/threads.h"
#include "core/version.h"
#include "lano/lano.h"
#include "runtime/operator.h"

struct lano_operator {
  lano::Operator op;
};

struct lano_prepared {
  lano::Prepared prepared;
};

namespace {

thread_local std::string message = "no failure";

int failed(int status, const char* text) {
  try {
    message = text;
  } catch (...) {
    message.clear();
  }
  return status;
}

template <class Work>
int guarded(Work work) noexcept {
  try {
    work();
    return LANO_OK;
  } catch (const lano::UsageError& error) {
    return failed(LANO_MISUSED, error.what());
  } catch (const std::bad_alloc&) {
    return failed(LANO_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return failed(LANO_FAILED, error.what());
  } catch (...) {
    return failed(LANO_FAILED, "an unknown error");
  }
}

void require(bool good, const char* expected) {
  if (!good) lano::fail_usage("calling lano", expected, "null or a negative number");
}

// Of a call: no more points than any memory holds, so that sizes do not overflow.
void require_points(std::int64_t points) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  require(points >= 0, "a number of points");
  if (points > kMost) lano::fail_usage("calling lano", "at most 2^40 points", std::to_string(points));
}

// The same over all steps or times.
void require_points(std::int64_t points, std::int64_t frames, const char* what) {
  require_points(points);
  require_points(frames);
  if (frames > 0 && points > (std::int64_t{1} << 40) / frames)
    lano::fail_usage("calling lano", std::string("at most 2^40 points in all ") + what, std::to_string(points));
}

std::span<const float> values(const float* from, std::int64_t points, std::int64_t channels) {
  return {from, from == nullptr ? 0 : static_cast<std::size_t>(points) * static_cast<std::size_t>(channels)};
}

// The state's channels per point over all its frames.
std::int64_t state_channels(const lano::Operator& op) { return op.state_frames() * op.set().output_channels(); }

lano::Operator::Call call_of(const lano_call* call, const lano::Operator& op, std::int64_t points) {
  lano::Operator::Call said;
  if (call == nullptr) return said;
  require(call->axes >= 0 && call->axes <= 3, "0 to 3 axes");
  said.mesh.assign(call->mesh, call->mesh + call->axes);
  said.time = call->time;
  said.state = values(call->state, points, state_channels(op));
  return said;
}

}  // namespace

extern "C" {

const char* lano_message(void) { return message.c_str(); }
const char* lano_version(void) { return lano::kVersion; }
void lano_set_threads(int count) { lano::set_thread_count(count); }

int lano_load(const char* path, lano_operator** op) {
  return guarded([&] {
    require(path != nullptr && op != nullptr, "a path and a place for the operator");
    *op = nullptr;
    *op = new lano_operator{lano::Operator::load(path)};
  });
}

void lano_free(lano_operator* op) { delete op; }

int lano_task(const lano_operator* op) {
  if (op == nullptr) return LANO_STEADY;
  return op->op.task() == lano::Task::steady           ? LANO_STEADY
         : op->op.task() == lano::Task::autoregressive ? LANO_AUTOREGRESSIVE
                                                       : LANO_TIME_CONDITIONAL;
}

int64_t lano_dims(const lano_operator* op) { return op == nullptr ? 0 : op->op.set().dims(); }
int64_t lano_input_channels(const lano_operator* op) { return op == nullptr ? 0 : op->op.set().input_channels(); }
int64_t lano_output_channels(const lano_operator* op) { return op == nullptr ? 0 : op->op.set().output_channels(); }
int64_t lano_parameters(const lano_operator* op) { return op == nullptr ? 0 : op->op.parameter_count(); }

int64_t lano_training_times(const lano_operator* op, double* times, int64_t room) {
  if (op == nullptr) return 0;
  const std::vector<double>& all = op->op.set().time;
  if (times != nullptr) std::copy_n(all.begin(), std::clamp<std::int64_t>(room, 0, std::ssize(all)), times);
  return std::ssize(all);
}

int lano_mesh(const lano_operator* op, int64_t extents[3]) {
  if (op == nullptr || op->op.set().geometry == lano::Geometry::points) return 0;
  const lano::Shape& shape = op->op.set().shape;
  for (std::size_t a = 0; extents != nullptr && a < shape.size() && a < 3; ++a) extents[a] = shape[a];
  return static_cast<int>(shape.size());
}

int64_t lano_grid_points(const lano_operator* op) {
  return op == nullptr ? 0 : static_cast<int64_t>(op->op.coordinates().size()) / op->op.set().dims();
}

int64_t lano_state_frames(const lano_operator* op) { return op == nullptr ? 0 : op->op.state_frames(); }

int lano_use_agents(lano_operator* op, int64_t agents, int64_t* used) {
  return guarded([&] {
    require(op != nullptr, "an operator");
    const std::int64_t count = op->op.use_agents(agents);
    if (used != nullptr) *used = count;
  });
}

int lano_predict(const lano_operator* op, int64_t points, const float* coordinates, const float* input, float* output) {
  return lano_predict_call(op, points, coordinates, input, output, nullptr);
}

int lano_predict_call(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                      float* output, const lano_call* call) {
  return guarded([&] {
    require(op != nullptr && output != nullptr, "an operator, points and an output");
    require_points(points);
    const lano::SetDescription& set = op->op.set();
    op->op.predict(values(coordinates, points, set.dims()), values(input, points, set.input_channels()),
                   {output, static_cast<std::size_t>(points) * static_cast<std::size_t>(set.output_channels())},
                   call_of(call, op->op, points));
  });
}

int lano_predict_times(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                       int64_t count, const double* times, float* output, const lano_call* call) {
  return guarded([&] {
    require(op != nullptr && output != nullptr && times != nullptr && count >= 0,
            "an operator, points, times and an output");
    require_points(points, count, "times");
    const lano::SetDescription& set = op->op.set();
    const auto frame = static_cast<std::size_t>(points) * static_cast<std::size_t>(set.output_channels());
    op->op.predict_times(values(coordinates, points, set.dims()), values(input, points, set.input_channels()),
                         {times, static_cast<std::size_t>(count)}, {output, static_cast<std::size_t>(count) * frame},
                         call_of(call, op->op, points));
  });
}

int lano_roll_out(const lano_operator* op, int64_t points, const float* coordinates, const float* input, int64_t steps,
                  float* output, const lano_call* call) {
  return guarded([&] {
    require(op != nullptr && output != nullptr && call != nullptr && steps >= 0,
            "an operator, points, steps, an output and a call with the first state");
    require_points(points, steps, "steps");
    const lano::SetDescription& set = op->op.set();
    const auto state = static_cast<std::size_t>(points) * static_cast<std::size_t>(set.output_channels());
    op->op.roll_out(values(coordinates, points, set.dims()), values(input, points, set.input_channels()), steps,
                    {output, static_cast<std::size_t>(steps) * state}, call_of(call, op->op, points));
  });
}

int lano_prepare(const lano_operator* op, int64_t points, const float* coordinates, const float* input,
                 const lano_call* call, lano_prepared** prepared) {
  return guarded([&] {
    require(op != nullptr && prepared != nullptr, "an operator, points and a place for what is prepared");
    require_points(points);
    *prepared = nullptr;
    const lano::SetDescription& set = op->op.set();
    *prepared =
        new lano_prepared{op->op.prepare(values(coordinates, points, set.dims()),
                                         values(input, points, set.input_channels()), call_of(call, op->op, points))};
  });
}

void lano_prepared_free(lano_prepared* prepared) { delete prepared; }

int lano_decode(const lano_prepared* prepared, int64_t points, const float* coordinates, const float* input,
                const float* state, float* output) {
  return guarded([&] {
    require(prepared != nullptr && coordinates != nullptr && output != nullptr,
            "what was prepared, points and an output");
    require_points(points);
    const lano::SetDescription& set = prepared->prepared.set();
    prepared->prepared.decode(
        values(coordinates, points, set.dims()), values(input, points, set.input_channels()),
        {output, static_cast<std::size_t>(points) * static_cast<std::size_t>(set.output_channels())},
        values(state, points, prepared->prepared.state_frames() * set.output_channels()));
  });
}

}  // extern "C"
