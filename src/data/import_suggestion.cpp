// Names are compared in lower case, without a mark of the split ("u_train", "x_test"). The output is the first array
// with a usual name of an output, otherwise the largest; the input likewise among those that fit it.
#include "data/import_suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "data/import_words.h"

namespace lano {
namespace {

struct Candidate {
  std::string name, base;  // as in the file; in lower case without the mark
  SplitMark part = SplitMark::none;
  Shape shape;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Candidate candidate(const ArrayInfo& array) {
  Candidate c{array.name, "", SplitMark::none, array.shape};
  c.base = lower(without_split_mark(array.name, &c.part));
  return c;
}

// As a shell takes it for one word.
std::string quoted(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("._-/:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

using Names = std::vector<const char*>;

const Candidate* find_base(const std::vector<Candidate>& all, const Names& names, const Shape* like = nullptr) {
  for (const char* name : names) {
    for (const Candidate& c : all) {
      if (c.base == name && !c.shape.empty() && (like == nullptr || c.shape == *like)) return &c;
    }
  }
  return nullptr;
}

const Names kOutputs{"output", "outputs", "sol",     "solution", "tensor", "u",
                     "y",      "target",  "targets", "press",    "sigma",  "data"};
const Names kInputs{"input",  "inputs",     "a",  "coeff", "f",       "nu",       "k",  "x",  "permeability",
                    "params", "parameters", "mu", "force", "forcing", "boundary", "bc", "x0", "u0"};
const Names kCells{"cells", "triang", "triangles", "tri", "elements", "faces", "connectivity", "tetra", "t"};
const Names kTimes{"t-coordinate", "time", "times", "t", "tspan"};

std::size_t axes_of(const Candidate& c) { return c.shape.size(); }

// Coordinates: one array [.., 2 or 3], or x, y (, z) of one shape, or x-coordinate, ...
std::vector<const Candidate*> find_coords(const std::vector<Candidate>& all, const Candidate& output) {
  std::vector<const Candidate*> found;
  for (const char* name : {"x-coordinate", "y-coordinate", "z-coordinate"}) {
    if (const Candidate* c = find_base(all, {name})) found.push_back(c);
  }
  if (!found.empty()) return found;
  if (const Candidate* c = find_base(all, {"coords", "coordinates", "points", "pos", "xy", "xyz", "vertices", "nodes"}))
    return {c};
  const Candidate *x = find_base(all, {"x"}, &output.shape), *y = find_base(all, {"y"}, &output.shape);
  if (x != nullptr && y != nullptr && x != &output && y != &output) {
    found = {x, y};
    if (const Candidate* z = find_base(all, {"z"}, &output.shape); z != nullptr && z != &output) found.push_back(z);
  }
  return found;
}

// The axis that the output has and the input has not, as --time says it; empty: none.
std::string time_word(const Shape& output, const Shape& input) {
  for (std::size_t a = 1; a < output.size(); ++a) {
    Shape rest = output;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(a));
    if (rest == input) return a == 1 ? "first" : a + 1 == output.size() ? "last" : fmt::format("axis={}", a);
  }
  return "";
}

std::string other_name(const std::string& name, SplitMark part, const std::vector<Candidate>& all,
                       const std::string& base) {
  for (const Candidate& c : all) {
    if (c.part == part && c.base == base) return c.name;
  }
  return name;
}

// A file of training samples and its sibling with test samples.
std::optional<std::filesystem::path> test_sibling(const std::filesystem::path& file,
                                                  const std::vector<std::filesystem::path>& beside) {
  std::string name = file.filename().string();
  const auto at = lower(name).find("train");
  if (at == std::string::npos) return std::nullopt;
  for (const char* word : {"test", "Test", "testing"}) {
    std::string other = name;
    other.replace(at, lower(name).compare(at, 8, "training") == 0 ? 8 : 5, word);
    for (const auto& path : beside) {
      if (path.filename() == other) return path;
    }
  }
  return std::nullopt;
}

}  // namespace

namespace {

// A list with one dict per sample: 0/press, 1/press, ... becomes */press.
bool collapse_lists(std::vector<Candidate>& all) {
  std::vector<Candidate> collapsed;
  for (const Candidate& c : all) {
    const auto slash = c.name.find('/');
    if (slash == std::string::npos || slash == 0 ||
        !std::all_of(c.name.begin(), c.name.begin() + static_cast<std::ptrdiff_t>(slash),
                     [](unsigned char letter) { return std::isdigit(letter) != 0; }))
      return false;
    const std::string name = "*" + c.name.substr(slash);
    const auto known =
        std::find_if(collapsed.begin(), collapsed.end(), [&](const Candidate& k) { return k.name == name; });
    if (known != collapsed.end()) {
      ++known->shape.front();
      continue;
    }
    Shape shape{1};
    shape.insert(shape.end(), c.shape.begin(), c.shape.end());
    collapsed.push_back({name, lower(c.name.substr(slash + 1)), SplitMark::none, shape});
  }
  all = std::move(collapsed);
  return !all.empty();
}

}  // namespace

std::string suggest_import(const std::filesystem::path& file, const std::vector<ArrayInfo>& arrays,
                           const std::vector<std::filesystem::path>& beside) {
  std::vector<Candidate> all;
  for (const ArrayInfo& array : arrays) {
    if (array.readable && element_count(array.shape) > 0) all.push_back(candidate(array));
  }
  const bool lists = collapse_lists(all);
  const std::string out = fmt::format("--out {}", quoted(file.stem().string() + "-lano.h5"));
  if (all.empty()) return "";
  if (all.size() == 1 && all.front().name.empty())
    return fmt::format("lano import --input INPUT --output {} --shuffle {}", quoted(file.string()), out);
  const bool split = std::any_of(all.begin(), all.end(), [](const Candidate& c) { return c.part == SplitMark::train; });
  std::vector<Candidate> main;  // the training samples, where they are apart
  for (const Candidate& c : all) {
    if (!split || c.part == SplitMark::train || c.part == SplitMark::none) main.push_back(c);
  }
  const Candidate* output = find_base(main, kOutputs);
  if (output == nullptr || axes_of(*output) < 2) {
    output = &*std::max_element(main.begin(), main.end(), [](const Candidate& a, const Candidate& b) {
      return element_count(a.shape) < element_count(b.shape);
    });
  }
  const std::vector<const Candidate*> coords = find_coords(main, *output);
  const auto is_coord = [&](const Candidate& c) { return std::find(coords.begin(), coords.end(), &c) != coords.end(); };
  const Candidate* cells = coords.empty() ? nullptr : find_base(main, kCells);
  if (cells != nullptr && (cells->shape.size() != 2 || cells->shape.back() > 8)) cells = nullptr;
  const Candidate* times = find_base(main, kTimes);
  if (times == cells || (times != nullptr && times->shape.size() > 1 &&
                         element_count(times->shape) != *std::max_element(times->shape.begin(), times->shape.end())))
    times = nullptr;
  // The samples are the axis that the input shares.
  const Candidate* input = nullptr;
  bool last = false;
  for (const char* name : kInputs) {
    const Candidate* c = find_base(main, {name});
    if (c == nullptr || c == output || c == cells || c == times || is_coord(*c)) continue;
    const bool rows = c->shape.front() == output->shape.front();
    last = !rows && (c->shape.front() == output->shape.back() || c->shape.back() == output->shape.back());
    if (rows || last) {
      input = c;
      break;
    }
  }
  std::string command = "lano import";
  const auto sibling = split ? std::nullopt : test_sibling(file, beside);
  command += sibling ? fmt::format(" --train {} --test {}", quoted(file.string()), quoted(sibling->string()))
                     : fmt::format(" --from {}", quoted(file.string()));
  if (split) {
    for (const auto& [part, word] :
         {std::pair(SplitMark::train, "train"), std::pair(SplitMark::validation, "validation"),
          std::pair(SplitMark::test, "test")}) {
      if (std::none_of(all.begin(), all.end(), [&wanted = part](const Candidate& c) { return c.part == wanted; }))
        continue;
      if (input != nullptr)
        command += fmt::format(" --{}-input {}", word, quoted(other_name(input->name, part, all, input->base)));
      command += fmt::format(" --{}-output {}", word, quoted(other_name(output->name, part, all, output->base)));
    }
  } else {
    if (input != nullptr) command += fmt::format(" --input {}", quoted(input->name));
    command += fmt::format(" --output {}", quoted(output->name));
  }
  for (const Candidate* c : coords) command += fmt::format(" --coords {}", quoted(c->name));
  if (cells != nullptr) command += fmt::format(" --cells {}", quoted(cells->name));
  const std::string axis = input != nullptr ? time_word(output->shape, input->shape) : "";
  if (!axis.empty()) command += fmt::format(" --time {}", axis);
  if (times != nullptr && (!axis.empty() || input == nullptr))
    command += fmt::format(" --time {}", quoted(times->name));
  if (times != nullptr && input == nullptr) command += " --initial 1";
  if (last && input != nullptr) command += " --samples last";
  if (lists && output->shape.size() == 3 && output->shape[1] < output->shape[2]) command += " --channels first";
  if (!split && !sibling) command += " --shuffle";
  return command + " " + out;
}

}  // namespace lano
