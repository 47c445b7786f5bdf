// Parts of samples: what several processes read and write of one file is what one reads and writes of the whole.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "data/dataset.h"
#include "data/part_file.h"
#include "scratch.h"

namespace lano::dataset_part_test {
namespace {

using test::Scratch;

SetDescription grid(std::vector<double> time, std::vector<double> initial) {
  SetDescription set;
  set.name = "parts";
  set.shape = {5, 4};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}, {"b", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  set.time = std::move(time);
  set.initial_time = std::move(initial);
  return set;
}

std::vector<float> numbers(std::size_t count, float first) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + 0.5f * static_cast<float>(i);
  return values;
}

void write(const std::filesystem::path& path, const SetDescription& set, bool shared) {
  const std::vector<float> coordinates = numbers(40, 0);
  DatasetWriter writer(path, set, make_splits(2, 1),
                       shared ? std::span<const float>(coordinates) : std::span<const float>());
  const std::size_t frames = std::max<std::size_t>(1, set.time.size());
  for (int i = 0; i < 3; ++i) {
    const auto base = static_cast<float>(1000 * (i + 1));
    writer.write(i, shared ? std::vector<float>{} : numbers(40, base + 500), numbers(40, base),
                 numbers(20 * frames, -base));
  }
  writer.commit();
}

std::vector<float> piece(std::span<const float> all, std::int64_t first, std::int64_t count, std::int64_t width) {
  const auto from = all.begin() + first * width;
  return {from, from + count * width};
}

TEST(DatasetPart, ReadsThePointsThatTheWholeSampleHas) {
  const Scratch scratch;
  for (const bool shared : {true, false}) {
    for (const bool timed : {false, true}) {
      const auto path = scratch / (std::string(shared ? "s" : "o") + (timed ? "t.h5" : "f.h5"));
      write(path, grid(timed ? std::vector<double>{1, 2, 3} : std::vector<double>{}, {}), shared);
      const DatasetReader reader(path);
      const Samples whole = reader.read(std::vector<std::int64_t>{1});
      const SampleSlab part = reader.read_part(1, 7, 6, timed ? 2 : 1);
      EXPECT_EQ(part.first, 7);
      EXPECT_EQ(part.samples.points, 6);
      EXPECT_EQ(part.samples.coordinates, piece(whole.coordinates, 7, 6, 2));
      EXPECT_EQ(part.samples.input, piece(whole.input, 7, 6, 2));
      std::vector<float> expected;
      for (std::int64_t frame = 0; frame < (timed ? 2 : 1); ++frame) {
        const std::vector<float> now =
            piece(std::span(whole.output).subspan(static_cast<std::size_t>(20 * frame)), 7, 6, 1);
        expected.insert(expected.end(), now.begin(), now.end());
      }
      EXPECT_EQ(part.samples.output, expected);
      // The first point, the last of the first axis, the last of the second.
      std::vector<float> corners;
      for (const std::int64_t point : {0, 16, 3}) {
        const std::vector<float> one = piece(whole.coordinates, point, 1, 2);
        corners.insert(corners.end(), one.begin(), one.end());
      }
      EXPECT_EQ(part.corners, corners);
      EXPECT_ERROR_WITH(reader.read_part(1, 18, 3, 1), "a part of the 20 points of a grid or mesh, found 3 from 18 on");
    }
  }
}

TEST(DatasetPart, InitialFramesAreStatesOfThePart) {
  const Scratch scratch;
  write(scratch / "i.h5", grid({1, 2}, {0}), true);
  const DatasetReader reader(scratch / "i.h5", InitialFrames::output);
  const Samples whole = reader.read(std::vector<std::int64_t>{2});
  const SampleSlab part = reader.read_part(2, 3, 9, 2);  // the initial one and the first of the file's
  EXPECT_EQ(part.samples.frames, 2);
  EXPECT_EQ(part.samples.input, piece(whole.input, 3, 9, 1));
  std::vector<float> expected = piece(whole.output, 3, 9, 1),
                     next = piece(std::span(whole.output).subspan(20), 3, 9, 1);
  expected.insert(expected.end(), next.begin(), next.end());
  EXPECT_EQ(part.samples.output, expected);
}

TEST(DatasetPart, PartsWrittenByThemselvesMakeTheFile) {
  const Scratch scratch;
  const SetDescription set = grid({1, 2}, {});
  write(scratch / "whole.h5", set, true);
  const DatasetReader whole(scratch / "whole.h5");
  {
    DatasetWriter writer(scratch / "parts.h5", set, make_splits(2, 1), DatasetWriter::InParts{true});
    const DatasetWriter::Room room = writer.make_room();
    for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{12, 8}, {0, 5}, {5, 7}}) {
      PartFile file(room.file, scratch / "parts.h5");
      for (std::int64_t id = 0; id < 3; ++id) {
        const SampleSlab part = whole.read_part(id, first, count, 2);
        if (id == 0) file.write(room.coords, first * 2, part.samples.coordinates);
        file.write(room.input, (id * 20 + first) * 2, part.samples.input);
        for (std::int64_t frame = 0; frame < 2; ++frame) {
          file.write(room.output, (id * 2 + frame) * 20 + first,
                     std::span(part.samples.output)
                         .subspan(static_cast<std::size_t>(frame * count), static_cast<std::size_t>(count)));
        }
      }
      file.finish();
    }
    EXPECT_FALSE(std::filesystem::exists(scratch / "parts.h5"));
    writer.commit();
  }
  EXPECT_EQ(DatasetReader(scratch / "parts.h5").hash(), whole.hash());
}

TEST(DatasetPart, APartThatFailsRemovesTheFile) {
  const Scratch scratch;
  DatasetWriter writer(scratch / "parts.h5", grid({}, {}), make_splits(2, 1), DatasetWriter::InParts{true});
  const DatasetWriter::Room room = writer.make_room();
  EXPECT_TRUE(std::filesystem::exists(room.file));
  { const PartFile file(room.file, scratch / "parts.h5"); }  // not finished
  EXPECT_FALSE(std::filesystem::exists(room.file));
  EXPECT_ERROR_WITH(writer.commit(), "No such file or directory");
}

}  // namespace
}  // namespace lano::dataset_part_test
