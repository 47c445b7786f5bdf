// Damaged and hostile HDF5: dataset files, arrays to import (.h5, MATLAB 7.3) and PDEBench files. HDF5 itself writes
// them here, and is then made to lie: by its own calls where they allow it, by bytes changed behind its back where they
// do not. Whatever the file, a value or one sentence, in bounded memory and time; nothing outside the file is read, and
// no importer leaves a file behind.
#include <hdf5.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/atomic_file.h"
#include "core/random.h"
#include "data/array_import.h"
#include "data/array_source.h"
#include "data/benchmark_import.h"
#include "data/dataset.h"
#include "data/mat_file.h"
#include "hostile.h"
#include "scratch.h"

namespace lano::hostile_hdf5_test {
namespace {

namespace fs = std::filesystem;
using Dims = std::vector<hsize_t>;

constexpr std::int64_t kSamples = 7, kHigh = 11, kWide = 13,
                       kPoints = kHigh * kWide;  // primes, so that their bytes are found again

SetDescription description(Geometry geometry) {
  SetDescription d;
  d.name = "hostile";
  d.geometry = geometry;
  d.shape = {kHigh, kWide};
  d.coordinates = {{"x", "m"}, {"y", "m"}};
  d.input = {{"a", "1"}};
  d.output = {{"u", "Pa"}};
  d.box = {0, 1, 0, 2};
  d.generator = "{}";
  return d;
}

void write_set(const fs::path& path, bool timed = false) {
  SetDescription d = description(Geometry::grid);
  if (timed) d.time = {0, 1, 2};
  const std::vector<float> coordinates(2 * kPoints, 0.5f), field(kPoints, 1.5f), motion(3 * kPoints, 2.5f);
  DatasetWriter writer(path, d, make_splits(kSamples - 1, 1, 0.2), coordinates);
  for (std::int64_t i = 0; i < kSamples; ++i) writer.write(i, {}, field, timed ? motion : field);
  writer.commit();
}

void write_clouds(const fs::path& path) {
  std::vector<std::int64_t> counts;
  for (std::int64_t i = 0; i < kSamples; ++i) counts.push_back(5 + i);
  DatasetWriter writer(path, description(Geometry::points), make_splits(kSamples - 1, 1, 0.2), counts);
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::vector<float> one(static_cast<std::size_t>(5 + i), 1.0f),
        two(static_cast<std::size_t>(2 * (5 + i)), 0.5f);
    writer.write(i, two, one, one);
  }
  writer.commit();
}

void read_set(const fs::path& path) {
  const DatasetReader reader(path);
  reader.hash();
  reader.read(reader.indices("all"));
}

void edit(const fs::path& path, const std::function<void(hid_t)>& change) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  change(file);
  H5Fclose(file);
}

struct Kind {
  hid_t type = H5T_IEEE_F32LE;
  Dims chunk{};
  std::function<void(hid_t)> more{};  // further properties
};

// A new array in place of an old one, without values unless they are given.
void put_array(hid_t file, const char* name, const Dims& dims, const Kind& kind = {}, hid_t memory = -1,
               const void* values = nullptr) {
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) H5Ldelete(file, name, H5P_DEFAULT);
  const hid_t space =
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (!kind.chunk.empty()) H5Pset_chunk(properties, static_cast<int>(kind.chunk.size()), kind.chunk.data());
  if (kind.more) kind.more(properties);
  const hid_t set = H5Dcreate2(file, name, kind.type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  EXPECT_GE(set, 0) << name;
  if (values != nullptr) {
    EXPECT_GE(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  }
  H5Dclose(set);
  H5Pclose(properties);
  H5Sclose(space);
}

void put_text(hid_t file, const char* name, const std::string& text) {
  H5Adelete(file, name);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, text.size() + 1);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, text.c_str()), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void put_number(hid_t file, const char* name, const Dims& dims) {
  H5Adelete(file, name);
  const hid_t space =
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
  H5Aclose(H5Acreate2(file, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string bytes_of(std::uint64_t value) {
  std::string bytes;
  test::append_number(bytes, value);
  return bytes;
}

// Every place where one stands becomes the other; false where there was none.
bool replace_all(std::string& bytes, const std::string& from, const std::string& to) {
  bool any = false;
  for (std::size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + to.size())) {
    bytes.replace(at, from.size(), to);
    any = true;
  }
  return any;
}

struct Change {
  std::string name;
  std::function<void(hid_t)> make;
};

// What the descriptions may say.
std::vector<Change> attribute_changes() {
  std::vector<Change> all;
  for (const char* key : {"format", "format_version", "name", "geometry", "shape", "box", "fields", "generator"}) {
    const std::string of = std::string(" ") + key;
    all.push_back({"no" + of, [=](hid_t file) { H5Adelete(file, key); }});
    all.push_back({"a number as" + of, [=](hid_t file) { put_number(file, key, {}); }});
    all.push_back({"many numbers as" + of, [=](hid_t file) { put_number(file, key, {100}); }});
    if (std::string(key) == "name" || std::string(key) == "generator") continue;  // any text will do
    all.push_back({"nonsense in" + of, [=](hid_t file) { put_text(file, key, "{]"); }});
    all.push_back({"nothing in" + of, [=](hid_t file) { put_text(file, key, ""); }});
    all.push_back({"deep JSON in" + of, [=](hid_t file) { put_text(file, key, nested(30000)); }});
    all.push_back(
        {"terminal commands in" + of, [=](hid_t file) { put_text(file, key, "\x1b]0;x\x07\x1b[2J\xff\xfe"); }});
  }
  const auto text = [&](const char* key, const char* value) {
    all.push_back({std::string(key) + " " + value, [=](hid_t file) { put_text(file, key, value); }});
  };
  for (const char* version : {"0", "2", "-1", "1.5", "999999999999999999999"}) text("format_version", version);
  for (const char* shape : {"[]", "[143]", "[11,-13]", "[0,143]", "[11,13,1]", "[11,\"13\"]", "[1e300,1]",
                            "[4294967296,4294967296]", "[4611686018427387904,4]",
                            "[9223372036854775807,9223372036854775807]", "{\"0\":11}", "11", "null", "[[11],[13]]"}) {
    text("shape", shape);
  }
  for (const char* box : {"[]", "[0,1,0]", "[0,1,0,2,0,1]", "[0,1,0,null]", "[0,1,0,1e999]", "\"box\""})
    text("box", box);
  for (const char* fields : {"[]", "{}", R"({"coordinates":[],"input":[],"output":[]})",
                             R"({"coordinates":[{"name":"x"}],"input":[],"output":[]})",
                             R"({"coordinates":[{"name":1,"unit":2}],"input":[],"output":[]})",
                             R"({"coordinates":3,"input":[],"output":[]})",
                             R"({"coordinates":[{"name":"x","unit":"1"},{"name":"y","unit":"1"}],)"
                             R"("input":[],"output":[{"name":"u","unit":"1"}]})",
                             R"({"coordinates":[{"name":"x","unit":"1"},{"name":"y","unit":"1"}],)"
                             R"("input":[{"name":"a","unit":"1"}],"output":[]})"}) {
    text("fields", fields);
  }
  for (const char* geometry : {"points", "sphere", "GRID"}) {
    if (std::string(geometry) != "points") text("geometry", geometry);
  }
  return all;
}

// What the arrays may be.
std::vector<Change> array_changes() {
  std::vector<Change> all;
  const hsize_t huge = hsize_t{1} << 50;
  const auto add = [&](const std::string& name, const std::function<void(hid_t)>& make) {
    all.push_back({name, make});
  };
  for (const char* name : {"coords", "input", "output", "split"}) {
    const std::string of = std::string(" ") + name;
    const bool list = std::string(name) == "split";
    const Dims right = list ? Dims{kSamples}
                            : Dims{std::string(name) == "coords" ? 1ull : static_cast<hsize_t>(kSamples), kPoints,
                                   std::string(name) == "coords" ? 2ull : 1ull};
    if (std::string(name) != "output") add("no" + of, [=](hid_t file) { H5Ldelete(file, name, H5P_DEFAULT); });
    add("a group as" + of, [=](hid_t file) {
      H5Ldelete(file, name, H5P_DEFAULT);
      H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    });
    add("a link to nowhere as" + of, [=](hid_t file) {
      H5Ldelete(file, name, H5P_DEFAULT);
      H5Lcreate_soft("/nowhere", file, name, H5P_DEFAULT, H5P_DEFAULT);
    });
    add("a link to itself as" + of, [=](hid_t file) {
      H5Ldelete(file, name, H5P_DEFAULT);
      H5Lcreate_soft((std::string("/") + name).c_str(), file, name, H5P_DEFAULT, H5P_DEFAULT);
    });
    add("text as" + of, [=](hid_t file) {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, 4);
      put_array(file, name, right, {type});
    });
    add("texts of any length as" + of, [=](hid_t file) {
      const hid_t type = H5Tcopy(H5T_C_S1);
      H5Tset_size(type, H5T_VARIABLE);
      put_array(file, name, right, {type});
    });
    add("pairs as" + of, [=](hid_t file) {
      const hid_t type = H5Tcreate(H5T_COMPOUND, 8);
      H5Tinsert(type, "r", 0, H5T_IEEE_F32LE);
      H5Tinsert(type, "i", 4, H5T_IEEE_F32LE);
      put_array(file, name, right, {type});
    });
    add("references as" + of, [=](hid_t file) { put_array(file, name, right, {H5T_STD_REF_OBJ}); });
    add("bits as" + of, [=](hid_t file) { put_array(file, name, right, {H5T_STD_B32LE}); });
    add("floats of 128 bits as" + of, [=](hid_t file) {
      const hid_t type = H5Tcopy(H5T_IEEE_F64LE);
      H5Tset_size(type, 16);
      put_array(file, name, right, {type});
    });
    add("a single number as" + of, [=](hid_t file) { put_array(file, name, {}); });
    add("another rank of" + of, [=](hid_t file) { put_array(file, name, {kSamples, 2}); });
    add("32 axes of" + of, [=](hid_t file) { put_array(file, name, Dims(32, 1)); });
    add("other extents of" + of, [=](hid_t file) {
      put_array(file, name, list ? Dims{kSamples + 1} : Dims{kSamples, kPoints + 1, 1});
    });
    add("none of" + of, [=](hid_t file) { put_array(file, name, list ? Dims{0} : Dims{0, 0, 0}); });
    add("never written:" + of,
        [=](hid_t file) { put_array(file, name, right, {list ? H5T_STD_U8LE : H5T_IEEE_F32LE}); });
    add("never written in blocks:" + of, [=](hid_t file) {
      put_array(file, name, right, {list ? H5T_STD_U8LE : H5T_IEEE_F32LE, right});
    });
    // 2^50 values of which the file has none, in small blocks and in one piece.
    add("huge, in blocks:" + of, [=](hid_t file) {
      put_array(file, name, list ? Dims{huge} : Dims{huge, kPoints, 1},
                {H5T_STD_U8LE, list ? Dims{64} : Dims{1, kPoints, 1}});
    });
    add("huge, in blocks, with a filter:" + of, [=](hid_t file) {
      put_array(file, name, list ? Dims{huge} : Dims{huge, kPoints, 1},
                {H5T_STD_U8LE, list ? Dims{64} : Dims{1, kPoints, 1},
                 [](hid_t properties) { H5Pset_deflate(properties, 1); }});
    });
    add("huge, in one piece:" + of, [=](hid_t file) {
      put_array(file, name, list ? Dims{huge} : Dims{huge, kPoints, 1}, {H5T_STD_U8LE});
    });
    add("values in another file:" + of, [=](hid_t file) {
      put_array(file, name, right, {H5T_STD_U8LE, {}, [](hid_t properties) {
                                      H5Pset_external(properties, "/etc/passwd", 0, H5F_UNLIMITED);
                                    }});
    });
    add("a link into another file as" + of, [=](hid_t file) {
      H5Ldelete(file, name, H5P_DEFAULT);
      H5Lcreate_external("other.h5", "/input", file, name, H5P_DEFAULT, H5P_DEFAULT);
    });
    add("a view of another file as" + of, [=](hid_t file) {
      put_array(file, name, right, {H5T_STD_U8LE, {}, [=](hid_t properties) {
                                      const hid_t space =
                                          H5Screate_simple(static_cast<int>(right.size()), right.data(), nullptr);
                                      H5Pset_virtual(properties, space, "other.h5", "/input", space);
                                      H5Sclose(space);
                                    }});
    });
    add("a filter of another kind on" + of, [=](hid_t file) {
      put_array(file, name, right,
                {H5T_STD_I32LE, right, [](hid_t properties) { H5Pset_scaleoffset(properties, H5Z_SO_INT, 4); }});
    });
  }
  for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const char* name : {"coords", "input", "output"}) {
      add(std::to_string(value) + " in " + name, [=](hid_t file) {
        const bool coords = std::string(name) == "coords";
        std::vector<float> values(static_cast<std::size_t>(coords ? 2 * kPoints : kSamples * kPoints), 1.0f);
        values.back() = value;
        put_array(file, name, coords ? Dims{1, kPoints, 2} : Dims{kSamples, kPoints, 1}, {}, H5T_NATIVE_FLOAT,
                  values.data());
      });
    }
  }
  for (const int code : {3, 255, -1}) {
    add("split of " + std::to_string(code), [=](hid_t file) {
      std::vector<int> codes(kSamples, 0);
      codes[3] = code;
      put_array(file, "split", {kSamples}, {H5T_STD_I32LE}, H5T_NATIVE_INT, codes.data());
    });
  }
  for (const double time : {1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    add("times that do not fit: " + std::to_string(time),
        [=](hid_t file) { put_array(file, "time", {1}, {H5T_IEEE_F64LE}, H5T_NATIVE_DOUBLE, &time); });
  }
  add("huge time", [=](hid_t file) { put_array(file, "time", {huge}, {H5T_IEEE_F64LE, {1024}}); });
  add("time of two axes", [=](hid_t file) {
    const double times[] = {0, 1};
    put_array(file, "time", {2, 1}, {H5T_IEEE_F64LE}, H5T_NATIVE_DOUBLE, times);
  });
  add("offsets next to a grid", [=](hid_t file) {
    const std::int64_t offsets[] = {0, 1};
    put_array(file, "offsets", {2}, {H5T_STD_I64LE}, H5T_NATIVE_INT64, offsets);
  });
  return all;
}

TEST(HostileSets, EveryChangedDescriptionAndArrayIsRefusedWithASentence) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  test::Scratch scratch;
  write_set(scratch / "other.h5");  // where links and views lead: a whole dataset, so that following them would work
  write_set(scratch / "whole.h5");
  ASSERT_NO_THROW(read_set(scratch / "whole.h5"));
  std::vector<Change> all = attribute_changes();
  for (Change& change : array_changes()) all.push_back(std::move(change));
  EXPECT_GE(all.size(), 150u);
  for (const Change& change : all) {
    fs::copy_file(scratch / "whole.h5", scratch / "a.h5", fs::copy_options::overwrite_existing);
    edit(scratch / "a.h5", change.make);
    test::expect_refused(change.name, [&] { read_set(scratch / "a.h5"); });
  }
}

TEST(HostileSets, OffsetsOfCloudsAreChecked) {
  test::Scratch scratch;
  write_clouds(scratch / "whole.h5");
  ASSERT_NO_THROW(read_set(scratch / "whole.h5"));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::vector<std::int64_t>> wrong = {{0, 5, 11, 18, 26, 35, 45},
                                                        {1, 5, 11, 18, 26, 35, 45, 56},
                                                        {0, 5, 11, 18, 26, 35, 45, 57},
                                                        {0, 5, 5, 18, 26, 35, 45, 56},
                                                        {0, 11, 5, 18, 26, 35, 45, 56},
                                                        {0, -5, 11, 18, 26, 35, 45, 56},
                                                        {0, 5, 11, 18, 26, 35, 45, most},
                                                        {0, most, most, most, most, most, most, 56},
                                                        {-most - 1, 5, 11, 18, 26, 35, 45, 56},
                                                        {0},
                                                        {},
                                                        {0, 56}};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    fs::copy_file(scratch / "whole.h5", scratch / "a.h5", fs::copy_options::overwrite_existing);
    edit(scratch / "a.h5", [&](hid_t file) {
      put_array(file, "offsets", {wrong[i].size()}, {H5T_STD_I64LE}, H5T_NATIVE_INT64, wrong[i].data());
    });
    test::expect_refused("offsets " + std::to_string(i), [&] { read_set(scratch / "a.h5"); });
  }
  edit(scratch / "a.h5", [](hid_t file) { put_array(file, "offsets", {hsize_t{1} << 50}, {H5T_STD_I64LE, {1024}}); });
  test::expect_refused("huge offsets", [&] { read_set(scratch / "a.h5"); });
}

TEST(HostileSets, InitialFramesAreChecked) {
  test::Scratch scratch;
  const auto path = scratch / "timed.h5";
  for (const char* text : {"[0, 1]", "[1e999]", "[null]", "{}", "7", "['a']", "[", "[\"0\"]"}) {
    write_set(path, true);
    edit(path, [&](hid_t file) { put_text(file, "initial_time", text); });
    test::expect_refused(text, [&] { read_set(path); });
  }
  write_set(path, true);
  edit(path, [&](hid_t file) { put_text(file, "initial_time", "[-1]"); });
  EXPECT_EQ(DatasetReader(path).description().initial_time, (std::vector<double>{-1}));
  write_set(path);
  edit(path, [&](hid_t file) { put_text(file, "initial_time", "[-1]"); });
  test::expect_refused("frames before no time", [&] { read_set(path); });
}

TEST(HostileSets, PeriodicAxesAreChecked) {
  test::Scratch scratch;
  const auto path = scratch / "torus.h5";
  const std::size_t axes = (write_set(path), DatasetReader(path).description().shape.size());
  EXPECT_TRUE(DatasetReader(path).description().periodic.empty());
  for (const char* text : {"[]]", "[true, true, true, true]", "[1, 0]", "[null]", "{}", "true", "[\"true\"]", "["}) {
    write_set(path);
    edit(path, [&](hid_t file) { put_text(file, "periodic", text); });
    test::expect_refused(text, [&] { read_set(path); });
  }
  write_set(path);
  edit(path, [&](hid_t file) { put_text(file, "periodic", axes == 1 ? "[true]" : "[false, true]"); });
  EXPECT_EQ(DatasetReader(path).description().periodic,
            axes == 1 ? std::vector<bool>{true} : (std::vector<bool>{false, true}));
}

TEST(HostileSets, CellsAreChecked) {
  test::Scratch scratch;
  const auto good = scratch / "good.h5", path = scratch / "changed.h5";
  SetDescription d = description(Geometry::points);
  d.shape = {5};
  const auto write = [&](bool shared) {
    const std::vector<float> points(10, 0.5f), field(5, 1.5f);
    DatasetWriter writer(good, d, make_splits(2, 1, 0), points);
    const std::vector<std::int64_t> cells{0, 1, 2, 2, 3, 4};
    if (shared)
      writer.make_cells(CellKind::triangle, 2);
    else
      writer.make_cells(CellKind::triangle, std::vector<std::int64_t>{2, 2, 2});
    for (std::int64_t i = 0; i < 3; ++i) {
      if (!shared || i == 0) writer.write_cells(i, cells);
      writer.write(i, {}, field, field);
    }
    writer.commit();
  };
  const auto refused = [&](const std::string& name, const std::function<void(hid_t)>& change) {
    fs::copy_file(good, path, fs::copy_options::overwrite_existing);
    edit(path, change);
    test::expect_refused(name, [&] { read_set(path); });
  };
  const auto indices = [&](const char* name, const Dims& dims, const std::vector<std::int64_t>& values) {
    return [=](hid_t file) { put_array(file, name, dims, {H5T_STD_I32LE}, H5T_NATIVE_INT64, values.data()); };
  };
  write(true);
  EXPECT_EQ(DatasetReader(good).read_cells(2).size(), 6u);
  refused("a corner beyond the points", indices("cells", {1, 3}, {0, 1, 5}));
  refused("a corner below 0", indices("cells", {1, 3}, {0, -1, 2}));
  refused("corners of another kind", indices("cells", {1, 4}, {0, 1, 2, 3}));
  refused("one axis", indices("cells", {3}, {0, 1, 2}));
  refused("no cells", [](hid_t file) { put_array(file, "cells", {0, 3}, {H5T_STD_I32LE}); });
  refused("cells without bytes", [](hid_t file) { put_array(file, "cells", {1 << 20, 3}, {H5T_STD_I32LE}); });
  refused("a kind that is none", [](hid_t file) { put_text(file, "cell_kind", "dodecahedron"); });
  refused("no kind", [](hid_t file) { H5Adelete(file, "cell_kind"); });
  refused("too few offsets", indices("cell_offsets", {2}, {0, 2}));
  write(false);
  EXPECT_EQ(DatasetReader(good).read_cells(1).size(), 6u);
  const auto offsets = [&](const std::vector<std::int64_t>& values) {
    return indices("cell_offsets", {values.size()}, values);
  };
  refused("offsets that fall", offsets({0, 4, 2, 6}));
  refused("offsets that stand", offsets({0, 2, 2, 6}));
  refused("offsets that begin late", offsets({1, 2, 4, 6}));
  refused("offsets that end early", offsets({0, 2, 4, 5}));
  refused("offsets beyond the end", offsets({0, 2, 4, 7}));
  refused("a corner of the last sample",
          indices("cells", {6, 3}, {0, 1, 2, 2, 3, 4, 0, 1, 2, 2, 3, 4, 0, 1, 2, 2, 3, 9}));
}

TEST(HostileSets, CutAnywhereOrWithItsHeadOverwritten) {
  test::Scratch scratch;
  for (const bool clouds : {false, true}) {
    clouds ? write_clouds(scratch / "whole.h5") : write_set(scratch / "whole.h5", true);
    const std::string whole = read_file(scratch / "whole.h5", "reading");
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 60) {
      test::write_bytes(scratch / "a.h5", whole.substr(0, at));
      test::expect_refused("cut at " + std::to_string(at), [&] { read_set(scratch / "a.h5"); });
    }
    for (std::size_t at = 0; at < 96; at += 4) {
      std::string bytes = whole;
      bytes.replace(at, 4, "\xff\xff\xff\xff");
      test::write_bytes(scratch / "a.h5", bytes);
      test::expect_survived("head at " + std::to_string(at), [&] { read_set(scratch / "a.h5"); });
    }
  }
}

// Trees that contain themselves: HDF5 1.10 follows them until its stack ends. The signature TREE stands before each
// node; byte 5 is its height; behind 24 bytes and a key stands the first child.
TEST(HostileSets, TreesThatContainThemselvesDoNotTakeTheProcessAlong) {
  test::Scratch scratch;
  write_set(scratch / "whole.h5");
  const std::string whole = read_file(scratch / "whole.h5", "reading");
  std::size_t found = 0;
  for (std::size_t at = whole.find("TREE"); at != std::string::npos; at = whole.find("TREE", at + 4)) {
    const std::size_t key = whole[at + 4] == 0 ? 8 : 8 + 8 * 4;
    std::string bytes = whole;
    bytes[at + 5] = 1;
    bytes.replace(at + 24 + key, 8, bytes_of(at));
    test::write_bytes(scratch / "a.h5", bytes);
    const test::Verdict verdict = test::bounded([&] { read_set(scratch / "a.h5"); });
    EXPECT_EQ(verdict.fault, "");
    EXPECT_NE(verdict.sentence.find("the HDF5 library fails on it"), std::string::npos) << verdict.sentence;
    ++found;
  }
  EXPECT_GE(found, 3u);  // the root group, and the blocks of input and output
}

// Extents changed in the bytes: HDF5 itself believes them.
TEST(HostileSets, ExtentsThatDisagreeWithTheStorage) {
  test::Scratch scratch;
  for (const bool compact : {false, true}) {
    write_set(scratch / "whole.h5");
    const std::vector<std::uint8_t> codes(kSamples, 0);
    edit(scratch / "whole.h5", [&](hid_t file) {
      put_array(file, "split", {kSamples},
                {H5T_STD_U8LE,
                 {},
                 [=](hid_t properties) { H5Pset_layout(properties, compact ? H5D_COMPACT : H5D_CONTIGUOUS); }},
                H5T_NATIVE_UINT8, codes.data());
    });
    const std::string whole = read_file(scratch / "whole.h5", "reading");
    for (const std::uint64_t samples : {std::uint64_t{8}, std::uint64_t{1000}, std::uint64_t{1} << 20,
                                        std::uint64_t{1} << 32, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
      std::string bytes = whole;
      ASSERT_TRUE(replace_all(
          bytes, bytes_of(kSamples),
          bytes_of(samples)));  // of all arrays, so that they agree among each other, and of contiguous storage
      test::write_bytes(scratch / "a.h5", bytes);
      test::expect_refused("samples " + std::to_string(samples), [&] { read_set(scratch / "a.h5"); });
    }
  }
}

TEST(HostileSets, RandomDamageNeverCrashes) {
  test::Scratch scratch;
  write_set(scratch / "set.h5", true);
  write_clouds(scratch / "clouds.h5");
  std::size_t taken = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    RandomStream stream(6, Purpose::test, trial);
    std::string bytes = read_file(scratch / (trial % 2 == 0 ? "set.h5" : "clouds.h5"), "reading");
    for (std::uint64_t k = 0; k <= 1 + stream.below(12); ++k)
      bytes[stream.below(bytes.size())] = static_cast<char>(stream.below(256));
    test::write_bytes(scratch / "a.h5", bytes);
    taken += test::expect_survived("trial " + std::to_string(trial), [&] { read_set(scratch / "a.h5"); }) ? 1 : 0;
  }
  EXPECT_LT(taken, 190u);
}

// ---- arrays to import

using Properties = std::function<void(hid_t)>;

const Properties kDeflate = [](hid_t p) { H5Pset_deflate(p, 4); };
const Properties kShuffle = [](hid_t p) { H5Pset_shuffle(p); };
const Properties kFletcher = [](hid_t p) { H5Pset_fletcher32(p); };

// All filters that are taken, alone and together, on blocks that do not divide the array, for number types of both byte
// orders: the same as plain.
TEST(Hdf5Arrays, BlocksAreUnpackedAsHdf5PackedThem) {
  test::Scratch scratch;
  const Dims dims{5, 7, 3};
  std::vector<double> values(105);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 100);
  const std::vector<std::vector<Properties>> pipelines = {{},
                                                          {kDeflate},
                                                          {kShuffle},
                                                          {kFletcher},
                                                          {kShuffle, kDeflate},
                                                          {kShuffle, kDeflate, kFletcher},
                                                          {kFletcher, kShuffle, kDeflate}};
  for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_STD_I8LE, H5T_STD_U16BE, H5T_STD_I64LE}) {
    for (const auto& pipeline : pipelines) {
      const hid_t file = H5Fcreate((scratch / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
      put_array(file, "a", dims,
                {type,
                 {2, 3, 2},
                 [&](hid_t p) {
                   for (const Properties& each : pipeline) each(p);
                 }},
                H5T_NATIVE_DOUBLE, values.data());
      H5Fclose(file);
      const auto source = open_array(scratch / "a.h5", "a");
      EXPECT_EQ(source->read_all(), std::vector<float>(values.begin(), values.end()));
      std::vector<float> part;
      for (const std::size_t i : {1, 4}) {
        for (const std::size_t j : {2, 4, 6}) part.push_back(static_cast<float>(values[i * 21 + j * 3 + 2]));
      }
      EXPECT_EQ(source->read({{1, 2, 3}, {2, 3, 2}, {2, 1, 1}}), part);
    }
  }
}

TEST(Hdf5Arrays, BlocksNeverWrittenAreNotTakenForZeros) {
  test::Scratch scratch;
  for (const bool packed : {false, true}) {
    const hid_t file = H5Fcreate((scratch / "a.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_array(file, "a", {4, 4}, {H5T_IEEE_F32LE, {2, 2}, packed ? kDeflate : Properties()});
    const hid_t set = H5Dopen2(file, "a", H5P_DEFAULT), space = H5Dget_space(set);
    const Dims start{0, 0}, count{2, 4};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
    const hid_t memory = H5Screate_simple(2, count.data(), nullptr);
    const std::vector<float> values(8, 1.0f);
    EXPECT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, values.data()), 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    EXPECT_ERROR_WITH(open_array(scratch / "a.h5", "a"), "values for shape [4, 4] in 4 blocks, found 2 blocks");
  }
}

// One block of 4 x 8 doubles, its bytes given as they stand in the file.
void write_block(const fs::path& path, const std::vector<Properties>& pipeline, const std::string& bytes,
                 std::uint32_t skipped = 0, bool matlab = false) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE);
  if (matlab) H5Pset_userblock(creation, 512);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, H5P_DEFAULT);
  put_array(file, "a", {4, 8}, {H5T_IEEE_F64LE, {4, 8}, [&](hid_t p) {
                                  for (const Properties& each : pipeline) each(p);
                                }});
  const hid_t set = H5Dopen2(file, "a", H5P_DEFAULT);
  const Dims at{0, 0};
  EXPECT_GE(H5Dwrite_chunk(set, H5P_DEFAULT, skipped, at.data(), bytes.size(), bytes.data()), 0);
  H5Dclose(set);
  H5Fclose(file);
  H5Pclose(creation);
}

TEST(HostileArrays, BlocksThatUnpackToAnotherSize) {
  test::Scratch scratch;
  const std::string right(256, '\0');
  const auto packed = [](std::uint64_t bytes) { return test::deflated_zeros("", bytes, 15); };
  for (const bool matlab : {false, true}) {
    const auto path = scratch / (matlab ? "a.mat" : "a.h5");
    const auto read = [&] { return open_array(path, "a")->read_all(); };
    write_block(path, {kDeflate}, packed(256), 0, matlab);
    EXPECT_EQ(read().size(), 32u);
    write_block(path, {kDeflate}, right, 1, matlab);  // declared as stored plain, and it is
    EXPECT_EQ(read().size(), 32u);
    const auto refused = [&](const std::string& name, const std::vector<Properties>& pipeline, const std::string& bytes,
                             std::uint32_t skipped = 0) {
      write_block(path, pipeline, bytes, skipped, matlab);
      test::expect_refused(name, read);
    };
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{255},
                                     std::uint64_t{257}, std::uint64_t{1} << 20}) {
      refused("inflates to " + std::to_string(size), {kDeflate}, packed(size));
      refused("unshuffled, inflates to " + std::to_string(size), {kShuffle, kDeflate}, packed(size));
    }
    refused("a bomb of 700 MB", {kDeflate}, packed(700 << 20));
    refused("no zlib stream", {kDeflate}, std::string(100, 'x'));
    refused("cut", {kDeflate}, packed(256).substr(0, packed(256).size() - 3));
    refused("one byte", {kDeflate}, "x");
    refused("said to be stored plain", {kDeflate}, packed(256), 1);
    refused("shorter than a check sum", {kFletcher}, "xy");
    refused("a wrong check sum", {kFletcher}, right + "abcd");
    refused("a shuffled block cut", {kShuffle}, right.substr(0, 100));
  }
}

TEST(HostileArrays, ClaimsAreNotGivenMemory) {
  test::Scratch scratch;
  const auto path = scratch / "a.h5";
  const hsize_t huge = hsize_t{1} << 40;
  const auto refused = [&](const std::string& name, const Dims& dims, const Kind& kind) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_array(file, "a", dims, kind);
    H5Fclose(file);
    for (const char* key : {"a", ""}) test::expect_refused(name, [&] { open_array(path, key)->read_all(); });
    fs::copy_file(path, scratch / "a.mat", fs::copy_options::overwrite_existing);
    test::expect_refused(name + " in .mat", [&] { open_array(scratch / "a.mat", "a")->read_all(); });
  };
  refused("huge, in blocks", {huge}, {H5T_IEEE_F32LE, {1024}});
  refused("huge, packed", {huge}, {H5T_IEEE_F32LE, {1024}, kDeflate});
  refused("huge, in one piece", {huge}, {});
  refused("huge blocks", {1 << 29}, {H5T_IEEE_F32LE, {1 << 29}, kDeflate});
  refused("overflowing", {hsize_t{1} << 31, hsize_t{1} << 31}, {H5T_IEEE_F32LE, {1, 1}});
  refused("overflowing, and nothing", {hsize_t{1} << 31, hsize_t{1} << 31, 0}, {});
  // One block of a kilobyte is there, and the array claims to have a million of them: a thousandfold is what deflate
  // could do, more is refused.
  write_block(path, {kDeflate}, test::deflated_zeros("", 256, 15));
  std::string bytes = read_file(path, "reading");
  ASSERT_TRUE(replace_all(bytes, bytes_of(8), bytes_of(8 << 20)));
  test::write_bytes(path, bytes);
  test::expect_refused("more values than the blocks can hold", [&] { open_array(path, "a")->read_all(); });
}

// ---- importers, whole

TEST(HostileImports, NothingIsLeftBehind) {
  test::Scratch scratch;
  const auto from = scratch / "a.h5", out = scratch / "out.h5";
  const auto refused = [&](const std::string& name, const std::function<void(hid_t)>& make,
                           const std::function<void()>& import) {
    const hid_t file = H5Fcreate(from.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    make(file);
    H5Fclose(file);
    test::expect_refused(name, import);
    EXPECT_EQ(scratch.files(), 1u) << name;
  };
  const auto floats = [](hid_t file, const char* name, const Dims& dims, float last = 1) {
    std::size_t count = 1;
    for (const hsize_t extent : dims) count *= extent;
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);  // samples that differ: copies are refused for themselves
    if (count > 0 && !std::isfinite(last)) values.back() = last;
    put_array(file, name, dims, {}, H5T_NATIVE_FLOAT, values.data());
  };
  ArrayImport own;
  own.train.files = {from};
  own.words.output = "u";
  own.words.input = {"a"};
  own.words.coords = {"x"};
  own.geometry = Geometry::mesh;
  const auto import_own = [&] { import_arrays(own, out); };
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const auto arrays = [&](const Dims& a, const Dims& u, const Dims& x) {
    return [=](hid_t file) {
      floats(file, "a", a);
      floats(file, "u", u);
      floats(file, "x", x);
    };
  };
  refused("input of other samples", arrays({4, 5}, {3, 5}, {5, 2}), import_own);
  refused("input of another shape", arrays({3, 70}, {3, 5}, {5, 2}), import_own);
  refused("input of another rank", arrays({3, 5, 2}, {3, 5}, {5, 2}), import_own);
  refused("coordinates of another shape", arrays({3, 5}, {3, 5}, {6, 2}), import_own);
  refused("coordinates of other samples", arrays({3, 5}, {3, 5}, {2, 5, 2}), import_own);
  refused("no coordinates per point", arrays({3, 5}, {3, 5}, {5, 0}), import_own);
  refused("no samples", arrays({0, 5}, {0, 5}, {5, 2}), import_own);
  refused("no points", arrays({3, 0}, {3, 0}, {0, 2}), import_own);
  refused("one axis", arrays({3}, {3}, {3, 2}), import_own);
  refused("a number", arrays({}, {}, {}), import_own);
  for (const float value : {nan, infinity}) {
    for (const char* name : {"a", "u", "x"}) {
      refused(
          std::to_string(value) + " in " + name,
          [&](hid_t file) {
            arrays({3, 5}, {3, 5}, {5, 2})(file);
            floats(file, name, std::string(name) == "x" ? Dims{5, 2} : Dims{3, 5}, value);
          },
          import_own);
    }
  }
  ArrayImport wide = own;
  wide.channels = ChannelAxis::last;
  refused("a million channels", arrays({1, 1, 1000000}, {1, 1, 1000000}, {1, 2}), [&] { import_arrays(wide, out); });

  BenchmarkImport bench;
  bench.benchmark = "pdebench";
  bench.from = {from};
  const auto import_bench = [&] { import_benchmark(bench, out); };
  const auto pdebench = [&](const Dims& tensor, const Dims& t, const Dims& x) {
    return [=](hid_t file) {
      floats(file, "tensor", tensor);
      if (!t.empty()) floats(file, "t-coordinate", t);
      if (!x.empty()) floats(file, "x-coordinate", x);
    };
  };
  refused("no coordinate", pdebench({20, 3, 8}, {3}, {}), import_bench);
  refused("no times", pdebench({20, 3, 8}, {}, {8}), import_bench);
  refused("a coordinate too short", pdebench({20, 3, 8}, {3}, {7}), import_bench);
  refused("times too short", pdebench({20, 3, 8}, {2}, {8}), import_bench);
  refused("two axes of a coordinate", pdebench({20, 3, 8}, {3}, {8, 1}), import_bench);
  refused("six axes", pdebench({2, 3, 2, 2, 2, 2}, {3}, {2}), import_bench);
  refused("two axes", pdebench({20, 3}, {3}, {3}), import_bench);
  refused("no samples in a benchmark", pdebench({0, 3, 8}, {3}, {8}), import_bench);
  refused(
      "huge tensor",
      [&](hid_t file) {
        put_array(file, "tensor", {hsize_t{1} << 40, 3, 8}, {H5T_IEEE_F32LE, {1, 3, 8}});
      },
      import_bench);
  for (const char* name : {"tensor", "t-coordinate", "x-coordinate"}) {
    refused(
        std::string("not a number in ") + name,
        [&](hid_t file) {
          pdebench({20, 3, 8}, {3}, {8})(file);
          const std::string key = name;
          floats(file, name, key == "tensor" ? Dims{20, 3, 8} : key == "t-coordinate" ? Dims{3} : Dims{8}, nan);
        },
        import_bench);
  }
}

}  // namespace
}  // namespace lano::hostile_hdf5_test
