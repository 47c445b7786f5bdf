#include "bench/onnxruntime_peer.h"

#include <fmt/format.h>

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
  child_ = std::make_unique<TalkingChild>(
      "node",
      std::vector<std::string>{"-e", kScript, std::filesystem::absolute(folder).string(), model.string(),
                               coordinates.string(), input.string(), std::to_string(points), std::to_string(threads)});
  version_ = nlohmann::json::parse(ask("")).at("version").get<std::string>();
}

std::string OnnxruntimePeer::ask(const std::string& what) {
  if (!what.empty()) child_->tell(what);
  const std::string line = child_->line().value_or("");
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object() || answer.contains("error")) {
    fail_plainly(kDoing,
                 answer.is_object() ? fmt::format("onnxruntime failed: {}", answer["error"].get<std::string>())
                                    : "node with onnxruntime-node does not answer",
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
