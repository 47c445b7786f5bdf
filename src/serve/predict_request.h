// What a client asks of a model: samples with points, input fields, states and times, checked against the model and the
// limits, so that nothing is left to fail when it is computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "serve/fields_body.h"
#include "serve/http_message.h"
#include "serve/limits.h"
#include "serve/served_model.h"

namespace lano::serve {

enum class Form { json, npy, npz };

struct PredictRequest {
  Form form = Form::json;
  std::int64_t samples = 1, points = 0;
  bool many = false;                  // an axis of samples was sent, and is answered
  Shape mesh;                         // axes of the points; [N] for clouds
  std::vector<float> coordinates;     // [N, dx], [samples, N, dx], or empty: the training grid
  std::vector<float> input, state;    // [samples, N, channels]; state [samples, K, N, du]
  std::vector<double> times;          // of the frames of the answer; empty for steady models
  std::int64_t given = 0, steps = 0;  // roll-outs: frames of the state, steps beyond it

  std::int64_t frames() const { return times.empty() ? 1 : static_cast<std::int64_t>(times.size()); }
  bool shared_coordinates() const { return coordinates.empty() || !own_coordinates; }
  bool own_coordinates = false;
};

// The form a client wants: "answer" in the body or the query, else Accept, else JSON. 406 where it is none of ours.
Form answer_form(const Request& request, const FieldsBody& body);

// By Content-Type: application/json, application/x-npy, application/x-npz. 415 for others.
FieldsBody read_body(const Request& request, std::size_t most_values);

// Takes the arrays out of the body. Fails with 422 where they do not fit the model or a limit.
PredictRequest predict_request(FieldsBody body, const ServedModel& model, const Limits& limits);

}  // namespace lano::serve
