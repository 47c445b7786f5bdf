// Counter-based random numbers: a stream is a pure function of (seed, purpose, step, sample), so results do not depend
// on the order of work, the number of threads, or on where a run was resumed. Generator: Philox4x32-10 (Salmon, Moraes,
// Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). A stream is cheap to make and owned by one
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lano {

// What a stream is used for; part of its counter, so that purposes never share numbers. Values are stored in no file,
// but changing one changes every generated dataset: only append.
enum class Purpose : std::uint32_t {
  darcy_field = 1,
  initialise = 2,
  shuffle = 3,
  test = 4,
  burgers_field = 5,
  dropout = 6,
  elasticity = 7,
  plasticity = 8,
  airfoil = 9,
  pipe = 10,
  augment = 11,
  subset = 12,
  agents = 13,
  noise = 14,
  tune = 20,
  race = 21,
  split = 22,
  navier_stokes = 23
};

// One Philox4x32-10 block, exposed for the known-answer test.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint64_t step = 0, std::uint64_t sample = 0);

  std::uint32_t next();                      // 32 uniform bits
  double uniform();                          // in (0, 1), 52 bits
  double normal();                           // N(0,1) by Box-Muller
  std::uint64_t below(std::uint64_t bound);  // unbiased integer in [0, bound)

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

// Fisher-Yates with `stream`.
void shuffle(std::span<std::int64_t> values, RandomStream& stream);

}  // namespace lano
