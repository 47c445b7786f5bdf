// The known name closest to a mistyped one, for "did you mean" in errors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lano {

// Levenshtein distance: single-character insertions, deletions and replacements.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The element of `known` with the least distance to `name`; empty when `known` is empty.
std::string nearest(std::string_view name, const std::vector<std::string>& known);

// "did you mean 'NAME'?" for the nearest known name; empty where none is near: more than half of the letters differ,
// and none contains the other.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

}  // namespace lano
