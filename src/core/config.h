// Configuration: plain structs with defaults, bound key by key to a Schema; TOML files and `a.b=value` overrides are
// checked against it once, at the edge. Unknown keys, wrong types and unknown words are errors that name the nearest
// known key or the allowed words. A Schema holds references: the bound structs must outlive it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace lano {

using ConfigValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>>;

class Schema {
 public:
  struct Key {
    std::string name;  // dotted: "model.width"
    std::string type;  // for messages: "a whole number"
    std::string help;
    std::function<bool(const ConfigValue&)> set;  // false: the value has the wrong type or is no known word
    std::function<ConfigValue()> get;
  };

  void bind(std::string name, bool& value, std::string help);
  void bind(std::string name, std::int64_t& value, std::string help);
  void bind(std::string name, double& value, std::string help);
  void bind(std::string name, std::string& value, std::string help);
  void bind(std::string name, std::vector<double>& value, std::string help);  // a list; may be empty

  // A word that stands for an enumerator.
  template <class Enum>
  void bind(std::string name, Enum& value, std::vector<std::pair<std::string, Enum>> words, std::string help) {
    std::string type = "one of";
    for (const auto& [word, enumerator] : words) type += " \"" + word + "\"";
    add({std::move(name), std::move(type), std::move(help),
         [&value, words](const ConfigValue& given) {
           const auto* text = std::get_if<std::string>(&given);
           if (text == nullptr) return false;
           for (const auto& [word, enumerator] : words) {
             if (word == *text) {
               value = enumerator;
               return true;
             }
           }
           return false;
         },
         [&value, words]() -> ConfigValue {
           for (const auto& [word, enumerator] : words) {
             if (enumerator == value) return word;
           }
           return std::string("?");
         }});
  }

  const std::vector<Key>& keys() const { return keys_; }

  // Reads a TOML file; keys it does not name keep their values.
  void load(const std::filesystem::path& path);
  void load_text(std::string_view toml, std::string_view origin);
  // Applies "a.b=value"; the value is read as TOML, and as a plain string where that fails ("model.bias=sum").
  void override_with(std::string_view assignment);
  // All keys and their present values as TOML, in bound order, grouped in tables.
  std::string to_toml() const;

 private:
  void add(Key key);
  void set(const std::string& name, const ConfigValue& value, std::string_view origin);
  std::vector<Key> keys_;
};

// Every key of a TOML document with its value as text ("model.width", "64"; words without quotes), in the order of the
// alphabet. For showing and comparing configs whose schema is not at hand, not for using them.
std::vector<std::pair<std::string, std::string>> flat_toml(std::string_view toml, std::string_view origin);

}  // namespace lano
