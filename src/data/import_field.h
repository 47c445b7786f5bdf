// One field of an import: which axis of its array is samples, time, space and channels, and its values in blocks of
// samples, in the form [S, T, N, channels]. Private to src/data.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/array_import.h"
#include "data/import_words.h"

namespace lano {

class ImportField {
 public:
  // Axes of the array; the rest, in their order, is space. Without an axis of samples one field serves them all.
  struct Axes {
    std::optional<std::size_t> samples, time, channels;
  };
  ImportField(NamedArray named, const Axes& axes);
  // A list with one array [N_i] or [N_i, c] (channels first: [c, N_i]) per sample.
  ImportField(NamedArray named, ChannelAxis channels);

  const NamedArray& named() const { return named_; }
  const std::string& doing() const { return named_.doing(); }
  std::int64_t samples() const { return samples_; }  // 1 where one serves all
  bool shared() const { return !axes_.samples && !ragged(); }
  std::int64_t frames() const { return frames_; }
  std::int64_t channels() const { return channels_; }
  const Shape& shape() const { return shape_; }  // of space; empty: parameters. Of a list: empty too
  bool ragged() const { return !named_.list.empty(); }
  std::int64_t points_of(std::int64_t sample) const;

  // Samples [first, first + count): [count, frames, N, channels], finite. Of a list one sample.
  std::vector<float> read(std::int64_t first, std::int64_t count) const;
  // How many samples to read at once.
  std::int64_t at_once() const;

 private:
  NamedArray named_;
  Axes axes_;
  std::vector<std::size_t> order_;  // axes of the array in the order samples, time, space, channels
  std::int64_t samples_ = 1, frames_ = 1, channels_ = 1;
  Shape shape_;
  bool channels_first_ = false;  // in the arrays of a list
};

// The axis of samples of a named array.
std::size_t sample_axis(const NamedArray& named, SampleAxis where);

// The output, with its axis of time where there is one (an index into the array's axes).
ImportField output_field(NamedArray named, const ArrayImport& options, std::optional<std::size_t> time_axis);

// An input: a field on the output's points, parameters [S, k] or [S], or, if `elsewhere` is set, a field on other
// points.
ImportField input_field(NamedArray named, const ArrayImport& options, const ImportField& output, bool elsewhere);

// The coordinates of points of `shape` (lists: `like`'s sizes), one array or one per axis.
class ImportCoordinates {
 public:
  ImportCoordinates(std::vector<NamedArray> arrays, const ArrayImport& options, const ImportField& like,
                    const char* whose);

  std::int64_t dims() const { return dims_; }
  bool shared() const { return shared_; }
  const std::string& doing() const { return fields_.front().doing(); }
  const std::vector<FieldInfo>& fields() const { return names_; }
  // [1 or count, N, dims]: 1 where all samples share theirs.
  std::vector<float> read(std::int64_t first, std::int64_t count) const;
  std::int64_t samples() const { return samples_; }

 private:
  bool take_whole(NamedArray& array, const ArrayImport& options, const ImportField& like);
  void take_axes(std::vector<NamedArray>& arrays, const ArrayImport& options, const ImportField& like,
                 const char* whose);

  std::vector<ImportField> fields_;  // one with dims channels, or dims of one channel
  bool product_ = false;             // fields_[a] holds the coordinates along axis a alone
  Shape shape_;
  std::int64_t dims_ = 0, samples_ = 1;
  bool shared_ = true;
  std::vector<FieldInfo> names_;
};

// The names and units of a field's channels: as the user gave them, else `name`, numbered where there are several.
std::vector<FieldInfo> field_infos(const NamedArray& named, std::int64_t channels);

}  // namespace lano
