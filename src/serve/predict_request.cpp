// Arrays as samples, by the rule of `lano predict --input` (apps/lano/prediction_arrays.cpp): the axes of the mesh,
// samples before them where there are several, channels behind them where there are several.
#include "serve/predict_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "serve/http_error.h"

namespace lano::serve {
namespace {

constexpr const char* kPredicting = "predicting";

struct Field {
  std::int64_t samples = 1;
  bool many = false;
  Shape mesh;
  std::vector<float> values;
};

// `leading`: axes between samples and mesh, of the frames of a state.
Field field_of(BodyArray array, const std::string& name, std::size_t axes, std::int64_t channels) {
  const std::string doing = fmt::format("predicting from '{}'", name);
  Shape shape = array.shape;
  const bool has_channels = shape.size() > axes && shape.back() == channels;
  if (has_channels) shape.pop_back();
  Field field;
  if (shape.size() == axes + 1) {
    field.many = true;
    field.samples = shape.front();
    shape.erase(shape.begin());
  }
  if (shape.size() != axes || (channels != 1 && !has_channels))
    refuse(422, doing,
           fmt::format("an array [{}{}], or several samples of it", axes == 1 ? "points" : fmt::format("{} axes", axes),
                       channels == 1 ? "" : fmt::format(", {} numbers per point", channels)),
           shape_text(array.shape));
  field.mesh = std::move(shape);
  field.values = std::move(array.values);
  return field;
}

std::optional<BodyArray> take(FieldsBody& body, const std::string& name) {
  const auto at = body.arrays.find(name);
  if (at == body.arrays.end()) return std::nullopt;
  BodyArray array = std::move(at->second);
  body.arrays.erase(at);
  return array;
}

// A lone .npy is the input, or the first state, or the coordinates: the first of these that the model takes.
void name_lone_array(FieldsBody& body, const ServedModel& model) {
  auto lone = take(body, "");
  if (!lone) return;
  const bool input = model.op.set().input_channels() > 0;
  body.arrays[input ? "input" : model.op.state_frames() > 0 ? "state" : "coordinates"] = std::move(*lone);
}

void share_first_state(FieldsBody& body, const ServedModel& model) {
  const bool input = body.arrays.contains("input"), state = body.arrays.contains("state");
  if (model.op.task() != Task::autoregressive || input == state || !input_is_first_state(model.op.set())) return;
  body.arrays[input ? "state" : "input"] = body.arrays[input ? "input" : "state"];
}

void check_names(const FieldsBody& body, const ServedModel& model) {
  const SetDescription& set = model.op.set();
  const bool stepping = model.op.task() == Task::autoregressive, timed = model.op.task() == Task::time_conditional;
  for (const auto& [name, array] : body.arrays) {
    const bool known =
        name == "coordinates" || (name == "input" && set.input_channels() > 0) || (name == "state" && stepping);
    if (!known)
      refuse_plainly(422, kPredicting, fmt::format("'{}' is given, but this model takes none", name),
                     "see GET /v1/models for what it takes");
  }
  if (body.steps && !stepping)
    refuse_plainly(422, kPredicting, "'steps' is given, but this model does not step in time");
  if (!body.times.empty() && !timed)
    refuse_plainly(422, kPredicting, "'times' is given, but this model is not conditioned on time");
  if (set.input_channels() > 0 && !body.arrays.contains("input"))
    refuse_plainly(422, kPredicting, fmt::format("'input', the {} input channels, is missing", set.input_channels()),
                   "see GET /v1/models for the fields");
  if (stepping && !body.arrays.contains("state"))
    refuse_plainly(422, kPredicting, "'state', the frames this model steps from, is missing");
}

// What has one sample serves all.
void repeat(Field& field, std::int64_t samples) {
  if (field.samples == samples) return;
  const std::size_t one = field.values.size();
  field.values.resize(one * static_cast<std::size_t>(samples));
  for (std::size_t i = one; i < field.values.size(); ++i) field.values[i] = field.values[i - one];
}

std::vector<double> roll_out_times(const SetDescription& set, std::int64_t frames) {
  std::vector<double> times = set.initial_time;
  times.insert(times.end(), set.time.begin(), set.time.end());
  const double step = times.size() > 1 ? times[1] - times[0] : 1;
  while (static_cast<std::int64_t>(times.size()) < frames) times.push_back(times.empty() ? 0 : times.back() + step);
  times.resize(static_cast<std::size_t>(frames));
  return times;
}

void set_frames(const FieldsBody& body, const ServedModel& model, const Limits& limits, PredictRequest& request) {
  const SetDescription& set = model.op.set();
  if (model.op.task() == Task::time_conditional) {
    request.times = body.times.empty() ? set.time : body.times;
  } else if (model.op.task() == Task::autoregressive) {
    request.given = model.op.state_frames();
    const auto known = static_cast<std::int64_t>(set.time.size() + set.initial_time.size());
    const double asked = body.steps.value_or(static_cast<double>(std::max<std::int64_t>(1, known - request.given)));
    if (asked < 1 || asked > static_cast<double>(limits.frames) || asked != std::floor(asked))
      refuse(422, kPredicting, fmt::format("a whole number of 'steps' from 1 to {}", limits.frames),
             fmt::format("{}", asked));
    request.steps = static_cast<std::int64_t>(asked);
    request.times = roll_out_times(set, request.given + request.steps);
  }
  if (request.frames() > limits.frames)
    refuse(422, kPredicting, fmt::format("at most {} times", limits.frames), std::to_string(request.frames()));
}

void check_limits(const PredictRequest& request, const ServedModel& model, const Limits& limits) {
  // Each factor has been bounded, so products of two do not overflow.
  const std::int64_t points = request.samples * request.points;
  if (points > limits.points)
    refuse(422, kPredicting, fmt::format("at most {} points over all samples", limits.points), std::to_string(points),
           "send fewer samples at once");
  if (points * request.frames() > limits.values / std::max<std::int64_t>(1, model.op.set().output_channels()))
    refuse(422, kPredicting, fmt::format("an answer of at most {} numbers", limits.values),
           fmt::format("{} points at {} times", points, request.frames()), "ask for fewer samples or times at once");
}

Form form_of(std::string_view name, int status) {
  if (name == "json") return Form::json;
  if (name == "npy") return Form::npy;
  if (name == "npz") return Form::npz;
  refuse(status, "answering", "json, npy or npz for 'answer'", fmt::format("'{}'", name));
}

double number_of(std::string_view text, const char* name) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(422, kPredicting, fmt::format("numbers for '{}'", name), fmt::format("'{}'", text));
  return value;
}

// What a query may say beside a body of arrays alone.
void read_query(const Request& request, FieldsBody& body) {
  for (const auto& [name, value] : request.query) {
    if (name == "steps" && !body.steps) {
      body.steps = number_of(value, "steps");
    } else if (name == "times" && body.times.empty()) {
      std::string_view rest = value;
      for (;;) {
        const std::size_t comma = rest.find(',');
        body.times.push_back(number_of(rest.substr(0, comma), "times"));
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
      }
    } else if (name != "answer") {
      refuse(422, kPredicting, "steps, times or answer behind the '?', once", fmt::format("'{}'", name));
    }
  }
}

}  // namespace

Form answer_form(const Request& request, const FieldsBody& body) {
  if (const auto word = body.words.find("answer"); word != body.words.end()) return form_of(word->second, 422);
  if (const std::string_view asked = request.asked("answer"); !asked.empty()) return form_of(asked, 422);
  const std::string_view accept = request.header("accept");
  if (accept.empty() || accept.find("*/*") != std::string_view::npos ||
      accept.find("application/json") != std::string_view::npos ||
      accept.find("application/*") != std::string_view::npos)
    return Form::json;
  if (accept.find("application/x-npy") != std::string_view::npos) return Form::npy;
  if (accept.find("application/x-npz") != std::string_view::npos) return Form::npz;
  refuse(406, "answering", "Accept with application/json, application/x-npy or application/x-npz",
         fmt::format("'{}'", accept));
}

FieldsBody read_body(const Request& request, std::size_t most_values) {
  const std::string_view type = request.header("content-type");
  const std::string_view kind = type.substr(0, type.find(';'));
  FieldsBody body;
  if (kind == "application/json") {
    body = read_json_body(request.body, most_values);
  } else if (kind == "application/x-npy") {
    body = read_npy_body(request.body, most_values);
  } else if (kind == "application/x-npz") {
    body = read_npz_body(request.body, most_values);
  } else {
    refuse(415, "reading a request", "Content-Type application/json, application/x-npy or application/x-npz",
           fmt::format("'{}'", type));
  }
  read_query(request, body);
  return body;
}

PredictRequest predict_request(FieldsBody body, const ServedModel& model, const Limits& limits) {
  const SetDescription& set = model.op.set();
  name_lone_array(body, model);
  share_first_state(body, model);
  check_names(body, model);
  const std::size_t axes = set.geometry == Geometry::points ? 1 : set.shape.size();
  PredictRequest request;
  std::optional<Field> input, state, coordinates;
  if (auto array = take(body, "input")) input = field_of(std::move(*array), "input", axes, set.input_channels());
  if (auto array = take(body, "coordinates"))
    coordinates = field_of(std::move(*array), "coordinates", axes, set.dims());
  if (auto array = take(body, "state")) {
    const std::int64_t frames = model.op.state_frames();
    const std::size_t more = frames > 1 ? 1 : 0;
    state = field_of(std::move(*array), "state", axes + more, set.output_channels());
    if (more > 0 && state->mesh.front() != frames)
      refuse(422, kPredicting, fmt::format("the {} frames this model steps from in 'state', before the mesh", frames),
             std::to_string(state->mesh.front()));
    if (more > 0) state->mesh.erase(state->mesh.begin());
  }
  const auto agree = [&](const std::optional<Field>& field, const char* name) {
    if (!field) return;
    if (request.mesh.empty()) request.mesh = field->mesh;
    request.many = request.many || field->many;
    request.samples = std::max(request.samples, field->samples);
    if (field->mesh != request.mesh || (field->samples != 1 && field->samples != request.samples))
      refuse(422, fmt::format("predicting from '{}'", name),
             fmt::format("1 or {} samples on points of shape {}, as in the other arrays", request.samples,
                         shape_text(request.mesh)),
             fmt::format("{} on {}", field->samples, shape_text(field->mesh)));
  };
  for (int twice = 0; twice < 2; ++twice) {  // the number of samples is known after the first round
    agree(input, "input");
    agree(state, "state");
    agree(coordinates, "coordinates");
  }
  if (request.mesh.empty()) {
    if (model.op.coordinates().empty())
      refuse_plainly(422, kPredicting, "'coordinates' of your points are missing", "this model has no grid of its own");
    request.mesh = set.shape;
  }
  request.points = element_count(request.mesh);
  set_frames(body, model, limits, request);
  check_limits(request, model, limits);
  if (coordinates) {
    request.own_coordinates = coordinates->samples > 1;
    request.coordinates = std::move(coordinates->values);
  } else if (request.mesh != set.shape || model.op.coordinates().empty()) {
    request.coordinates = model.grid(request.mesh);
    if (request.coordinates.empty())
      refuse_plainly(422, kPredicting,
                     fmt::format("'coordinates' of your points {} are missing", shape_text(request.mesh)),
                     "only models of uniform grids know where other points lie");
  }
  if (input) {
    repeat(*input, request.samples);
    request.input = std::move(input->values);
  }
  if (state) {
    repeat(*state, request.samples);
    request.state = std::move(state->values);
  }
  return request;
}

}  // namespace lano::serve
