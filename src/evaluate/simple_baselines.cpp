// Ridge in its dual form: with features X (one row per training sample, centred, each channel scaled) and centred
// outputs Y, the prediction for features x is (x X') (X X' + l I)^-1 Y, all through K = X X' = U diag(e) U': principal
// components with e >> l are used, those with e << l are not. l is the one of a few with the least error when each
// sample is left out in turn: with H = U diag(e/(e+l)) U' the residual of sample i left out is ((I - H) Y)_i / (1 -
// H_ii), whose norm needs Y Y' alone. Cost: n^2 (features + outputs) + n^3 for n samples.
#include "evaluate/simple_baselines.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "data/sample_feed.h"
#include "evaluate/evaluation.h"

namespace lano {
namespace {

using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr std::int64_t kPiece = std::int64_t{64} << 20;

std::vector<std::int64_t> evenly(const std::vector<std::int64_t>& ids, std::int64_t most) {
  const auto count = static_cast<std::int64_t>(ids.size());
  if (count <= most) return ids;
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < most; ++i) some.push_back(ids[static_cast<std::size_t>(i * count / most)]);
  return some;
}

Eigen::Map<const Eigen::RowVectorXf> row_of(std::span<const float> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// a b^T in double, a few columns at a time: in float the smallest shares below would be lost in rounding, and the
// choice would depend on the number of threads.
Eigen::MatrixXd products(const Rows& a, const Rows& b) {
  constexpr Eigen::Index kColumns = 2048;
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(a.rows(), b.rows());
  for (Eigen::Index first = 0; first < a.cols(); first += kColumns) {
    const Eigen::Index count = std::min(kColumns, a.cols() - first);
    sums += a.middleCols(first, count).cast<double>() * b.middleCols(first, count).cast<double>().transpose();
  }
  return sums;
}

}  // namespace

struct SimpleBaselines::Parts {
  std::int64_t given = 0;                 // frames that are known
  std::int64_t frames = 1, channels = 1;  // of the output; frames that are evaluated
  std::int64_t count = 0;                 // samples used
  std::vector<double> mean_value;         // of each output channel: clouds of different sizes
  Rows features, outputs;                 // one row per sample; outputs centred
  Eigen::RowVectorXf feature_mean, output_mean;
  Eigen::VectorXf feature_scale;  // of each column's channel
  Eigen::MatrixXd weights;        // (K + l I)^-1

  std::vector<float> features_of(const SetDescription& set, const Samples& samples, std::int64_t i) const {
    const auto input = samples.input_of(i, set.input_channels());
    std::vector<float> all(input.begin(), input.end());
    if (!samples.shared_coordinates) {
      const auto x = samples.coordinates_of(i, set.dims());
      all.insert(all.end(), x.begin(), x.end());
    }
    const auto known = samples.output_of(i, channels).first(known_size(samples, i));
    all.insert(all.end(), known.begin(), known.end());
    return all;
  }
  std::size_t known_size(const Samples& samples, std::int64_t i) const {
    return static_cast<std::size_t>(given * samples.points_of(i) * channels);
  }
  // The frames that are evaluated.
  std::span<const float> output_of(const Samples& samples, std::int64_t i) const {
    return samples.output_of(i, channels).subspan(known_size(samples, i));
  }
  void fit_ridge();
};

void SimpleBaselines::Parts::fit_ridge() {
  const Eigen::MatrixXd k = products(features, features), g = products(outputs, outputs);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(k);
  const Eigen::VectorXd e = solver.eigenvalues().cwiseMax(0.0);
  const Eigen::MatrixXd& u = solver.eigenvectors();
  const double largest = std::max(e.maxCoeff(), std::numeric_limits<double>::min());
  double best = std::numeric_limits<double>::infinity(), chosen = largest;
  for (const double share : {1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
    const double l = share * largest;
    const Eigen::MatrixXd rest = u * (l / (e.array() + l)).matrix().asDiagonal() * u.transpose();  // I - H
    const Eigen::ArrayXd squares = (rest * g).cwiseProduct(rest).rowwise().sum();
    const double error = (squares.max(0.0) / rest.diagonal().array().square()).sum();
    if (error < best) {
      best = error;
      chosen = l;
    }
  }
  weights = u * (1 / (e.array() + chosen)).matrix().asDiagonal() * u.transpose();
}

const BaselineError* best_of(const std::vector<BaselineError>& baselines) {
  const auto best = std::min_element(baselines.begin(), baselines.end(),
                                     [](const auto& a, const auto& b) { return a.relative_l2 < b.relative_l2; });
  return best == baselines.end() ? nullptr : &*best;
}

std::string baselines_text(const std::vector<BaselineError>& baselines) {
  std::string text;
  for (const BaselineError& one : baselines)
    text += fmt::format("{}{} {:.2e}", text.empty() ? "" : ", ", one.name, one.relative_l2);
  return text;
}

SimpleBaselines::~SimpleBaselines() = default;
std::int64_t SimpleBaselines::samples() const { return parts_->count; }

SimpleBaselines::SimpleBaselines(const DatasetReader& reader, const std::vector<std::int64_t>& train,
                                 std::int64_t given_frames, std::int64_t bytes)
    : parts_(std::make_unique<Parts>()) {
  Parts& p = *parts_;
  const SetDescription& set = reader.description();
  if (!reader.has_output() || train.empty())
    fail_plainly("computing simple baselines", "there are no training samples with output", "import with --train");
  p.given = given_frames;
  p.channels = set.output_channels();
  const auto all = static_cast<std::int64_t>(train.size());
  const std::int64_t each = std::max<std::int64_t>(1, sample_bytes(reader, train) / all);
  const std::vector<std::int64_t> ids = evenly(train, std::clamp<std::int64_t>(bytes / each, 1, kMostSamples));
  p.count = static_cast<std::int64_t>(ids.size());
  std::vector<double> sums(static_cast<std::size_t>(p.channels), 0);
  double values = 0;
  Eigen::Index row = 0;
  read_in_pieces(reader, ids, kPiece, [&](const Samples& piece) {
    p.frames = piece.frames;
    for (std::int64_t i = 0; i < piece.count; ++i, ++row) {
      const auto output = p.output_of(piece, i);
      for (std::size_t v = 0; v < output.size(); ++v) sums[v % sums.size()] += output[v];
      values += static_cast<double>(output.size()) / static_cast<double>(p.channels);
      if (!piece.counts.empty()) continue;
      const std::vector<float> features = p.features_of(set, piece, i);
      if (row == 0) {
        p.features.resize(p.count, static_cast<Eigen::Index>(features.size()));
        p.outputs.resize(p.count, static_cast<Eigen::Index>(output.size()));
      }
      p.features.row(row) = row_of(features);
      p.outputs.row(row) = row_of(output);
    }
  });
  for (const double sum : sums) p.mean_value.push_back(sum / std::max(values, 1.0));
  if (p.outputs.size() == 0) return;
  p.output_mean = p.outputs.colwise().mean();
  p.outputs.rowwise() -= p.output_mean;
  if (p.features.cols() == 0) return;
  p.feature_mean = p.features.colwise().mean();
  p.features.rowwise() -= p.feature_mean;
  // One scale per block of columns that is one field: input, coordinates, known frames. Within a field, size matters.
  const auto points = static_cast<Eigen::Index>(set.points());
  Eigen::Index first = 0;
  p.feature_scale = Eigen::VectorXf::Ones(p.features.cols());
  std::vector<std::int64_t> blocks{set.input_channels(), reader.shared_coordinates() ? 0 : set.dims()};
  blocks.insert(blocks.end(), static_cast<std::size_t>(p.given), p.channels);
  for (const std::int64_t channels : blocks) {
    for (std::int64_t c = 0; c < channels; ++c) {
      double squares = 0;
      for (Eigen::Index n = 0; n < points; ++n) squares += p.features.col(first + n * channels + c).squaredNorm();
      if (!(squares > 0)) continue;
      const auto scale = static_cast<float>(1 / std::sqrt(squares / static_cast<double>(p.count * points)));
      for (Eigen::Index n = 0; n < points; ++n) p.feature_scale(first + n * channels + c) = scale;
    }
    first += points * channels;
  }
  p.features *= p.feature_scale.asDiagonal();
  if (p.count > 2) p.fit_ridge();
}

std::vector<BaselineError> SimpleBaselines::judge(const DatasetReader& reader,
                                                  std::span<const std::int64_t> ids) const {
  const Parts& p = *parts_;
  const SetDescription& set = reader.description();
  std::vector<BaselineError> errors;
  std::vector<double> sums;
  double judged = 0;
  read_in_pieces(reader, ids, kPiece, [&](const Samples& piece) {
    const auto points = static_cast<std::size_t>(piece.first_point(piece.count) * p.channels);
    std::vector<std::pair<std::string, Prediction>> answers;
    const auto answer = [&](const char* name) -> Prediction& {
      answers.push_back({name, {}});
      answers.back().second.frames = piece.frames;
      answers.back().second.values.resize(points * static_cast<std::size_t>(piece.frames));
      return answers.back().second;
    };
    answers.reserve(4);
    // write(i, room): the evaluated frames of sample i, without the known ones.
    const auto fill = [&](Prediction& to, const auto& write) {
      std::size_t at = 0;
      for (std::int64_t i = 0; i < piece.count; ++i) {
        const std::size_t size = piece.output_of(i, p.channels).size(), skip = p.known_size(piece, i);
        write(i, std::span(to.values).subspan(at + skip, size - skip));
        at += size;
      }
    };
    const bool same_points = piece.counts.empty() && p.outputs.size() > 0 &&
                             p.output_of(piece, 0).size() == static_cast<std::size_t>(p.outputs.cols());
    if (!same_points) {
      fill(answer("mean value"), [&](std::int64_t, std::span<float> room) {
        for (std::size_t v = 0; v < room.size(); ++v)
          room[v] = static_cast<float>(p.mean_value[v % p.mean_value.size()]);
      });
    } else {
      const auto put = [](const Eigen::RowVectorXf& from, std::span<float> room) {
        std::copy_n(from.data(), room.size(), room.begin());
      };
      fill(answer("mean field"), [&](std::int64_t, std::span<float> room) { put(p.output_mean, room); });
      if (p.features.cols() > 0) {
        Rows asked(piece.count, p.features.cols());
        for (std::int64_t i = 0; i < piece.count; ++i) {
          const std::vector<float> features = p.features_of(set, piece, i);
          asked.row(i) = (row_of(features) - p.feature_mean) * p.feature_scale.asDiagonal();
        }
        fill(answer("nearest sample"), [&](std::int64_t i, std::span<float> room) {
          Eigen::Index nearest = 0;
          (p.features.rowwise() - asked.row(i)).rowwise().squaredNorm().minCoeff(&nearest);
          put(p.outputs.row(nearest) + p.output_mean, room);
        });
        if (p.weights.size() > 0) {
          const Rows mix = (products(asked, p.features) * p.weights).cast<float>();
          const Rows found = mix * p.outputs;
          fill(answer("ridge"),
               [&](std::int64_t i, std::span<float> room) { put(found.row(i) + p.output_mean, room); });
        }
      }
    }
    if (p.given > 0) {
      fill(answer("persistence"), [&](std::int64_t i, std::span<float> room) {
        const std::size_t known = p.known_size(piece, i), frame = known / static_cast<std::size_t>(p.given);
        const auto last = piece.output_of(i, p.channels).subspan(known - frame, frame);
        for (std::size_t v = 0; v < room.size(); ++v) room[v] = last[v % frame];
      });
    }
    sums.resize(answers.size(), 0);
    errors.resize(answers.size());
    for (std::size_t a = 0; a < answers.size(); ++a) {
      const Evaluation one = evaluate(answers[a].second, set, piece, p.given);
      errors[a].name = answers[a].first;
      sums[a] += one.relative_l2.summary.mean * static_cast<double>(piece.count);
    }
    judged += static_cast<double>(piece.count);
  });
  for (std::size_t a = 0; a < errors.size(); ++a) errors[a].relative_l2 = sums[a] / judged;
  return errors;
}

}  // namespace lano
