#include "core/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

#include "core/error.h"

namespace lano {

FolderLock::FolderLock(const std::filesystem::path& folder, const std::string& doing) {
  const auto path = folder / "lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(doing, "permission to write in the folder", errno_text(errno), "choose another folder");
  // 'lano runs' asks whether a folder is in use by a lock of a moment: try again before believing it.
  int reason = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    reason = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (reason == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  if (reason != 0) {
    std::array<char, 32> holder{};
    const ssize_t length = ::read(descriptor_, holder.data(), holder.size());
    ::close(descriptor_);
    if (reason != EWOULDBLOCK) fail(doing, "a file system with locks", errno_text(reason), "choose another folder");
    fail(doing, "a folder no other process works in",
         fmt::format("process {}", std::string_view(holder.data(), length > 0 ? static_cast<std::size_t>(length) : 0)),
         "wait for it, or choose another folder");
  }
  // For the message above; the lock itself is the kernel's.
  const std::string holder = std::to_string(::getpid());
  if (::ftruncate(descriptor_, 0) != 0 || ::write(descriptor_, holder.data(), holder.size()) < 0) {
    // A full disk costs the message its number, no more.
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace lano
