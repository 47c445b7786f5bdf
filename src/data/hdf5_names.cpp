// Which arrays an HDF5 file has: a walk through its groups that ends even if links form cycles.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "data/hdf5_array.h"
#include "data/hdf5_file.h"

namespace lano {
namespace {

constexpr std::size_t kMostNames = 100000;
constexpr int kDeepestGroup = 8;  // a group may contain itself

struct Walk {
  std::string prefix;
  int depth = 0;
  std::vector<std::string>* names = nullptr;
};

// The arrays of a group, then those of its groups. Links that lead elsewhere, soft and external, are followed to arrays
// inside the file and to no group.
herr_t visit(hid_t group, const char* name, const H5L_info_t* link, void* out) {
  const Walk& walk = *static_cast<const Walk*>(out);
  if (walk.names->size() >= kMostNames || name[0] == '#') return 0;  // MATLAB's own groups begin with '#'
  H5O_info_t info;
  const Hdf5Handle inside = hdf5_inside_access();
  if (H5Oget_info_by_name2(group, name, &info, H5O_INFO_BASIC, inside.get()) < 0) return 0;
  const std::string path = walk.prefix + name;
  if (info.type == H5O_TYPE_DATASET) walk.names->push_back(path);
  if (info.type != H5O_TYPE_GROUP || link->type != H5L_TYPE_HARD || walk.depth >= kDeepestGroup) return 0;
  const Hdf5Handle below(H5Gopen2(group, name, H5P_DEFAULT), H5Gclose);
  Walk next{path + "/", walk.depth + 1, walk.names};
  if (below) H5Literate(below.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &next);
  return 0;
}

}  // namespace

std::vector<std::string> Hdf5File::names() const {
  if (names_) return *names_;
  std::vector<std::string> names;
  Walk root{"", 0, &names};
  H5Literate(file_.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &root);
  if (bytes_ != 0) names_ = names;
  return names;
}

std::string Hdf5File::type(const std::string& name) const { return array(name).type_name(); }

std::vector<ArrayInfo> Hdf5File::arrays() const {
  std::vector<ArrayInfo> all;
  for (const std::string& name : names()) {
    try {
      all.push_back({name, shape(name), type(name)});
    } catch (const Error&) {
      all.push_back({name, {}, "text, or numbers in a form lano does not read", false});
    }
  }
  return all;
}

std::string Hdf5File::numeric_array(const std::string& key, const std::string& doing) const {
  const std::vector<std::string> known = names();
  const std::string name = key.empty() && known.size() == 1 ? known.front() : key;
  // What names() lists was looked at when the file was opened; another path through groups is looked at now, step by
  // step, since HDF5 fails where a step is missing.
  bool there = std::find(known.begin(), known.end(), name) != known.end();
  if (!there && !name.empty()) {
    if (name.find('/') != std::string::npos) rehearse_walk(path_, bytes_, name);
    there = true;
    for (std::size_t at = 0; there && at != std::string::npos;) {
      at = name.find('/', at + 1);
      there = has(name.substr(0, at));
    }
  }
  if (!there) fail_no_array(doing, key, known);
  array(name);
  return name;
}

}  // namespace lano
