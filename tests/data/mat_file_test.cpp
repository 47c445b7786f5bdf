#include "data/mat_file.h"

#include <fstream>

#include "array_files.h"
#include "core/atomic_file.h"
#include "scratch.h"

namespace lano::mat_file_test {
namespace {

enum class Kind { plain, compressed, hdf5 };
constexpr Kind kKinds[] = {Kind::plain, Kind::compressed, Kind::hdf5};

void write_mat(Kind kind, const std::filesystem::path& path, const std::vector<test::MatArray>& arrays) {
  if (kind == Kind::hdf5)
    test::write_mat73(path, arrays);
  else
    test::write_mat5(path, arrays, kind == Kind::compressed);
}

const Shape kShape{4, 5, 3, 2};

TEST(MatFile, WholeArraysAreRowMajor) {
  for (const Kind kind : kKinds) {
    test::Scratch scratch;
    write_mat(kind, scratch / "a.mat", {{"first", {2, 7}}, {"a", kShape}, {"row", {1, 6}}});
    EXPECT_EQ(mat_keys(scratch / "a.mat").size(), 3u);
    const auto source = open_mat(scratch / "a.mat", "a");
    EXPECT_EQ(source->shape(), kShape);
    const std::vector<double> expected = test::fill(kShape, test::mark, false);
    EXPECT_EQ(source->read_all(), std::vector<float>(expected.begin(), expected.end())) << static_cast<int>(kind);
    EXPECT_EQ(open_mat(scratch / "a.mat", "row")->shape(), (Shape{1, 6}));
    EXPECT_EQ(open_mat(scratch / "a.mat", "first")->read_all()[1 * 7 + 3], static_cast<float>(test::mark({1, 3})));
  }
}

// Every axis narrowed and strided differently, twice from one source.
TEST(MatFile, PartsAreTheSameAsInTheWhole) {
  for (const Kind kind : kKinds) {
    test::Scratch scratch;
    write_mat(kind, scratch / "a.mat", {{"a", kShape}});
    const auto source = open_mat(scratch / "a.mat", "");  // the only one
    for (const std::int64_t first : {1, 2}) {
      const std::vector<float> part = source->read({{first, 2, 1}, {0, 3, 2}, {1, 2, 1}, {1, 1, 1}});
      ASSERT_EQ(part.size(), 12u);
      std::size_t at = 0;
      for (std::int64_t i = first; i < first + 2; ++i) {
        for (const std::int64_t j : {0, 2, 4}) {
          for (const std::int64_t k : {1, 2}) EXPECT_EQ(part[at++], static_cast<float>(test::mark({i, j, k, 1})));
        }
      }
    }
    EXPECT_EQ(source->read({{0, 2, 3}, {4, 1, 1}, {0, 1, 1}, {0, 2, 1}}),
              (std::vector<float>{
                  static_cast<float>(test::mark({0, 4, 0, 0})), static_cast<float>(test::mark({0, 4, 0, 1})),
                  static_cast<float>(test::mark({3, 4, 0, 0})), static_cast<float>(test::mark({3, 4, 0, 1}))}));
    EXPECT_ERROR_WITH(source->read({{3, 2, 1}, {0, 5, 1}, {0, 3, 1}, {0, 2, 1}}), "indices below 4 on axis 0");
    EXPECT_ERROR_WITH(source->read({{0, 4, 1}}), "4 ranges");
  }
}

TEST(MatFile, OtherNumberTypes) {
  test::Scratch scratch;
  mat_t* file = Mat_CreateVer((scratch / "a.mat").c_str(), nullptr, MAT_FT_MAT5);
  std::size_t dims[] = {2, 3};
  float singles[] = {1.5f, 2, 3, 4, 5, 6};
  std::uint8_t bytes[] = {1, 2, 3, 4, 5, 255};
  double parts[] = {1, 2, 3, 4, 5, 6};
  mat_complex_split_t both{parts, parts};
  char text[] = "abcdef";
  for (matvar_t* variable : {Mat_VarCreate("s", MAT_C_SINGLE, MAT_T_SINGLE, 2, dims, singles, 0),
                             Mat_VarCreate("b", MAT_C_UINT8, MAT_T_UINT8, 2, dims, bytes, 0),
                             Mat_VarCreate("z", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, &both, MAT_F_COMPLEX),
                             Mat_VarCreate("t", MAT_C_CHAR, MAT_T_UINT8, 2, dims, text, 0)}) {
    Mat_VarWrite(file, variable, MAT_COMPRESSION_ZLIB);
    Mat_VarFree(variable);
  }
  Mat_Close(file);
  EXPECT_EQ(open_mat(scratch / "a.mat", "s")->read_all(), (std::vector<float>{1.5f, 3, 5, 2, 4, 6}));
  EXPECT_EQ(open_mat(scratch / "a.mat", "b")->read_all(), (std::vector<float>{1, 3, 5, 2, 4, 255}));
  EXPECT_ERROR_WITH(open_mat(scratch / "a.mat", "z"), "complex numbers");
  EXPECT_ERROR_WITH(open_mat(scratch / "a.mat", "t"), "real numbers");
}

TEST(MatFile, WrongNamesAndFilesAreNamed) {
  for (const Kind kind : kKinds) {
    test::Scratch scratch;
    write_mat(kind, scratch / "a.mat", {{"coeff", {2, 3}}, {"sol", {2, 3}}});
    EXPECT_ERROR_WITH(open_mat(scratch / "a.mat", "coef"), "did you mean 'coeff'?");
    EXPECT_ERROR_WITH(open_mat(scratch / "a.mat", ""), "the arrays coeff, sol");
    EXPECT_ERROR_WITH(open_mat(scratch / "b.mat", "a"), "nothing at that path");
  }
  test::Scratch scratch;
  write_file_atomically(scratch / "a.mat", std::string_view("no MATLAB file"));
  EXPECT_ERROR_WITH(open_mat(scratch / "a.mat", "a"), "a MATLAB .mat file");
}

// Cut at every length, and with bytes turned over: an error or, for a byte that carries no structure, values of the
// right number. Never a crash.
TEST(MatFile, DamagedFilesAreRefused) {
  for (const Kind kind : kKinds) {
    test::Scratch scratch;
    write_mat(kind, scratch / "a.mat", {{"a", {3, 4}}, {"b", {5, 2}}});
    const std::string whole = read_file(scratch / "a.mat", "reading");
    const auto read = [&](const std::string& bytes) {
      std::ofstream(scratch / "cut.mat", std::ios::binary) << bytes;
      return open_mat(scratch / "cut.mat", "b")->read_all().size();
    };
    ASSERT_EQ(read(whole), 10u);
    for (std::size_t size = 0; size < whole.size(); size += kind == Kind::hdf5 ? 97 : 7) {
      EXPECT_NE(test::error_of([&] { read(whole.substr(0, size)); }), "no error")
          << static_cast<int>(kind) << " " << size;
    }
    if (kind == Kind::hdf5) continue;  // dataset_test cares for damaged HDF5
    for (std::size_t at = 128; at < whole.size(); ++at) {
      std::string changed = whole;
      changed[at] = static_cast<char>(~changed[at]);
      test::error_of([&] { EXPECT_EQ(read(changed), 10u); });
    }
  }
}

}  // namespace
}  // namespace lano::mat_file_test
