// FNV-1a, 64 bits: detects accidents (a damaged file, other contents), not attacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lano {

class Fnv {
 public:
  template <class Values>
  void add(const Values& values) {
    for (const std::byte byte : std::as_bytes(std::span(values)))
      value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * 1099511628211ull;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ull;
};

}  // namespace lano
