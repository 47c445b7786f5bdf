// Damaged and hostile NumPy files, .npy and .npz: whatever the bytes, a value or one sentence, in bounded memory and
// time.
#include <zlib.h>

#include "core/random.h"
#include "data/npy.h"
#include "hostile.h"
#include "scratch.h"

namespace lano::hostile_npy_test {
namespace {

using test::append_number;

std::string npy(const std::string& dict, const std::string& data, int version = 1, std::int64_t stated_length = -1) {
  std::string bytes("\x93NUMPY");
  bytes += static_cast<char>(version);
  bytes += '\0';
  const auto length =
      static_cast<std::uint32_t>(stated_length < 0 ? static_cast<std::int64_t>(dict.size()) : stated_length);
  if (version == 1)
    append_number(bytes, static_cast<std::uint16_t>(length));
  else
    append_number(bytes, length);
  return bytes + dict + data;
}

std::string dict(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string of_shape(const std::string& shape, std::size_t bytes = 24) {
  return npy(dict("'<f4'", "False", shape), std::string(bytes, '\0'));
}
std::string of_type(const std::string& descr) { return npy(dict(descr, "False", "(2, 3)"), std::string(24, '\0')); }

std::string good() { return of_shape("(2, 3)"); }

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

struct Hostile {
  std::string name, bytes;
};

std::vector<Hostile> corpus() {
  std::vector<Hostile> all;
  const std::string whole = good();
  for (const std::size_t at : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{6}, std::size_t{7},
                               std::size_t{8}, std::size_t{9}, std::size_t{10}, std::size_t{11}, std::size_t{30},
                               whole.size() - 25, whole.size() - 24, whole.size() - 23, whole.size() - 1}) {
    all.push_back({"cut at " + std::to_string(at), whole.substr(0, at)});
  }
  all.push_back({"a byte too many", whole + "x"});
  all.push_back({"another magic", "\x93NUMPI" + whole.substr(6)});
  for (const int version : {0, 4, 255})
    all.push_back(
        {"version " + std::to_string(version), npy(dict("'<f4'", "False", "(6,)"), std::string(24, '\0'), version)});
  for (const int version : {2, 3})
    all.push_back({"version without room for its length", npy("", "", version).substr(0, 11)});
  const std::string text = dict("'<f4'", "False", "(2, 3)"), data(24, '\0');
  for (const std::int64_t length : {0, 1, 20, 65535})
    all.push_back({"header of " + std::to_string(length), npy(text, data, 1, length)});
  for (const std::int64_t length : {0ll, 1ll << 20, 0x7fffffffll, 0xffffffffll})
    all.push_back({"long header of " + std::to_string(length), npy(text, data, 2, length)});
  all.push_back({"a header of blanks, 10 MB", npy(std::string(10 << 20, ' '), data, 2)});

  for (const char* shape : {"(2, -3)",
                            "(-2, -3)",
                            "(99999999999999999999999,)",
                            "(9223372036854775807, 2)",
                            "(4294967296, 4294967296)",
                            "(2305843009213693952, 8)",
                            "(1000000000000, 1)",
                            "(0, 9223372036854775807, 9223372036854775807)",
                            "(2, 3",
                            "2, 3)",
                            "((2, 3))",
                            "(2, 3.5)",
                            "(2, 'three')",
                            "[2, 3]",
                            "(0x2, 3)",
                            "(2, 3L)",
                            "(True, 6)",
                            "()",
                            "",
                            "(",
                            ")",
                            "(2; 3)",
                            "(1e1,)",
                            "(6, 0)",
                            "(7,)",
                            "None"}) {
    all.push_back({std::string("shape ") + shape, of_shape(shape)});
  }
  all.push_back({"forty axes", of_shape("(" + repeated("1, ", 39) + "6)")});
  all.push_back({"twenty thousand axes", of_shape("(" + repeated("1,", 20000) + "6)")});
  all.push_back({"sixty thousand parentheses", of_shape(std::string(60000, '('))});
  all.push_back({"deep braces", npy(std::string(60000, '{') + std::string(60000, '}'), data, 2)});
  all.push_back({"a shape of 60 KB of digits", of_shape("(" + std::string(60000, '9') + ",)")});

  for (const char* type : {"'|O'",
                           "'|O8'",
                           "'O'",
                           "'<f2'",
                           "'<c8'",
                           "'<U4'",
                           "'|S4'",
                           "'>f4'",
                           "'>f8'",
                           "'>i4'",
                           "'<f16'",
                           "'<M8[ns]'",
                           "'|V4'",
                           "''",
                           "'<f'",
                           "'f4'",
                           "'<i16'",
                           "'<f4",
                           "<f4",
                           "None",
                           "[('a', '<f4')]",
                           "{'names': ['a']}",
                           "'<f4\\x00'"}) {
    all.push_back({std::string("type ") + type, of_type(type)});
  }
  // What numpy.load(allow_pickle=True) would run.
  all.push_back({"a pickle", npy(dict("'|O'", "False", "(1,)"), "cos\nsystem\n(S'touch lano-was-here'\ntR.")});
  for (const char* order : {"Maybe", "0", "", "true"})
    all.push_back({std::string("order ") + order, npy(dict("'<f4'", order, "(2, 3)"), data)});
  all.push_back({"no braces", npy("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", data)});
  all.push_back({"no descr", npy("{'fortran_order': False, 'shape': (2, 3)}", data)});
  all.push_back({"no order", npy("{'descr': '<f4', 'shape': (2, 3)}", data)});
  all.push_back({"no shape", npy("{'descr': '<f4', 'fortran_order': False}", data)});
  all.push_back({"only zeros", std::string(4096, '\0')});
  all.push_back({"a type with terminal commands", of_type("'\x1b[2J\x07'")});
  return all;
}

// Both ways in: the whole file at once, and in parts. They must agree.
TEST(HostileNpy, EveryDamagedFileIsRefusedWithASentence) {
  test::Scratch scratch;
  const auto path = scratch / "a.npy";
  const std::vector<Hostile> all = corpus();
  EXPECT_GE(all.size(), 60u);
  for (const Hostile& each : all) {
    test::write_bytes(path, each.bytes);
    test::expect_refused(each.name, [&] { parse_npy(each.bytes, "reading"); });
    test::expect_refused(each.name + ", in parts", [&] { open_npy(path)->read_all(); });
  }
  EXPECT_FALSE(std::filesystem::exists("lano-was-here"));
}

TEST(HostileNpy, WholeFilesOfEveryVersionAreRead) {
  for (const int version : {1, 2, 3}) {
    const NumpyArray array =
        parse_npy(npy(dict("'|u1'", "True", "(2, 3)"), std::string("\1\2\3\4\5\6"), version), "reading");
    EXPECT_EQ(array.values, (std::vector<float>{1, 3, 5, 2, 4, 6}));
  }
  EXPECT_EQ(parse_npy(of_shape("()", 4), "reading").values.size(), 1u);
  EXPECT_EQ(parse_npy(of_shape("(0, 5)", 0), "reading").shape, (Shape{0, 5}));
}

// A zip of one entry, made by hand so that it can lie.
struct Zip {
  std::string name = "a.npy", content = good();  // of the array, before compression
  bool deflated = false;
  int method = -1;  // stated, where it is not the true one
  std::int64_t size = -1, packed_size = -1, offset = -1, directory_offset = -1, entries = 1, crc = -1;
  std::uint16_t flags = 0;
  std::string packed{};  // given as it is, where it is not the content's

  std::string bytes() const {
    std::string body = packed.empty() ? content : packed;
    if (deflated && packed.empty()) body = test::deflated_zeros(content, 0, -15);
    const auto true_crc = static_cast<std::int64_t>(
        crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
    const auto numbers = [&](std::string& out) {
      append_number(out, std::uint16_t{20});
      append_number(out, flags);
      append_number(out, static_cast<std::uint16_t>(method >= 0 ? method : deflated ? 8 : 0));
      append_number(out, std::uint32_t{0});  // time
      append_number(out, static_cast<std::uint32_t>(crc >= 0 ? crc : true_crc));
      append_number(
          out, static_cast<std::uint32_t>(packed_size >= 0 ? packed_size : static_cast<std::int64_t>(body.size())));
      append_number(out, static_cast<std::uint32_t>(size >= 0 ? size : static_cast<std::int64_t>(content.size())));
      append_number(out, static_cast<std::uint16_t>(name.size()));
      append_number(out, std::uint16_t{0});
    };
    std::string out = "PK\3\4";
    numbers(out);
    out += name + body;
    const std::size_t directory = out.size();
    out += "PK\1\2";
    append_number(out, std::uint16_t{20});
    numbers(out);
    out.append(10, '\0');  // comment length, disk, attributes
    append_number(out, static_cast<std::uint32_t>(offset >= 0 ? offset : 0));
    out += name;
    const std::size_t directory_size = out.size() - directory;
    out += "PK\5\6";
    out.append(4, '\0');
    append_number(out, static_cast<std::uint16_t>(entries));
    append_number(out, static_cast<std::uint16_t>(entries));
    append_number(out, static_cast<std::uint32_t>(directory_size));
    append_number(out, static_cast<std::uint32_t>(directory_offset >= 0 ? directory_offset
                                                                        : static_cast<std::int64_t>(directory)));
    out.append(2, '\0');
    return out;
  }
};

std::vector<Hostile> zip_corpus() {
  std::vector<Hostile> all;
  const std::string whole = Zip{}.bytes();
  for (std::size_t at = 0; at < whole.size(); at += 11)
    all.push_back({"cut at " + std::to_string(at), whole.substr(0, at)});
  all.push_back({"said to be larger", Zip{.size = 1 << 20}.bytes()});
  all.push_back({"said to be gigabytes", Zip{.deflated = true, .size = 0xfffffffe}.bytes()});
  all.push_back({"packed beyond the end", Zip{.packed_size = 1 << 30}.bytes()});
  all.push_back({"offset beyond the end", Zip{.offset = 1 << 30}.bytes()});
  all.push_back({"directory beyond the end", Zip{.directory_offset = 1 << 30}.bytes()});
  all.push_back({"sixty thousand entries", Zip{.entries = 60000}.bytes()});
  all.push_back({"no entries", Zip{.entries = 0}.bytes()});
  all.push_back({"a wrong check sum", Zip{.crc = 1}.bytes()});
  all.push_back({"encrypted", Zip{.flags = 1}.bytes()});
  for (const int method : {1, 6, 12, 14, 93, 99})
    all.push_back({"method " + std::to_string(method), Zip{.method = method}.bytes()});
  all.push_back({"stored, said to be deflated", Zip{.method = 8}.bytes()});
  std::string broken = test::deflated_zeros(good(), 0, -15);
  broken[broken.size() / 2] = static_cast<char>(~broken[broken.size() / 2]);
  all.push_back({"a broken stream", Zip{.deflated = true, .packed = broken}.bytes()});
  for (const Hostile& inner :
       {Hostile{"a pickle", npy(dict("'|O'", "False", "(1,)"), "cos\nsystem\n.")}, Hostile{"no array", "text"},
        Hostile{"nothing", ""}, Hostile{"a huge shape", of_shape("(1000000000000,)")},
        Hostile{"a cut array", good().substr(0, good().size() - 4)}}) {
    all.push_back({inner.name + ", stored", Zip{.content = inner.bytes}.bytes()});
    all.push_back({inner.name + ", deflated", Zip{.content = inner.bytes, .deflated = true}.bytes()});
  }
  // 3 MB that are 700 MB of zeros behind an array of six numbers, and a claim of 8 GB with 1 MB behind it.
  all.push_back(
      {"a bomb",
       Zip{.deflated = true, .size = 700 << 20, .packed = test::deflated_zeros(good(), 700 << 20, -15)}.bytes()});
  all.push_back({"a claim", Zip{.content = of_shape("(2147483648,)", 1 << 20), .deflated = true}.bytes()});
  return all;
}

TEST(HostileNpz, EveryDamagedArchiveIsRefusedWithASentence) {
  test::Scratch scratch;
  const auto path = scratch / "a.npz";
  test::write_bytes(path, Zip{}.bytes());
  ASSERT_EQ(read_numpy(path, "a").shape, (Shape{2, 3}));
  test::write_bytes(path, Zip{.deflated = true}.bytes());
  ASSERT_EQ(read_numpy(path, "a").shape, (Shape{2, 3}));
  const std::vector<Hostile> all = zip_corpus();
  EXPECT_GE(all.size(), 40u);
  for (const Hostile& each : all) {
    test::write_bytes(path, each.bytes);
    test::expect_refused(each.name, [&] { read_numpy(path, "a"); });
  }
}

// Random damage anywhere; the same draws every time.
TEST(HostileNpy, RandomDamageNeverCrashes) {
  test::Scratch scratch;
  const auto path = scratch / "a.npz";
  std::size_t taken = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream stream(3, Purpose::test, trial);
    std::string bytes = trial % 2 == 0 ? good() : Zip{.deflated = true}.bytes();
    for (std::uint64_t k = 0; k <= stream.below(4); ++k)
      bytes[stream.below(bytes.size())] = static_cast<char>(stream.below(256));
    test::write_bytes(path, bytes);
    taken += test::expect_survived("trial " + std::to_string(trial),
                                   [&] { trial % 2 == 0 ? parse_npy(bytes, "reading") : read_numpy(path, "a"); })
                 ? 1
                 : 0;
  }
  EXPECT_LT(taken, 150u);
}

}  // namespace
}  // namespace lano::hostile_npy_test
