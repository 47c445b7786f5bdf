// The incomplete beta function by its continued fraction (NIST DLMF 8.17.22), evaluated by the modified Lentz method:
// some sqrt(max(a, b)) terms. Quantiles by halving an interval. Bootstrap and sign flips cost about 2e7 draws at most.
#include "experiment/paired_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

constexpr std::int64_t kMostExactFlips = 15;  // 2^15 ways
constexpr std::int64_t kMostResamples = 20000, kLeastResamples = 2000, kMostDraws = 20000000;

// I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) / (1 + d1 / (1 + d2 / (1 + ...))), with
//   d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)),  d_2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)).
// This is the denominator, which converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;  // in the place of 0, by which is divided
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 0, fraction = 1;
  for (int j = 1; j < 10000; ++j) {
    const double m = j / 2;
    const double term = j % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                   : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + term * d);
    c = not_zero(1 + term / c);
    fraction *= c * d;
    if (std::abs(c * d - 1) < 1e-15) break;
  }
  return fraction;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void check_pairs(std::span<const double> reference, std::span<const double> other) {
  if (reference.size() != other.size() || reference.empty())
    fail("comparing paired errors", "as many of both, at least one",
         fmt::format("{} and {}", reference.size(), other.size()));
}

double quantile_of(const std::vector<double>& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::int64_t resamples_of(std::size_t count) {
  return std::clamp(kMostDraws / static_cast<std::int64_t>(count), kLeastResamples, kMostResamples);
}

void bootstrap(std::span<const double> reference, std::span<const double> other, PairedDifference& result) {
  const std::size_t count = reference.size();
  std::vector<double> differences;
  for (std::int64_t r = 0; r < resamples_of(count); ++r) {
    RandomStream stream(0, Purpose::race, static_cast<std::uint64_t>(r), 0);
    double a = 0, b = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto drawn = static_cast<std::size_t>(stream.below(count));
      a += reference[drawn];
      b += other[drawn];
    }
    differences.push_back(b / a - 1);
  }
  std::sort(differences.begin(), differences.end());
  // Resamples of n samples spread by sqrt((n - 1) / n) too little and know nothing of t's longer tails: the ends are
  // taken as far out as makes them those of a t interval where means are normal (Hesterberg, "What teachers should know
  // about the bootstrap", 2015, the expanded percentile interval).
  const auto n = static_cast<double>(count);
  const double reach = std::sqrt(n / (n - 1)) * student_t_quantile((1 + kConfidence) / 2, n - 1);
  const double outside = 0.5 * std::erfc(reach / std::numbers::sqrt2);
  result.low = quantile_of(differences, outside);
  result.high = quantile_of(differences, 1 - outside);
}

// Where the recipes are the same, swapping their errors within a sample changes nothing: every pattern of signs of the
// differences is as likely.
double sign_flips(std::span<const double> reference, std::span<const double> other) {
  std::vector<double> differences;
  double size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    differences.push_back(other[i] - reference[i]);
    size += std::abs(differences.back());
  }
  // Sums that are equal but for the rounding of another order count as equal.
  const double seen = std::abs(std::accumulate(differences.begin(), differences.end(), 0.0)) - 1e-12 * size;
  const auto as_large = [&](auto&& negative) {
    double sum = 0;
    for (std::size_t i = 0; i < differences.size(); ++i) sum += negative(i) ? -differences[i] : differences[i];
    return std::abs(sum) >= seen;
  };
  std::int64_t count = 0;
  if (static_cast<std::int64_t>(differences.size()) <= kMostExactFlips) {
    const std::uint64_t ways = std::uint64_t{1} << differences.size();
    for (std::uint64_t way = 0; way < ways; ++way)
      count += as_large([&](std::size_t i) { return (way >> i & 1) != 0; });
    return static_cast<double>(count) / static_cast<double>(ways);
  }
  const std::int64_t drawn = resamples_of(differences.size());
  for (std::int64_t r = 0; r < drawn; ++r) {
    RandomStream stream(0, Purpose::race, static_cast<std::uint64_t>(r), 1);
    std::uint32_t bits = 0;
    count += as_large([&](std::size_t i) {
      if (i % 32 == 0) bits = stream.next();
      return (bits >> (i % 32) & 1) != 0;
    });
  }
  // What was seen is one of the ways, so that p is never 0.
  return static_cast<double>(count + 1) / static_cast<double>(drawn + 1);
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front / (a * beta_fraction(a, b, x));
  return 1 - front / (b * beta_fraction(b, a, 1 - x));
}

double student_t_tail(double t, double freedom) {
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_t_quantile(double probability, double freedom) {
  if (!(probability > 0 && probability < 1) || !(freedom > 0))
    fail("looking for a quantile of Student's t", "a probability between 0 and 1 and degrees of freedom above 0",
         fmt::format("{} and {}", probability, freedom));
  const double tail = 2 * std::min(probability, 1 - probability);
  double low = 0, high = 1;
  while (student_t_tail(high, freedom) > tail) high *= 2;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    (student_t_tail(middle, freedom) > tail ? low : high) = middle;
  }
  return probability < 0.5 ? -high : high;
}

PairedDifference paired_over_seeds(std::span<const double> reference, std::span<const double> other) {
  check_pairs(reference, other);
  PairedDifference result;
  const auto count = static_cast<double>(reference.size());
  const double base = mean_of(reference), mean = mean_of(other) - base;
  result.count = static_cast<std::int64_t>(reference.size());
  result.difference = mean / base;
  if (reference.size() < 2) return result;
  double squares = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double off = other[i] - reference[i] - mean;
    squares += off * off;
  }
  const double error = std::sqrt(squares / (count - 1) / count);
  const double reach = student_t_quantile((1 + kConfidence) / 2, count - 1) * error;
  result.low = (mean - reach) / base;
  result.high = (mean + reach) / base;
  result.probability = error > 0 ? student_t_tail(mean / error, count - 1) : mean == 0 ? 1 : 0;
  return result;
}

PairedDifference paired_over_samples(std::span<const double> reference, std::span<const double> other) {
  check_pairs(reference, other);
  PairedDifference result;
  result.count = static_cast<std::int64_t>(reference.size());
  result.difference = mean_of(other) / mean_of(reference) - 1;
  if (reference.size() < 2) return result;
  bootstrap(reference, other, result);
  result.probability = sign_flips(reference, other);
  return result;
}

}  // namespace lano
