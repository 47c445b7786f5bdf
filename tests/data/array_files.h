// Small array files for the tests of the importers, whose values say at which index they stand.
// Independent of the readers: the order in the file is made here by counting the indices.
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>
#include <matio.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/shape.h"
#include "data/npy.h"

namespace lano::test {

using Index = std::vector<std::int64_t>;
using ValueAt = std::function<double(const Index&)>;

// Whole numbers small enough for float32, different for all indices of the shapes used here.
inline double mark(const Index& index) {
  constexpr double weights[] = {1, 37, 1009, 20011, 300007};
  double value = 0;
  for (std::size_t a = 0; a < index.size(); ++a) value += weights[a] * static_cast<double>(index[a]);
  return value;
}

// The values of all indices, last axis fastest or first axis fastest.
inline std::vector<double> fill(const Shape& shape, const ValueAt& value, bool first_fastest) {
  std::vector<double> values;
  Index index(shape.size(), 0);
  for (std::int64_t n = 0; n < element_count(shape); ++n) {
    values.push_back(value(index));
    for (std::size_t k = 0; k < shape.size(); ++k) {
      const std::size_t a = first_fastest ? k : shape.size() - 1 - k;
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
  return values;
}

inline void write_npy_of(const std::filesystem::path& path, const Shape& shape, const ValueAt& value = mark) {
  const std::vector<double> values = fill(shape, value, false);
  write_npy(path, shape, std::vector<float>(values.begin(), values.end()));
}

struct MatArray {
  std::string name;
  Shape shape;
  ValueAt value = mark;
};

inline void write_mat5(const std::filesystem::path& path, const std::vector<MatArray>& arrays, bool compressed) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  ASSERT_NE(file, nullptr);
  for (const MatArray& array : arrays) {
    std::vector<double> values = fill(array.shape, array.value, true);
    std::vector<std::size_t> dims(array.shape.begin(), array.shape.end());
    matvar_t* variable = Mat_VarCreate(array.name.c_str(), MAT_C_DOUBLE, MAT_T_DOUBLE, static_cast<int>(dims.size()),
                                       dims.data(), values.data(), MAT_F_DONT_COPY_DATA);
    EXPECT_EQ(Mat_VarWrite(file, variable, compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(variable);
  }
  Mat_Close(file);
}

// HDF5 in the axes given, last fastest.
inline void write_hdf5(const std::filesystem::path& path, const std::vector<MatArray>& arrays, bool matlab = false) {
  const hid_t properties = H5Pcreate(H5P_FILE_CREATE);
  if (matlab) H5Pset_userblock(properties, 512);  // where MATLAB has its own header
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, H5P_DEFAULT);
  for (const MatArray& array : arrays) {
    const std::vector<double> values = fill(array.shape, array.value, matlab);
    std::vector<hsize_t> dims(array.shape.begin(), array.shape.end());
    if (matlab) dims.assign(array.shape.rbegin(), array.shape.rend());
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    if (matlab) {
      std::vector<hsize_t> chunk;
      for (const hsize_t extent : dims) chunk.push_back(extent < 2 ? extent : extent / 2);
      H5Pset_chunk(chunked, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(chunked, 3);
    }
    const hid_t set = H5Dcreate2(file, array.name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, chunked, H5P_DEFAULT);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Dclose(set);
    H5Pclose(chunked);
    H5Sclose(space);
  }
  H5Fclose(file);
  H5Pclose(properties);
}

inline void write_mat73(const std::filesystem::path& path, const std::vector<MatArray>& arrays) {
  write_hdf5(path, arrays, true);
}

}  // namespace lano::test
