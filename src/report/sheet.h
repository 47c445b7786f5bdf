// Several fields in one picture: rows of images with a white gap between them.
#pragma once

#include <vector>

#include "core/set_description.h"
#include "report/html_report.h"
#include "report/picture.h"

namespace lano {

Image join_images(const std::vector<std::vector<Image>>& rows, std::int64_t gap = 8);

// One sample as a row: every channel of its input, output (the last frame where there are several) and kept fields,
// each in its own range. coordinates [N, dx], input [N, da], output [T, N, du], kept [N, dk].
std::vector<Image> draw_sample(const SetDescription& set, std::span<const float> coordinates,
                               std::span<const float> input, std::span<const float> output, std::span<const float> kept,
                               std::int64_t pixels = 260);

// Judged samples as rows: input | truth | prediction | absolute error, a row a sample and output channel, the input in
// the first row of each. Truth and prediction share a range; errors start at 0.
std::vector<std::vector<Image>> draw_judged(const SetDescription& set, const std::vector<ShownSample>& samples,
                                            std::int64_t pixels = 260);

}  // namespace lano
