#include "data/part_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>

#include "core/error.h"

namespace lano {

static_assert(std::endian::native == std::endian::little, "the numbers of a dataset file are little-endian");

PartFile::PartFile(std::filesystem::path file, std::filesystem::path final_path)
    : file_(std::move(file)), final_(std::move(final_path)), descriptor_(::open(file_.c_str(), O_WRONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) fail_writing(errno);
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!finished_) ::unlink(file_.c_str());
}

void PartFile::fail_writing(int error_number) const {
  fail(fmt::format("writing '{}'", final_.string()), "space and permission to write", errno_text(error_number),
       "free space or choose another folder that all ranks reach; what was there before is kept");
}

void PartFile::write(std::int64_t place, std::int64_t before, std::span<const float> values) {
  auto bytes = std::as_bytes(values);
  auto at = static_cast<off_t>(place + before * static_cast<std::int64_t>(sizeof(float)));
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_writing(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    at += written;
  }
}

void PartFile::finish() {
  if (::fsync(descriptor_) != 0) fail_writing(errno);
  finished_ = true;
}

}  // namespace lano
