#include "data/array_source.h"

#include "array_files.h"
#include "scratch.h"
#include "torch_files.h"

namespace lano::array_source_test {
namespace {

std::string text(const std::vector<ArrayInfo>& arrays) {
  std::string out;
  for (const ArrayInfo& array : arrays)
    out += array.name + " " + shape_text(array.shape) + " " + array.type + (array.readable ? "; " : " (not read); ");
  return out;
}

// Names, shapes and types of every kind of file, as the program that wrote it shows them.
TEST(ListArrays, OfEveryKindOfFile) {
  test::Scratch scratch;
  const std::vector<test::MatArray> two{{"a", {3, 4, 2}}, {"b", {5, 1}}};
  test::write_mat5(scratch / "v5.mat", two, true);
  test::write_mat73(scratch / "v73.mat", two);
  test::write_hdf5(scratch / "plain.h5", two);
  for (const char* name : {"v5.mat", "v73.mat", "plain.h5"})
    EXPECT_EQ(text(list_arrays(scratch / name)), "a [3, 4, 2] float64; b [5, 1] float64; ") << name;
  test::write_npy_of(scratch / "a.npy", {2, 3});
  EXPECT_EQ(text(list_arrays(scratch / "a.npy")), " [2, 3] float32; ");
  test::write_torch(scratch / "a.pt", test::torch_dict({{"x", {1, 2}, {1, 2}}}));
  EXPECT_EQ(text(list_arrays(scratch / "a.pt")), "x [1, 2] float32; ");
}

TEST(ListArrays, WhatIsNoArrayOfNumbersIsListedAsSuch) {
  test::Scratch scratch;
  const std::string dict = "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }";
  const std::string header = dict + std::string(117 - dict.size(), ' ') + "\n";
  const std::string objects = std::string("\x93NUMPY\x01", 7) + std::string("\0v\0", 3) + header + "pickle";
  std::string numbers = objects;
  numbers.replace(numbers.find("'|O'"), 4, "'<i4'").erase(numbers.find(" \n"), 1);
  numbers.resize(128);
  test::write_torch(scratch / "a.npz",
                    test::zip_of({{"o.npy", objects}, {"n.npy", numbers + "12345678"}, {"readme.txt", "hello"}}));
  EXPECT_EQ(text(list_arrays(scratch / "a.npz")),
            "o [2] |O (not read); n [2] int32; readme.txt [] not readable (not read); ");
}

// A group within a group, a group that contains itself, and a link out of the file.
TEST(ListArrays, WalksTheGroupsOfHdf5AndEndsThere) {
  test::Scratch scratch;
  test::write_hdf5(scratch / "other.h5", {{"secret", {2}}});
  test::write_hdf5(scratch / "a.h5", {{"top", {2, 2}}});
  const hid_t file = H5Fopen((scratch / "a.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t outer = H5Gcreate2(file, "0000", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t inner = H5Gcreate2(outer, "grid", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "top", inner, "x", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "0000", inner, "self", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_soft("/", inner, "root", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external((scratch / "other.h5").c_str(), "secret", outer, "outside", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(inner);
  H5Gclose(outer);
  H5Fclose(file);
  const std::vector<ArrayInfo> arrays = list_arrays(scratch / "a.h5");
  EXPECT_EQ(arrays.front().name, "0000/grid/self/grid/self/grid/self/grid/x");  // as deep as it goes, and no deeper
  EXPECT_EQ(arrays.back().name, "top");
  EXPECT_EQ(arrays.size(), 5u);
  EXPECT_EQ(open_array(scratch / "a.h5", "0000/grid/x")->read_all().size(), 4u);
  EXPECT_ERROR_WITH(open_array(scratch / "a.h5", "0000/outside"), "the array '0000/outside' cannot be opened: ");
}

}  // namespace
}  // namespace lano::array_source_test
