// onnxruntime-node in its own process, for comparison: loads an exported model once, then predicts or is timed on
// request, and is idle in between. Installed by scripts/onnxruntime. Owned by one thread; the process ends with the
// object.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/child_process.h"

namespace lano::bench {

class OnnxruntimePeer {
 public:
  // folder: where npm installed it; model: .onnx with inputs coordinates [1, N, dx] and input [1, N, da], whose numbers
  // are in `coordinates` and `input` as raw float32. Fails where node or onnxruntime cannot be started, or the model
  // not be loaded.
  OnnxruntimePeer(const std::filesystem::path& folder, const std::filesystem::path& model,
                  const std::filesystem::path& coordinates, const std::filesystem::path& input, int points,
                  int threads);
  const std::string& version() const { return version_; }
  std::vector<double> run(int times);  // milliseconds of each run
  std::vector<float> answer();         // output [1, N, du]

 private:
  std::string ask(const std::string& what);  // one line there, one line back

  std::unique_ptr<TalkingChild> child_;
  std::string version_;
};

}  // namespace lano::bench
