// The runtime in a page: one model, predictions on one thread, as functions that JavaScript calls. Failures are a
// status and a sentence, as in the C interface (include/lano/lano.h); no exception leaves this module.
#include <cstdint>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/error.h"
#include "runtime/operator.h"
#include "serve/served_model.h"

namespace {

std::optional<lano::Operator> model;
std::string about, message = "no failure";

template <class Work>
int guarded(Work work) noexcept {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    message = "predicting: there is no memory left; take fewer points";
    return 3;
  } catch (const std::exception& error) {
    message = error.what();
    return 1;
  } catch (...) {
    message = "an unknown error";
    return 1;
  }
}

std::span<const float> values(const float* from, std::int64_t count) {
  return {from, from == nullptr ? 0 : static_cast<std::size_t>(count)};
}

}  // namespace

extern "C" {

const char* lano_web_message() { return message.c_str(); }

int lano_web_load(const char* bytes, int size, const char* name, int name_size) {
  return guarded([&] {
    model.emplace(lano::parse_model_file({bytes, static_cast<std::size_t>(size)}, "reading the page's model"));
    about = lano::serve::describe({name, static_cast<std::size_t>(name_size)}, *model).dump();
  });
}

const char* lano_web_describe() { return about.c_str(); }

const float* lano_web_grid() { return model->coordinates().data(); }
int lano_web_grid_size() { return static_cast<int>(model->coordinates().size()); }

// coordinates, input, state: null where the model takes none. times: of a time-conditional model; steps: of one that
// steps. out: [frames, points, channels], roll-outs with the given frames in front.
int lano_web_predict(int points, int axes, const std::int32_t* mesh, const float* coordinates, const float* input,
                     const float* state, const double* times, int time_count, int steps, float* out) {
  return guarded([&] {
    const lano::SetDescription& set = model->set();
    const auto count = static_cast<std::int64_t>(points);
    const std::int64_t frame = count * set.output_channels();
    lano::Operator::Call call;
    if (set.geometry != lano::Geometry::points) call.mesh.assign(mesh, mesh + axes);
    const auto at = values(coordinates, count * set.dims()), fields = values(input, count * set.input_channels());
    if (steps > 0) {
      call.state = values(state, frame * model->state_frames());
      float* const after = std::copy(call.state.begin(), call.state.end(), out);
      return model->roll_out(at, fields, steps, {after, static_cast<std::size_t>(steps * frame)}, call);
    }
    if (time_count > 0)
      return model->predict_times(at, fields, {times, static_cast<std::size_t>(time_count)},
                                  {out, static_cast<std::size_t>(time_count * frame)}, call);
    model->predict(at, fields, {out, static_cast<std::size_t>(frame)}, call);
  });
}

}  // extern "C"
