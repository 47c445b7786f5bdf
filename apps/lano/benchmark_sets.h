// The datasets of the experiments: the path of each benchmark's file, which is made by `lano generate` if it is
// missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/studies.h"

namespace lano::cli {

// Every benchmark that can be made, and the family of meshes of some.
std::vector<std::string> made_benchmarks();
std::vector<std::string> mesh_benchmarks();

// Fails with `doing` and a hint where a name is none of the known ones.
void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* what,
                 const std::string& doing);

// data/<benchmark>.h5 of the preset's size, generated where it is missing.
void make_missing_sets(const std::vector<std::string>& benchmarks, const std::string& preset,
                       const std::filesystem::path& data, int threads);
// data/<benchmark>-long.h5: a time-dependent benchmark with frames far beyond those that are learned from.
struct LongSet {
  std::filesystem::path data;
  std::int64_t learned = 0;  // first frames to learn from, those given included
};
std::vector<std::string> long_benchmarks();
LongSet make_long_set(const std::string& benchmark, const std::string& preset, const std::filesystem::path& data,
                      int threads);

// One problem on several meshes, from coarse to fine: solved once on the finest and kept at every s-th point. The same
// samples on each.
struct MeshFamily {
  std::vector<MeshSet> meshes;
  std::size_t trained = 0;  // where a zero-shot study trains
};
// `trainable`: without meshes that are for evaluation only.
MeshFamily make_mesh_family(const std::string& benchmark, const std::string& preset, const std::filesystem::path& data,
                            int threads, bool trainable);

}  // namespace lano::cli
