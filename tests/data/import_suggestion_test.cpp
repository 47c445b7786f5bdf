#include "data/import_suggestion.h"

#include <gtest/gtest.h>

namespace lano::import_suggestion_test {
namespace {

ArrayInfo info(const char* name, const Shape& shape) { return {name, shape, "float32"}; }

TEST(ImportSuggestion, KnowsTheShapesOfPublicFiles) {
  EXPECT_EQ(
      suggest_import("burgers_train_16.pt", {info("x", {800, 16}), info("y", {800, 17, 16}), info("visc", {1, 1})},
                     {"burgers_train_16.pt", "burgers_test_16.pt"}),
      "lano import --train burgers_train_16.pt --test burgers_test_16.pt --input x --output y --time first "
      "--out burgers_train_16-lano.h5");
  EXPECT_EQ(suggest_import("p.pt", {info("x", {1352, 121}), info("y", {1352, 121}), info("edge_index", {2, 3885}),
                                    info("triang", {2533, 3}), info("mu", {121, 2}), info("u", {1352, 121})}),
            "lano import --from p.pt --input mu --output u --coords x --coords y --cells triang --samples last "
            "--shuffle --out p-lano.h5");
  EXPECT_EQ(suggest_import("ns.mat", {info("a", {20, 64, 64}), info("t", {1, 20}), info("u", {20, 64, 64, 20})}),
            "lano import --from ns.mat --input a --output u --time last --time t --shuffle --out ns-lano.h5");
  EXPECT_EQ(suggest_import("1D_Burgers.hdf5", {info("t-coordinate", {202}), info("tensor", {100, 201, 1024}),
                                               info("x-coordinate", {1024})}),
            "lano import --from 1D_Burgers.hdf5 --output tensor --coords x-coordinate --time t-coordinate --initial 1 "
            "--shuffle --out 1D_Burgers-lano.h5");
  EXPECT_EQ(suggest_import("d.mat", {info("f_train", {70, 32}), info("u_train", {70, 32}), info("f_vali", {10, 32}),
                                     info("u_vali", {10, 32}), info("f_test", {20, 32}), info("u_test", {20, 32})}),
            "lano import --from d.mat --train-input f_train --train-output u_train --validation-input f_vali "
            "--validation-output u_vali --test-input f_test --test-output u_test --out d-lano.h5");
  EXPECT_EQ(suggest_import("car.pt", {info("0/vertices", {3586, 3}), info("0/press", {1, 3586}),
                                      info("1/vertices", {3000, 3}), info("1/press", {1, 3000})}),
            "lano import --from car.pt --output '*/press' --coords '*/vertices' --channels first --shuffle --out "
            "car-lano.h5");
}

TEST(ImportSuggestion, SaysNothingWhereThereIsNothing) {
  EXPECT_EQ(suggest_import("a.npz", {}), "");
  EXPECT_EQ(suggest_import("a.npz", {{"words", {}, "text", false}}), "");
}

}  // namespace
}  // namespace lano::import_suggestion_test
