// A training that kills itself with SIGKILL, for resume_test: resume_victim CONFIG RUN (step K | microseconds T |
// whole) after K steps of this start, or T microseconds after its first step, wherever it then is.
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "train/trainer.h"
#ifdef LANO_VICTIM_OF_TORCH
#include "libtorch/torch_trainable.h"
#endif

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
#ifdef LANO_VICTIM_OF_TORCH
  lano::register_torch_models();
#endif
  lano::TrainConfig config;
  lano::Schema schema;
  lano::bind_train_config(schema, config);
  schema.load(argv[1]);
  lano::TrainOptions options;
  options.resume = true;
  const std::string how = argv[3];
  std::int64_t left = how == "step" ? std::atoll(argv[4]) : -1;
  bool timed = how == "microseconds";
  std::signal(SIGALRM, [](int) { ::kill(::getpid(), SIGKILL); });
  options.after_step = [&](std::int64_t) {
    if (--left == 0) ::kill(::getpid(), SIGKILL);
    if (!timed) return;
    timed = false;
    const itimerval timer{{0, 0}, {0, std::atol(argv[4])}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  };
  return lano::train(config, argv[2], options).finished ? 0 : 3;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
