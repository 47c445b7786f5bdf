// The dataset file (HDF5, docs/formats.md): coordinates, input and output fields of S samples with their split and
// provenance. The writer takes samples in any order and from any thread, and the file appears under its final name only
// when it is complete. The reader checks structure on opening and finiteness on reading. Arrays are float32, row-major.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/atomic_file.h"
#include "core/cell_kind.h"
#include "core/set_description.h"

namespace lano {

inline constexpr int kDatasetVersion = 1;

enum class Split : std::uint8_t { train = 0, validation = 1, test = 2 };

std::string_view split_name(Split split);
Split parse_split(std::string_view name);

// `train` samples, of which the last `validation_share` (rounded, but at least one of two or more) are for validation,
// then `test` samples.
std::vector<Split> make_splits(std::int64_t train, std::int64_t test, double validation_share = 0.1);

class Hdf5File;

// A dataset whose arrays are in memory, laid out as those of a file. `owner` keeps them alive, and as they are.
struct MemoryDataset {
  SetDescription description;
  std::vector<Split> splits;                          // one per sample
  std::vector<std::int64_t> counts;                   // points of each sample where clouds differ in size, else empty
  bool shared_coordinates = false;                    // one set of coordinates for all samples
  std::span<const float> coordinates, input, output;  // /coords, /input, /output; no output: it is not known
  std::shared_ptr<const void> owner;
};

// Where the numbers of a dataset lie: rows of the first axis of its arrays, by their names in a file.
class DatasetSource {
 public:
  virtual ~DatasetSource() = default;
  virtual void read_rows(const char* array, std::int64_t first, std::int64_t count, std::span<float> values) const = 0;
  // `count` points from `first` on of one row; frame: of arrays with an axis of times, else -1.
  virtual void read_points(const char* array, std::int64_t row, std::int64_t frame, std::int64_t first,
                           std::int64_t count, std::span<float> values) const;
  virtual std::vector<std::int64_t> read_index_rows(const char* array, std::int64_t first,
                                                    std::int64_t count) const = 0;
};

class DatasetWriter {
 public:
  // shared_coordinates: one set of coordinates for all samples, given here as [N, dx]; else one with each sample.
  DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                std::span<const float> shared_coordinates);
  // Clouds of different sizes: counts[i] points in sample i, each with its own coordinates; steady datasets only. The
  // description's shape becomes [median count].
  DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                const std::vector<std::int64_t>& counts);
  // A file that several processes write, each its own points (data/part_file.h): with room for all numbers of samples
  // of one size, which nobody writes here.
  struct InParts {
    bool shared_coordinates = false;
  };
  DatasetWriter(const std::filesystem::path& path, SetDescription description, std::vector<Split> splits,
                InParts in_parts);
  ~DatasetWriter();
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;

  // coordinates: [N, dx], empty when shared; input: [N, da]; output: [N, du] or [T, N, du]; kept: [N, dk]. Thread-safe.
  void write(std::int64_t sample, std::span<const float> coordinates, std::span<const float> input,
             std::span<const float> output, std::span<const float> kept = {});
  // Cells of a mesh, [cells, corners] with indices of points: made first, for all samples (then written as
  // those of sample 0) or for each, then written. See dataset_cells.cpp.
  void make_cells(CellKind kind, std::int64_t count);
  void make_cells(CellKind kind, const std::vector<std::int64_t>& counts);
  void write_cells(std::int64_t sample, std::span<const std::int64_t> corners);
  // Of a file in parts, once its cells are written: where its numbers lie, in bytes; -1 where there are none. After
  // this only commit().
  struct Room {
    std::filesystem::path file;
    std::int64_t coords = -1, input = -1, output = -1;
  };
  Room make_room();
  void commit();  // fails unless every sample was written

 private:
  PendingFile pending_;
  SetDescription description_;
  std::vector<bool> written_;
  bool shared_;
  std::vector<std::int64_t> offsets_;  // first point of each sample and the end; empty where all have one size
  std::optional<CellKind> cell_kind_;
  std::vector<std::int64_t> cell_offsets_;
  std::unique_ptr<Hdf5File> file_;
  std::mutex mutex_;

  void make_cells(CellKind kind, const std::vector<std::int64_t>& counts, bool shared);
  void write_attributes(const std::vector<Split>& splits);
};

// Samples in memory, in the requested order, one after the other.
struct Samples {
  std::int64_t count = 0, points = 0;  // points of each sample, where all have the same number
  std::int64_t frames = 1;             // times of the output
  std::vector<std::int64_t> counts;    // points of each sample, where they differ; else empty
  bool shared_coordinates = false;
  bool own_coordinates = false;    // the file has coordinates for each of several samples, even where one was read
  std::vector<std::int64_t> ids;   // their indices in the file
  std::vector<float> coordinates;  // [1 or count, N, dx]
  std::vector<float> input;        // [count, N, da]
  std::vector<float> output;       // [count, (T,) N, du]; empty where the file has none

  std::int64_t points_of(std::int64_t i) const { return counts.empty() ? points : counts[static_cast<std::size_t>(i)]; }
  std::int64_t first_point(std::int64_t i) const;  // points before sample i
  bool on_one_mesh() const { return shared_coordinates || (count == 1 && !own_coordinates); }
  std::span<const float> coordinates_of(std::int64_t i, std::int64_t dims) const;
  std::span<const float> input_of(std::int64_t i, std::int64_t channels) const;
  std::span<const float> output_of(std::int64_t i, std::int64_t channels) const;  // [frames, N, channels]
};

// One sample of which only some neighbouring points were read: `samples` has no other points.
struct SampleSlab {
  Samples samples;
  std::int64_t first = 0;      // of the sample's points
  std::vector<float> corners;  // of a grid: coordinates of its grid_corners (core/set_description.h)
};

// True for an HDF5 file that says it is a dataset of ours; false for any other file.
bool is_dataset_file(const std::filesystem::path& path);

// Where a reader shows the frames that a dataset keeps before its output (SetDescription::initial_time): among the
// input fields, or, for models that step in time, as the first frames of the output.
enum class InitialFrames { input, output };

class DatasetReader {
 public:
  explicit DatasetReader(const std::filesystem::path& path, InitialFrames initial = InitialFrames::input);
  explicit DatasetReader(std::shared_ptr<const MemoryDataset> arrays, InitialFrames initial = InitialFrames::input);
  ~DatasetReader();
  DatasetReader(DatasetReader&&) noexcept;

  // From now on a dataset with times is shown as a steady one, whose channels are its output fields at every time
  // (core/set_description.h). Fails if it has no times.
  void show_times_as_channels();

  const std::filesystem::path& path() const { return path_; }  // empty: arrays in memory
  const SetDescription& description() const { return description_; }
  std::int64_t size() const { return size_; }
  std::int64_t initial_frames() const { return moved_frames_; }  // that are shown as the first of the output
  bool shared_coordinates() const { return shared_; }
  bool has_output() const { return has_output_; }
  // Points of each sample where clouds differ in size, else empty.
  const std::vector<std::int64_t>& counts() const { return counts_; }
  const std::vector<Split>& splits() const { return splits_; }
  std::vector<std::int64_t> indices(Split split) const;
  // The named split, or every sample for "all".
  std::vector<std::int64_t> indices(std::string_view split_or_all) const;

  // Fails where the file was changed or replaced since it was opened: a half of one and a half of another is neither.
  // Reading looks, before and after.
  void check_unchanged() const;
  Samples read(std::span<const std::int64_t> ids) const;
  // What read() gives, without its numbers.
  Samples outline(std::span<const std::int64_t> ids) const;
  // `count` points of a sample of a grid or mesh, and `frames` of its output's times from the first on.
  SampleSlab read_part(std::int64_t id, std::int64_t first, std::int64_t count, std::int64_t frames) const;
  std::vector<float> read_kept(std::int64_t id) const;  // [N, dk]
  // What the points of a mesh are the corners of; nothing where the file has no cells.
  std::optional<CellKind> cell_kind() const { return cell_kind_; }
  bool shared_cells() const { return cell_offsets_.empty(); }
  std::vector<std::int64_t> read_cells(std::int64_t id) const;  // [cells, corners], points of the sample; empty: none
  // A number for the contents of all arrays, the same for the same contents; not for untrusted files.
  std::uint64_t hash() const;
  // Held while HDF5 is called: it may be built without thread safety.
  static std::mutex& reading_mutex();

 private:
  std::string doing() const;  // opens messages
  void read_description(const Hdf5File& file);
  void check_description() const;
  void check_arrays(const Hdf5File& file);
  void check_cells(const Hdf5File& file);
  Samples read_samples(std::span<const std::int64_t> ids) const;
  Samples outline_in_file(std::span<const std::int64_t> ids) const;
  void show_initial_as_output();
  void move_initial_frames(Samples& samples) const;
  void turn_times_into_channels(Samples& samples) const;

  std::filesystem::path path_;
  FileIdentity identity_;  // when it was opened
  std::unique_ptr<DatasetSource> source_;
  SetDescription description_;
  std::int64_t size_ = 0;
  bool shared_ = false, has_output_ = false;
  std::int64_t moved_frames_ = 0;  // of the last input channels, shown as the first of the output
  std::vector<std::int64_t> counts_, offsets_;
  std::optional<CellKind> cell_kind_;
  std::int64_t cell_count_ = 0;  // of all samples together
  std::vector<std::int64_t> cell_offsets_;
  std::vector<Split> splits_;
};

}  // namespace lano
