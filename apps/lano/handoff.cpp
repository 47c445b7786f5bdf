#include <fmt/format.h>

#include <cstdlib>

#include "command.h"
#include "core/child_process.h"
#include "model_spec/model_catalogue.h"

namespace lano::cli {

void hand_to_lano_torch(char** argv) {
  const auto program = program_folder() / "lano-torch";
  become(program, argv);
  fmt::print(stderr,
             "lano: this needs LibTorch (other operators than LANO, train.engine = \"composite\", --device, bench), "
             "and lano-torch is not there; {}\n",
             kTorchAdvice);
  std::exit(1);
}

}  // namespace lano::cli
