// One Philox block of 128 bits serves eight channels: sixteen bits each, so rates are rounded to 1/65536.
#include "kernels/dropout.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace lano::kernels {

DropoutMask::DropoutMask(const Dropout& dropout, std::int64_t sample, std::int64_t block, Branch branch)
    : pass_(dropout.pass), threshold_(static_cast<std::uint32_t>(std::lround(dropout.rate * 65536))) {
  RandomStream stream(dropout.seed, Purpose::dropout, dropout.step, dropout.place + static_cast<std::uint64_t>(sample));
  const std::array<std::uint32_t, 2> of_sample{stream.next(), stream.next()};
  const auto half = static_cast<std::uint32_t>(2 * block + (branch == Branch::attention ? 0 : 1));
  const auto words = philox4x32({half, 0, 0, static_cast<std::uint32_t>(Purpose::dropout)}, of_sample);
  key_ = {words[0], words[1]};
  kept_ = static_cast<float>(65536.0 / (65536.0 - std::min<std::uint32_t>(threshold_, 65535)));
}

void DropoutMask::row(std::int64_t point, std::int64_t width, float* factors) const {
  const auto low = static_cast<std::uint32_t>(point), high = static_cast<std::uint32_t>(point >> 32);
  for (std::int64_t c = 0; c < width; c += 8) {
    const auto words = philox4x32({static_cast<std::uint32_t>(c / 8), low, high, pass_}, key_);
    for (std::int64_t i = 0; i < std::min<std::int64_t>(8, width - c); ++i) {
      const std::uint32_t bits = words[static_cast<std::size_t>(i / 2)] >> (i % 2 * 16) & 0xffffu;
      factors[c + i] = bits < threshold_ ? 0.0f : kept_;
    }
  }
}

}  // namespace lano::kernels
