// The times of a prediction's frames: those a user lists, and those of a roll-out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lano::cli {

// Frames of a prediction, whatever the memory: more are a typing error.
inline constexpr std::int64_t kMostFrames = 1'000'000;

// "a:b:step", b among them where it is reached to rounding, or "t1,t2,...". Rising and finite, else fails.
std::vector<double> parse_times(const std::string& words);

// The times of `frames` frames, beginning with those of `known`; beyond the last of these in equal steps.
std::vector<double> roll_out_times(std::vector<double> known, std::int64_t frames);

// The frame of `known` at this time, to the rounding of a float.
std::optional<std::size_t> frame_at(const std::vector<double>& known, double time);

}  // namespace lano::cli
