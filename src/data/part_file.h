// One of several processes writing its own points into a dataset file whose space DatasetWriter::InParts allocated:
// plain numbers at their places, without HDF5, which locks a file for one writer. Every part is synced by finish();
// then the process that made the file commits it. Until then it has a temporary name, which a part that fails removes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace lano {

class PartFile {
 public:
  // final: the name the file will have, for messages.
  PartFile(std::filesystem::path file, std::filesystem::path final_path);
  ~PartFile();
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  // float32 numbers `before` numbers behind the beginning of an array that lies at `place`.
  void write(std::int64_t place, std::int64_t before, std::span<const float> values);
  void finish();

 private:
  [[noreturn]] void fail_writing(int error_number) const;
  std::filesystem::path file_, final_;
  int descriptor_ = -1;
  bool finished_ = false;
};

}  // namespace lano
