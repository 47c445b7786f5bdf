// What a server grants, on by default: no client can make it hold more, work longer for one request, or wait forever.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lano::serve {

struct Limits {
  std::size_t body_bytes = std::size_t{16} << 20;     // of one request; 413 beyond it
  std::size_t memory_bytes = std::size_t{512} << 20;  // for all requests together; 503 beyond it
  std::int64_t points = std::int64_t{1} << 20;        // of one request, over all samples; 422 beyond it
  std::int64_t values = std::int64_t{1} << 23;        // of one answer, over samples, times and channels; 422
  std::int64_t frames = 10000;                        // times or steps of one request; 422
  std::int64_t waiting = 1200;                        // predictions accepted and not answered; 429 beyond it
  std::int64_t solves = 8;                            // solver runs accepted and not answered; 429
  std::int64_t connections = 4000;                    // open at a time; beyond it they are told 503 and closed
  double header_seconds = 10;                         // for the head of a request, from its first byte
  double body_seconds = 30;                           // for its body, and for each piece of it
  double write_seconds = 30;                          // for taking an answer, and each piece of it
  double least_rate = 8192;                           // bytes a second of bodies and answers beyond those seconds
  double idle_seconds = 75;                           // between requests of one connection
  double answer_seconds = 60;                         // for an answer, waiting included; 503 beyond it
  double drain_seconds = 75;                          // for what runs when told to end: longer than an answer may take
};

inline constexpr std::size_t kHeaderBytes = 16384;  // of the head of a request; 431 beyond it

}  // namespace lano::serve
