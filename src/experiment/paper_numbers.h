// What the paper reports (Zhong and Yan), as far as it prints numbers: shown next to ours, never used in training. All
// are relative L2 errors; NaN where it has none.
#pragma once

#include <cstdint>
#include <string_view>

namespace lano::paper {

double table(std::string_view model, std::string_view benchmark);      // Table 2
double agents(std::string_view benchmark, std::int64_t agents);        // the table over M
double ablation(std::string_view row);                                 // Elasticity
double resolution(std::string_view benchmark, std::string_view mesh);  // trained and tested at "111x26"
double zero_shot(std::string_view model, std::string_view benchmark, std::string_view mesh);  // trained at 111x26

}  // namespace lano::paper
