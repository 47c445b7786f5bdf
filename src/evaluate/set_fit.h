// Whether a set can be the input of a model trained on another.
#pragma once

#include <string_view>

#include "core/set_description.h"

namespace lano {

// Fails with the differing shapes where it cannot: geometry, channels, and whether it has several times.
void check_fits(const SetDescription& trained_on, const SetDescription& given, std::string_view doing);

}  // namespace lano
