// The arguments by which a user names arrays in `lano import` and `lano predict`, and the arrays they refer to.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/set_description.h"
#include "data/array_source.h"

namespace lano {

// "permeability[m2]=data.h5:a" or "u[m/s],v[m/s]=data.h5:velocity" or "a.npy".
struct FieldWord {
  std::vector<FieldInfo> fields;  // as named, maybe none
  std::string array;
};
FieldWord parse_field_word(const std::string& word);

// One array with all samples, or a list with one array per sample whose sizes differ.
struct NamedArray {
  std::shared_ptr<const ArraySource> array;              // null for a list
  std::vector<std::shared_ptr<const ArraySource>> list;  // empty for one array
  bool by_sample = false;                                // made of a list: samples are the first axis in any case
  std::vector<FieldInfo> fields;                         // names and units given by the user, maybe none
  std::string name;                                      // the key, or the stem of the file
  std::string origin;                                    // the file's own name

  const std::string& doing() const { return array ? array->doing() : list.front()->doing(); }
};

// The array a word stands for: in the file or folder it names, otherwise in `archive`.
NamedArray open_named(const std::filesystem::path& archive, const std::string& word);

// True if the argument itself names the file of its array.
bool names_its_file(const std::string& word);

// Without the mark of a split at its end or its beginning: f for f_train, x for test_x. `mark` receives which it was.
enum class SplitMark { none, train, validation, test };
std::string without_split_mark(const std::string& name, SplitMark* mark = nullptr);

// a2 before a10.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace lano
