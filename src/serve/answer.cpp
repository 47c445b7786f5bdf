#include "serve/answer.h"

#include <fmt/format.h>

#include <charconv>

#include "data/npy.h"
#include "serve/http_error.h"

namespace lano::serve {
namespace {

constexpr std::size_t kLongestNumber = 16;  // of a float in its shortest form, "-1.17549435e-38", and a comma

const char* type_of(Form form) {
  return form == Form::json ? "application/json" : form == Form::npy ? "application/x-npy" : "application/x-npz";
}

void append_number(std::string& to, double value) { to += fmt::format("{}", value); }

std::string json_answer(const AnswerFields& f) {
  std::string body;
  body.reserve(answer_bytes(Form::json, static_cast<std::int64_t>(f.values.size())));
  body += "{\"model\":" + json_text(f.model) + ",\"fields\":[";
  for (std::size_t c = 0; c < f.output.size(); ++c) {
    body += fmt::format("{}{{\"name\":{},\"unit\":{}}}", c > 0 ? "," : "", json_text(f.output[c].name),
                        json_text(f.output[c].unit));
  }
  body += fmt::format("],\"shape\":[{}],\"seconds\":{}", fmt::join(f.shape, ","), f.seconds);
  if (!f.times.empty()) {
    body += ",\"times\":[";
    for (std::size_t t = 0; t < f.times.size(); ++t) {
      if (t > 0) body += ',';
      append_number(body, f.times[t]);
    }
    body += ']';
  }
  if (!f.coordinates.empty()) {
    body += ",\"coordinates\":";
    append_nested(body, f.coordinates_shape, f.coordinates);
  }
  body += ",\"output\":";
  append_nested(body, f.shape, f.values);
  return body + '}';
}

std::string npz_answer(const AnswerFields& f) {
  std::vector<NpzArray> arrays{{"output", f.shape, f.values, {}}};
  if (!f.times.empty()) arrays.push_back({"times", {static_cast<std::int64_t>(f.times.size())}, {}, f.times});
  if (!f.coordinates.empty()) arrays.push_back({"coordinates", f.coordinates_shape, f.coordinates, {}});
  return format_npz(arrays);
}

}  // namespace

Response error_response(int status, std::string_view message) {
  Response response{status, "application/json",
                    fmt::format("{{\"error\":{{\"status\":{},\"message\":{}}}}}\n", status, json_text(message))};
  if (status == 429 || status == 503) response.headers.emplace_back("Retry-After", "1");
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : plain_text(text, 1 << 16)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out + '"';
}

void append_nested(std::string& to, const Shape& shape, std::span<const float> values) {
  // Lists that begin or end before value i: those of the axes whose inner extents divide i.
  Shape sizes;
  std::int64_t size = 1;
  for (std::size_t a = shape.size(); a-- > 0;) sizes.push_back(size *= shape[a]);
  char number[32];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (i > 0) {
      for (const std::int64_t s : sizes) {
        if (at % s == 0) to += ']';
      }
      to += ',';
    }
    for (const std::int64_t s : sizes) {
      if (at % s == 0) to += '[';
    }
    const auto [end, error] = std::to_chars(number, number + sizeof number, values[i]);
    to.append(number, end);
  }
  to.append(values.empty() ? 0 : shape.size(), ']');
}

std::size_t answer_bytes(Form form, std::int64_t values) {
  const auto count = static_cast<std::size_t>(values);
  return 4096 + count * (form == Form::json ? kLongestNumber + 2 : sizeof(float));
}

Response answer(Form form, const AnswerFields& fields) {
  Response response;
  response.type = type_of(form);
  response.body = form == Form::json  ? json_answer(fields)
                  : form == Form::npy ? format_npy(fields.shape, fields.values)
                                      : npz_answer(fields);
  response.headers.emplace_back("X-Lano-Seconds", fmt::format("{:.6f}", fields.seconds));
  return response;
}

}  // namespace lano::serve
