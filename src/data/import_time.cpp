#include "data/import_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "data/import_field.h"

namespace lano {
namespace {

const std::string kReadingTime = "reading --time";

struct TimeWords {
  std::string axis;   // "first", "last", or a number
  std::string array;  // of the times
  std::optional<double> step;
};

std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

TimeWords parse_time_words(const std::vector<std::string>& words) {
  TimeWords parsed;
  const auto once = [&](bool taken, const std::string& word) {
    if (taken)
      fail_usage(kReadingTime, "an axis and either a step or an array, each once", fmt::format("'{}' as well", word));
  };
  for (const std::string& word : words) {
    if (word == "first" || word == "last" || word.starts_with("axis=")) {
      once(!parsed.axis.empty(), word);
      parsed.axis = word.starts_with("axis=") ? word.substr(5) : word;
    } else if (const auto step = plain_number(word)) {
      once(parsed.step || !parsed.array.empty(), word);
      if (!(*step > 0) || !std::isfinite(*step)) fail_usage(kReadingTime, "a step above 0", word);
      parsed.step = step;
    } else {
      once(parsed.step || !parsed.array.empty(), word);
      parsed.array = word;
    }
  }
  return parsed;
}

// Axes that may be time: all but samples and channels.
std::vector<std::size_t> candidates(const ArrayImport& options, const NamedArray& output, bool outer) {
  std::vector<std::size_t> axes;
  const std::size_t samples = sample_axis(output, options.samples);
  for (std::size_t a = 0; a < output.array->shape().size(); ++a) {
    if (a != samples) axes.push_back(a);
  }
  // With time first, channels follow it; with time last, they come after it.
  if (options.channels == ChannelAxis::last && !axes.empty()) axes.pop_back();
  if (options.channels == ChannelAxis::first && !outer && !axes.empty()) axes.erase(axes.begin());
  return axes;
}

[[noreturn]] void ask_for_axis(const NamedArray& output, const std::string& found) {
  fail_usage(kReadingTime, "the axis of time: --time first, --time last or --time axis=N",
             fmt::format("{} of the output {}", found, shape_text(output.array->shape())),
             "axes count from 0, including the axis of samples");
}

std::size_t said_axis(const std::string& word, const ArrayImport& options, const NamedArray& output) {
  const std::vector<std::size_t> axes = candidates(options, output, word == "first");
  if (axes.size() < 2) {
    fail_usage(kReadingTime, "an output with samples, time and points",
               fmt::format("shape {} of '{}'", shape_text(output.array->shape()), output.name),
               "see --channels in 'lano import --help'");
  }
  if (word == "first") return axes.front();
  if (word == "last") return axes.back();
  std::size_t axis = 0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), axis);
  const std::vector<std::size_t> all = candidates(options, output, true);
  if (result.ec != std::errc() || result.ptr != word.data() + word.size() || axis >= output.array->shape().size() ||
      axis == sample_axis(output, options.samples))
    ask_for_axis(output, fmt::format("'axis={}'", word));
  return axis;
}

// The axis whose removal leaves the shape of an input.
std::optional<std::size_t> axis_beside(const std::vector<Shape>& inputs, const ArrayImport& options,
                                       const NamedArray& output) {
  std::vector<std::size_t> found;
  for (const std::size_t axis : candidates(options, output, true)) {
    Shape rest = output.array->shape();
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    if (std::find(inputs.begin(), inputs.end(), rest) != inputs.end()) found.push_back(axis);
  }
  if (found.size() != 1) return std::nullopt;
  return found.front();
}

// The decimal number a float32 was meant to be: 0.05, not 0.05000000074505806.
double meant(float value) {
  const std::string text = fmt::format("{}", value);
  return plain_number(text).value_or(value);
}

}  // namespace

std::optional<ImportTime> import_time(const ArrayImport& options, const NamedArray& output,
                                      const std::vector<Shape>& input_shapes, const std::filesystem::path& archive) {
  if (options.time.empty()) return std::nullopt;
  const TimeWords words = parse_time_words(options.time);
  if (!output.list.empty())
    fail(output.doing(), "samples of one size, since there is time", "samples of different sizes",
         "clouds of different sizes are steady");
  const Shape& shape = output.array->shape();
  std::optional<std::size_t> axis;
  if (!words.axis.empty()) axis = said_axis(words.axis, options, output);
  std::vector<float> values;
  std::string doing = kReadingTime;
  if (!words.array.empty()) {
    if (archive.empty() && !names_its_file(words.array))
      fail_usage(kReadingTime, "first, last, axis=N, a step, a .npy file or FILE:NAME",
                 fmt::format("'{}'", words.array));
    const NamedArray named = open_named(archive, words.array);
    doing = named.doing();
    values = named.array->read_all();
  }
  if (!axis && !values.empty()) {
    // As many frames as times; some libraries write the end of the last step, too.
    for (const std::int64_t extra : {0, 1}) {
      std::vector<std::size_t> fit;
      for (const std::size_t a : candidates(options, output, true)) {
        if (shape[a] + extra == std::ssize(values)) fit.push_back(a);
      }
      if (fit.size() == 1 && !axis) axis = fit.front();
      if (fit.size() > 1) ask_for_axis(output, "several axes that fit");
    }
    if (!axis) ask_for_axis(output, fmt::format("{} times, which fit no axis", values.size()));
  }
  if (!axis) axis = axis_beside(input_shapes, options, output);
  if (!axis) ask_for_axis(output, "none given, and no input that determines it");
  ImportTime time{*axis, {}};
  const std::int64_t frames = shape[*axis];
  if (!values.empty() && std::ssize(values) != frames && std::ssize(values) != frames + 1)
    fail(doing, fmt::format("{} times, one per frame", frames), std::to_string(values.size()),
         "see --time in 'lano import --help'");
  for (std::int64_t i = 0; i < frames; ++i) {
    time.times.push_back(values.empty() ? static_cast<double>(i) * words.step.value_or(1.0)
                                        : meant(values[static_cast<std::size_t>(i)]));
    if (!std::isfinite(time.times.back()) || (i > 0 && !(time.times.back() > time.times[time.times.size() - 2])))
      fail(doing, "rising times", fmt::format("{} at frame {}", time.times.back(), i), "sort the frames by time");
  }
  return time;
}

}  // namespace lano
