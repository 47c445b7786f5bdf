// A TOML document is flattened to dotted keys, each looked up in the schema. toml++ stays inside this file.
#include "core/config.h"

#include <fmt/format.h>

#define TOML_HEADER_ONLY 1
// Its assertions fire on malformed input, which is then refused with a sentence; nothing of ours is checked by them.
#define TOML_ASSERT(expression) static_cast<void>(0)
// Lists in lists; a config has none.
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

#include <algorithm>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/nearest.h"

namespace lano {
namespace {

ConfigValue to_value(const toml::node& node, const std::string& name, std::string_view origin) {
  if (const auto* v = node.as_boolean()) return v->get();
  if (const auto* v = node.as_integer()) return v->get();
  if (const auto* v = node.as_floating_point()) return v->get();
  if (const auto* v = node.as_string()) return v->get();
  if (const auto* array = node.as_array()) {
    std::vector<double> values;
    for (const auto& element : *array) {
      const auto number = element.value<double>();
      if (!number) fail_usage(std::string(origin), "numbers in the list " + name, "something else", "write [1, 2]");
      values.push_back(*number);
    }
    return values;
  }
  fail_usage(std::string(origin), "a number, word or list for " + name, "a date, time or other value", "");
}

void flatten(const toml::table& table, const std::string& prefix, std::string_view origin,
             std::vector<std::pair<std::string, ConfigValue>>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      flatten(*inner, name, origin, out);
    } else {
      out.emplace_back(name, to_value(node, name, origin));
    }
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {  // TOML takes no other control characters as they are
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

constexpr std::size_t kLongestConfig = std::size_t{1} << 20;
constexpr int kMostKeyParts = 32;

// The most parts of a dotted key, a.b.c, anywhere in the text. toml++ makes a table of each part and takes them down one inside the other on the
// stack, and a megabyte has room for half a million. Read by TOML's own rules for strings and comments, so that it sees the keys toml++ sees,
// up to the first error of either.
int most_key_parts(std::string_view text) {
  int parts = 1, most = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const bool three = text.substr(at, 3) == std::string(3, c);
      const std::string_view quote = text.substr(at, three ? 3 : 1);
      at += quote.size();
      while (at < text.size() && text.substr(at, quote.size()) != quote && (three || text[at] != '\n')) at += c == '"' && text[at] == '\\' ? 2 : 1;
      // Up to two quotes may stand before the closing three.
      while (three && at + 3 < text.size() && text[at + 3] == c) ++at;
      at += quote.size() - 1;
    } else if (c == '#') {
      while (at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (c == '.') {
      most = std::max(most, ++parts);
    } else if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) {
      parts = 1;
    }
  }
  return most;
}

std::string to_text(const ConfigValue& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const {
      std::string text = fmt::format("{}", v);  // shortest text that reads back to the same double
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<double>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
  };
  return std::visit(Visitor{}, value);
}

std::vector<std::pair<std::string, ConfigValue>> parse_flat(std::string_view text, std::string_view origin) {
  if (text.size() > kLongestConfig) fail_usage(std::string(origin), fmt::format("at most {} bytes of TOML", kLongestConfig), std::to_string(text.size()), "");
  if (const int parts = most_key_parts(text); parts > kMostKeyParts) {
    fail_usage(std::string(origin), fmt::format("keys of at most {} parts", kMostKeyParts), std::to_string(parts), "");
  }
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail_usage(std::string(origin), "valid TOML",
               fmt::format("line {}: {}", error.source().begin.line, error.description()), "");
  }
  std::vector<std::pair<std::string, ConfigValue>> flat;
  flatten(table, "", origin, flat);
  return flat;
}

}  // namespace

void Schema::add(Key key) { keys_.push_back(std::move(key)); }

void Schema::bind(std::string name, bool& value, std::string help) {
  add({std::move(name), "true or false", std::move(help),
       [&value](const ConfigValue& given) {
         const auto* v = std::get_if<bool>(&given);
         if (v != nullptr) value = *v;
         return v != nullptr;
       },
       [&value]() -> ConfigValue { return value; }});
}

void Schema::bind(std::string name, std::int64_t& value, std::string help) {
  add({std::move(name), "a whole number", std::move(help),
       [&value](const ConfigValue& given) {
         const auto* v = std::get_if<std::int64_t>(&given);
         if (v != nullptr) value = *v;
         return v != nullptr;
       },
       [&value]() -> ConfigValue { return value; }});
}

void Schema::bind(std::string name, double& value, std::string help) {
  add({std::move(name), "a number", std::move(help),
       [&value](const ConfigValue& given) {
         if (const auto* v = std::get_if<double>(&given)) {
           value = *v;
         } else if (const auto* whole = std::get_if<std::int64_t>(&given)) {
           value = static_cast<double>(*whole);
         } else {
           return false;
         }
         return true;
       },
       [&value]() -> ConfigValue { return value; }});
}

void Schema::bind(std::string name, std::string& value, std::string help) {
  add({std::move(name), "a text", std::move(help),
       [&value](const ConfigValue& given) {
         const auto* v = std::get_if<std::string>(&given);
         if (v != nullptr) value = *v;
         return v != nullptr;
       },
       [&value]() -> ConfigValue { return value; }});
}

void Schema::bind(std::string name, std::vector<double>& value, std::string help) {
  add({std::move(name), "a list of numbers", std::move(help),
       [&value](const ConfigValue& given) {
         const auto* v = std::get_if<std::vector<double>>(&given);
         if (v != nullptr) value = *v;
         return v != nullptr;
       },
       [&value]() -> ConfigValue { return value; }});
}

void Schema::set(const std::string& name, const ConfigValue& value, std::string_view origin) {
  for (const Key& key : keys_) {
    if (key.name != name) continue;
    if (!key.set(value)) fail_usage(std::string(origin), key.type + " for " + name, to_text(value), key.help);
    return;
  }
  std::vector<std::string> names;
  for (const Key& key : keys_) names.push_back(key.name);
  fail_usage(std::string(origin), "a known key", fmt::format("'{}'", name),
             fmt::format("did you mean '{}'?", nearest(name, names)));
}

void Schema::load(const std::filesystem::path& path) {
  load_text(read_file(path, "reading config", kLongestConfig), fmt::format("reading config '{}'", path.string()));
}

void Schema::load_text(std::string_view text, std::string_view origin) {
  for (const auto& [name, value] : parse_flat(text, origin)) set(name, value, origin);
}

void Schema::override_with(std::string_view assignment) {
  const std::string origin = fmt::format("reading --set {}", assignment);
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) fail_usage(origin, "key=value", std::string(assignment), "");
  const std::string name(assignment.substr(0, equals));
  const std::string text(assignment.substr(equals + 1));
  ConfigValue value = text;
  try {
    const toml::table table = toml::parse("value = " + text);
    value = to_value(*table.get("value"), name, origin);
  } catch (const toml::parse_error&) {
    // Not TOML: a bare word, which stands for itself.
  }
  set(name, value, origin);
}

std::string Schema::to_toml() const {
  // TOML wants the keys of a table together: group by prefix in order of first appearance, root keys first.
  std::vector<std::string> tables{""};
  const auto prefix_of = [](const std::string& name) {
    const auto dot = name.rfind('.');
    return dot == std::string::npos ? std::string() : name.substr(0, dot);
  };
  for (const Key& key : keys_) {
    const std::string prefix = prefix_of(key.name);
    if (std::find(tables.begin(), tables.end(), prefix) == tables.end()) tables.push_back(prefix);
  }
  std::string out;
  for (const std::string& table : tables) {
    std::string body;
    for (const Key& key : keys_) {
      if (prefix_of(key.name) != table) continue;
      const std::string leaf = table.empty() ? key.name : key.name.substr(table.size() + 1);
      body += fmt::format("{} = {}\n", leaf, to_text(key.get()));
    }
    if (body.empty()) continue;
    if (!out.empty()) out += "\n";
    if (!table.empty()) out += "[" + table + "]\n";
    out += body;
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> flat_toml(std::string_view toml, std::string_view origin) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, value] : parse_flat(toml, origin)) {
    const auto* word = std::get_if<std::string>(&value);
    out.emplace_back(name, word != nullptr ? *word : to_text(value));
  }
  return out;
}

}  // namespace lano
