#include "core/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/error.h"

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

}  // namespace

PendingFile::PendingFile(std::filesystem::path final_path)
    : final_(std::move(final_path)), temporary_(final_.string() + fmt::format(".{}.part", ::getpid())) {
  if (!std::filesystem::is_directory(folder_of(final_))) {
    fail(fmt::format("writing '{}'", final_.string()), "an existing folder", "none at " + folder_of(final_).string(),
         "create it first");
  }
  if (std::filesystem::is_directory(final_)) {
    fail(fmt::format("writing '{}'", final_.string()), "a file name", "a folder", "name a file inside it");
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

std::string read_file(const std::filesystem::path& path, std::string_view doing) {
  std::error_code error;
  const std::string what = fmt::format("{} '{}'", doing, path.string());
  if (!std::filesystem::exists(path, error)) fail(what, "a file", "nothing at that path", "check the path");
  if (std::filesystem::is_directory(path, error)) fail(what, "a file", "a folder", "name the file itself");
  std::ifstream file(path, std::ios::binary);
  // In one piece of the size the file says it has: a growing buffer would touch every page of a model three times.
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::string text(error ? 0 : size, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (file && file.peek() != std::ifstream::traits_type::eof()) {  // a pipe, or a file of /proc, has more than it says
    std::ostringstream rest;
    rest << file.rdbuf();
    text += std::move(rest).str();
  }
  if (!file.is_open() || file.bad()) fail(what, "a readable file", errno_text(errno), "check its permissions");
  return text;
}

void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(fmt::format("creating folder '{}'", path.string()), "permission to create it", error.message(),
                  "choose another place with --out");
}

}  // namespace lano
