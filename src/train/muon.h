// Muon (Jordan et al. 2024): a step of the momentum's polar factor instead of the momentum itself, so that every
// direction of a linear map learns at the same pace, however small its gradient. On plain memory, a thread per matrix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lano {

// Rows and columns of a matrix that lies at `first` of a flat buffer, row by row.
struct Matrix {
  std::size_t first = 0;
  std::int64_t rows = 0, columns = 0;
  bool decays = true;
};

struct MuonStep {
  double rate = 0, momentum = 0.95, weight_decay = 0;
};

// For each matrix: m <- momentum m + (1 - momentum) g;  d = (1 - momentum) g + momentum m (Nesterov's look ahead);
// p <- p (1 - rate wd) - rate 0.2 sqrt(max(rows, columns)) polar(d). Entries of a polar factor have the root mean
// square 1/sqrt(max(rows, columns)), those of AdamW's steps about 0.2: both learn at one rate.
void muon_step(const MuonStep& step, std::span<const Matrix> matrices, std::span<float> parameters,
               std::span<const float> gradients, std::span<float> momentum);

// The polar factor U V' of x = U S V' [rows, columns], by five steps of a Newton-Schulz iteration (a polynomial of
// degree five): singular values end between 0.7 and 1.2, those below a hundredth of the largest lower. x zero stays
// zero.
void polar_factor(std::int64_t rows, std::int64_t columns, float* x);

}  // namespace lano
