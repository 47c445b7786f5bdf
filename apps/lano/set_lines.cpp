#include "set_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strict_json.h"

namespace lano::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMostLine = 20000;  // of one entry, as a file has it
constexpr std::size_t kWidth = 120, kIndent = 15;

std::string value_text(const json& value) {
  if (value.is_string()) return plain_text(value.get_ref<const std::string&>(), kMostLine);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const json& item : value) items.push_back(value_text(item));
    constexpr std::size_t kShown = 12;
    const std::size_t left = items.size() > kShown ? items.size() - kShown : 0;
    items.resize(items.size() - left);
    return fmt::format("{}{}", fmt::join(items, " "), left > 0 ? fmt::format(" ... {} more", left) : "");
  }
  if (value.is_object()) {
    std::vector<std::string> items;
    for (const auto& [key, item] : value.items()) items.push_back(plain_text(key, 200) + " " + value_text(item));
    return fmt::format("{}", fmt::join(items, ", "));
  }
  return plain_text(value.dump(), kMostLine);
}

// Words after a label, broken at the width of a page.
void print_wrapped(const std::string& label, const std::vector<std::string>& items) {
  std::string line = fmt::format("  {:<12} ", label);
  bool begun = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
    if (begun && line.size() + item.size() + 1 > kWidth) {
      fmt::print("{}\n", line);
      line = std::string(kIndent, ' ');
      begun = false;
    }
    line += (begun ? " " : "") + item;
    begun = true;
  }
  fmt::print("{}\n", line);
}

// Axes by the coordinate that runs along them on a grid, else by number.
std::string periodic_axes(const SetDescription& d) {
  std::string out;
  for (std::size_t a = 0; a < d.periodic.size(); ++a) {
    if (!d.periodic[a]) continue;
    const bool named = d.geometry == Geometry::grid && a < d.coordinates.size();
    out += (out.empty() ? "" : ", ") + (named ? plain_text(d.coordinates[a].name, 400) : fmt::format("axis {}", a));
  }
  return out.empty() ? "no axis" : out;
}

std::string times_text(const std::vector<double>& times) {
  return times.size() == 1 ? fmt::format("1 frame, t = {:g}", times.front())
                           : fmt::format("{} frames, t = {:g} to {:g}", times.size(), times.front(), times.back());
}

}  // namespace

std::string field_names(const std::vector<FieldInfo>& fields) {
  std::string out;
  for (const FieldInfo& field : fields) {
    const bool plain = field.unit == "1" || field.unit.empty();
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", field.name, plain ? "" : " [" + field.unit + "]");
  }
  return out.empty() ? "none" : plain_text(out, kMostLine);
}

void print_set_lines(const SetDescription& d) {
  fmt::print("  geometry     {} {}, {} points\n", geometry_name(d.geometry), shape_text(d.shape), d.points());
  if (!d.periodic.empty()) fmt::print("  periodic     {}\n", periodic_axes(d));
  fmt::print("  coordinates  {}\n  input        {}\n  output       {}\n", field_names(d.coordinates),
             field_names(d.input), field_names(d.output));
  if (!d.kept.empty()) fmt::print("  also kept    {}\n", field_names(d.kept));
  if (!d.time.empty()) fmt::print("  time         {}\n", times_text(d.time));
  if (!d.initial_time.empty())
    fmt::print("  initial      {}: the last {} of the input fields\n", times_text(d.initial_time),
               static_cast<std::int64_t>(d.initial_time.size()) * d.output_channels());
  print_json_lines("made by", d.generator);
}

void print_set_lines(const DatasetReader& reader) {
  const SetDescription& d = reader.description();
  if (!reader.counts().empty()) {
    const auto [least, most] = std::minmax_element(reader.counts().begin(), reader.counts().end());
    fmt::print("  sizes        {} to {} points per sample; below, the median\n", *least, *most);
  } else {
    fmt::print("  points       {}\n", reader.shared_coordinates() || reader.size() == 1 ? "the same for all samples"
                                                                                        : "different for each sample");
  }
  print_set_lines(d);
  if (reader.cell_kind())
    fmt::print("  cells        {}s, {}\n", cell_kind_name(*reader.cell_kind()),
               reader.shared_cells()
                   ? fmt::format("{} for all samples", reader.read_cells(0).size() /
                                                           static_cast<std::size_t>(cell_corners(*reader.cell_kind())))
                   : "different for each sample");
}

void print_json_lines(const std::string& label, const std::string& json_text) {
  json parsed;
  try {
    parsed = parse_json(json_text, "reading", "text");
  } catch (const Error&) {
    fmt::print("  {:<12} {}\n", label, plain_text(json_text, kMostLine));
    return;
  }
  if (!parsed.is_object()) return print_wrapped(label, {value_text(parsed)});
  std::vector<std::string> items;
  std::vector<std::pair<std::string, const json*>> nested;
  for (const auto& [key, value] : parsed.items()) {
    if (value.is_object()) {
      nested.emplace_back(plain_text(key, 200), &value);
    } else if (key == "program") {
      items.insert(items.begin(), value_text(value));
    } else if (!value.is_null() && !(value.is_array() && value.empty()) && value != json("")) {
      items.push_back(plain_text(key, 200) + " " + value_text(value));
    }
  }
  if (items.empty() && nested.empty()) items = {"unknown"};
  if (!items.empty()) print_wrapped(label, items);
  for (const auto& [key, value] : nested) {
    std::vector<std::string> inside;
    for (const auto& [name, item] : value->items()) inside.push_back(plain_text(name, 200) + " " + value_text(item));
    print_wrapped(key, inside);
  }
}

}  // namespace lano::cli
