#include "data/npy.h"

#include "core/atomic_file.h"
#include "scratch.h"

namespace lano::npy_test {
namespace {

const std::filesystem::path kFiles = LANO_TEST_FILES;

// files/numpy.npz and files/fortran.npy were written by NumPy itself (files/README.md).
TEST(Numpy, ReadsWhatNumpyWrote) {
  const auto path = kFiles / "numpy.npz";
  EXPECT_EQ(numpy_keys(path), (std::vector<std::string>{"floats", "doubles", "bytes", "flags", "fortran"}));
  const NumpyArray floats = read_numpy(path, "floats");
  EXPECT_EQ(floats.shape, (Shape{2, 3}));
  EXPECT_EQ(floats.values, (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read_numpy(path, "doubles").values, (std::vector<float>{0.5f, -1.5f}));
  EXPECT_EQ(read_numpy(path, "bytes").values, (std::vector<float>{0, 255}));
  EXPECT_EQ(read_numpy(path, "flags").values, (std::vector<float>{1, 0, 1}));
  const NumpyArray fortran = read_numpy(path, "fortran");  // np.asfortranarray(arange(24).reshape(2,3,4))
  EXPECT_EQ(fortran.shape, (Shape{2, 3, 4}));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(fortran.values[i], static_cast<float>(i));
}

TEST(Numpy, WritesWhatItReads) {
  test::Scratch scratch;
  for (const Shape& shape : {Shape{6}, Shape{2, 3}, Shape{1, 2, 3}}) {
    const std::vector<float> values{1, 2, 3, 4, 5, 6.5f};
    write_npy(scratch / "a.npy", shape, values);
    const std::string bytes = read_file(scratch / "a.npy", "reading");
    EXPECT_EQ((bytes.size() - 24) % 64, 0u);  // data start on a multiple of 64
    const NumpyArray array = read_numpy(scratch / "a.npy", "");
    EXPECT_EQ(array.shape, shape);
    EXPECT_EQ(array.values, values);
  }
}

TEST(Numpy, WritesArchives) {
  test::Scratch scratch;
  const std::vector<float> values{1, 2, 3, 4, 5, 6.5f};
  const std::vector<double> times{0.1, 1e-3};
  const std::vector<NpzArray> arrays{{"u", {2, 3}, values}, {"time", {2}, {}, times}};
  for (const char* name : {"a.npz", "b.npz"}) write_npz(scratch / name, arrays);
  EXPECT_EQ(numpy_keys(scratch / "a.npz"), (std::vector<std::string>{"u", "time"}));
  EXPECT_EQ(read_numpy(scratch / "a.npz", "u").shape, (Shape{2, 3}));
  EXPECT_EQ(read_numpy(scratch / "a.npz", "u").values, values);
  EXPECT_EQ(read_numpy(scratch / "a.npz", "time").values, (std::vector<float>{0.1f, 1e-3f}));
  EXPECT_EQ(numpy_arrays(scratch / "a.npz")[1].type, "float64");
  EXPECT_EQ(read_file(scratch / "a.npz", "reading"), read_file(scratch / "b.npz", "reading"));
  EXPECT_EQ(scratch.files(), 2u);
  EXPECT_ERROR_WITH(write_npz(scratch / "none" / "c.npz", arrays), "does not exist");
}

// A Fortran-ordered and a plain file, read in parts.
TEST(Numpy, PartsAreTheSameAsInTheWhole) {
  test::Scratch scratch;
  std::vector<float> values(60);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  write_npy(scratch / "a.npy", {3, 4, 5}, values);
  std::string fortran = read_file(scratch / "a.npy", "reading");  // the same bytes, declared as column-major
  fortran.replace(fortran.find("False"), 5, "True ");
  write_file_atomically(scratch / "f.npy", fortran);
  const auto plain = open_npy(scratch / "a.npy"), columns = open_npy(scratch / "f.npy");
  EXPECT_EQ(plain->shape(), (Shape{3, 4, 5}));
  EXPECT_EQ(plain->read_all(), values);
  EXPECT_EQ(columns->read_all(), read_numpy(scratch / "f.npy", "").values);
  const std::vector<AxisRange> ranges{{1, 2, 1}, {0, 2, 3}, {1, 2, 2}};
  EXPECT_EQ(plain->read(ranges), (std::vector<float>{21, 23, 36, 38, 41, 43, 56, 58}));
  EXPECT_EQ(columns->read(ranges), (std::vector<float>{13, 37, 22, 46, 14, 38, 23, 47}));
  EXPECT_ERROR_WITH(plain->read({{0, 4, 1}, {0, 4, 1}, {0, 5, 1}}), "indices below 3 on axis 0");
  EXPECT_ERROR_WITH(open_npy(scratch / "none.npy"), "nothing at that path");
}

TEST(Numpy, DamagedFilesAreRefusedInOneSentence) {
  test::Scratch scratch;
  write_npy(scratch / "a.npy", {2, 3}, std::vector<float>(6, 1.0f));
  const std::string whole = read_file(scratch / "a.npy", "reading");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_NE(test::error_of([&] { parse_npy(whole.substr(0, size), "reading"); }), "no error") << size;
  }
  EXPECT_ERROR_WITH(parse_npy(whole + "x", "reading"), "24 bytes of data");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  EXPECT_ERROR_WITH(parse_npy(with("'<f4'", "'|O '"), "reading"), "NumPy type '|O '");
  EXPECT_ERROR_WITH(parse_npy(with("(2, 3)", "(2,-3)"), "reading"), "whole numbers in the NumPy shape");
  EXPECT_ERROR_WITH(parse_npy(with("(2, 3), }     ", "(99999999999,}"), "reading"), "a shape");
  EXPECT_ERROR_WITH(parse_npy(with("'shape'", "'sharp'"), "reading"), "the NumPy header has no 'shape'");
  EXPECT_ERROR_WITH(parse_npy(with("(2, 3), }               ", "(4294967296,4294967296)}"), "reading"),
                    "fits in memory");
}

// The same bytes in memory as in a file, and no memory for more numbers than are allowed.
TEST(Numpy, ArchivesInMemory) {
  test::Scratch scratch;
  const std::vector<float> a{1, 2, 3, 4, 5, 6}, b{7};
  const std::vector<NpzArray> arrays{{"a", {2, 3}, a, {}}, {"b", {1}, b, {}}};
  write_npz(scratch / "ab.npz", arrays);
  const std::string bytes = format_npz(arrays);
  EXPECT_EQ(bytes, read_file(scratch / "ab.npz", "reading"));
  const auto read = parse_npz(bytes, "reading", 7);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].first, "a");
  EXPECT_EQ(read[0].second.shape, (Shape{2, 3}));
  EXPECT_EQ(read[0].second.values, a);
  EXPECT_EQ(read[1].second.values, b);
  EXPECT_ERROR_WITH(parse_npz(bytes, "reading", 6), "at most 0 numbers");
  for (std::size_t size = 0; size < bytes.size(); size += 13)
    EXPECT_NE(test::error_of([&] { parse_npz(bytes.substr(0, size), "reading", 7); }), "no error") << size;
  const auto from_python = parse_npz(read_file(kFiles / "numpy.npz", "reading"), "reading", 100);
  EXPECT_EQ(from_python[0].second.values, (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(Numpy, ForeignFilesAndWrongNames) {
  test::Scratch scratch;
  write_file_atomically(scratch / "a.npz", std::string_view("no zip"));
  EXPECT_ERROR_WITH(read_numpy(scratch / "a.npz", "x"), "a zip archive");
  EXPECT_ERROR_WITH(read_numpy(scratch / "none.npz", "x"), "nothing at that path");
  EXPECT_ERROR_WITH(read_numpy(kFiles / "numpy.npz", "flaots"), "did you mean 'floats'?");
}

}  // namespace
}  // namespace lano::npy_test
