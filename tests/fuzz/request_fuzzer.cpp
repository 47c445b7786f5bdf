// The body of a prediction request (first byte: its Content-Type and the model asked) -> arrays -> a checked request ->
// the prediction, where it is small. What was let through must fit the model; only HttpError is a refusal.
#include <cstdlib>

#include "data/npy.h"
#include "fuzzer.h"
#include "serve/answer.h"
#include "serve/http_error.h"
#include "serve/predict_request.h"
#include "tiny_models.h"

namespace {

using lano::serve::ServedModel;

const std::vector<ServedModel>& models() {
  static const std::vector<ServedModel> all = [] {
    lano::LanoConfig steady, stepping, timed;
    stepping.task = lano::Task::autoregressive;
    timed.task = lano::Task::time_conditional;
    std::vector<ServedModel> made;
    made.emplace_back("grid", lano::Operator(lano::fuzz::tiny_model(lano::Geometry::grid, {3, 4}, steady)));
    made.emplace_back("cloud", lano::Operator(lano::fuzz::tiny_model(lano::Geometry::points, {5}, steady)));
    made.emplace_back("stepping", lano::Operator(lano::fuzz::tiny_model(lano::Geometry::grid, {3, 4}, stepping)));
    made.emplace_back("timed", lano::Operator(lano::fuzz::tiny_model(lano::Geometry::mesh, {3, 4}, timed)));
    return made;
  }();
  return all;
}

void require(bool good) {
  if (!good) std::abort();
}

void predict(const ServedModel& model, const lano::serve::PredictRequest& r) {
  const lano::SetDescription& set = model.op.set();
  const auto points = static_cast<std::size_t>(r.samples * r.points);
  require(r.samples > 0 && r.points > 0 && r.frames() > 0 && lano::element_count(r.mesh) == r.points);
  require(r.input.size() == points * static_cast<std::size_t>(set.input_channels()));
  require(r.state.size() == points * static_cast<std::size_t>(set.output_channels() * model.op.state_frames()));
  if (r.samples * r.points * r.frames() > 4096) return;  // right, and slow
  lano::Operator::Call call;
  if (set.geometry != lano::Geometry::points) call.mesh = r.mesh;
  call.time = r.times.empty() ? 0 : r.times.front();
  const auto first = [&](const std::vector<float>& all, std::int64_t channels) {
    return std::span(all).first(std::min(all.size(), static_cast<std::size_t>(r.points * channels)));
  };
  call.state = first(r.state, set.output_channels() * model.op.state_frames());
  std::vector<float> values;
  try {
    values = model.op.predict(first(r.coordinates, set.dims()), first(r.input, set.input_channels()), call);
  } catch (const lano::Error&) {
    return;
  }
  lano::Shape shape = r.mesh;
  shape.push_back(set.output_channels());
  const auto text =
      lano::serve::answer(lano::serve::Form::json, {model.name, set.output, shape, values, r.times, {}, {}, 0.5});
  require(text.body.size() <
          lano::serve::answer_bytes(lano::serve::Form::json, static_cast<std::int64_t>(values.size())) +
              32 * r.times.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr const char* kTypes[] = {"application/json", "application/x-npy", "application/x-npz", "text/plain"};
  lano::serve::Request request;
  request.headers["content-type"] = kTypes[data[0] % 4];
  request.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ServedModel& model = models()[data[0] / 4 % models().size()];
  lano::serve::Limits limits;
  limits.values = 1 << 16;
  try {
    predict(model, lano::serve::predict_request(lano::serve::read_body(request, 1 << 16), model, limits));
  } catch (const lano::serve::HttpError& error) {
    require(error.status() >= 400 && error.status() < 500 && std::string_view(error.what()).size() > 10);
  }
  return 0;
}

namespace lano::fuzz {

std::vector<std::string> seeds() {
  const std::vector<float> field(24, 0.5f);
  const std::string rows = "[[1,2,3,4],[5,6,7,8],[9,1e1,-1,0.5]]";
  const auto json = [](char model, const std::string& body) {
    return std::string(1, static_cast<char>(model * 4)) + body;
  };
  return {json(0, "{\"input\":" + rows + "}"),
          json(0, "{\"input\":[" + rows + "," + rows + "],\"answer\":\"npy\"}"),
          json(1, "{\"input\":[[1],[2]],\"coordinates\":[[0,1],[0.5,0.25]]}"),
          json(2, "{\"input\":" + rows + ",\"state\":" + rows + ",\"steps\":3}"),
          json(3, "{\"input\":" + rows +
                      ",\"coordinates\":[[[0,0],[0,1],[0,2],[0,3]],[[1,0],[1,1],[1,2],[1,3]],"
                      "[[2,0],[2,1],[2,2],[2,3]]],\"times\":[0,0.5]}"),
          std::string(1, 1) + format_npy({3, 4}, std::span(field).first(12)),
          std::string(1, 5) + format_npy({12, 2}, field),
          std::string(1, 2) + format_npz({{"input", {3, 4}, std::span(field).first(12), {}}}),
          std::string(1, 10) + format_npz({{"input", {3, 4}, std::span(field).first(12), {}},
                                           {"state", {3, 4}, std::span(field).first(12), {}}})};
}

std::vector<std::string> words() {
  return {"\"input\":",
          "\"coordinates\":",
          "\"state\":",
          "\"times\":",
          "\"steps\":",
          "\"answer\":",
          "[[",
          "]]",
          ",",
          "1e999",
          "-0",
          "null",
          "'shape': (3, 4), ",
          "<f4",
          "PK\x03\x04",
          "PK\x01\x02",
          "PK\x05\x06"};
}

}  // namespace lano::fuzz
