// The passes of a network: what a pass keeps is laid out here (a tape), network_forward.cpp and network_backward.cpp
// fill it.
#include "kernels/network.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "kernels/network_parts.h"

namespace lano::kernels {
namespace {

AgentState carve_agents(Carver& carver, const Widths& w, const AgentPlaces& places, std::int64_t m,
                        std::int64_t padded_agents, bool training) {
  AgentState s{};
  s.pooled = carver.take(m * w.padded_width);
  s.a = carver.take(m * w.padded_width);
  s.a_ahead = carver.take(w.c * padded_agents);
  s.a_back = training ? carver.take(w.heads * m * w.padded_head) : nullptr;
  s.maxima = carver.take(w.heads * padded_agents);
  s.inverse = carver.take(w.heads * padded_agents);
  s.y = carver.take(w.c * padded_agents);
  s.exchanged = places.features == 0 ? s.y : carver.take(w.c * padded_agents);
  s.room = carver.take(w.heads * exchange_room(places, w.d));
  s.y_ahead = carver.take(w.heads * m * w.padded_head);
  s.y_back = training ? carver.take(w.c * padded_agents) : nullptr;
  return s;
}

enum class Keep {
  nothing,
  memory,
  everything
};  // of a pass that predicts, remembers, or records for the backward pass

std::shared_ptr<Tape> make_tape(const PackedWeights& p, std::span<const Sample> samples, Keep keep) {
  // A memory is of one rank: other points are decoded against all of it.
  Ranks& ranks = keep == Keep::memory ? one_rank() : mesh_ranks();
  const bool training = keep == Keep::everything, each = keep != Keep::nothing;
  if (samples.empty()) fail_plainly("applying the fused engine", "there are no samples");
  auto tape = std::make_shared<Tape>();
  tape->samples.assign(samples.begin(), samples.end());
  for (const Sample& s : samples) {
    tape->points.push_back(s.geometry->points);
    tape->total += s.geometry->points;
  }
  tape->m = samples[0].geometry->agents;
  tape->padded_agents = padded(tape->m);
  tape->partition = divide(tape->points, training ? kTrainingUnit : kPredictionUnit, groups_of(p.w));
  const bool halo = p.blocks[0].filter != nullptr || p.blocks[0].ffn_filter != nullptr;
  tape->part = std::make_unique<MeshPart>(ranks, tape->samples, tape->partition, training, halo, training);
  if (p.blocks[0].latent == nullptr) tape->pool = pool_pieces(tape->samples, tape->partition, tape->m);
  const Widths& w = p.w;
  const auto own = [&](std::int64_t size) {
    tape->memory.emplace_back(size);
    return tape->memory.back().data();
  };
  const auto rows = [&](std::int64_t stride) {  // of all points
    float* const all = own(tape->total * stride);
    tape->part->expect_own(tape->memory.back(), stride);
    return all;
  };
  tape->blocks.resize(p.blocks.size());
  float* f = rows(w.row);  // first of all: what a memory lets go again
  float* stats = rows(2);
  const bool stencil = p.blocks[0].filter != nullptr;
  float* v = stencil && !each ? rows(w.row) : nullptr;
  const bool fed = p.blocks[0].ffn_filter != nullptr;
  float* u = fed && !each ? rows(w.wide) : nullptr;
  std::vector<AgentState> shared_agents;
  for (std::size_t l = 0; l < p.blocks.size(); ++l) {
    BlockState& s = tape->blocks[l];
    s = {};
    s.f = f;
    s.stats1 = stats;
    if (training) {
      s.q = rows(w.row);
      s.k = rows(w.row);
      s.v = rows(w.row);
      s.z = rows(w.row);
      s.mid = rows(w.row);
      s.next = f = rows(w.row);
      s.u = s.h = rows(w.wide);
      if (fed) s.h = rows(w.wide);
      s.stats2 = rows(2);
      stats = rows(2);
      s.maxima = own(w.heads * tape->total);
      s.inverse = own(w.heads * tape->total);
    } else {
      s.mid = s.next = f;
      s.v = stencil && each ? rows(w.row) : v;
      s.u = fed && each ? rows(w.wide) : u;
    }
    if (p.shape.bias != Bias::none) {
      s.column1 = own(4 * tape->padded_agents);
      s.column2 = s.column1 + tape->padded_agents;
      s.logit_column1 = s.column2 + tape->padded_agents;
      s.logit_column2 = s.logit_column1 + tape->padded_agents;
    }
    if (each || l == 0) {
      Carver measure;
      carve_agents(measure, w, tape->samples[0].geometry->places, tape->m, tape->padded_agents, training);
      Carver carver(own(measure.used() * static_cast<std::int64_t>(samples.size())));
      for (std::size_t i = 0; i < samples.size(); ++i)
        shared_agents.push_back(
            carve_agents(carver, w, tape->samples[0].geometry->places, tape->m, tape->padded_agents, training));
    }
    s.agents = shared_agents;
    if (each) shared_agents.clear();
  }
  tape->last_stats = stats;
  return tape;
}

PointStream plain_stream(const Widths& w, const float* input, float* output) {
  return {[&w, input](std::int64_t first, std::int64_t, float*) { return input + first * w.inputs; },
          [&w, output](std::int64_t first, std::int64_t count, const float* rows, std::int64_t stride) {
            for (std::int64_t r = 0; r < count; ++r) {
              std::memcpy(output + (first + r) * w.outputs, rows + r * stride,
                          static_cast<std::size_t>(w.outputs) * sizeof(float));
            }
          }};
}

}  // namespace

void Network::predict(std::span<const Sample> samples, const PointStream& points, const float* time) const {
  const auto tape = make_tape(*packed_, samples, Keep::nothing);
  if (tape->part->whole() || !points.write || points.own_alone) return run_forward(*packed_, *tape, points, time);
  // On every rank all answers are written, those of the others too.
  const std::int64_t outputs = packed_->w.outputs;
  Buffer answers(tape->total * outputs);
  PointStream own = plain_stream(packed_->w, nullptr, answers.data());
  own.read = points.read;
  run_forward(*packed_, *tape, own, time);
  tape->part->share_points(answers.data(), outputs);
  parallel_for(static_cast<std::int64_t>(tape->partition.units.size()), [&](std::int64_t u, int) {
    const Unit& unit = tape->partition.units[static_cast<std::size_t>(u)];
    for_tiles(unit, tape->samples[static_cast<std::size_t>(unit.sample)],
              [&](const Tile& t) { points.write(t.point, t.rows, answers.data() + t.point * outputs, outputs); });
  });
}

void Network::predict(std::span<const Sample> samples, const float* input, const float* time, float* output) const {
  const auto tape = make_tape(*packed_, samples, Keep::nothing);
  run_forward(*packed_, *tape, plain_stream(packed_->w, input, output), time);
  tape->part->share_points(output, packed_->w.outputs);
}

std::shared_ptr<Tape> Network::record(std::span<const Sample> samples, const float* input, const float* time,
                                      float* output, const Dropout& dropout) const {
  auto tape = make_tape(*packed_, samples, Keep::everything);
  tape->dropout = dropout;
  run_forward(*packed_, *tape, plain_stream(packed_->w, input, output), time);
  tape->part->share_points(output, packed_->w.outputs);
  return tape;
}

std::shared_ptr<const Tape> Network::remember(const Sample& sample, const PointStream& points,
                                              const float* time) const {
  auto tape = make_tape(*packed_, {&sample, 1}, Keep::memory);
  run_forward(*packed_, *tape, points, time);
  tape->memory[0] = Buffer();  // f
  tape->memory[1] = Buffer();  // its statistics
  return tape;
}

}  // namespace lano::kernels
