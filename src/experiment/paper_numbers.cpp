#include "experiment/paper_numbers.h"

#include <algorithm>
#include <array>
#include <limits>

namespace lano::paper {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 5> kBenchmarks{"elasticity", "plasticity", "airfoil", "pipe", "darcy"};

struct TableRow {
  std::string_view model;
  std::array<double, 5> hundredths;  // in units of 1e-2
};
constexpr std::array<TableRow, 15> kTable{{{"fno", {kNone, kNone, kNone, kNone, 1.08}},
                                           {"wmt", {3.59, 0.76, 0.75, 0.77, 0.82}},
                                           {"u-fno", {2.39, 0.39, 2.69, 0.56, 1.83}},
                                           {"geo-fno", {2.29, 0.74, 1.38, 0.67, 1.08}},
                                           {"u-no", {2.58, 0.34, 0.78, 1.00, 1.13}},
                                           {"f-fno", {2.63, 0.47, 0.78, 0.70, 0.77}},
                                           {"lsm", {2.18, 0.25, 0.59, 0.50, 0.65}},
                                           {"galerkin", {2.40, 1.20, 1.18, 0.98, 0.84}},
                                           {"ht-net", {kNone, 3.33, 0.65, 0.59, 0.79}},
                                           {"oformer", {1.83, 0.17, 1.83, 1.68, 1.24}},
                                           {"gnot", {0.86, 3.36, 0.76, 0.47, 1.05}},
                                           {"factformer", {kNone, 3.12, 0.71, 0.60, 1.09}},
                                           {"ono", {1.18, 0.48, 0.61, 0.52, 0.76}},
                                           {"transolver", {0.64, 0.12, 0.53, 0.33, 0.57}},
                                           {"lano", {0.40, 0.11, 0.40, 0.31, 0.45}}}};

struct AgentsRow {
  std::int64_t agents;
  std::array<double, 5> thousandths;  // in units of 1e-3
};
constexpr std::array<AgentsRow, 6> kAgents{{{8, {4.71, 1.08, 4.40, 4.11, 6.29}},
                                            {16, {4.42, 1.04, 4.23, 4.15, 5.74}},
                                            {32, {5.32, 1.13, 3.94, 3.48, 5.19}},
                                            {64, {4.03, 1.12, 3.93, 3.28, 4.80}},
                                            {128, {3.63, 1.11, 3.99, 3.12, 4.51}},
                                            {256, {3.54, 1.03, 4.03, 3.02, 4.24}}}};

struct Named {
  std::string_view name;
  double error;
};

template <std::size_t n>
double named(const std::array<Named, n>& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Named& row) { return row.name == name; });
  return found == rows.end() ? kNone : found->error;
}

// The column of a benchmark; none beyond the paper's.
std::size_t column(std::string_view benchmark) {
  return static_cast<std::size_t>(std::find(kBenchmarks.begin(), kBenchmarks.end(), benchmark) - kBenchmarks.begin());
}

}  // namespace

double table(std::string_view model, std::string_view benchmark) {
  const auto row = std::find_if(kTable.begin(), kTable.end(), [&](const TableRow& r) { return r.model == model; });
  const std::size_t at = column(benchmark);
  return row == kTable.end() || at == kBenchmarks.size() ? kNone : 1e-2 * row->hundredths[at];
}

double agents(std::string_view benchmark, std::int64_t agents) {
  const auto row = std::find_if(kAgents.begin(), kAgents.end(), [&](const AgentsRow& r) { return r.agents == agents; });
  const std::size_t at = column(benchmark);
  return row == kAgents.end() || at == kBenchmarks.size() ? kNone : 1e-3 * row->thousandths[at];
}

double ablation(std::string_view row) {
  constexpr std::array<Named, 5> kRows{{{"reference", 4.03e-3},
                                        {"without bias", 4.07e-3},
                                        {"without DWC", 7.51e-3},
                                        {"without bias and DWC", 1.02e-2},
                                        {"latent agents", 4.90e-3}}};
  return named(kRows, row);
}

double resolution(std::string_view benchmark, std::string_view mesh) {
  constexpr std::array<Named, 3> kMeshes{{{"74x17", 5.72e-3}, {"111x26", 5.04e-3}, {"221x51", 3.98e-3}}};
  return benchmark == "airfoil" ? named(kMeshes, mesh) : kNone;
}

double zero_shot(std::string_view model, std::string_view benchmark, std::string_view mesh) {
  constexpr std::array<Named, 3> kTransolver{{{"111x26", 5.06e-3}, {"221x51", 6.22e-2}, {"74x17", 6.46e-2}}},
      kLano{{{"111x26", 5.04e-3}, {"221x51", 6.04e-2}, {"74x17", 6.82e-2}}};
  if (benchmark != "airfoil") return kNone;
  return model == "lano" ? named(kLano, mesh) : model == "transolver" ? named(kTransolver, mesh) : kNone;
}

}  // namespace lano::paper
