#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "data/npy.h"
#include "serve/fields_body.h"
#include "serve/http_error.h"

namespace lano::serve {
namespace {

BodyArray checked(NumpyArray array, const std::string& doing) {
  const auto bad = std::find_if(array.values.begin(), array.values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != array.values.end())
    refuse(422, doing, "finite numbers in float32", fmt::format("{} at value {}", *bad, bad - array.values.begin()));
  if (array.values.empty()) refuse(422, doing, "an array with numbers", shape_text(array.shape));
  return {std::move(array.shape), std::move(array.values)};
}

template <class Read>
auto as_bad_request(Read&& read) {
  try {
    return read();
  } catch (const HttpError&) {
    throw;
  } catch (const Error& error) {
    throw HttpError(400, error.what());
  }
}

}  // namespace

FieldsBody read_npy_body(std::string_view bytes, std::size_t most_values) {
  const std::string doing = "reading a .npy body";
  // One byte is the least a number takes there.
  if (bytes.size() > most_values * 8 + (1 << 17))
    refuse_plainly(422, doing, fmt::format("there are more than {} numbers", most_values),
                   "send fewer samples at once");
  NumpyArray array = as_bad_request([&] { return parse_npy(bytes, doing); });
  if (array.values.size() > most_values)
    refuse(422, doing, fmt::format("at most {} numbers", most_values), std::to_string(array.values.size()),
           "send fewer samples at once");
  FieldsBody body;
  body.arrays[""] = checked(std::move(array), doing);
  return body;
}

FieldsBody read_npz_body(std::string_view bytes, std::size_t most_values) {
  const std::string doing = "reading a .npz body";
  auto arrays = as_bad_request([&] { return parse_npz(bytes, doing, most_values); });
  FieldsBody body;
  std::size_t count = 0;
  for (auto& [name, array] : arrays) {
    count += array.values.size();
    if (count > most_values)
      refuse_plainly(422, doing, fmt::format("there are more than {} numbers", most_values),
                     "send fewer samples at once");
    if (name == "times") {
      body.times.assign(array.values.begin(), array.values.end());
    } else if (name == "steps" && array.values.size() == 1) {
      body.steps = array.values.front();
    } else if (name == "input" || name == "coordinates" || name == "state") {
      body.arrays[name] = checked(std::move(array), fmt::format("{}, array '{}'", doing, name));
    } else {
      refuse(422, doing, "arrays among input, coordinates, state, times, steps", fmt::format("'{}'", name));
    }
  }
  return body;
}

}  // namespace lano::serve
