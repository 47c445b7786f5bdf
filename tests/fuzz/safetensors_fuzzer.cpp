// bytes -> safetensors -> model file -> operator -> predictions on its own mesh, on another and with other agents.
#include <algorithm>
#include <cstring>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "fuzzer.h"
#include "runtime/operator.h"
#include "tiny_models.h"

namespace {

void predict(lano::Operator& op, const std::vector<float>& coordinates, const lano::Shape& mesh) {
  const lano::SetDescription& set = op.set();
  const std::size_t points = coordinates.size() / static_cast<std::size_t>(set.dims());
  const std::int64_t state_channels = op.state_frames() * set.output_channels(),
                     channels = set.input_channels() + set.output_channels() + state_channels;
  if (points == 0 || static_cast<std::int64_t>(points) * channels > (1 << 16)) return;  // right, and slow
  const std::vector<float> input(points * static_cast<std::size_t>(set.input_channels()), 0.5f);
  const std::vector<float> state(points * static_cast<std::size_t>(state_channels), 0.25f);
  try {
    op.predict(coordinates, input, lano::Operator::Call{.mesh = mesh, .time = 1.5, .state = state});
  } catch (const lano::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    lano::Operator op(lano::parse_model_file({reinterpret_cast<const char*>(data), size}, "reading"));
    const std::int64_t dims = op.set().dims();
    predict(op, op.coordinates(), {});
    for (const std::int64_t side : {2, 5}) {
      const auto axes =
          static_cast<std::size_t>(op.set().geometry == lano::Geometry::points ? 1 : op.set().shape.size());
      if (axes > 3) break;
      const lano::Shape mesh(axes, side);
      std::vector<float> coordinates;
      for (std::int64_t i = 0; i < lano::element_count(mesh) * dims; ++i)
        coordinates.push_back(static_cast<float>((i * 7) % 11) / 11);
      predict(op, coordinates, op.set().geometry == lano::Geometry::points ? lano::Shape{} : mesh);
      op.use_agents(3);
    }
  } catch (const lano::Error&) {
  }
  return 0;
}

#ifdef LANO_LIBFUZZER
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

// Mostly the header alone, with its length set right: else almost every change ends at the first check.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::uint64_t length = 0;
  if (size >= 8) std::memcpy(&length, data, 8);
  if (seed % 4 == 0 || size < 8 || length > size - 8) return LLVMFuzzerMutate(data, size, most);
  const std::size_t rest = size - 8 - length, room = std::min<std::size_t>(length + 256, most - 8 - rest);
  std::vector<std::uint8_t> header(data + 8, data + 8 + length);
  const std::vector<std::uint8_t> tensors(data + 8 + length, data + size);
  header.resize(std::max<std::size_t>(room, length));
  const std::uint64_t changed = LLVMFuzzerMutate(header.data(), length, room);
  std::memcpy(data, &changed, 8);
  std::copy_n(header.begin(), changed, data + 8);
  std::copy(tensors.begin(), tensors.end(), data + 8 + changed);
  return 8 + changed + rest;
}
#endif

namespace lano::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> all{read_file(std::filesystem::path(LANO_TEST_FILES) / "model-v1.safetensors", "reading")};
  for (const ModelFile& model : tiny_models()) all.push_back(format_model_file(model));
  for (const std::string& each : all) Operator(parse_model_file(each, "reading a seed"));  // whole files, or a failure
  return all;
}

std::vector<std::string> words() {
  std::vector<std::string> all{"{",
                               "}",
                               "[",
                               "]",
                               ":",
                               ",",
                               "\"",
                               "\\\"",
                               "null",
                               "true",
                               "0",
                               "-1",
                               "1e308",
                               "1e-308",
                               "4611686018427387904",
                               "18446744073709551615",
                               "0.5",
                               "[]",
                               "{}",
                               "\"F32\"",
                               "\"F16\"",
                               "\"shape\":",
                               "\"data_offsets\":",
                               "\"dtype\":",
                               "__metadata__"};
  for (const char* key :
       {"layers",        "heads", "width",          "agents",          "ffn_ratio", "bias",        "dwc",
        "agent_tokens",  "pool",  "order",          "position",        "decoder",   "dwc_spacing", "padding",
        "task",          "dims",  "input_channels", "output_channels", "axes",      "patches",     "order_box",
        "reference_box", "mesh",  "spacing",        "origin",          "points",    "time_origin", "time_step",
        "shift",         "scale", "coordinates",    "input",           "output",    "geometry",    "shape",
        "box",           "time"}) {
    all.push_back(std::string("\\\"") + key + "\\\":");
  }
  for (const char* value : {"outer", "sum", "none", "latent", "sequence", "grid", "file", "hilbert", "reference", "mlp",
                            "physical", "index", "autoregressive", "time_conditional", "points", "mesh"}) {
    all.push_back(std::string("\\\"") + value + "\\\"");
  }
  return all;
}

}  // namespace lano::fuzz
