#include "core/strict_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lano {
namespace {

// Levels of objects and lists; brackets inside texts do not count.
int depth_of(std::string_view text) {
  int depth = 0, most = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\')
      ++i;
    else if (c == '"')
      inside = !inside;
    else if (!inside && (c == '[' || c == '{'))
      most = std::max(most, ++depth);
    else if (!inside && (c == ']' || c == '}'))
      --depth;
  }
  return most;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view doing, std::string_view what) {
  constexpr int kDeepest = 64;
  const auto sentence = [&](const char* predicate) { return std::string(what).append(predicate); };
  if (depth_of(text) > kDeepest)
    fail_plainly(doing, sentence(" has more than 64 levels"), "the file is damaged: copy it again");
  nlohmann::json value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded())
    fail_plainly(doing, sentence(" is not well-formed JSON"), "the file is damaged: copy it again");
  return value;
}

std::string json_reason(const std::exception& error) {
  const std::string_view text = error.what();
  const auto end = text.starts_with("[json.exception") ? text.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

std::int64_t whole_number(const nlohmann::json& value, std::string_view doing, std::string_view what) {
  const bool large = value.is_number_unsigned() &&
                     value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
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
