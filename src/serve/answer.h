// Fields as the bodies of answers: JSON with nested lists, .npy or .npz. Numbers are float32 in their shortest decimal
// form, so that reading them back gives the same bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "serve/predict_request.h"

namespace lano::serve {

struct AnswerFields {
  std::string model;
  std::vector<FieldInfo> output;
  Shape shape;  // [samples, frames, mesh..., channels], those axes that are asked for
  std::span<const float> values;
  std::vector<double> times{};
  Shape coordinates_shape{};  // where the answer says where its points lie
  std::span<const float> coordinates{};
  double seconds = 0;
};

Response answer(Form form, const AnswerFields& fields);
// Bytes that the answer may take, before it is made.
std::size_t answer_bytes(Form form, std::int64_t values);

// "[[1,2],[3,4]]"
void append_nested(std::string& to, const Shape& shape, std::span<const float> values);
// A text as JSON with quotes; '<' is escaped, for pages.
std::string json_text(std::string_view text);

}  // namespace lano::serve
