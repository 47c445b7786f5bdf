// JSON from an untrusted file. The library parses any depth without recursion but writes, compares and copies with it,
// and converts 1e300 to an integer on request, which C++ leaves undefined; here both are errors.
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace lano {

// Fails with `doing` and the name `what` where the text is no JSON, or more than 64 levels deep.
nlohmann::json parse_json(std::string_view text, std::string_view doing, std::string_view what);

// Fails where the value is no whole number of 64 bits with a sign, or no list of them.
std::int64_t whole_number(const nlohmann::json& value, std::string_view doing, std::string_view what);
std::vector<std::int64_t> whole_numbers(const nlohmann::json& value, std::string_view doing, std::string_view what);

// What the library found, without its error numbers and class names.
std::string json_reason(const std::exception& error);

}  // namespace lano
