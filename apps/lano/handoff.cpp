#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "command.h"

namespace lano::cli {

bool is_for_lano_train(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kWords{"bench", "train", "eval", "tune", "experiment"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

void hand_to_lano_train(int, char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto program = self.parent_path() / "lano-train";
  ::execv(program.c_str(), argv);
  fmt::print(stderr,
             "lano: starting '{}': expected the training program lano-train beside lano, found none; build with "
             "-DLANO_WITH_TORCH=ON (LibTorch) to train, evaluate and predict\n",
             program.string());
  std::exit(1);
}

}  // namespace lano::cli
