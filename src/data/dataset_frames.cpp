// Initial frames as states: a file keeps them as the last of its input channels, oldest first; a model that steps in
// time wants one row of frames, the first of which are given.
#include <algorithm>

#include "data/dataset.h"

namespace lano {

void DatasetReader::show_initial_as_output() {
  SetDescription& d = description_;
  moved_frames_ = std::ssize(d.initial_time);
  if (moved_frames_ == 0) return;
  d.input.resize(d.input.size() - static_cast<std::size_t>(moved_frames_ * d.output_channels()));
  d.time.insert(d.time.begin(), d.initial_time.begin(), d.initial_time.end());
  d.initial_time.clear();
  d.given_frames = moved_frames_;
}

void DatasetReader::move_initial_frames(Samples& samples) const {
  const auto own = static_cast<std::size_t>(description_.input_channels()),
             out = static_cast<std::size_t>(description_.output_channels()),
             moved = static_cast<std::size_t>(moved_frames_), stored = own + moved * out;
  std::vector<float> input, output;
  input.reserve(samples.input.size() / stored * own);
  output.reserve(samples.output.size() + samples.input.size() / stored * moved * out);
  for (std::int64_t i = 0; i < samples.count; ++i) {
    const auto points = static_cast<std::size_t>(samples.points_of(i));
    const auto given = samples.input_of(i, static_cast<std::int64_t>(stored));
    for (std::size_t n = 0; n < points; ++n)
      input.insert(input.end(), given.begin() + static_cast<std::ptrdiff_t>(n * stored),
                   given.begin() + static_cast<std::ptrdiff_t>(n * stored + own));
    for (std::size_t frame = 0; frame < moved; ++frame) {
      for (std::size_t n = 0; n < points; ++n) {
        const auto from = given.begin() + static_cast<std::ptrdiff_t>(n * stored + own + frame * out);
        output.insert(output.end(), from, from + static_cast<std::ptrdiff_t>(out));
      }
    }
    if (!has_output_) continue;
    const auto later = samples.output_of(i, static_cast<std::int64_t>(out));
    output.insert(output.end(), later.begin(), later.end());
  }
  samples.input = std::move(input);
  samples.output = std::move(output);
  samples.frames = has_output_ ? samples.frames + moved_frames_ : moved_frames_;
}

}  // namespace lano
