#include "prediction_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"

namespace lano::cli {
namespace {

[[noreturn]] void fail_times(const std::string& expected, const std::string& words, const char* advice = "") {
  fail_usage("reading --times", expected, fmt::format("'{}'", words), advice);
}

double number(std::string_view text, const std::string& words) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail_times("first:last:step, such as 0:1:0.1, or a list of times, such as 0,0.1,0.5", words);
  return value;
}

std::vector<double> numbers(const std::string& words, char separator) {
  std::vector<double> values;
  std::string_view rest = words;
  while (true) {
    const std::size_t at = rest.find(separator);
    values.push_back(number(rest.substr(0, at), words));
    if (at == std::string_view::npos) return values;
    rest.remove_prefix(at + 1);
  }
}

std::vector<double> range(double first, double last, double step, const std::string& words) {
  if (!(step > 0) || last < first) fail_times("first:last:step with a step above 0 and a last time not before", words);
  // A last time that rounding alone keeps from being reached is among them.
  const double steps = std::floor((last - first) / step * (1 + 1e-9) + 1e-9);
  if (!(steps < static_cast<double>(kMostFrames)))
    fail_times(fmt::format("at most {} times", kMostFrames), words, "use a larger step");
  std::vector<double> times;
  for (std::int64_t i = 0; i <= static_cast<std::int64_t>(steps); ++i)
    times.push_back(std::min(last, first + static_cast<double>(i) * step));
  if (last - times.back() < 1e-6 * step) times.back() = last;
  return times;
}

}  // namespace

std::vector<double> parse_times(const std::string& words) {
  std::vector<double> times;
  if (words.find(':') != std::string::npos) {
    const std::vector<double> ends = numbers(words, ':');
    if (ends.size() != 3) fail_times("first:last:step, such as 0:1:0.1", words);
    times = range(ends[0], ends[1], ends[2], words);
  } else {
    times = numbers(words, ',');
    if (std::ssize(times) > kMostFrames)
      fail_times(fmt::format("at most {} times", kMostFrames), fmt::format("{} of them", times.size()));
  }
  // A step too small for its times gives the same one twice.
  if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) != times.end())
    fail_times("times that rise", words);
  return times;
}

std::vector<double> roll_out_times(std::vector<double> known, std::int64_t frames) {
  const double step = known.size() > 1 ? known[1] - known[0] : 1;
  if (known.empty()) known.push_back(0);
  const std::size_t given = known.size();
  const double last = known.back();
  known.resize(static_cast<std::size_t>(frames));
  for (std::size_t i = given; i < known.size(); ++i) known[i] = last + static_cast<double>(i - given + 1) * step;
  return known;
}

std::optional<std::size_t> frame_at(const std::vector<double>& known, double time) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (std::abs(known[i] - time) <= 1e-6 * std::max(std::abs(known[i]), std::abs(time))) return i;
  }
  return std::nullopt;
}

}  // namespace lano::cli
