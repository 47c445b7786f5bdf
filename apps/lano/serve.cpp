#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "command.h"
#include "console.h"
#include "core/error.h"
#include "serve/http_server.h"
#include "serve/service.h"

namespace lano::cli {
namespace {

struct ServeOptions {
  serve::ServiceOptions service;
  std::string address = "127.0.0.1", token;
  std::uint16_t port = 8080;
  int threads = 0;
  bool open = false;
  double body_mb = 16, memory_mb = 512;
};

bool is_loopback(const std::string& address) { return address == "::1" || address.starts_with("127."); }

// Connections are descriptors, and a shell grants 1024 of them.
void make_room_for(std::int64_t& connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(connections + 64);
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  connections = std::min(connections, static_cast<std::int64_t>(limit.rlim_cur) - 64);
  if (connections < 1)
    fail("serving models", "room for open files", fmt::format("a limit of {}", limit.rlim_cur), "raise it: ulimit -n");
}

void run_serve(const ServeOptions& given, const Program& program) {
  ServeOptions o = given;
  if (const char* token = std::getenv("LANO_TOKEN"); o.token.empty() && token != nullptr) o.token = token;
  serve::Limits& limits = o.service.limits;
  o.service.loopback = is_loopback(o.address);
  if (!o.service.loopback && o.token.empty() && !o.open)
    fail_usage_plainly(fmt::format("serving on {}", o.address), "others can reach this address",
                       "give --token TOKEN or $LANO_TOKEN, or --open where everybody may use it");
  o.service.token = o.token;
  program.use_threads(o.threads);
  limits.body_bytes = static_cast<std::size_t>(o.body_mb * 1048576);
  limits.memory_bytes = std::max(static_cast<std::size_t>(o.memory_mb * 1048576), 4 * limits.body_bytes);
  limits.drain_seconds = limits.answer_seconds + 15;
  make_room_for(limits.connections);
  serve::MemoryBudget memory(limits.memory_bytes);
  serve::Metrics metrics;
  auto service = std::make_unique<serve::Service>(o.service, memory, metrics, console());
  serve::HttpServer server(o.address, o.port, limits, memory, metrics, service->handler());
  if (!o.service.loopback && o.token.empty())
    console().warn(
        fmt::format("OPEN TO EVERYBODY: whoever reaches {} can use these models; --token requires one", o.address));
  std::string names;
  for (const auto& model : service->models().all()) names += (names.empty() ? "" : ", ") + model->name;
  const std::string host = o.address.find(':') == std::string::npos ? o.address : fmt::format("[{}]", o.address);
  fmt::print("serving {} at http://{}:{}/   (Ctrl-C ends it)\n", names, host, server.port());
  std::fflush(stdout);
  server.run(/*signals=*/true);
  service.reset();  // what it still has to say is said to the server
  fmt::print("ended; all requests were answered\n");
}

}  // namespace

void add_serve(CLI::App& app, const Program& program) {
  auto o = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand(
      "serve", "a page to draw problems on and see their solutions, and an HTTP interface for other programs");
  command->add_option("models", o->service.models, "model files, or NAME=FILE")->required();
  command->add_option("--port", o->port, "0: any free one")->capture_default_str();
  command->add_option("--address", o->address, "127.0.0.1: this machine only; 0.0.0.0: all of its networks")
      ->capture_default_str();
  command->add_option("--token", o->token,
                      "required of every request as 'Authorization: Bearer TOKEN'; default $LANO_TOKEN");
  command->add_flag("--open", o->open, "allow an address other than loopback without a token: everybody may use it");
  command->add_option("--data", o->service.data, "a dataset whose test samples the page may show (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  serve::Limits& limits = o->service.limits;
  const auto limit = [command](const char* name, auto& value, const char* about) {
    command->add_option(name, value, about)->check(CLI::PositiveNumber)->capture_default_str();
  };
  limit("--most-body", o->body_mb, "MB of one request's body");
  limit("--most-memory", o->memory_mb, "MB held for all requests together");
  limit("--most-points", limits.points, "points of one request, over its samples");
  limit("--most-waiting", limits.waiting, "predictions accepted and not yet answered");
  limit("--most-connections", limits.connections, "open connections");
  limit("--answer-seconds", limits.answer_seconds, "seconds until a prediction that still waits is refused");
  limit("--pass-points", o->service.pass_points, "several requests share a pass up to this many points");
  command->footer(
      "The page and the interface are explained in docs/serve.md; /v1/openapi.json describes the interface.\n"
      "Example: lano serve runs/quickstart/model.safetensors --data data/darcy43.h5\n"
      "Example: curl -s -H 'Content-Type: application/x-npy' --data-binary @a.npy "
      "'http://127.0.0.1:8080/v1/models/quickstart/predict?answer=npy' -o u.npy");
  command->callback([o, program] { run_serve(*o, program); });
}

}  // namespace lano::cli
