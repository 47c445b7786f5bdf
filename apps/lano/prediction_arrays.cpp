// Arrays as samples. Each has the axes of the mesh, before them samples if there are several, after them channels if
// there are several, or there is one array per channel; an array without an axis of samples applies to all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "console.h"
#include "core/error.h"
#include "data/import_cells.h"
#include "data/import_words.h"
#include "prediction_query.h"

namespace lano::cli {
namespace {

struct Field {
  std::string doing;  // opens messages
  std::int64_t samples = 1;
  Shape mesh;
  std::vector<float> values;  // [samples, mesh..., channels]
};

// [mesh..., channels] with samples in front where there are several; one channel needs no axis.
void take_axes(const Shape& given, std::size_t axes, std::int64_t channels, Field& field) {
  Shape shape = given;
  const bool has_channels = shape.size() > axes && shape.back() == channels;
  if (has_channels) shape.pop_back();
  if (shape.size() == axes + 1) {
    field.samples = shape.front();
    shape.erase(shape.begin());
  }
  const bool empty = std::any_of(given.begin(), given.end(), [](std::int64_t extent) { return extent < 1; });
  if (shape.size() != axes || empty || (channels != 1 && !has_channels)) {
    fail(field.doing,
         fmt::format("an array [{}{}], or several samples of it", axes == 1 ? "points" : fmt::format("{} axes", axes),
                     channels == 1 ? "" : fmt::format(", {} numbers per point", channels)),
         shape_text(given));
  }
  field.mesh = shape;
}

Field read_array(const std::string& word, const char* option, std::size_t axes, std::int64_t channels) {
  if (!names_its_file(word))
    fail_usage("predicting", fmt::format("{} with a .npy file, or FILE:NAME of a .npz, .mat, .h5 or .pt file", option),
               fmt::format("'{}'", word));
  const NamedArray named = open_named({}, word);
  Field field;
  field.doing = fmt::format("predicting from {} '{}'", option, word);
  if (!named.array)
    fail(field.doing, "samples of one size", fmt::format("a list of {} arrays", named.list.size()),
         "make a dataset of them with 'lano import', and give it with --data");
  take_axes(named.array->shape(), axes, channels, field);
  field.values = named.array->read_all();
  const auto bad = std::find_if(field.values.begin(), field.values.end(), [](float v) { return !std::isfinite(v); });
  if (bad != field.values.end())
    fail(field.doing, "finite numbers", fmt::format("{} at value {}", *bad, bad - field.values.begin()));
  return field;
}

// One array with all channels, or one array per channel.
Field read_field(const std::vector<std::string>& words, const char* option, std::size_t axes, std::int64_t channels) {
  if (words.size() == 1) return read_array(words.front(), option, axes, channels);
  if (std::ssize(words) != channels)
    fail_usage("predicting", fmt::format("one array with {}, or one per channel ({})", option, channels),
               fmt::format("{} arrays", words.size()));
  Field all;
  for (std::size_t c = 0; c < words.size(); ++c) {
    Field one = read_array(words[c], option, axes, 1);
    if (c == 0) {
      all = {one.doing, one.samples, one.mesh, std::vector<float>(one.values.size() * words.size())};
    } else if (one.samples != all.samples || one.mesh != all.mesh) {
      fail(one.doing, fmt::format("{} samples on {}, as in the first array", all.samples, shape_text(all.mesh)),
           fmt::format("{} on {}", one.samples, shape_text(one.mesh)));
    }
    for (std::size_t i = 0; i < one.values.size(); ++i) all.values[i * words.size() + c] = one.values[i];
  }
  return all;
}

// Which array is the input and which the first state: --input alone is the state of a model without input fields, and
// both where the input fields are the first state.
struct Words {
  std::vector<std::string> input, state;
  const char *input_option = "--input", *state_option = "--state";
};

// [mesh..., channels]; of several frames [frames, mesh..., channels], oldest first.
Field read_state(const Words& words, std::size_t axes, std::int64_t channels, std::int64_t frames) {
  if (frames == 1) return read_field(words.state, words.state_option, axes, channels);
  Field field = read_field(words.state, words.state_option, axes + 1, channels);
  if (field.mesh.front() != frames)
    fail(field.doing,
         fmt::format("the {} frames this model steps from on the first axis, or after the axis of samples", frames),
         std::to_string(field.mesh.front()));
  field.mesh.erase(field.mesh.begin());
  return field;
}

// What has one sample serves all.
void repeat(Field& field, std::int64_t samples) {
  if (field.samples == samples) return;
  const std::size_t one = field.values.size();
  field.values.resize(one * static_cast<std::size_t>(samples));
  for (std::size_t i = one; i < field.values.size(); ++i) field.values[i] = field.values[i - one];
  field.samples = samples;
}

Words sort_words(const PredictOptions& o, const SetDescription& set, Task task, std::int64_t frames) {
  Words words{o.input, o.state};
  const std::int64_t fields = set.input_channels();
  if (task != Task::autoregressive) {
    if (fields == 0 && !o.input.empty())
      fail_usage_plainly("predicting", "this model has no input fields, only coordinates",
                         "give --coords without --input");
    if (fields > 0 && o.input.empty())
      fail_usage_plainly("predicting", "this model takes input fields", "give --input or --data");
    return words;
  }
  if (fields == 0) {
    if (!o.input.empty() && !o.state.empty())
      fail_usage_plainly("predicting", "this model has no input fields besides its state",
                         "give --state without --input");
    if (o.state.empty()) {
      words.state = std::exchange(words.input, {});
      words.state_option = "--input";
    }
  } else if (o.input.empty() != o.state.empty() && input_is_first_state(set)) {
    words.input = words.state = o.input.empty() ? o.state : o.input;
    (o.input.empty() ? words.input_option : words.state_option) = o.input.empty() ? "--state" : "--input";
    console().say(
        fmt::format("note: {} is the first state and the input, '{}'", words.input_option, set.input.front().name));
  }
  if (words.state.empty() || (fields > 0 && words.input.empty())) {
    const std::string channels = fmt::format("{}{} channel{}", frames == 1 ? "" : fmt::format("{} frames of ", frames),
                                             set.output_channels(), set.output_channels() == 1 ? "" : "s");
    fail_usage_plainly("predicting",
                       words.state.empty() && words.input.empty() ? "this model steps in time and needs its first state"
                       : words.state.empty() ? "--input alone is not enough, since this model steps in time"
                                             : "--state alone is not enough, since this model has input fields",
                       fields == 0 ? fmt::format("give the state ({}) with --state or --input", channels)
                                   : fmt::format("give the state ({}) with --state and the {} input field{} with "
                                                 "--input; if the input is the first state, give it for both",
                                                 channels, fields, fields == 1 ? "" : "s"));
  }
  return words;
}

// The one mesh and the number of samples that all fields have.
void agree(std::vector<Field*> fields, Query& query) {
  Samples& s = query.samples;
  query.set.shape = fields.front()->mesh;
  s.count = 1;
  for (const Field* field : fields) s.count = std::max(s.count, field->samples);
  for (const Field* field : fields) {
    if (field->mesh != query.set.shape || (field->samples != 1 && field->samples != s.count)) {
      fail(field->doing,
           fmt::format("1 or {} samples on points of shape {}, as in the other arrays", s.count,
                       shape_text(query.set.shape)),
           fmt::format("{} on {}", field->samples, shape_text(field->mesh)));
    }
  }
}

void read_given_cells(const PredictOptions& o, Query& query) {
  if (query.set.geometry != Geometry::points)
    fail_usage("predicting", "--cells for a cloud of points, whose corners they name",
               std::string(geometry_name(query.set.geometry)), "a grid or a structured mesh needs no --cells");
  if (!names_its_file(o.cells))
    fail_usage("predicting", "--cells with a .npy file or FILE:NAME", fmt::format("'{}'", o.cells));
  const ImportCells cells(open_named({}, o.cells), SampleAxis::first, "",
                          {query.samples.count, query.set.dims(), false});
  query.cell_kind = cells.kind();
  for (std::int64_t i = 0; i < (cells.shared() ? 1 : query.samples.count); ++i)
    query.cells.push_back(cells.read(i, query.set.points()));
}

}  // namespace

Query query_from_arrays(const PredictOptions& o, const ModelFile& model, Task task) {
  Query query;
  query.set = channels_as_times(model.set);
  const std::size_t axes = model.set.geometry == Geometry::points ? 1 : model.set.shape.size();
  const std::int64_t frames = state_frames(model, task);
  const Words words = sort_words(o, model.set, task, frames);
  std::optional<Field> input, state, coords;
  std::vector<Field*> fields;
  const auto read = [&](std::optional<Field>& to, const std::vector<std::string>& named, const char* option,
                        std::int64_t channels) {
    if (named.empty()) return;
    to = read_field(named, option, axes, channels);
    fields.push_back(&*to);
  };
  read(input, words.input, words.input_option, model.set.input_channels());
  if (!words.state.empty()) {
    state = read_state(words, axes, model.set.output_channels(), frames);
    fields.push_back(&*state);
  }
  read(coords, o.coords, "--coords", model.set.dims());
  agree(fields, query);
  Samples& s = query.samples;
  s.points = query.set.points();
  if (input) {
    repeat(*input, s.count);
    s.input = std::move(input->values);
  }
  if (state) {
    repeat(*state, s.count);
    s.output = std::move(state->values);
    s.frames = frames;
  }
  if (!coords && (model.coordinates.empty() || query.set.shape != model.set.shape)) {
    fail_usage(fields.front()->doing,
               model.coordinates.empty() ? "the coordinates of your points with --coords"
                                         : fmt::format("the training grid {} or --coords", shape_text(model.set.shape)),
               shape_text(query.set.shape), "give the coordinates of your points with --coords FILE");
  }
  s.shared_coordinates = s.count != 1 && (!coords || coords->samples == 1);
  s.coordinates = coords ? std::move(coords->values) : model.coordinates;
  for (std::int64_t i = 0; i < s.count; ++i) s.ids.push_back(i);
  if (!o.cells.empty()) read_given_cells(o, query);
  return query;
}

}  // namespace lano::cli
