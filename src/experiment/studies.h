// The paper's experiments as studies (experiment/study.h): which variants each trains, which evaluations it makes, and
// the paper's number for each if there is one. Each starts from recipes of the user's choice.
#pragma once

#include <string>
#include <vector>

#include "experiment/study.h"

namespace lano {

// The base of a study: a benchmark, or your own data, and a recipe with its dataset.
struct StudyBase {
  std::string benchmark;
  TrainConfig recipe;
};

// The same problem on another mesh.
struct MeshSet {
  std::string label;  // "111x26"
  std::filesystem::path data;
  double points = 0;
};

// Error against the number of agents: trained again for each, and one model trained with random numbers of them and
// evaluated at each. Numbers beyond a dataset's points are left out. The epochs are those of the recipe's own number,
// or the nearest in the list.
std::vector<Variant> agents_study(const StudyBase& base, std::vector<std::int64_t> agents);

// Error against depth and width, one changed at a time; the recipe's own sizes are the reference and join the lists.
// Where Muon learns, its rate follows the width by the square root, as in the automatic recipe.
std::vector<Variant> size_study(const StudyBase& base, std::vector<std::int64_t> depths,
                                std::vector<std::int64_t> widths);

// Trained and tested on each mesh; the epochs are those that the finest, the last, has time for.
std::vector<Variant> resolution_study(const StudyBase& base, const std::vector<MeshSet>& meshes);

// Trained on meshes[trained], evaluated on all others. One base per operator; each has the budget for itself.
std::vector<Variant> zero_shot_study(const std::vector<StudyBase>& operators, const std::vector<MeshSet>& meshes,
                                     std::size_t trained);

// Each switch of the model changed on its own (experiment/ablation.h).
std::vector<Variant> ablation_study(const StudyBase& base);

// Operators that step in time, evaluated at every step of the dataset, most of them after the frames they learned from.
std::vector<Variant> horizon_study(const std::vector<StudyBase>& operators);

}  // namespace lano
