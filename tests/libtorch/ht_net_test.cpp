#include "libtorch/baseline_cases.h"

namespace lano::ht_net_test {
namespace {

using namespace test;

// The hierarchy cell by cell, for one sample and one head: value of every cell of a level as a vector [D].
using Level = std::vector<std::vector<torch::Tensor>>;

Level reduced(const Level& fine, const torch::Tensor& maps) {  // maps [4D,D]
  Level coarse((fine.size() + 1) / 2, std::vector<torch::Tensor>((fine[0].size() + 1) / 2));
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    for (std::size_t j = 0; j < coarse[0].size(); ++j) {
      coarse[i][j] = torch::zeros({6}, torch::kFloat64);
      for (std::size_t s = 0; s < 4; ++s) {
        const std::size_t row = 2 * i + s / 2, column = 2 * j + s % 2;
        if (row < fine.size() && column < fine[0].size()) {
          coarse[i][j] =
              coarse[i][j] + torch::matmul(fine[row][column], maps.narrow(0, 6 * static_cast<std::int64_t>(s), 6));
        }
      }
    }
  }
  return coarse;
}

Level attended(const Level& q, const Level& k, const Level& v, std::size_t window) {
  Level h = q;
  for (std::size_t i = 0; i < q.size(); ++i) {
    for (std::size_t j = 0; j < q[0].size(); ++j) {
      torch::Tensor sum = torch::zeros({6}, torch::kFloat64);
      double weights = 0;
      for (std::size_t y = i / window * window; y < std::min(q.size(), (i / window + 1) * window); ++y) {
        for (std::size_t x = j / window * window; x < std::min(q[0].size(), (j / window + 1) * window); ++x) {
          const double weight = std::exp(q[i][j].dot(k[y][x]).item<double>() / std::sqrt(6.0));
          weights += weight;
          sum = sum + weight * v[y][x];
        }
      }
      h[i][j] = sum / weights;
    }
  }
  return h;
}

TEST(HtNet, AgreesWithItsEquationsCellByCell) {
  const LanoShape shape = on_mesh({7, 5});
  const auto model = double_model(small_config("ht-net", 1), shape);
  const Batch batch = batch_of(shape, 1);
  const ByHand hand(*model);
  const std::string at = "blocks.0.attention.";
  ASSERT_EQ(hand[at + "reduce"].sizes(),
            (std::vector<std::int64_t>{2, 2, 24, 6}));  // 7 -> 4 -> 2: three levels until a window of two holds all
  const torch::Tensor expected = hand.pre_norm(batch, [&](const torch::Tensor& f) {
    const torch::Tensor qkv = hand.linear(f, at + "qkv")[0].view({7, 5, 3, 2, 6});
    torch::Tensor out = torch::zeros({1, 7, 5, 2, 6}, torch::kFloat64);
    for (std::int64_t head = 0; head < 2; ++head) {
      std::vector<std::array<Level, 3>> levels(3);
      for (std::int64_t i = 0; i < 7; ++i) {
        for (std::size_t part = 0; part < 3; ++part) levels[0][part].emplace_back();
        for (std::int64_t j = 0; j < 5; ++j) {
          for (std::int64_t part = 0; part < 3; ++part)
            levels[0][static_cast<std::size_t>(part)].back().push_back(qkv[i][j][part][head]);
        }
      }
      for (std::size_t m = 0; m < 2; ++m) {
        for (std::size_t part = 0; part < 3; ++part) {
          levels[m + 1][part] = reduced(levels[m][part], hand[at + "reduce"][static_cast<std::int64_t>(m)][head]);
        }
      }
      Level coarse;
      for (std::size_t m = 3; m-- > 0;) {
        Level h = attended(levels[m][0], levels[m][1], levels[m][2], 2);
        for (std::size_t i = 0; i < h.size() && !coarse.empty(); ++i) {
          for (std::size_t j = 0; j < h[0].size(); ++j) {
            const auto child = static_cast<std::int64_t>(i % 2 * 2 + j % 2);
            const torch::Tensor map =
                hand[at + "decompose"][static_cast<std::int64_t>(m)][head].narrow(1, 6 * child, 6);
            h[i][j] = h[i][j] + torch::matmul(coarse[i / 2][j / 2], map);
          }
        }
        coarse = h;
      }
      for (std::int64_t i = 0; i < 7; ++i) {
        for (std::int64_t j = 0; j < 5; ++j)
          out[0][i][j][head] = coarse[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      }
    }
    return hand.linear(out.view({1, 35, 12}), at + "out");
  });
  EXPECT_LT(largest_difference(model->forward(batch).detach(), expected),
            1e-11 * (1 + expected.abs().max().item<double>()));
}

// Where the output changes when the input of point (5, 2) of a 13 x 9 mesh does; windows of 3 x 3.
torch::Tensor reach(std::int64_t levels) {
  BaselineConfig config = small_config("ht-net");
  config.window = 3;
  config.levels = levels;
  const LanoShape shape = on_mesh({13, 9});
  const auto model = double_model(config, shape);
  Batch batch = batch_of(shape, 1);
  const torch::Tensor before = model->forward(batch).detach();
  batch.input = batch.input.clone();
  batch.input[0][5 * 9 + 2] += 1;
  return (model->forward(batch).detach() != before).view({13, 9});
}

TEST(HtNet, PointsHearOfEachOtherThroughCoarserLevelsAlone) {
  const auto region = [](std::int64_t top, std::int64_t bottom, std::int64_t right) {
    torch::Tensor r = torch::zeros({13, 9}, torch::kBool);
    r.slice(0, top, bottom).slice(1, 0, right).fill_(true);
    return r;
  };
  EXPECT_TRUE(torch::equal(reach(1), region(3, 6, 3)));   // its window, however many blocks
  EXPECT_TRUE(torch::equal(reach(2), region(0, 6, 6)));   // the window of the second level: 3 x 3 cells of 2 x 2 points
  EXPECT_TRUE(torch::equal(reach(3), region(0, 12, 9)));  // all but the row that lies in the third level's next window
  EXPECT_TRUE(torch::equal(reach(8), region(0, 13, 9)));  // four levels (13, 7, 4, 2) bring the mesh into one window
}

TEST(HtNet, ParameterCounts) {
  // Five levels from 85 to 8 points or less: 85, 43, 22, 11, 6.
  constexpr std::int64_t c = 128, encoder = 3 * 2 * c + 2 * c + 2 * c * c + c + c,
                         hierarchy = 4 * 2 * (8 * 4 * 16 * 16);
  constexpr std::int64_t block = 4 * c + 4 * c * c + c + hierarchy + 4 * c * c + 3 * c, decoder = 3 * c + 1;
  EXPECT_EQ(standard_count("ht-net", on_mesh({85, 85})), encoder + 8 * block + decoder);
}

}  // namespace
}  // namespace lano::ht_net_test
