// Sizes that follow from the switches of a LANO and the data it was made for.
#pragma once

#include <cstdint>
#include <vector>

#include "model_spec/lano_config.h"

namespace lano {

// Points of the reference grid per axis (position = "reference").
inline constexpr std::int64_t kReferenceNodes = 8;

// Features per point before the input fields: its coordinates, or its distances to the nodes of the reference grid.
std::int64_t position_width(Position position, std::int64_t dims);

// The nodes of the reference grid, [8^dx, dx], last axis fastest, in normalised coordinates.
std::vector<float> reference_nodes(const LanoShape& shape);

// The patch grid of a number of agents requested at run time. That of training for the trained number; else {agents}
// along the order, or the nearest patch grid of good aspect on the trained mesh. Fails if the model has latent agents
// and another number is requested.
std::vector<std::int64_t> patches_for(const LanoConfig& config, const LanoShape& shape, std::int64_t agents);

// How strongly a head of a model whose agents have a place (model.exchange) prefers agents near a point: its logits
// fall by this times the squared distance in patches. The first of several heads sees all equally.
double nearness_of_head(std::int64_t head, std::int64_t heads);

}  // namespace lano
