#include "kernels/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace lano::kernels {
namespace {

constexpr std::int64_t kLarge = 1 << 20;  // floats: 4 MB

constexpr std::size_t kHugePage = std::size_t{1} << 21;

std::size_t whole_pages(std::int64_t size) {
  return (static_cast<std::size_t>(size) * sizeof(float) + kHugePage - 1) / kHugePage * kHugePage;
}

// Large pieces take addresses only, and memory page by page once it is written to: a rank that has a part of a mesh
// uses the numbers of its points in the whole one, and pays for its own.
float* map_pages(std::int64_t size) {
  const std::size_t bytes = whole_pages(size);
  void* const found =
      ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(found);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  if (before < kHugePage) ::munmap(begin + before + bytes, kHugePage - before);
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);  // advice only: no matter if it is not taken
  return reinterpret_cast<float*>(begin + before);
}

class Kept {
 public:
  struct Piece {
    float* memory = nullptr;
    std::int64_t size = 0;
  };

  // The smallest kept piece of at least `size` floats and at most `more` beyond, or none.
  Piece take(std::int64_t size, std::int64_t more) {
    const std::lock_guard lock(mutex_);
    std::size_t best = idle_.size();
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (idle_[i].size >= size && idle_[i].size <= size + more &&
          (best == idle_.size() || idle_[i].size < idle_[best].size))
        best = i;
    }
    if (best == idle_.size()) return {};
    const Piece found = idle_[best];
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(best));
    idle_size_ -= found.size;
    use(found.size);
    return found;
  }
  void count(std::int64_t size) {
    const std::lock_guard lock(mutex_);
    use(size);
  }
  void give_back(Piece piece) {
    const std::lock_guard lock(mutex_);
    used_ -= piece.size;
    idle_.push_back(piece);
    idle_size_ += piece.size;
    trim(most_);
  }
  std::int64_t idle() {
    const std::lock_guard lock(mutex_);
    return idle_size_;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    trim(0);
    most_ = used_;
  }

 private:
  static void give_up(const Piece& piece) { ::munmap(piece.memory, whole_pages(piece.size)); }
  void use(std::int64_t size) {
    used_ += size;
    most_ = std::max(most_, used_);
    trim(most_);
  }
  // Lets the longest kept go until all together are within the limit.
  void trim(std::int64_t limit) {
    std::size_t gone = 0;
    for (; gone < idle_.size() && used_ + idle_size_ > limit; ++gone) {
      idle_size_ -= idle_[gone].size;
      give_up(idle_[gone]);
    }
    idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(gone));
  }
  std::mutex mutex_;
  std::vector<Piece> idle_;
  std::int64_t used_ = 0, idle_size_ = 0, most_ = 0;  // floats
};

Kept& kept() {
  static Kept* const all = new Kept;  // never destroyed: buffers may be given back after main
  return *all;
}

}  // namespace

void release_kept_buffers() { kept().release(); }

std::int64_t kept_floats() { return kept().idle(); }

Buffer::Buffer(std::int64_t size) : size_(size) {
  if (size <= 0) return;
  const bool large = size >= kLarge;
  // A rank that has a part of a mesh wrote to its part alone: what had another size had its part elsewhere.
  const std::int64_t more = mesh_ranks().alone() ? size / 4 : 0;
  Kept::Piece piece = large ? kept().take(size, more) : Kept::Piece{};
  if (piece.memory == nullptr && large) {
    piece = {map_pages(size), size};
    kept().count(size);
  } else if (piece.memory == nullptr) {
    void* found = nullptr;
    if (::posix_memalign(&found, 64, static_cast<std::size_t>(size) * sizeof(float)) != 0) throw std::bad_alloc();
    piece = {static_cast<float*>(found), size};
  }
  data_ = std::unique_ptr<float, GiveBackBuffer>(piece.memory, GiveBackBuffer{piece.size});
}

void Buffer::expect_parts(std::span<const Share> parts) {
  if (size_ < kLarge) return;
  const auto advise = [this](std::int64_t first, std::int64_t last, int advice) {
    const auto page = [](std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float) / kHugePage; };
    const std::size_t begin = page(first) * kHugePage, end = (page(last - 1) + 1) * kHugePage;
    if (first < last) ::madvise(reinterpret_cast<char*>(data()) + begin, end - begin, advice);
  };
  advise(0, size_, MADV_NOHUGEPAGE);
  for (const Share& part : parts) advise(part.first, part.last, MADV_HUGEPAGE);
}

void GiveBackBuffer::operator()(float* p) const {
  if (size >= kLarge) {
    kept().give_back({p, size});
  } else {
    std::free(p);
  }
}

}  // namespace lano::kernels
