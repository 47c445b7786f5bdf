// The folder of `lano train --seeds`, as training writes it and reports read it.
#pragma once

#include <filesystem>

namespace lano {

inline std::filesystem::path seed_group_file(const std::filesystem::path& folder) { return folder / "seeds.json"; }

inline bool is_seed_group(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(seed_group_file(folder), ignored);
}

}  // namespace lano
