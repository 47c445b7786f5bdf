// Damaged and hostile PyTorch files: whatever the bytes, tensors or one sentence, in bounded memory and time.
#include "core/random.h"
#include "data/torch_file.h"
#include "data/torch_pickle.h"
#include "hostile.h"
#include "scratch.h"
#include "torch_files.h"

namespace lano::hostile_torch_test {
namespace {

using namespace test;

struct Hostile {
  std::string name, bytes;
};

std::string float_tensor(std::int64_t count, std::int64_t offset, const Shape& shape, const Shape& strides) {
  return pickled_tensor(pickled_storage("FloatStorage", "0", count), offset, shape, strides);
}

std::string good_pickle() { return pickle_of(float_tensor(6, 0, {2, 3}, {3, 1})); }

std::vector<Hostile> pickles() {
  std::vector<Hostile> all;
  const std::string whole = good_pickle();
  for (std::size_t at = 0; at < whole.size(); at += 3)
    all.push_back({"cut at " + std::to_string(at), whole.substr(0, at)});
  all.push_back({"a byte too many", whole + "x"});
  constexpr std::int64_t kMost = INT64_MAX;
  for (const auto& [shape, strides] : std::vector<std::pair<Shape, Shape>>{{{2, 4}, {4, 1}},
                                                                           {{7}, {1}},
                                                                           {{2, 3}, {3}},
                                                                           {{kMost}, {1}},
                                                                           {{kMost, kMost}, {1, 1}},
                                                                           {{kMost, kMost}, {0, 0}},
                                                                           {{2}, {kMost}},
                                                                           {{2, 2}, {kMost, kMost}},
                                                                           {{-1}, {1}},
                                                                           {{2}, {-1}},
                                                                           {{1 << 20, 1 << 20}, {0, 0}},
                                                                           {{0, kMost, kMost}, {1, 1, 1}},
                                                                           {Shape(40, 1), Shape(40, 1)}}) {
    all.push_back({"tensor " + shape_text(shape) + shape_text(strides), pickle_of(float_tensor(6, 0, shape, strides))});
  }
  for (const std::int64_t offset : {std::int64_t{1}, std::int64_t{6}, std::int64_t{-1}, kMost})
    all.push_back({"offset " + std::to_string(offset), pickle_of(float_tensor(6, offset, {2, 3}, {3, 1}))});
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{5}, std::int64_t{-6}})
    all.push_back({"storage of " + std::to_string(count), pickle_of(float_tensor(count, 0, {2, 3}, {3, 1}))});
  // Each of the 256 commands where a value should be.
  for (int command = 0; command < 256; ++command) {
    if (std::string("N}])]").find(static_cast<char>(command)) != std::string::npos || command == 0x88 ||
        command == 0x89)
      continue;  // None, empty containers and truth values are values
    all.push_back({"command " + std::to_string(command), pickle_of(std::string(1, static_cast<char>(command)))});
  }
  all.push_back({"no tensor function's tuple", pickle_of(pickled_global("torch._utils", "_rebuild_tensor_v2") + "NR")});
  all.push_back({"no arguments", pickle_of(pickled_global("torch._utils", "_rebuild_tensor_v2") + ")R")});
  all.push_back({"a storage of another kind", pickle_of("(" + pickled_text("storage") + "NNNNtQ")});
  all.push_back({"a call of a text", pickle_of(pickled_text("os") + ")R")});
  all.push_back({"a text of gigabytes", pickle_of("X\xff\xff\xff\xff")});
  all.push_back({"a frame beyond the end", pickle_of("\x95" + std::string(8, '\xff'))});
  all.push_back({"a reference to nothing", pickle_of("h\x07")});
  all.push_back(
      {"a hundred thousand lists in one another", pickle_of(std::string(100000, ']') + std::string(99999, 'a'))});
  all.push_back({"a list in itself", pickle_of("]q\x01h\x01"
                                               "a")});
  // Ten lists of ten of the one before, twelve times: 10^12 tensors for who counts them.
  std::string laughs = "](" + float_tensor(6, 0, {6}, {1}) + "eq" + std::string(1, '\0');
  for (char level = 1; level < 13; ++level) {
    laughs += "](";
    for (int i = 0; i < 10; ++i) laughs += std::string("h") + static_cast<char>(level - 1);
    laughs += std::string("eq") + level;
  }
  std::string tail;
  for (int i = 0; i < 12; ++i) tail += "\x86";
  all.push_back({"a billion laughs", pickle_of(laughs + tail)});
  all.push_back({"four million objects", pickle_of("](" + std::string(4 << 20, 'N') + "e")});
  all.push_back({"four million references", pickle_of("]q\x01(" + [] {
                   std::string out;
                   for (int i = 0; i < 4 << 20; ++i) out += "h\x01";
                   return out;
                 }() + "e")});
  all.push_back({"a name with terminal commands", pickle_of(pickled_global("\x1b[2J\x07", "\x1b]0;x\x07"))});
  return all;
}

TEST(HostileTorch, EveryDamagedPickleIsRefusedWithASentence) {
  const std::vector<Hostile> all = pickles();
  EXPECT_GE(all.size(), 250u);
  for (const Hostile& each : all) {
    expect_refused(each.name, [&] { read_torch_pickle(each.bytes, "reading"); });
  }
  EXPECT_EQ(read_torch_pickle(good_pickle(), "reading").front().shape, (Shape{2, 3}));
}

TEST(HostileTorch, EveryDamagedArchiveIsRefusedWithASentence) {
  Scratch scratch;
  const auto path = scratch / "a.pt";
  const std::string numbers = raw_all<float>({1, 2, 3, 4, 5, 6}), whole = torch_zip(good_pickle(), {numbers});
  std::vector<Hostile> all;
  for (std::size_t at = 0; at < whole.size(); at += 17)
    all.push_back({"cut at " + std::to_string(at), whole.substr(0, at)});
  all.push_back({"no storage", torch_zip(good_pickle(), {})});
  all.push_back({"a short storage", torch_zip(good_pickle(), {numbers.substr(4)})});
  all.push_back({"a long storage", torch_zip(good_pickle(), {numbers + numbers})});
  all.push_back({"no pickle", zip_of({{"made/version", "3"}})});
  all.push_back({"two pickles", zip_of({{"a/data.pkl", good_pickle()}, {"b/data.pkl", good_pickle()}})});
  all.push_back({"an empty zip", zip_of({})});
  all.push_back({"big-endian", zip_of({{"m/data.pkl", good_pickle()}, {"m/byteorder", "big"}, {"m/data/0", numbers}})});
  all.push_back({"said to be deflated", zip_of({{"m/data.pkl", good_pickle()}, {"m/data/0", numbers}}, 8)});
  all.push_back(
      {"a storage outside",
       torch_zip(pickle_of(pickled_tensor(pickled_storage("FloatStorage", "../../etc/passwd", 6), 0, {6}, {1})),
                 {numbers})});
  std::string flipped = whole;
  flipped[whole.find(numbers) + 2] = static_cast<char>(flipped[whole.find(numbers) + 2] ^ 1);
  all.push_back({"a bit that fell over in the numbers", flipped});
  all.push_back({"a tar", std::string(1024, '\0')});
  all.push_back({"a text", "hello"});
  for (const Hostile& each : all) {
    write_bytes(path, each.bytes);
    expect_refused(each.name, [&] { open_torch(path, {""}).front()->read_all(); });
  }
  write_bytes(path, whole);
  EXPECT_EQ(open_torch(path, {""}).front()->read_all(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(HostileTorch, RandomDamageNeverEndsTheProcess) {
  Scratch scratch;
  const auto path = scratch / "a.pt";
  const std::string whole = torch_dict({{"x", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"y", {2}, {7, 8}}});
  for (std::uint64_t i = 0; i < 200; ++i) {
    RandomStream stream(2, Purpose::test, i);
    std::string bytes = whole;
    for (std::uint64_t k = 0; k <= stream.below(4); ++k)
      bytes[static_cast<std::size_t>(stream.below(bytes.size()))] = static_cast<char>(stream.below(256));
    write_bytes(path, bytes);
    expect_survived("damage " + std::to_string(i), [&] {
      for (const auto& source : open_torch(path, torch_keys(path))) source->read_all();
    });
  }
}

}  // namespace
}  // namespace lano::hostile_torch_test
