// The body of a request as named arrays and a few words, whatever it was written in: JSON, .npy or .npz. Numbers go
// straight into the arrays, so a body costs no more memory than its numbers. It is untrusted: every size is checked
// before it is used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace lano::serve {

struct BodyArray {
  Shape shape;  // of nested lists; [] is one number
  std::vector<float> values;
};

struct FieldsBody {
  std::map<std::string, BodyArray> arrays;   // "input", "coordinates", ...; of .npy the one name ""
  std::map<std::string, std::string> words;  // "answer": "npy"
  std::vector<double> times;                 // kept in double
  std::optional<double> steps;
};

// Fails with status 400 where the text is no JSON or too deep, 422 where lists are ragged, a key is not one of these or
// numbers are not finite or more than `most_values`.
FieldsBody read_json_body(std::string_view text, std::size_t most_values);
FieldsBody read_npy_body(std::string_view bytes, std::size_t most_values);
FieldsBody read_npz_body(std::string_view bytes, std::size_t most_values);

}  // namespace lano::serve
