// The commands of both programs.
#include "command.h"

namespace lano::cli {

void add_device_option(CLI::App* command, std::string& device) {
  command
      ->add_option("--device", device,
                   "cpu; if LibTorch supports it, cuda or cuda:N: every operator, LANO with the composite engine")
      ->capture_default_str();
}

void choose_device(const Program& program, const std::string& device) {
  if (device == "cpu") return;
  program.need_torch(true);
  if (program.use_device) program.use_device(device);
}

void add_model_commands(CLI::App& app, const Program& program) {
  add_train(app, program);
  add_eval(app, program);
  add_predict(app, program);
  add_tune(app, program);
  add_experiment(app, program);
  add_pair(app, program);
}

}  // namespace lano::cli
