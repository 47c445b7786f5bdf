// The optimiser's work over one flat buffer, by the tile kernels: blocks of fixed size on the OpenMP pool, sums in
// double and in order, so that no thread count changes a bit.
#pragma once

#include <span>

#include "kernels/tile_kernels.h"

namespace lano {

using kernels::AdamwStep;

void adamw_step(const AdamwStep& step, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> first_moment, std::span<float> second_moment);

double square_sum(std::span<const float> values);  // sum of x^2

void scale(std::span<float> values, double factor);
void add_to(std::span<float> sum, std::span<const float> values);  // sum += values

}  // namespace lano
