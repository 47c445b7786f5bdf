// What the name of a weight says about its values.
#pragma once

#include <string_view>

namespace lano {

// Complex weights are stored as pairs of real numbers along a last axis, under a name whose part after the last dot
// begins with "complex". Counts take such a pair for one parameter, as the literature does.
inline bool is_complex_weight(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return (dot == std::string_view::npos ? name : name.substr(dot + 1)).starts_with("complex");
}

}  // namespace lano
