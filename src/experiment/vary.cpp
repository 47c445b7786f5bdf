#include "experiment/vary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"

namespace lano {
namespace {

// Keys that a search may not touch, and why.
constexpr std::pair<std::string_view, std::string_view> kFixed[] = {
    {"data.file", "validation errors on different datasets are not comparable"},
    {"model.name", "tune one model at a time"},
    {"train.epochs", "the rungs set the epochs; set the full number with --set"},
    {"train.seed", "a seed is not chosen; measure its influence with lano train --seeds"}};

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The text as a value of the key's own type; none where it is no such thing.
std::optional<ConfigValue> read_as(const ConfigValue& like, std::string_view text) {
  if (std::holds_alternative<bool>(like)) {
    if (text == "true" || text == "false") return text == "true";
    return std::nullopt;
  }
  if (std::holds_alternative<std::int64_t>(like)) return number<std::int64_t>(text);
  if (std::holds_alternative<double>(like)) {
    const auto value = number<double>(text);
    return value && std::isfinite(*value) ? std::optional<ConfigValue>(*value) : std::nullopt;
  }
  return std::string(text);
}

void read_range(VariedKey& key, const Schema::Key& known, const ConfigValue& like, std::string_view values,
                const std::string& doing) {
  const auto colon = values.find(':');
  if (colon != std::string_view::npos) {
    if (values.substr(colon) != ":log") {
      fail_usage(doing, "LOW..HIGH or LOW..HIGH:log", fmt::format("'{}' after the range", values.substr(colon)));
    }
    key.logarithmic = true;
    values = values.substr(0, colon);
  }
  key.whole = std::holds_alternative<std::int64_t>(like);
  if (!key.whole && !std::holds_alternative<double>(like)) {
    fail_usage(doing, fmt::format("a list a,b,c for {}, which is {}", key.name, known.type), "a range");
  }
  const auto dots = values.find("..");
  const auto end = [&](std::string_view text) {
    const auto value = read_as(like, trimmed(text));
    if (!value)
      fail_usage(doing, fmt::format("{} at each end of the range of {}", known.type, key.name),
                 fmt::format("'{}'", text));
    return key.whole ? static_cast<double>(std::get<std::int64_t>(*value)) : std::get<double>(*value);
  };
  key.low = end(values.substr(0, dots));
  key.high = end(values.substr(dots + 2));
  if (!(key.low < key.high)) {
    fail_usage(doing, "a range whose low end is below its high end", std::string(values),
               "write LOW..HIGH, or --set for one value");
  }
  if (key.logarithmic && !(key.low > 0)) {
    fail_usage(doing, "a low end above 0 for :log", fmt::format("{}", key.low), "raise it, or leave out :log");
  }
}

void read_list(VariedKey& key, const Schema::Key& known, const ConfigValue& like, std::string_view values,
               const std::string& doing) {
  for (std::size_t from = 0; from <= values.size();) {
    const auto comma = std::min(values.find(',', from), values.size());
    const std::string_view text = trimmed(values.substr(from, comma - from));
    const auto value = text.empty() ? std::nullopt : read_as(like, text);
    if (!value || !known.set(*value)) {
      fail_usage(doing, fmt::format("{} for {}", known.type, key.name), fmt::format("'{}'", text),
                 "write a list a,b,c or a range LOW..HIGH");
    }
    key.choices.push_back(*value);
    from = comma + 1;
  }
  if (key.choices.size() < 2) {
    fail_usage(doing, "a range LOW..HIGH or a list of at least two values", fmt::format("'{}'", values),
               "use --set for one value");
  }
}

// To a step of about a thousandth of the range, or with :log of about a thousandth of the logarithm's range.
double rounded(const VariedKey& key, double value) {
  const double span = key.logarithmic ? std::log(key.high / key.low) : key.high - key.low;
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(span / 1000))));
  const std::string text =
      key.logarithmic ? fmt::format("{:.{}e}", value, digits) : fmt::format("{:.{}f}", value, digits);
  return std::clamp(*number<double>(text), key.low, key.high);
}

}  // namespace

VariedKey parse_vary(std::string_view text) {
  const std::string doing = fmt::format("reading --vary {}", text);
  const auto equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) {
    fail_usage(doing, "KEY=LOW..HIGH, KEY=LOW..HIGH:log or KEY=a,b,c", fmt::format("'{}'", text));
  }
  VariedKey key;
  key.text = text;
  key.name = text.substr(0, equals);
  const std::string_view values = text.substr(equals + 1);
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  std::vector<std::string> names;
  for (const Schema::Key& known : schema.keys()) names.push_back(known.name);
  const auto at = std::find(names.begin(), names.end(), key.name);
  if (at == names.end()) {
    fail_usage(doing, "a known key", fmt::format("'{}'", key.name), did_you_mean(key.name, names));
  }
  for (const auto& [name, why] : kFixed) {
    if (name == key.name) fail_usage(doing, "a key that can be tuned", fmt::format("'{}'", name), why);
  }
  const Schema::Key& known = schema.keys()[static_cast<std::size_t>(at - names.begin())];
  const ConfigValue like = known.get();
  if (values.find("..") != std::string_view::npos) {
    read_range(key, known, like, values, doing);
  } else {
    read_list(key, known, like, values, doing);
  }
  return key;
}

ConfigValue draw(const VariedKey& key, RandomStream& stream) {
  if (!key.choices.empty()) return key.choices[stream.below(key.choices.size())];
  if (key.whole && !key.logarithmic) {
    const auto count = static_cast<std::uint64_t>(key.high - key.low) + 1;
    return static_cast<std::int64_t>(key.low) + static_cast<std::int64_t>(stream.below(count));
  }
  const double u = stream.uniform();
  if (key.whole) {  // the whole number k stands for [k, k + 1), so that both ends can be drawn
    const double value = std::floor(key.low * std::pow((key.high + 1) / key.low, u));
    return static_cast<std::int64_t>(std::clamp(value, key.low, key.high));
  }
  return rounded(key, key.logarithmic ? key.low * std::pow(key.high / key.low, u) : key.low + u * (key.high - key.low));
}

void set_key(TrainConfig& config, const std::string& name, const ConfigValue& value) {
  Schema schema;
  bind_train_config(schema, config);
  for (const Schema::Key& key : schema.keys()) {
    if (key.name == name && key.set(value)) return;
  }
  fail("setting a key of the training config", "a known key and a value of its type",
       fmt::format("{} = {}", name, value_text(value)));
}

std::string value_text(const ConfigValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::vector<double>>) {
          return fmt::format("[{}]", fmt::join(v, ", "));
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

}  // namespace lano
