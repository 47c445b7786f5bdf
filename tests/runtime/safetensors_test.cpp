#include "runtime/safetensors.h"

#include <cstring>

#include "scratch.h"

namespace lano::safetensors_test {
namespace {

// A file as the public format describes it, put together by hand.
std::string raw_file(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string four_floats() {
  const float values[] = {1, 2, 3, 4};
  return {reinterpret_cast<const char*>(values), sizeof(values)};
}

TEST(Safetensors, ReadsTheFormatAsPublished) {
  const TensorFile file = parse_safetensors(
      raw_file(R"({"__metadata__":{"who":"me"},"b":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)"
               R"("a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}   )",
               four_floats()),
      "reading");
  EXPECT_EQ(file.metadata.at("who"), "me");
  EXPECT_EQ(file.tensors.at("a").values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(file.tensors.at("b").values, (std::vector<float>{4}));
}

TEST(Safetensors, WritesWhatItReadsWithTheSameBytes) {
  TensorFile file;
  file.metadata = {{"k", "v \"quoted\""}};
  file.tensors["x"] = {{2, 2}, {1, 2, 3, 4}};
  file.tensors["empty"] = {{0, 5}, {}};
  file.tensors["scalar"] = {{}, {7}};
  const std::string bytes = format_safetensors(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ((8 + length) % 8, 0u);  // tensors are aligned
  const TensorFile read = parse_safetensors(bytes, "reading");
  EXPECT_EQ(format_safetensors(read), bytes);
  EXPECT_EQ(read.tensors.at("scalar").values, (std::vector<float>{7}));
  EXPECT_EQ(read.tensors.at("empty").shape, (Shape{0, 5}));
}

TEST(Safetensors, EveryTruncationIsRefused) {
  TensorFile file;
  file.tensors["x"] = {{4}, {1, 2, 3, 4}};
  const std::string bytes = format_safetensors(file);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(test::error_of([&] { parse_safetensors(bytes.substr(0, size), "reading"); }), "no error") << size;
  }
  EXPECT_ERROR_WITH(parse_safetensors(bytes + "abcd", "reading"), "16 bytes of tensors");
}

TEST(Safetensors, HostileHeadersAreRefused) {
  const auto with = [&](const std::string& entry) { return raw_file("{\"x\":" + entry + "}", four_floats()); };
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F16","shape":[8],"data_offsets":[0,16]})"), "r"), "type F32");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})"), "r"),
                    "matching its shape");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[4],"data_offsets":[16,0]})"), "r"),
                    "inside the file");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[4],"data_offsets":[8,24]})"), "r"),
                    "inside the file");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})"), "r"),
                    "no negative axis");
  EXPECT_ERROR_WITH(
      parse_safetensors(with(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16]})"), "r"),
      "fits in memory");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[3],"data_offsets":[4,16]})"), "r"),
                    "to start at byte 0");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"shape":[4],"data_offsets":[0,16]})"), "r"), "dtype");
  EXPECT_ERROR_WITH(parse_safetensors(with("7"), "r"), "tensor 'x'");
  EXPECT_ERROR_WITH(parse_safetensors(raw_file("[1]", ""), "r"), "a .safetensors file");
  EXPECT_ERROR_WITH(parse_safetensors(raw_file("{\"a\":", ""), "r"), "the header is not well-formed JSON");
  // Numbers that are no integers, which the JSON library would convert all the same.
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[1e300],"data_offsets":[0,16]})"), "r"),
                    "a whole number as shape of tensor 'x'");
  EXPECT_ERROR_WITH(parse_safetensors(with(R"({"dtype":"F32","shape":[4.0],"data_offsets":[0,16]})"), "r"),
                    "a whole number as shape of tensor 'x'");
  EXPECT_ERROR_WITH(
      parse_safetensors(with(R"({"dtype":"F32","shape":[4],"data_offsets":[0,18446744073709551615]})"), "r"),
      "a whole number as data_offsets");
  EXPECT_ERROR_WITH(parse_safetensors(raw_file("{\"a\":" + std::string(64, '[') + std::string(64, ']') + "}", ""), "r"),
                    "the header has more than 64 levels");
  EXPECT_ERROR_WITH(parse_safetensors(raw_file(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                                               R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                                               four_floats()),
                                      "r"),
                    "overlap");
}

}  // namespace
}  // namespace lano::safetensors_test
