#include "data/import_group.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

ImportGroup read_group(const ArrayImport& options, const ArrayWords& words, const fs::path& archive,
                       std::optional<Split> split) {
  ImportGroup group;
  group.split = split;
  const auto open = [&](const std::string& word) {
    NamedArray named = open_named(archive, word);
    if (std::find(group.origins.begin(), group.origins.end(), named.origin) == group.origins.end())
      group.origins.push_back(named.origin);
    return named;
  };
  const auto open_all = [&](const std::vector<std::string>& list) {
    std::vector<NamedArray> arrays;
    for (const std::string& word : list) arrays.push_back(open(word));
    return arrays;
  };
  NamedArray output = open(words.output);
  std::vector<NamedArray> inputs = open_all(words.input);
  std::vector<Shape> input_shapes;
  for (const NamedArray& input : inputs) input_shapes.push_back(input.array ? input.array->shape() : Shape{});
  group.time = import_time(options, output, input_shapes, archive);
  group.output = output_field(std::move(output), options,
                              group.time ? std::optional<std::size_t>(group.time->axis) : std::nullopt);
  group.input_box = words.input_coords == std::vector<std::string>{"box"};
  std::vector<NamedArray> input_coords;
  if (!group.input_box) input_coords = open_all(words.input_coords);
  const ImportField* own = nullptr;
  group.inputs.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // Other points, or parameters? It has as many points as the coordinates say, or as many axes as the grid.
    bool own_points = false;
    if (inputs[i].array && !input_shapes[i].empty()) {
      const std::size_t axis = sample_axis(inputs[i], options.samples);
      for (std::size_t a = 0; a < input_shapes[i].size() && !own_points; ++a) {
        for (const NamedArray& coords : input_coords) {
          const Shape at = coords.array ? coords.array->shape() : Shape{};
          own_points = own_points || (a != axis && std::find(at.begin(), at.end(), input_shapes[i][a]) != at.end());
        }
      }
      const std::size_t channels = options.channels == ChannelAxis::none ? 0 : 1;
      own_points =
          own_points || (group.input_box && input_shapes[i].size() == 1 + group.output->shape().size() + channels);
    } else {
      own_points = !words.input_coords.empty();
    }
    group.inputs.push_back(input_field(std::move(inputs[i]), options, *group.output, own_points));
    if (own == nullptr && group.elsewhere(group.inputs.back())) own = &group.inputs.back();
    const ImportField& last = group.inputs.back();
    if (!input_coords.empty() && own == nullptr && own_points && last.shape() != group.output->shape()) own = &last;
    if (own != nullptr && &last != own && group.elsewhere(last) && last.shape() != own->shape())
      fail(last.doing(), fmt::format("shape {}, as the input '{}'", shape_text(own->shape()), own->named().name),
           shape_text(last.shape()), "inputs on other points than the output must share them");
  }
  if (!input_coords.empty()) {
    if (own == nullptr)
      fail_usage_plainly("importing arrays",
                         "--input-coords is given, but every input lies on the points of the output",
                         "leave --input-coords out");
    group.input_coords.emplace(std::move(input_coords), options, *own, "the input's");
  }
  if (!words.coords.empty()) group.coords.emplace(open_all(words.coords), options, *group.output, "the output's");
  if (!words.cells.empty())
    group.cells.emplace(
        open(words.cells), options.samples, options.cell_kind,
        ImportCells::For{group.output->samples(), group.coords ? group.coords->dims() : 2, group.output->ragged()});
  return group;
}

// What is given for one split overrides what is given for all.
ArrayWords words_of(const ArrayImport& options, const ImportPart& part, const char* split) {
  ArrayWords words = options.words;
  const ArrayWords& own = part.words;
  const bool by_name = !own.output.empty() || !own.input.empty();
  if (by_name && part.files.empty()) {
    // Input of one split with the output of another would be silent nonsense.
    if (own.output.empty() || (own.input.empty() && !options.words.input.empty())) {
      fail_usage_plainly("importing arrays",
                         fmt::format("--{}-{} is missing", split, own.output.empty() ? "output" : "input"),
                         "see 'lano import --help'");
    }
  }
  if (!own.output.empty()) words.output = own.output;
  if (!own.input.empty()) words.input = own.input;
  if (!own.coords.empty()) words.coords = own.coords;
  if (!own.input_coords.empty()) words.input_coords = own.input_coords;
  if (!own.cells.empty()) words.cells = own.cells;
  return words;
}

void check_words(const ArrayWords& words, bool archive) {
  if (words.output.empty()) {
    fail_usage_plainly("importing arrays", "--output is missing",
                       "give it the name of an array, a .npy file or FILE:NAME; see 'lano import --help'");
  }
  if (archive) return;
  std::vector<std::string> all{words.output};
  all.insert(all.end(), words.input.begin(), words.input.end());
  all.insert(all.end(), words.coords.begin(), words.coords.end());
  for (const std::string& word : all) {
    if (!names_its_file(word)) {
      fail_usage("importing arrays", "a .npy file or FILE:NAME, or files in --from, --train or --test that have it",
                 fmt::format("'{}' alone", word), "see 'lano import --help'");
    }
  }
}

void check_alike(const std::vector<ImportGroup>& groups) {
  const ImportGroup& first = groups.front();
  for (const ImportGroup& group : groups) {
    const auto text = [](const ImportGroup& g) {
      std::int64_t inputs = 0;
      for (const ImportField& input : g.inputs) inputs += input.channels();
      return fmt::format(
          "samples of {} with {} input and {} output fields, {} coordinates and {} frames",
          g.output->ragged() ? "different sizes" : fmt::format("shape {}", shape_text(g.output->shape())), inputs,
          g.output->channels(), g.coords ? g.coords->dims() : 0, g.output->frames());
    };
    if (text(group) != text(first))
      fail(fmt::format("importing '{}'", fmt::join(group.origins, "', '")),
           fmt::format("{}, as in '{}'", text(first), fmt::join(first.origins, "', '")), text(group),
           "import data of different kinds into separate files");
    if (group.time && group.time->times != first.time->times)
      fail_plainly(fmt::format("importing '{}'", fmt::join(group.origins, "', '")),
                   "its times differ from those of the other splits", "import them into separate files");
  }
}

}  // namespace

std::vector<ImportGroup> open_import_groups(const ArrayImport& options) {
  std::vector<ImportGroup> groups;
  const auto add = [&](const ArrayWords& words, const std::vector<fs::path>& files, std::optional<Split> split) {
    check_words(words, !files.empty());
    for (const fs::path& file : files) groups.push_back(read_group(options, words, file, split));
    if (files.empty()) groups.push_back(read_group(options, words, "", split));
  };
  const auto given = [](const ImportPart& part) {
    return !part.files.empty() || !part.words.output.empty() || !part.words.input.empty();
  };
  const bool by_files =
      !options.train.files.empty() || !options.validation.files.empty() || !options.test.files.empty();
  // What is given for all splits means the training samples, if the others have arguments but no files.
  if (!given(options.train) && !by_files) add(options.words, options.files, std::nullopt);
  for (const auto& [part, split] :
       {std::pair(&options.train, Split::train), std::pair(&options.validation, Split::validation),
        std::pair(&options.test, Split::test)}) {
    if (!given(*part)) continue;
    add(words_of(options, *part, std::string(split_name(split)).c_str()),
        part->files.empty() ? options.files : part->files, split);
  }
  check_alike(groups);
  return groups;
}

}  // namespace lano
