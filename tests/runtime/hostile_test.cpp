// Damaged and hostile model files: whatever the bytes, loading ends with one sentence or with a model that predicts.
#include "hostile.h"

#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/random.h"
#include "core/threads.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::hostile_test {
namespace {

using nlohmann::ordered_json;

const std::string& good_bytes() {
  static const std::string bytes =
      read_file(std::filesystem::path(LANO_TEST_FILES) / "model-v1.safetensors", "reading");
  return bytes;
}

std::uint64_t header_length(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return length;
}

ordered_json header() { return ordered_json::parse(good_bytes().substr(8, header_length(good_bytes()))); }

std::string with_length(std::uint64_t length) {
  std::string bytes = good_bytes();
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

std::string with_header(const std::string& text) {
  const std::uint64_t length = text.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + text + good_bytes().substr(8 + header_length(good_bytes()));
}

std::string changed(const std::function<void(ordered_json&)>& change) {
  ordered_json text = header();
  change(text);
  return with_header(text.dump());
}

// A change of one text in the metadata, read as JSON, changed, and written back.
std::string meta(const char* key, const std::function<void(ordered_json&)>& change) {
  return changed([&](ordered_json& h) {
    ordered_json inner = ordered_json::parse(h["__metadata__"][key].get<std::string>());
    change(inner);
    h["__metadata__"][key] = inner.dump();
  });
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

struct Hostile {
  std::string name, bytes;
};

std::vector<Hostile> corpus() {
  std::vector<Hostile> all;
  const std::string& good = good_bytes();
  const std::size_t start = 8 + header_length(good);
  const auto add = [&](std::string name, std::string bytes) { all.push_back({std::move(name), std::move(bytes)}); };
  // Cut at every structural boundary, and next to it.
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                               start / 2, start - 1, start, start + 1, good.size() - 1}) {
    add("cut at " + std::to_string(at), good.substr(0, at));
  }
  const ordered_json entries = header();
  for (const auto& [name, item] : entries.items()) {
    if (name == "__metadata__") continue;
    const std::size_t end = start + item["data_offsets"][1].get<std::size_t>();
    if (end < good.size()) add("cut behind " + name, good.substr(0, end));
    add("cut in " + name, good.substr(0, end - 2));
  }
  add("one byte more", good + "x");
  // Lengths of the header.
  for (const std::uint64_t length :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, start - 9, start - 7, good.size() - 8, good.size() - 7,
        std::uint64_t{100'000'001}, std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max()}) {
    add("header of " + std::to_string(length), with_length(length));
  }
  // The header's text.
  add("no JSON", with_header("{]"));
  add("an array", with_header("[1, 2]"));
  add("deep arrays", with_header("{\"a\":" + nested(200000) + "}"));
  add("deep objects", [] {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += "{\"a\":";
    return with_header(text + "1" + std::string(100000, '}'));
  }());
  add("bad UTF-8", with_header("{\"\xff\xfe\":1}"));
  add("a number of a thousand digits", with_header("{\"a\":" + std::string(1000, '9') + "}"));
  add("empty object", with_header("{}"));
  const std::string tensor = "decoder.weight";
  const auto shape = [&](ordered_json value) { return changed([&](ordered_json& h) { h[tensor]["shape"] = value; }); };
  add("negative shape", shape({-1, -8}));
  add("overflowing shape", shape({std::int64_t{1} << 62, 8}));
  add("product that wraps to the right size", shape({std::int64_t{1} << 32, std::int64_t{1} << 32, 1, 16}));
  add("huge shape", shape({1000000000000, 1000000}));
  add("shape of text", shape("[1, 16]"));
  add("fractional shape", shape({1.5, 16}));
  add("no shape", changed([&](ordered_json& h) { h[tensor].erase("shape"); }));
  add("no type", changed([&](ordered_json& h) { h[tensor].erase("dtype"); }));
  for (const char* type : {"F64", "BF16", "F16", "I64", "U8", "", "F3200"})
    add(std::string("type ") + type, changed([&](ordered_json& h) { h[tensor]["dtype"] = type; }));
  const auto offsets = [&](ordered_json value) {
    return changed([&](ordered_json& h) { h[tensor]["data_offsets"] = value; });
  };
  add("offsets turned", offsets({64, 0}));
  add("offsets beyond the file", offsets({good.size(), good.size() + 64}));
  add("offsets that wrap", offsets({std::numeric_limits<std::uint64_t>::max() - 63, 0}));
  add("offsets overlapping", offsets({0, 64}));
  add("three offsets", offsets({0, 64, 128}));
  add("negative offsets", offsets({-64, 0}));
  add("no offsets", changed([&](ordered_json& h) { h[tensor].erase("data_offsets"); }));
  add("a tensor as text", changed([&](ordered_json& h) { h[tensor] = "weights"; }));
  add("a tensor twice", changed([&](ordered_json& h) { h["twice"] = h[tensor]; }));
  add("a tensor too few", changed([&](ordered_json& h) { h.erase(tensor); }));
  add("a tensor renamed", changed([&](ordered_json& h) {
        h["dekoder.weight"] = h[tensor];
        h.erase(tensor);
      }));
  // The metadata.
  add("metadata as a list", changed([](ordered_json& h) { h["__metadata__"] = ordered_json::array(); }));
  add("metadata with a number", changed([](ordered_json& h) { h["__metadata__"]["architecture"] = 7; }));
  for (const char* key : {"format", "format_version", "architecture", "set", "normaliser", "provenance"}) {
    add(std::string("without ") + key, changed([&](ordered_json& h) { h["__metadata__"].erase(key); }));
    add(std::string("nonsense in ") + key, changed([&](ordered_json& h) { h["__metadata__"][key] = "{"; }));
    add(std::string("deep JSON in ") + key, changed([&](ordered_json& h) { h["__metadata__"][key] = nested(100000); }));
    add(std::string("a list in ") + key, changed([&](ordered_json& h) { h["__metadata__"][key] = "[1]"; }));
  }
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const char* key : {"layers", "heads", "width", "agents", "ffn_ratio", "dims", "input_channels",
                          "output_channels", "axes", "points"}) {
    for (const std::int64_t value : {huge, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 31}) {
      add(std::string(key) + " " + std::to_string(value),
          meta("architecture", [&](ordered_json& a) { a[key] = value; }));
    }
  }
  add("mesh of another number of axes", meta("architecture", [](ordered_json& a) { a["mesh"] = {9, 9, 9}; }));
  add("huge mesh", meta("architecture", [&](ordered_json& a) { a["mesh"] = {huge, huge}; }));
  add("deep JSON in mesh",
      meta("architecture", [](ordered_json& a) { a["mesh"] = ordered_json::parse(nested(1000)); }));
  // Text, not a tree: even writing such a tree down would use up the stack.
  for (const char* key : {"dims", "width", "mesh", "dwc"}) {
    add(std::string("deep JSON next to a wrong ") + key, changed([&](ordered_json& h) {
          std::string text = h["__metadata__"]["architecture"].get<std::string>();
          ordered_json wrong = ordered_json::parse(text);
          wrong[key] = -1;
          text = wrong.dump();
          h["__metadata__"]["architecture"] = text.substr(0, text.size() - 1) + ",\"extra\":" + nested(200000) + "}";
        }));
    add(std::string("deep JSON as ") + key, changed([&](ordered_json& h) {
          const std::string text = h["__metadata__"]["architecture"].get<std::string>();
          h["__metadata__"]["architecture"] =
              text.substr(0, text.size() - 1) + ",\"" + key + "\":" + nested(200000) + "}";  // the last one counts
        }));
  }
  // Agents that no tensor counts: without biases and pooled, on a line of patches.
  for (const std::int64_t agents : {std::int64_t{1} << 17, std::int64_t{1} << 24}) {
    ordered_json text = header();
    std::string bytes;
    std::size_t at = 0;
    for (auto item = text.begin(); item != text.end();) {
      if (item.key().find("attention.bias") != std::string::npos) {
        item = text.erase(item);
        continue;
      }
      if (item.key() != "__metadata__") {
        const auto from = item.value()["data_offsets"][0].get<std::size_t>(),
                   to = item.value()["data_offsets"][1].get<std::size_t>();
        bytes += good.substr(start + from, to - from);
        item.value()["data_offsets"] = {at, at + to - from};
        at += to - from;
      }
      ++item;
    }
    ordered_json inner = ordered_json::parse(text["__metadata__"]["architecture"].get<std::string>());
    inner["bias"] = "none";
    inner["pool"] = "sequence";
    inner["patches"] = ordered_json::array();
    inner["agents"] = agents;
    text["__metadata__"]["architecture"] = inner.dump();
    add("pooled agents " + std::to_string(agents), with_header(text.dump()).substr(0, 8 + text.dump().size()) + bytes);
  }
  add("a box of one number on a grid", meta("architecture", [](ordered_json& a) { a["order_box"] = {0.5}; }));
  add("a box on a grid", meta("architecture", [](ordered_json& a) { a["order_box"] = {0.0, 1.0, 0.0, 1.0}; }));
  add("another shape of the dataset", meta("set", [](ordered_json& s) { s["shape"] = {9, 3, 3, 1}; }));
  add("an empty tensor with huge axes", shape({0, std::int64_t{1} << 40, std::int64_t{1} << 40}));
  add("a large header", with_header("{\"a\":[" + [] {
        std::string text;
        for (int i = 0; i < 2'600'000; ++i) text += "[],";
        return text;
      }() + "[]]}"));
  add("patches of zero", meta("architecture", [](ordered_json& a) { a["patches"] = {0, 9}; }));
  add("spacing of zero", meta("architecture", [](ordered_json& a) { a["spacing"] = {0.0, 0.0}; }));
  add("huge shape of the dataset", meta("set", [&](ordered_json& s) { s["shape"] = {huge, huge}; }));
  add("scale of zero", meta("normaliser", [](ordered_json& n) { n["output"]["scale"] = {0.0}; }));
  add("scales of another number", meta("normaliser", [](ordered_json& n) { n["output"]["scale"] = {1.0, 2.0}; }));
  // Weights that are no numbers.
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::string bytes = good;
    std::memcpy(bytes.data() + bytes.size() - 4, &value, 4);
    add("a weight of " + std::to_string(value), bytes);
  }
  return all;
}

// Loads, and predicts where that worked. On one thread: a child has none of OpenMP's others.
void load_and_predict(const std::filesystem::path& path) {
  set_thread_count(1);
  const Operator op = Operator::load(path);
  const std::size_t points = op.coordinates().size() / static_cast<std::size_t>(op.set().dims());
  if (points < 100000)
    op.predict({}, std::vector<float>(points * static_cast<std::size_t>(op.set().input_channels()), 3.0f));
}

test::Verdict verdict_on(const std::string& bytes) {
  test::Scratch scratch;
  test::write_bytes(scratch / "m.safetensors", bytes);
  return test::bounded([&] { load_and_predict(scratch / "m.safetensors"); });
}

TEST(HostileModels, EveryDamagedFileIsRefusedWithASentence) {
  const std::vector<Hostile> all = corpus();
  EXPECT_GE(all.size(), 60u);
  const test::Verdict good = verdict_on(good_bytes());
  ASSERT_TRUE(good.taken) << good.sentence << good.fault;
  for (const Hostile& each : all) {
    SCOPED_TRACE(each.name);
    const test::Verdict verdict = verdict_on(each.bytes);
    EXPECT_EQ(verdict.fault, "");
    // Changes that leave a model a model: provenance is for people, points a hint.
    const bool harmless = each.name.find("provenance") != std::string::npos || each.name.starts_with("points ");
    EXPECT_TRUE(!verdict.taken || harmless) << "was taken";
    if (!verdict.sentence.empty()) test::expect_sentence(verdict.sentence);
  }
}

// Random bytes changed in the good file: a model or a sentence, never a crash. The same draws every time.
TEST(HostileModels, RandomDamageNeverCrashes) {
  const std::string& good = good_bytes();
  const std::size_t start = 8 + header_length(good);
  std::size_t refused = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    RandomStream stream(7, Purpose::test, trial);
    std::string bytes = good;
    for (std::uint64_t k = 0; k <= stream.below(4); ++k)
      bytes[stream.below(start)] = static_cast<char>(stream.below(256));
    const test::Verdict verdict = verdict_on(bytes);
    EXPECT_EQ(verdict.fault, "") << trial;
    refused += verdict.taken ? 0 : 1;
  }
  EXPECT_GT(refused, 200u);
}

}  // namespace
}  // namespace lano::hostile_test
