// The bytes of an export, read back field by field with onnx.proto's numbers, and what export refuses. That the graph
// computes the right thing is tests/onnx/compare.mjs's to say.
#include <cstring>
#include <map>

#include "runtime/onnx/export.h"
#include "scratch.h"

namespace lano::onnx_export_test {
namespace {

// Field number -> contents, in order: bytes, or the number as text.
using Message = std::multimap<std::uint64_t, std::string>;

Message read_message(const std::string& bytes) {
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  Message message;
  while (at < bytes.size()) {
    const std::uint64_t key = varint();
    if ((key & 7) == 0) {
      message.emplace(key >> 3, std::to_string(varint()));
      continue;
    }
    const std::size_t size = (key & 7) == 5 ? 4 : varint();
    EXPECT_TRUE((key & 7) == 5 || (key & 7) == 2);
    if (size > bytes.size() - at) throw std::out_of_range("a field beyond its message");
    message.emplace(key >> 3, bytes.substr(at, size));
    at += size;
  }
  return message;
}

std::string text(const Message& message, std::uint64_t field) {
  return message.count(field) == 1 ? message.find(field)->second : "not once";
}

ModelFile darcy() { return read_model_file(std::filesystem::path(LANO_TEST_FILES) / "model-v1.safetensors"); }

TEST(OnnxExport, TheFileHasItsPartsUnderOnnxNumbers) {
  const ModelFile file = darcy();
  const onnx::Exported exported = onnx::export_model(file, {});
  EXPECT_EQ(exported.inputs, (std::vector<std::string>{"coordinates [B, 81, 2]", "input [B, 81, 1]"}));
  EXPECT_EQ(exported.output, "output [B, 81, 1]");
  const Message model = read_message(exported.bytes);
  EXPECT_EQ(text(model, 1), "8");     // IR version
  EXPECT_EQ(text(model, 2), "lano");  // producer
  EXPECT_EQ(text(read_message(text(model, 8)), 2), "17");
  std::map<std::string, std::string> metadata;
  for (auto [at, end] = model.equal_range(14); at != end; ++at)
    metadata[text(read_message(at->second), 1)] = text(read_message(at->second), 2);
  EXPECT_EQ(metadata.at("name"), "darcy");
  EXPECT_EQ(metadata.at("input"), "coefficient");
  EXPECT_EQ(metadata.at("output"), "pressure");
  EXPECT_EQ(metadata.at("task"), "steady");
  EXPECT_EQ(nlohmann::json::parse(metadata.at("architecture")), file.architecture);

  const Message graph = read_message(text(model, 7));
  EXPECT_EQ(graph.count(11), 2u);
  EXPECT_EQ(graph.count(12), 1u);
  // Every weight with its own numbers, and every value made before it is used, under a unique name.
  std::map<std::string, std::string> tensors;
  for (auto [at, end] = graph.equal_range(5); at != end; ++at) {
    const Message tensor = read_message(at->second);
    EXPECT_TRUE(tensors.emplace(text(tensor, 8), text(tensor, 9)).second) << text(tensor, 8) << " twice";
  }
  for (const auto& [name, tensor] : file.weights) {
    ASSERT_TRUE(tensors.contains(name)) << name;
    const std::string& raw = tensors.at(name);
    ASSERT_EQ(raw.size(), tensor.values.size() * sizeof(float)) << name;
    EXPECT_EQ(std::memcmp(raw.data(), tensor.values.data(), raw.size()), 0) << name;
  }
  std::map<std::string, int> known{{"coordinates", 0}, {"input", 0}};
  for (const auto& [name, raw] : tensors) known[name] = 0;
  for (auto [at, end] = graph.equal_range(1); at != end; ++at) {
    const Message node = read_message(at->second);
    for (auto [i, last] = node.equal_range(1); i != last; ++i) {
      ASSERT_TRUE(known.contains(i->second)) << i->second << " of " << text(node, 3);
      ++known[i->second];
    }
    for (auto [i, last] = node.equal_range(2); i != last; ++i)
      EXPECT_TRUE(known.emplace(i->second, 0).second) << i->second << " twice";
  }
  EXPECT_TRUE(known.contains("output"));
  for (const auto& [name, uses] : known) EXPECT_TRUE(uses > 0 || name == "output") << name << " is never used";
}

TEST(OnnxExport, TheSameModelGivesTheSameBytes) {
  EXPECT_EQ(onnx::export_model(darcy(), {}).bytes, onnx::export_model(darcy(), {}).bytes);
  EXPECT_NE(onnx::export_model(darcy(), {}).bytes, onnx::export_model(darcy(), {{9, 8}, {}, 0}).bytes);
}

TEST(OnnxExport, WhatDoesNotFitIsRefused) {
  const ModelFile file = darcy();
  EXPECT_ERROR_WITH(onnx::export_model(file, {{9}, {}, 0}), "a mesh of 2 axes");
  EXPECT_ERROR_WITH(onnx::export_model(file, {{1 << 13, 1 << 13}, {}, 0}), "at most 2^24 points");
  EXPECT_ERROR_WITH(onnx::export_model(file, {{std::int64_t{1} << 62, std::int64_t{1} << 62}, {}, 0}),
                    "at most 2^24 points");
  EXPECT_ERROR_WITH(onnx::export_model(file, {{}, std::vector<float>(7), 0}), "162 coordinates");
  ModelFile other = file;
  other.architecture["name"] = "fno";
  EXPECT_ERROR_WITH(onnx::export_model(other, {}), "a LANO");
  other = file;
  other.weights.erase("norm.bias");
  EXPECT_ERROR_WITH(onnx::export_model(other, {}), "the tensor 'norm.bias' is missing");
  // Latent agents are learned one by one: no other number.
  other = file;
  other.architecture["agent_tokens"] = "latent";
  other.weights["blocks.0.attention.latent"] = {{4, 8}, std::vector<float>(32)};
  EXPECT_ERROR_WITH(onnx::export_model(other, {{}, {}, 9}), "latent agents");
  // Clouds take any number of points: there is no mesh to ask for.
  other = file;
  other.set.geometry = Geometry::points;
  for (const char* key : {"mesh", "spacing", "origin", "patches"}) other.architecture[key] = nlohmann::json::array();
  other.architecture.update({{"axes", 0}, {"order_box", {0, 1, 0, 1}}});
  other.weights["blocks.0.attention.dwc"] = {{8, 1, 3}, std::vector<float>(24)};
  EXPECT_EQ(onnx::export_model(other, {}).output, "output [B, N, 1]");
  EXPECT_ERROR_WITH(onnx::export_model(other, {{9, 9}, {}, 0}), "this model takes clouds of any number of points");
}

}  // namespace
}  // namespace lano::onnx_export_test
