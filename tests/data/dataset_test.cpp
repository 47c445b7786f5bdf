#include "data/dataset.h"

#include <cmath>
#include <fstream>

#include "core/atomic_file.h"
#include "data/generation.h"
#include "scratch.h"

namespace lano::dataset_test {
namespace {

SetDescription small_set() {
  SetDescription d;
  d.name = "small";
  d.shape = {2, 3};
  d.coordinates = {{"x", "m"}, {"y", "m"}};
  d.input = {{"a", "1"}};
  d.output = {{"u", "Pa"}, {"v", "1"}};
  d.box = {0, 1, 0, 2};
  d.generator = R"({"program":"test","seed":7})";
  return d;
}

std::vector<float> numbered(std::size_t count, float from) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = from + static_cast<float>(i);
  return values;
}

void write_small(const std::filesystem::path& path, bool shared) {
  const auto coords = numbered(12, 0);
  DatasetWriter writer(path, small_set(), make_splits(4, 1, 0.25),
                       shared ? std::span<const float>(coords) : std::span<const float>());
  for (const std::int64_t i : {3, 0, 4, 1, 2}) {  // any order
    const auto own = numbered(12, 100.0f * static_cast<float>(i));
    writer.write(i, shared ? std::span<const float>() : std::span<const float>(own), numbered(6, static_cast<float>(i)),
                 numbered(12, 10.0f * static_cast<float>(i)));
  }
  writer.commit();
}

TEST(Dataset, ReadsWhatWasWritten) {
  test::Scratch scratch;
  for (const bool shared : {true, false}) {
    const auto path = scratch / (shared ? "shared.h5" : "own.h5");
    write_small(path, shared);
    const DatasetReader reader(path);
    EXPECT_EQ(reader.size(), 5);
    EXPECT_EQ(reader.shared_coordinates(), shared);
    EXPECT_EQ(reader.description().output[0].unit, "Pa");
    EXPECT_EQ(reader.description().shape, (Shape{2, 3}));
    EXPECT_EQ(reader.description().box, (std::vector<double>{0, 1, 0, 2}));
    EXPECT_EQ(reader.description().generator, small_set().generator);
    EXPECT_EQ(reader.indices(Split::train), (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_EQ(reader.indices(Split::validation), (std::vector<std::int64_t>{3}));
    EXPECT_EQ(reader.indices(Split::test), (std::vector<std::int64_t>{4}));
    const Samples samples = reader.read(std::vector<std::int64_t>{4, 1});
    EXPECT_EQ(samples.input[0], 4);
    EXPECT_EQ(samples.input[6], 1);
    EXPECT_EQ(samples.output[12], 10);
    EXPECT_EQ(samples.coordinates.size(), shared ? 12u : 24u);
    EXPECT_EQ(samples.coordinates[0], shared ? 0 : 400);
  }
}

TEST(Dataset, SplitsFollowTheRule) {
  const auto splits = make_splits(1000, 200);
  EXPECT_EQ(std::count(splits.begin(), splits.end(), Split::validation), 100);
  EXPECT_EQ(splits[899], Split::train);
  EXPECT_EQ(splits[900], Split::validation);
  EXPECT_EQ(splits[1000], Split::test);
  EXPECT_EQ(make_splits(10, 0, 0).back(), Split::train);
  EXPECT_ERROR_WITH(make_splits(0, 0), "not both 0");
  EXPECT_ERROR_WITH(make_splits(10, 1, 1.0), "share in [0, 1)");
}

TEST(Dataset, AnUnfinishedFileLeavesNothingAndKeepsTheOld) {
  test::Scratch scratch;
  write_small(scratch / "a.h5", true);
  const std::string before = read_file(scratch / "a.h5", "reading");
  {
    DatasetWriter writer(scratch / "a.h5", small_set(), make_splits(4, 1), numbered(12, 0));
    writer.write(0, {}, numbered(6, 0), numbered(12, 0));
    EXPECT_ERROR_WITH(writer.commit(), "sample 1 not written");
  }
  EXPECT_EQ(read_file(scratch / "a.h5", "reading"), before);
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(Dataset, WrongSizesAreRefused) {
  test::Scratch scratch;
  DatasetWriter writer(scratch / "a.h5", small_set(), make_splits(4, 1), numbered(12, 0));
  EXPECT_ERROR_WITH(writer.write(0, {}, numbered(5, 0), numbered(12, 0)), "6 values of input");
  EXPECT_ERROR_WITH(writer.write(0, {}, numbered(6, 0), numbered(6, 0)), "12 values of output");
}

TEST(Dataset, MissingForeignAndTruncatedFiles) {
  test::Scratch scratch;
  EXPECT_ERROR_WITH(DatasetReader(scratch / "none.h5"), "nothing at that path");
  write_file_atomically(scratch / "text.h5", std::string_view("not HDF5 at all"));
  EXPECT_ERROR_WITH(DatasetReader(scratch / "text.h5"), "an HDF5 file");
  write_small(scratch / "whole.h5", true);
  const std::string bytes = read_file(scratch / "whole.h5", "reading");
  for (const std::size_t share : {1, 2, 3}) {
    write_file_atomically(scratch / "cut.h5", bytes.substr(0, bytes.size() * share / 4));
    EXPECT_ERROR_WITH(DatasetReader(scratch / "cut.h5"), "cut.h5");
  }
}

TEST(Dataset, NotANumberIsNamedWithItsSample) {
  test::Scratch scratch;
  {
    DatasetWriter writer(scratch / "a.h5", small_set(), make_splits(2, 0, 0), numbered(12, 0));
    writer.write(0, {}, numbered(6, 0), numbered(12, 0));
    auto bad = numbered(12, 0);
    bad[7] = NAN;
    writer.write(1, {}, numbered(6, 0), bad);
    writer.commit();
  }
  const DatasetReader reader(scratch / "a.h5");
  EXPECT_NO_THROW(reader.read(std::vector<std::int64_t>{0}));
  EXPECT_ERROR_WITH(reader.read(std::vector<std::int64_t>{0, 1}), "nan in sample 1 at value 7");
  EXPECT_ERROR_WITH(reader.read(std::vector<std::int64_t>{2}), "a sample below 2");
}

// Sample i holds i everywhere.
bool make_number(std::int64_t i, std::int64_t, const SampleArrays& to) {
  std::fill(to.input.begin(), to.input.end(), static_cast<float>(i));
  std::fill(to.output.begin(), to.output.end(), static_cast<float>(i));
  return true;
}

TEST(Generation, AFailureKeepsWhatIsFinishedAndTheNextRunGoesOn) {
  test::Scratch scratch;
  const auto path = scratch / "a.h5";
  const auto failing = [](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
    if (i == 3) fail("solving sample 3", "convergence", "none");
    return make_number(i, attempt, to);
  };
  EXPECT_ERROR_WITH(generate_dataset(path, small_set(), make_splits(50, 0), numbered(12, 0), failing),
                    "solving sample 3");
  EXPECT_FALSE(std::filesystem::exists(path));
  std::atomic<int> made = 0;
  const Generated result = generate_dataset(path, small_set(), make_splits(50, 0), numbered(12, 0),
                                            [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
                                              ++made;
                                              return make_number(i, attempt, to);
                                            });
  EXPECT_EQ(result.resumed + made, 50);
  EXPECT_GE(result.resumed, 1);
  EXPECT_EQ(scratch.files(), 1u);  // the store is gone
  const DatasetReader reader(path);
  for (const std::int64_t id : {0, 3, 49}) {
    EXPECT_EQ(reader.read(std::vector<std::int64_t>{id}).output[0], static_cast<float>(id));
  }
}

// A kill leaves a store whose last record may be cut anywhere: whole records are used, the rest is made again.
TEST(Generation, ACutStoreGivesTheSameArrays) {
  test::Scratch scratch;
  const auto failing = [](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
    if (i == 7) throw Error("stopped at the seventh");
    return make_number(i, attempt, to);
  };
  generate_dataset(scratch / "whole.h5", small_set(), make_splits(8, 2), numbered(12, 0), make_number);
  const std::uint64_t truth = DatasetReader(scratch / "whole.h5").hash();
  const auto path = scratch / "a.h5", store = scratch / "a.h5.samples";
  EXPECT_ERROR_WITH(generate_dataset(path, small_set(), make_splits(8, 2), numbered(12, 0), failing),
                    "stopped at the seventh");
  const auto size = std::filesystem::file_size(store);
  const std::string bytes = read_file(store, "r");
  for (std::uintmax_t cut = 0; cut < size; cut += 1 + size / 37) {
    std::ofstream(store, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(cut));
    std::filesystem::remove(path);
    generate_dataset(path, small_set(), make_splits(8, 2), numbered(12, 0), make_number);
    EXPECT_EQ(DatasetReader(path).hash(), truth) << cut;
  }
  // A flipped bit in a record is found: that sample and those behind it are made again.
  std::string damaged = bytes;
  damaged[damaged.size() - 3] ^= 0x10;
  std::ofstream(store, std::ios::binary) << damaged;
  std::filesystem::remove(path);
  generate_dataset(path, small_set(), make_splits(8, 2), numbered(12, 0), make_number);
  EXPECT_EQ(DatasetReader(path).hash(), truth);
}

TEST(Generation, AStoreOfAnotherSetIsRefusedOrReplaced) {
  test::Scratch scratch;
  const auto path = scratch / "a.h5";
  const auto failing = [](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
    if (i == 7) throw Error("stopped at the seventh");
    return make_number(i + 100, attempt, to);
  };
  EXPECT_ERROR_WITH(generate_dataset(path, small_set(), make_splits(8, 2), numbered(12, 0), failing),
                    "stopped at the seventh");
  SetDescription other = small_set();
  other.generator = R"({"program":"test","seed":9})";  // as long as the first: its records would fit
  EXPECT_ERROR_WITH(generate_dataset(path, other, make_splits(8, 2), numbered(12, 0), make_number), "those of another");
  EXPECT_EQ(generate_dataset(path, other, make_splits(8, 2), numbered(12, 0), make_number, true).resumed, 0);
  const DatasetReader reader(path);
  EXPECT_EQ(reader.description().generator, other.generator);
  for (const std::int64_t id : {0, 6, 9})
    EXPECT_EQ(reader.read(std::vector<std::int64_t>{id}).output[0], static_cast<float>(id));
}

TEST(Generation, DrawsThatDoNotConvergeAreDrawnAgainAndCounted) {
  test::Scratch scratch;
  const auto stubborn = [](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
    return attempt >= i % 3 && make_number(i, attempt, to);
  };
  EXPECT_EQ(generate_dataset(scratch / "a.h5", small_set(), make_splits(6, 0), numbered(12, 0), stubborn).redrawn, 6);
  const auto hopeless = [](std::int64_t, std::int64_t, const SampleArrays&) { return false; };
  EXPECT_ERROR_WITH(generate_dataset(scratch / "b.h5", small_set(), make_splits(6, 0), numbered(12, 0), hopeless),
                    "draws converged");
}

TEST(Dataset, KeptFieldsAndCoordinatesOfEachSample) {
  test::Scratch scratch;
  SetDescription set = small_set();
  set.geometry = Geometry::mesh;
  set.kept = {{"p", "Pa"}, {"rho", "1"}};
  const std::int64_t points = set.points(), dims = set.dims();
  generate_dataset(scratch / "a.h5", set, make_splits(3, 1), {},
                   [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
                     EXPECT_EQ(to.coordinates.size(), static_cast<std::size_t>(points * dims));
                     std::fill(to.coordinates.begin(), to.coordinates.end(), 10.0f + static_cast<float>(i));
                     std::fill(to.kept.begin(), to.kept.end(), 20.0f + static_cast<float>(i));
                     return make_number(i, attempt, to);
                   });
  const DatasetReader reader(scratch / "a.h5");
  EXPECT_EQ(reader.description().kept[1].name, "rho");
  EXPECT_EQ(reader.read_kept(2), std::vector<float>(static_cast<std::size_t>(points * 2), 22.0f));
  EXPECT_EQ(reader.read(std::vector<std::int64_t>{2}).coordinates[0], 12.0f);
}

TEST(Dataset, AFileThatChangesWhileItIsReadIsNamed) {
  test::Scratch scratch;
  SetDescription set;
  set.name = "line";
  set.shape = {3};
  set.coordinates = {{"x", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  const auto write = [&](float value) {
    DatasetWriter writer(scratch / "a.h5", set, {Split::train}, std::vector<float>{0, 0.5, 1});
    writer.write(0, {}, {}, std::vector<float>{value, 2, 3});
    writer.commit();
  };
  write(1);
  const DatasetReader reader(scratch / "a.h5");
  const std::vector<std::int64_t> ids{0};
  EXPECT_EQ(reader.read(ids).output[0], 1);
  write(7);  // another file under the same name
  EXPECT_ERROR_WITH(reader.read(ids), "changed or replaced");
  const DatasetReader again(scratch / "a.h5");
  std::filesystem::last_write_time(scratch / "a.h5",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_ERROR_WITH(again.read(ids), "changed or replaced");
  std::filesystem::remove(scratch / "a.h5");
  EXPECT_ERROR_WITH(again.read(ids), "the file was removed since it was opened");
}

}  // namespace
}  // namespace lano::dataset_test
