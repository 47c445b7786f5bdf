// Files that appear under their final name only when they are complete: written to a sibling temporary name, synced to
// disk, renamed, and the folder synced. A failure or a kill leaves the old file, if any, untouched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace lano {

// The temporary name for a final path, and its life: removed on destruction unless published. For writers such as HDF5
// that open a path themselves.
class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path final_path);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::filesystem::path& temporary() const { return temporary_; }
  const std::filesystem::path& final_path() const { return final_; }
  void publish();  // sync, rename, sync the folder

 private:
  std::filesystem::path final_;
  std::filesystem::path temporary_;
  bool published_ = false;
};

// Removes what killed writers of this file on this machine left next to it, if their processes no longer exist.
void remove_leftovers(const std::filesystem::path& final_path);

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// The whole file as bytes in a string; `doing` opens the error message. Files on disk alone: a pipe or a device is
// refused, and a file of more than `most` bytes before it is held.
std::string read_file(const std::filesystem::path& path, std::string_view doing,
                      std::uint64_t most = std::uint64_t{1} << 36);

// The size of a file on disk; fails with `doing` if there is none, or for a folder, a pipe or a device.
std::uint64_t file_bytes(const std::filesystem::path& path, std::string_view doing);

// Which file lies at a path, and in which state: another one, a longer one or one written to since is not equal.
struct FileIdentity {
  std::uint64_t device = 0, node = 0;
  std::int64_t bytes = 0, nanoseconds = 0;  // size, last change
  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::filesystem::path& path);  // all 0 if there is none

// Creates the folder and its parents, or fails with one sentence.
void make_folder(const std::filesystem::path& path);

}  // namespace lano
