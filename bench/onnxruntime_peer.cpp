#include "bench/onnxruntime_peer.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lano::bench {
namespace {

constexpr const char* kDoing = "measuring onnxruntime";

// Every graph optimisation on, as many threads as the others, one feed made before the clock runs.
constexpr const char* kScript = R"(
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');
const [folder, model, coordinates, input, points, threads] = process.argv.slice(1);
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
(async () => {
  const ort = createRequire(folder + '/package.json')('onnxruntime-node');
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential',
    graphOptimizationLevel: 'all', logSeverityLevel: 3 });
  const tensor = (path) => {
    const bytes = readFileSync(path), values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    return new ort.Tensor('float32', Float32Array.from(values), [1, Number(points), values.length / Number(points)]);
  };
  const feeds = { coordinates: tensor(coordinates), input: tensor(input) };
  say({ version: ort.env.versions.node ?? ort.env.versions.common });
  for await (const line of require('node:readline').createInterface({ input: process.stdin })) {
    if (line === 'answer') {
      say({ output: Array.from((await session.run(feeds)).output.data) });
      continue;
    }
    const times = [];
    for (let i = 0; i < Number(line); ++i) {
      const start = process.hrtime.bigint();
      await session.run(feeds);
      times.push(Number(process.hrtime.bigint() - start) / 1e6);
    }
    say({ times });
  }
})().catch((error) => { say({ error: String(error).split('\n')[0] }); process.exit(1); });
)";

}  // namespace

OnnxruntimePeer::OnnxruntimePeer(const std::filesystem::path& folder, const std::filesystem::path& model,
                                 const std::filesystem::path& coordinates, const std::filesystem::path& input,
                                 int points, int threads) {
  int there[2], back[2];
  if (::pipe(there) != 0 || ::pipe(back) != 0) fail(kDoing, "pipes to another process", errno_text(errno));
  const std::vector<std::string> words{"node",
                                       "-e",
                                       kScript,
                                       std::filesystem::absolute(folder).string(),
                                       model.string(),
                                       coordinates.string(),
                                       input.string(),
                                       std::to_string(points),
                                       std::to_string(threads)};
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a peer that died is told by its silence
  child_ = ::fork();
  if (child_ == 0) {
    ::dup2(there[0], 0);
    ::dup2(back[1], 1);
    for (const int end : {there[0], there[1], back[0], back[1]}) ::close(end);
    ::execvp("node", arguments.data());
    ::_exit(127);
  }
  ::close(there[0]);
  ::close(back[1]);
  to_ = ::fdopen(there[1], "w");
  from_ = ::fdopen(back[0], "r");
  try {
    version_ = nlohmann::json::parse(ask("")).at("version").get<std::string>();
  } catch (...) {
    end();
    throw;
  }
}

OnnxruntimePeer::~OnnxruntimePeer() { end(); }

void OnnxruntimePeer::end() {
  if (to_ != nullptr) std::fclose(to_);  // its input ends, so does it
  if (from_ != nullptr) std::fclose(from_);
  to_ = from_ = nullptr;
  if (child_ > 0) ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

std::string OnnxruntimePeer::ask(const std::string& what) {
  if (!what.empty()) {
    std::fputs((what + "\n").c_str(), to_);
    std::fflush(to_);
  }
  std::string line;
  for (int c = std::getc(from_); c != EOF && c != '\n'; c = std::getc(from_)) line.push_back(static_cast<char>(c));
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object() || answer.contains("error")) {
    fail(kDoing, "an answer of node with onnxruntime-node",
         answer.is_object() ? answer["error"].get<std::string>() : "none",
         "run scripts/onnxruntime, or see its errors above");
  }
  return line;
}

std::vector<double> OnnxruntimePeer::run(int times) {
  return nlohmann::json::parse(ask(std::to_string(times))).at("times").get<std::vector<double>>();
}

std::vector<float> OnnxruntimePeer::answer() {
  return nlohmann::json::parse(ask("answer")).at("output").get<std::vector<float>>();
}

}  // namespace lano::bench
