// Is the difference of two recipes luck? Two answers, for two kinds of luck: over seeds (another initialisation and
// order) by Student's t on paired differences, and over samples (another validation split, the trained models as they
// are) by a paired bootstrap of the ratio of means and a sign-flip permutation test. Numbers are the same at every
// call.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace lano {

// I_x(a, b), the incomplete beta function divided by the whole one; a, b > 0 and x in [0, 1].
double incomplete_beta(double a, double b, double x);

// P(|T| >= |t|) of Student's t with `freedom` degrees of freedom.
double student_t_tail(double t, double freedom);
// t with P(T <= t) = probability, for probabilities in (0, 1).
double student_t_quantile(double probability, double freedom);

inline constexpr double kConfidence = 0.95;

// Differences are shares of the reference's mean: -0.1 is ten percent lower. NaN: unknown.
struct PairedDifference {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::int64_t count = 0;                  // pairs
  double difference = kUnknown;            // mean(other) / mean(reference) - 1
  double low = kUnknown, high = kUnknown;  // the interval that holds it with kConfidence
  double probability = kUnknown;           // p: of a difference as large if there is none
  bool excludes_zero() const { return low > 0 || high < 0; }
};

// Pairs are seeds: mean difference +- t(K - 1) s / sqrt(K). One seed has a difference and no interval.
PairedDifference paired_over_seeds(std::span<const double> reference, std::span<const double> other);

// Pairs are samples. The interval holds the middle of the ratios of means of samples drawn again with replacement, both
// errors of a sample together, widened for few samples. p is the share of all ways to swap reference and other within
// samples that give a difference of means as large: every way up to 15 samples, else some twenty thousand drawn at
// random.
PairedDifference paired_over_samples(std::span<const double> reference, std::span<const double> other);

}  // namespace lano
