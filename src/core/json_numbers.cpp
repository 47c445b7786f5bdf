#include "core/json_numbers.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lano {

std::int64_t whole_number(const nlohmann::json& value, std::string_view doing, std::string_view what) {
  const bool large = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  // Writing a deep tree down would use up the stack.
  if (!value.is_number_integer() || large)
    fail(doing, std::string("a whole number as ").append(what), value.is_number() ? value.dump() : value.type_name());
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> whole_numbers(const nlohmann::json& value, std::string_view doing, std::string_view what) {
  if (!value.is_array()) fail(doing, std::string("a list of whole numbers as ").append(what), value.type_name());
  std::vector<std::int64_t> numbers;
  for (const nlohmann::json& each : value) numbers.push_back(whole_number(each, doing, what));
  return numbers;
}

}  // namespace lano
