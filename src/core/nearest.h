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

}  // namespace lano
