#include "data/torch_file.h"

#include "scratch.h"
#include "torch_files.h"

namespace lano::torch_file_test {
namespace {

using namespace test;

std::vector<float> values_of(const std::filesystem::path& path, const std::string& key) {
  return open_torch(path, {key}).front()->read_all();
}

TEST(TorchFile, EveryNumberTypeIsRead) {
  Scratch scratch;
  struct Case {
    const char* storage;
    const char* name;
    std::string bytes;
  };
  // -2, 0.5 (0 for whole numbers), 3 in each type; half: sign, 5 bits of exponent, 10 of fraction.
  const std::vector<Case> floats{{"DoubleStorage", "float64", raw_all<double>({-2, 0.5, 3})},
                                 {"FloatStorage", "float32", raw_all<float>({-2, 0.5, 3})},
                                 {"HalfStorage", "float16", raw_all<std::uint16_t>({0xc000, 0x3800, 0x4200})},
                                 {"BFloat16Storage", "bfloat16", raw_all<std::uint16_t>({0xc000, 0x3f00, 0x4040})}};
  const std::vector<Case> wholes{{"LongStorage", "int64", raw_all<std::int64_t>({-2, 0, 3})},
                                 {"IntStorage", "int32", raw_all<std::int32_t>({-2, 0, 3})},
                                 {"ShortStorage", "int16", raw_all<std::int16_t>({-2, 0, 3})},
                                 {"CharStorage", "int8", raw_all<std::int8_t>({-2, 0, 3})}};
  for (const auto* cases : {&floats, &wholes}) {
    for (const Case& each : *cases) {
      write_torch(
          scratch / "a.pt",
          torch_zip(pickle_of(pickled_tensor(pickled_storage(each.storage, "0", 3), 0, {3}, {1})), {each.bytes}));
      const auto source = std::move(open_torch(scratch / "a.pt", {""}).front());
      EXPECT_EQ(source->type(), each.name);
      EXPECT_EQ(source->read_all(), (std::vector<float>{-2, cases == &floats ? 0.5f : 0.0f, 3})) << each.name;
    }
  }
  write_torch(scratch / "b.pt",
              torch_zip(pickle_of(pickled_tensor(pickled_storage("BoolStorage", "0", 2), 0, {2}, {1})), {{"\1\0", 2}}));
  EXPECT_EQ(values_of(scratch / "b.pt", ""), (std::vector<float>{1, 0}));
  // The smallest half, zero, and a negative subnormal number.
  write_torch(scratch / "c.pt",
              torch_zip(pickle_of(pickled_tensor(pickled_storage("HalfStorage", "0", 3), 0, {3}, {1})),
                        {raw_all<std::uint16_t>({0x0001, 0x0000, 0x8200})}));
  EXPECT_EQ(values_of(scratch / "c.pt", ""), (std::vector<float>{0x1p-24f, 0, -0x1p-15f}));
}

// Transposed, beginning in the middle, with room between rows: what views of a larger tensor look like.
TEST(TorchFile, StridesAndOffsetsAreFollowed) {
  Scratch scratch;
  std::vector<double> storage(40);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<double>(i);
  write_torch(scratch / "a.pt",
              torch_zip(pickle_of(pickled_tensor(pickled_storage("DoubleStorage", "0", 40), 5, {2, 3, 2}, {1, 10, 3})),
                        {raw_all(storage)}));
  const auto source = std::move(open_torch(scratch / "a.pt", {""}).front());
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 2; ++k) expected.push_back(static_cast<float>(5 + i + 10 * j + 3 * k));
  EXPECT_EQ(source->read_all(), expected);
  EXPECT_EQ(source->read({{1, 1, 1}, {0, 2, 2}, {1, 1, 1}}), (std::vector<float>{9, 29}));
  EXPECT_TRUE(source->costly_parts());
}

// More than a block: the part is halved, and nothing is lost.
TEST(TorchFile, LargeTransposedTensorsAreReadInPieces) {
  Scratch scratch;
  constexpr std::int64_t kRows = 3, kColumns = 4'000'000;  // 48 MB
  std::vector<float> storage(kRows * kColumns);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<float>(i % 8191);
  write_torch(scratch / "a.pt",
              torch_zip(pickle_of(pickled_tensor(pickled_storage("FloatStorage", "0", kRows * kColumns), 0,
                                                 {kColumns, kRows}, {1, kColumns})),
                        {raw_all(storage)}));
  const auto source = std::move(open_torch(scratch / "a.pt", {""}).front());
  const std::vector<float> all = source->read_all();
  for (const std::int64_t at : {0l, 1l, 1'999'999l, 2'000'000l, 3'999'999l}) {
    for (std::int64_t row = 0; row < kRows; ++row)
      EXPECT_EQ(all[static_cast<std::size_t>(at * kRows + row)],
                storage[static_cast<std::size_t>(row * kColumns + at)]);
  }
}

TEST(TorchFile, ListsDictsAndNumbersHaveNames) {
  Scratch scratch;
  const std::string one = pickled_tensor(pickled_storage("FloatStorage", "0", 2), 0, {2}, {1});
  const std::string commands = "}(" + pickled_text("u") + "](" + one + "q\x01" + "h\x01" + "e" +
                               pickled_text("nested") + "}" + pickled_text("dt") + "G" +
                               std::string("\x3f\xa9\x99\x99\x99\x99\x99\x9a") + "s" + pickled_text("note") +
                               pickled_text("words are no data") + pickled_text("steps") + pickled_integer(70000) + "u";
  write_torch(scratch / "a.pt", torch_zip(pickle_of(commands), {raw_all<float>({1, 2})}));
  EXPECT_EQ(torch_keys(scratch / "a.pt"), (std::vector<std::string>{"u/0", "u/1", "nested/dt", "steps"}));
  EXPECT_EQ(values_of(scratch / "a.pt", "u/1"), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of(scratch / "a.pt", "nested/dt"), (std::vector<float>{0.05f}));
  EXPECT_EQ(values_of(scratch / "a.pt", "steps"), (std::vector<float>{70000}));
  EXPECT_ERROR_WITH(values_of(scratch / "a.pt", "stepz"), "did you mean 'steps'?");
  // Nothing is near: no suggestion.
  const std::string message = error_of([&] { values_of(scratch / "a.pt", "foo"); });
  EXPECT_NE(message.find("found the arrays u/0"), std::string::npos) << message;
  EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
}

TEST(TorchFile, WhatIsNoTensorIsRefusedByName) {
  Scratch scratch;
  const auto refused = [&](const std::string& pickle, const char* part) {
    write_torch(scratch / "a.pt", torch_zip(pickle, {}));
    EXPECT_ERROR_WITH(torch_keys(scratch / "a.pt"), part);
  };
  refused(pickle_of(pickled_global("os", "system") + "(" + pickled_text("touch lano-was-here") + "tR"), "'os.system'");
  refused(pickle_of(pickled_global("torch.nn.modules.linear", "Linear") + ")R"), "'torch.nn.modules.linear.Linear'");
  refused(pickle_of(pickled_global("numpy.core.multiarray", "_reconstruct") + ")R"), "numpy.core.multiarray");
  refused(pickle_of(pickled_global("torch", "ComplexFloatStorage")), "ComplexFloatStorage");
  EXPECT_FALSE(std::filesystem::exists("lano-was-here"));
  // Files of before 1.6 are a bare pickle.
  write_torch(scratch / "old.pt", std::string("\x80\x02") + "\x8a\x0a" + "lano" + std::string(6, 'x') + ".");
  EXPECT_ERROR_WITH(torch_keys(scratch / "old.pt"), "save it again with torch.save");
}

}  // namespace
}  // namespace lano::torch_file_test
