// What a search may change: a key of the config with a range or a list of values, read from the text of
// `--vary KEY=LOW..HIGH`, `KEY=LOW..HIGH:log` or `KEY=a,b,c` and checked against the keys of a training at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/random.h"
#include "train/config.h"

namespace lano {

struct VariedKey {
  std::string text;                  // as given
  std::string name;                  // "model.width"
  std::vector<ConfigValue> choices;  // a list; empty: a range
  bool whole = false, logarithmic = false;
  double low = 0, high = 0;  // both ends belong to the range
};

VariedKey parse_vary(std::string_view text);

// Of a list each value is as likely, of a range each number, or with :log each ratio. Numbers of a range are rounded to
// about a thousandth of it, so that a table can show exactly what was used.
ConfigValue draw(const VariedKey& key, RandomStream& stream);

void set_key(TrainConfig& config, const std::string& name, const ConfigValue& value);
std::string value_text(const ConfigValue& value);  // for tables: 64, 0.0012, outer

}  // namespace lano
