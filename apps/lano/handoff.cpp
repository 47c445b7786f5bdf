#include <fmt/format.h>

#include <cstdlib>

#include "command.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/resident_memory.h"
#include "model_spec/model_catalogue.h"

namespace lano::cli {
namespace {

constexpr std::int64_t kTorchSpace = std::int64_t{2} << 30;  // what its libraries map, and room to begin

}  // namespace

void hand_to_lano_torch(char** argv) {
  const auto program = program_folder() / "lano-torch";
  try {
    check_address_space("starting LibTorch", kTorchSpace);
  } catch (const Error& error) {
    fmt::print(stderr, "lano: {}\n", error.what());
    std::exit(1);
  }
  become(program, argv);
  fmt::print(stderr,
             "lano: this needs LibTorch (other operators than LANO, train.engine = \"composite\", --device, bench), "
             "and lano-torch is not there; {}\n",
             kTorchAdvice);
  std::exit(1);
}

}  // namespace lano::cli
