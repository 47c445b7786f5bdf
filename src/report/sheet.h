// Several fields in one picture: rows of panels with a white gap between them, and rows that follow one another in time
// as an animation.
#pragma once

#include <vector>

#include "report/panel.h"
#include "report/picture.h"

namespace lano {

Image join_images(const std::vector<std::vector<Image>>& rows, std::int64_t gap = 8);

// With a margin; the columns of rows with as many panels are aligned.
Image draw_sheet(const PanelRows& rows);

// Best, median and worst sample (or whichever are given) under one another, each with a headline.
Image draw_judged(const ShownSamples& shown, std::int64_t pixels = 260);

// The sample in time as an animated PNG of at most about 300 KB: truth, prediction and error of the first output. Empty
// if the dataset has one frame.
std::string animate(const ShownSamples& shown, std::size_t sample);

}  // namespace lano
