#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <vector>

#include "core/error.h"
#include "core/fnv.h"

namespace lano {
namespace {

class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail_write(const std::filesystem::path& path, int error_number) {
  fail(fmt::format("writing '{}'", path.string()), "space and permission to write", errno_text(error_number),
       "free space or choose another folder; what was there before is kept");
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

// Several machines may write into one folder, and a process number means something on its own machine alone.
const std::string& machine_text() {
  static const std::string text = [] {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    Fnv hash;
    hash.add(std::string_view(name.data()));
    return fmt::format("{:016x}", hash.value());
  }();
  return text;
}

}  // namespace

PendingFile::PendingFile(std::filesystem::path final_path)
    : final_(std::move(final_path)),
      temporary_(final_.string() + fmt::format(".{}-{}.part", machine_text(), ::getpid())) {
  if (!std::filesystem::is_directory(folder_of(final_))) {
    fail_plainly(fmt::format("writing '{}'", final_.string()),
                 fmt::format("the folder '{}' does not exist", folder_of(final_).string()), "create it first");
  }
  if (std::filesystem::is_directory(final_)) {
    fail(fmt::format("writing '{}'", final_.string()), "a file name", "a folder", "name a file inside it");
  }
}

void remove_leftovers(const std::filesystem::path& final_path) {
  std::error_code ignored;
  const std::string start = final_path.filename().string() + "." + machine_text() + "-", end = ".part";
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(final_path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start) || !name.ends_with(end) || name.size() <= start.size() + end.size()) continue;
    const std::string digits = name.substr(start.size(), name.size() - start.size() - end.size());
    int process = 0;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
    if (error != std::errc() || last != digits.data() + digits.size() || process <= 0) continue;
    if (::kill(process, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), ignored);
  }
}

PendingFile::~PendingFile() {
  if (!published_) {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
  }
}

void PendingFile::publish() {
  {
    Descriptor file(temporary_, O_RDWR);
    if (file.get() < 0 || ::fsync(file.get()) != 0) fail_write(final_, errno);
  }
  std::error_code error;
  std::filesystem::rename(temporary_, final_, error);
  if (error) fail_write(final_, error.value());
  published_ = true;
  Descriptor folder(folder_of(final_), O_RDONLY | O_DIRECTORY);
  if (folder.get() >= 0) ::fsync(folder.get());
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  PendingFile pending(path);
  {
    Descriptor file(pending.temporary(), O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) fail_write(path, errno);
    while (!bytes.empty()) {
      const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_write(path, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  pending.publish();
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::string read_file(const std::filesystem::path& path, std::string_view doing, std::uint64_t most) {
  const std::string what = fmt::format("{} '{}'", doing, path.string());
  // Without waiting: opening a pipe would, for a writer that never comes.
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0 && errno == ENOENT) fail_plainly(what, "there is nothing at that path", "check the path");
  struct stat about {};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0)
    fail(what, "a readable file", errno_text(errno), "check the path and its permissions");
  if (S_ISDIR(about.st_mode)) fail(what, "a file", "a folder", "name the file itself");
  if (!S_ISREG(about.st_mode)) fail(what, "a file on disk", "a pipe or a device", "save it to a file first");
  const auto stated = static_cast<std::uint64_t>(about.st_size);
  if (stated > most) fail(what, fmt::format("at most {} bytes", most), std::to_string(stated), "name another file");
  std::string text;
  text.reserve(static_cast<std::size_t>(stated) + 1);
  std::vector<char> block(std::size_t{1} << 16);
  for (;;) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(what, "a readable file", errno_text(errno), "check its permissions");
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > most) fail(what, fmt::format("at most {} bytes", most), "more", "name another file");
  }
}

FileIdentity identity_of(const std::filesystem::path& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino),
          static_cast<std::int64_t>(about.st_size),
          static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec};
}

std::uint64_t file_bytes(const std::filesystem::path& path, std::string_view doing) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) fail_plainly(doing, "there is nothing at that path", "check the path");
  if (std::filesystem::is_directory(path, error)) fail(doing, "a file", "a folder", "name the file itself");
  if (!std::filesystem::is_regular_file(path, error))
    fail(doing, "a file on disk", "a pipe or a device", "save it to a file first");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) fail(doing, "a readable file", error.message(), "check its permissions");
  if (::access(path.c_str(), R_OK) != 0) fail(doing, "a readable file", errno_text(errno), "check its permissions");
  return bytes;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    fail(fmt::format("creating folder '{}'", path.string()), "permission to create it", error.message(),
         "choose another place with --out");
}

}  // namespace lano
