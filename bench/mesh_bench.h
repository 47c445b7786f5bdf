// One prediction of the runtime on a mesh of many points: time and memory per point.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace lano::bench {

// The paper's model (L = 8, H = 8, C = 128, M = 128) with random weights on a cloud in the plane, or on a square grid
// of about that many points. To be called in a fresh process. Fields: points, geometry, seconds, ns_per_point,
// points_per_s, peak_bytes (rise of the resident high-water mark over the call), bytes_per_point (the same per point),
// resident_bytes (the mark itself).
nlohmann::json measure_mesh(std::int64_t points, bool cloud, int threads);

}  // namespace lano::bench
