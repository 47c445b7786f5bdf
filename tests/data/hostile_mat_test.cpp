// Damaged and hostile MATLAB files of versions 4 and 5 to 7: whatever the bytes, a value or one sentence, in bounded
// memory and time. Version 7.3 is HDF5 and stands in hostile_hdf5_test.cpp.
#include "core/random.h"
#include "data/mat_file.h"
#include "hostile.h"
#include "scratch.h"

namespace lano::hostile_mat_test {
namespace {

using test::append_number;

constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrix = 14, kCompressed = 15;

// Elements made by hand, so that they can lie.
struct Mat {
  bool big = false;  // byte order

  std::string header(const std::string& mark = "") const {
    std::string bytes = "MATLAB 5.0 MAT-file";
    bytes.resize(124, ' ');
    append_number(bytes, std::uint16_t{0x0100}, big);
    return bytes + (mark.empty() ? big ? "MI" : "IM" : mark);
  }
  std::string tag(std::uint32_t type, std::uint64_t length) const {
    std::string bytes;
    append_number(bytes, type, big);
    append_number(bytes, static_cast<std::uint32_t>(length), big);
    return bytes;
  }
  std::string element(std::uint32_t type, std::string body, std::int64_t length = -1) const {
    const std::string start =
        tag(type, static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(body.size()) : length));
    body.resize((body.size() + 7) / 8 * 8, '\0');
    return start + body;
  }
  std::string flags(std::uint32_t bits) const {
    std::string body;
    append_number(body, bits, big);
    append_number(body, std::uint32_t{0}, big);
    return element(kUint32, body);
  }
  std::string axes(const std::vector<std::uint32_t>& extents) const {
    std::string body;
    for (const std::uint32_t extent : extents) append_number(body, extent, big);
    return element(kInt32, body);
  }
  std::string doubles(std::size_t count) const {
    std::string body;
    for (std::size_t i = 0; i < count; ++i) append_number(body, static_cast<double>(i), big);
    return body;
  }
  // A variable of class double, 3 x 2.
  std::string variable() const {
    return matrix(flags(6), axes({3, 2}), element(kInt8, "a"), element(kDouble, doubles(6)));
  }
  std::string matrix(const std::string& f, const std::string& x, const std::string& n, const std::string& d) const {
    return element(kMatrix, f + x + n + d);
  }
  std::string packed(const std::string& bytes, std::int64_t length = -1) const {
    const std::string out = test::deflated_zeros(bytes, 0, 15);
    return tag(kCompressed, static_cast<std::uint64_t>(length < 0 ? static_cast<std::int64_t>(out.size()) : length)) +
           out;
  }
};

std::vector<float> read(const std::filesystem::path& path) { return open_mat(path, "a")->read_all(); }

TEST(HostileMat, WholeFilesOfBothByteOrdersAreRead) {
  test::Scratch scratch;
  const auto path = scratch / "a.mat";
  for (const bool big : {false, true}) {
    const Mat mat{big};
    const std::vector<float> expected{0, 3, 1, 4, 2, 5};
    test::write_bytes(path, mat.header() + mat.variable());
    EXPECT_EQ(read(path), expected);
    test::write_bytes(path, mat.header() + mat.packed(mat.variable()));
    EXPECT_EQ(read(path), expected);
    // Numbers of a smaller type than the class, in the tag itself.
    std::string small;
    append_number(small, std::uint32_t{2u << 16 | 2u}, big);
    small += std::string("\7\11\0\0", 4);
    test::write_bytes(
        path, mat.header() + mat.packed(mat.matrix(mat.flags(6), mat.axes({2, 1}), mat.element(kInt8, "a"), small)));
    EXPECT_EQ(read(path), (std::vector<float>{7, 9}));
    // Nothing in it, and other variables before it.
    test::write_bytes(
        path, mat.header() +
                  mat.matrix(mat.flags(4), mat.axes({1, 2}), mat.element(kInt8, "t"), mat.element(4, "h\0i\0")) +
                  mat.element(kMatrix, "") +
                  mat.matrix(mat.flags(6), mat.axes({0, 7}), mat.element(kInt8, "a"), mat.element(kDouble, "")));
    EXPECT_EQ(open_mat(path, "a")->shape(), (Shape{0, 7}));
    EXPECT_EQ(mat_keys(path), (std::vector<std::string>{"t", "a"}));
  }
}

struct Hostile {
  std::string name, bytes;
};

void add_variables(std::vector<Hostile>& all, const Mat& mat, const std::string& kind,
                   const std::function<std::string(const std::string&)>& wrap) {
  const auto add = [&](const std::string& name, const std::string& variable) {
    all.push_back({kind + ": " + name, mat.header() + wrap(variable)});
  };
  const std::string f = mat.flags(6), x = mat.axes({3, 2}), n = mat.element(kInt8, "a"),
                    d = mat.element(kDouble, mat.doubles(6));
  const auto with_axes = [&](const std::vector<std::uint32_t>& extents) {
    return mat.matrix(f, mat.axes(extents), n, d);
  };
  add("no elements", mat.element(kMatrix, ""));
  add("flags alone", mat.element(kMatrix, f));
  add("no name", mat.element(kMatrix, f + x));
  add("no numbers", mat.element(kMatrix, f + x + n));
  add("flags of another type", mat.matrix(mat.element(kDouble, std::string(8, '\0')), x, n, d));
  add("flags of four bytes", mat.matrix(mat.element(kUint32, std::string(4, '\6')), x, n, d));
  add("flags of a gigabyte", mat.matrix(mat.tag(kUint32, 1 << 30), x, n, d));
  for (const std::uint32_t type : {0u, 1u, 2u, 3u, 4u, 5u, 16u, 17u, 18u, 255u})
    add("class " + std::to_string(type), mat.matrix(mat.flags(type), x, n, d));
  add("complex", mat.matrix(mat.flags(6 | 0x800), x, n, d));
  add("axes of another type", mat.matrix(f, mat.element(kDouble, mat.doubles(2)), n, d));
  add("one axis", with_axes({6}));
  add("no axes", with_axes({}));
  add("half an axis", mat.matrix(f, mat.element(kInt32, std::string(10, '\1')), n, d));
  add("forty axes", with_axes(std::vector<std::uint32_t>(40, 1)));
  add("a million axes", with_axes(std::vector<std::uint32_t>(1000000, 1)));
  add("axes of gigabytes", mat.matrix(f, mat.tag(kInt32, 0xfffffff8), n, d));
  add("negative axis", with_axes({0xffffffff, 0xfffffffe}));
  add("huge axes", with_axes({0x7fffffff, 0x7fffffff}));
  add("a product that overflows", with_axes({0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff}));
  add("a product that wraps to six", with_axes({0x40000000, 0x40000000, 0x40000000, 4, 6}));
  add("nothing, of overflowing axes", with_axes({0, 0x7fffffff, 0x7fffffff, 0x7fffffff}));
  add("more values than there are", with_axes({3, 3}));
  add("fewer values than there are", with_axes({2, 2}));
  add("a name of another type", mat.matrix(f, x, mat.element(kDouble, "abcdefgh"), d));
  add("a name of a megabyte", mat.matrix(f, x, mat.element(kInt8, std::string(1 << 20, 'a')), d));
  add("a name of gigabytes", mat.matrix(f, x, mat.tag(kInt8, 0xffffffff), d));
  add("a name in the tag, too long for it", mat.matrix(f, x, mat.tag(kInt8 | 200u << 16, 0), d));
  add("another name", mat.matrix(f, x, mat.element(kInt8, "\x1b[2Jb"), d));
  for (const std::uint32_t type : {0u, 8u, 10u, 11u, 14u, 15u, 18u, 99u, 0xffffu})
    add("numbers of type " + std::to_string(type), mat.matrix(f, x, n, mat.element(type, mat.doubles(6))));
  add("numbers of a smaller type", mat.matrix(f, x, n, mat.element(7, mat.doubles(6))));
  add("numbers said to be longer", mat.matrix(f, x, n, mat.element(kDouble, mat.doubles(6), 48 + 8)));
  add("numbers of four gigabytes",
      mat.matrix(f, mat.axes({1 << 14, 1 << 14}), n, mat.element(kDouble, mat.doubles(6), (1ll << 31))));
  add("numbers that end early", mat.matrix(f, x, n, mat.tag(kDouble, 48) + mat.doubles(3)));
  add("a matrix said to be shorter", mat.element(kMatrix, f + x + n + d, 40));
}

std::vector<Hostile> corpus() {
  std::vector<Hostile> all;
  const Mat little{}, big{true};
  const auto plain = [](const std::string& variable) { return variable; };
  add_variables(all, little, "plain", plain);
  add_variables(all, big, "big-endian", plain);
  add_variables(all, little, "compressed", [&](const std::string& variable) { return little.packed(variable); });

  const std::string whole = little.header() + little.variable(),
                    packed = little.header() + little.packed(little.variable());
  // Elements end at multiples of eight bytes: every boundary, and next to it. An empty file of no variables has none of
  // name a.
  for (std::size_t at = 0; at < whole.size(); at += 4)
    all.push_back({"cut at " + std::to_string(at), whole.substr(0, at)});
  for (std::size_t at = 120; at < packed.size(); at += 3)
    all.push_back({"compressed, cut at " + std::to_string(at), packed.substr(0, at)});
  for (const char* mark : {"XX", "II", "MM", "im"})
    all.push_back({std::string("byte order ") + mark, little.header(mark) + little.variable()});
  all.push_back({"the other byte order", little.header("MI") + little.variable()});
  all.push_back({"an element of gigabytes", little.header() + little.tag(kMatrix, 0xffffffff) + little.variable()});
  all.push_back({"a compressed element beyond the end", little.header() + little.packed(little.variable(), 1 << 20)});
  all.push_back({"a compressed element cut short", little.header() + little.packed(little.variable(), 20)});
  all.push_back({"no zlib stream", little.header() + little.element(kCompressed, "this is not compressed at all!!!")});
  all.push_back({"an empty stream", little.header() + little.element(kCompressed, "")});
  all.push_back({"compressed twice", little.header() + little.packed(little.packed(little.variable()))});
  all.push_back(
      {"text behind the variable", little.header() + little.packed(little.variable() + std::string(100, 'x'))});
  std::string broken = packed;
  broken[broken.size() - 1] = static_cast<char>(~broken[broken.size() - 1]);
  all.push_back({"a wrong check sum", broken});
  // Kilobytes that say gigabytes, megabytes that say gigabytes within what deflate can reach, and a stream of 700 MB
  // behind six numbers.
  const auto claim = [&](std::uint32_t rows, std::uint32_t columns, const std::string& there) {
    const std::string start = little.flags(6) + little.axes({rows, columns}) + little.element(kInt8, "a") +
                              little.tag(kDouble, std::uint64_t{8} * rows * columns);
    return little.header() +
           little.packed(little.tag(kMatrix, start.size() + std::uint64_t{8} * rows * columns) + start + there);
  };
  all.push_back({"a claim of 2 GB in a kilobyte", claim(1 << 14, 1 << 14, std::string(1000, '\0'))});
  std::string noise(3 << 20, '\0');
  RandomStream stream(5, Purpose::test);
  for (char& c : noise) c = static_cast<char>(stream.next());
  all.push_back({"a claim of 2 GB in megabytes", claim(1 << 14, 1 << 14, noise)});
  all.push_back(
      {"a bomb behind six numbers",
       little.header() + little.element(kCompressed, test::deflated_zeros(little.variable(), 700 << 20, 15))});
  // Version 4 has no header: type, rows, columns, imaginary, length of name; name; numbers.
  std::string four;
  for (const std::uint32_t word : {0u, 3u, 2u, 0u, 2u}) append_number(four, word);
  all.push_back({"version 4", four + std::string("a\0", 2) + little.doubles(6)});
  all.push_back({"version 4, padded", four + std::string("a\0", 2) + little.doubles(60)});
  all.push_back({"text", std::string(1000, 'x')});
  all.push_back({"nothing but a header", little.header()});
  return all;
}

TEST(HostileMat, EveryDamagedFileIsRefusedWithASentence) {
  test::Scratch scratch;
  const auto path = scratch / "a.mat";
  const std::vector<Hostile> all = corpus();
  EXPECT_GE(all.size(), 150u);
  for (const Hostile& each : all) {
    test::write_bytes(path, each.bytes);
    test::expect_refused(each.name, [&] { read(path); });
  }
}

TEST(HostileMat, RandomDamageNeverCrashes) {
  test::Scratch scratch;
  const auto path = scratch / "a.mat";
  std::size_t taken = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream stream(4, Purpose::test, trial);
    const Mat mat{trial % 4 == 3};
    std::string bytes = mat.header() + (trial % 2 == 0 ? mat.variable() : mat.packed(mat.variable()));
    for (std::uint64_t k = 0; k <= stream.below(4); ++k)
      bytes[124 + stream.below(bytes.size() - 124)] = static_cast<char>(stream.below(256));
    test::write_bytes(path, bytes);
    taken += test::expect_survived("trial " + std::to_string(trial), [&] { read(path); }) ? 1 : 0;
  }
  EXPECT_LT(taken, 120u);
}

}  // namespace
}  // namespace lano::hostile_mat_test
