// Points of a cloud along a Hilbert curve, so that neighbours in the order are neighbours in space and the order does
// not depend on how the file lists them. 16 bits per axis over a box that is part of the model; up to three axes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lano {

// Position of a cell along the curve; cell has one whole number below 2^bits per axis, first axis first.
std::uint64_t hilbert_key(std::vector<std::uint32_t> cell, int bits);

// The same for a point: its cell in `box` (lower and upper end of each axis), clamped to it; 16 bits per axis.
std::uint64_t hilbert_key(std::span<const float> point, std::span<const double> box);

// The order of the points: order[i] is the point at place i. coordinates [N, dims], input [N, channels]; box: lower and
// upper end of each axis, points outside are clamped. Ties go by coordinates, then by input values, so permuting the
// points permutes the order and nothing else.
std::vector<std::int64_t> hilbert_order(std::span<const float> coordinates, std::int64_t dims,
                                        std::span<const float> input, std::int64_t channels,
                                        std::span<const double> box);

}  // namespace lano
