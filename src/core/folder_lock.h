// One process in a folder at a time: an advisory lock on FOLDER/lock, which the kernel releases when the process ends,
// however it ends.
#pragma once

#include <filesystem>
#include <string>

namespace lano {

class FolderLock {
 public:
  // Fails at once where another process (or another lock of this one) holds it; `doing` opens the message.
  FolderLock(const std::filesystem::path& folder, const std::string& doing);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace lano
