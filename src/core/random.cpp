// Philox multiplies two counter words by odd constants and mixes the high halves with a key that is incremented by Weyl
// constants each round; ten rounds pass the BigCrush battery (reference in the header).
#include "core/random.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;

std::uint32_t word(std::uint64_t value, const char* name) {
  if (value > std::numeric_limits<std::uint32_t>::max()) {
    fail("making a random stream", std::string(name) + " below 2^32", std::to_string(value), "use a smaller index");
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t step, std::uint64_t sample)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, word(sample, "sample"), word(step, "step"), static_cast<std::uint32_t>(purpose)} {}

std::uint32_t RandomStream::next() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double RandomStream::uniform() {
  const std::uint64_t high = next() >> 6;  // 26 bits
  const std::uint64_t low = next() >> 6;   // 26 bits
  return (static_cast<double>((high << 26) | low) + 0.5) * 0x1.0p-52;
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Reject the incomplete last multiple of `bound`, so that every residue is equally likely.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  for (;;) {
    const std::uint64_t high = next();
    const std::uint64_t value = (high << 32) | next();
    if (value < limit) return value % bound;
  }
}

void shuffle(std::span<std::int64_t> values, RandomStream& stream) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[stream.below(i)]);
}

}  // namespace lano
