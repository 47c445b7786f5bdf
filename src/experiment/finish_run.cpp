#include "experiment/finish_run.h"

#include <fmt/format.h>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/ranks.h"
#include "run/run_folder.h"
#include "train/trainer.h"

namespace lano {

std::optional<RunRecord> finish_run(const TrainConfig& config, const std::filesystem::path& run,
                                    const std::string& title, Listener& listener, bool test) {
  const auto recipe = config_file(run);
  if (std::filesystem::exists(recipe) && read_file(recipe, "reading") != to_toml(config)) {
    fail_plainly(fmt::format("training {}", title),
                 fmt::format("'{}' holds a run of another recipe or dataset", run.string()), "choose another --out");
  }
  if (ranks().from_first(is_finished(run) ? "finished" : "") == "finished") {
    listener.say(fmt::format("== {}: finished before, kept", title));
  } else {
    listener.say(fmt::format("== {}", title));
    TrainOptions options;
    options.resume = true;
    options.test = test;
    options.listener = &listener;
    if (!train(config, run, options).finished) return std::nullopt;
  }
  return ranks().first() ? read_run_record(run) : RunRecord();
}

}  // namespace lano
