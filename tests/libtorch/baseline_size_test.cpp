#include "model_spec/baseline_size.h"

#include <gtest/gtest.h>

#include "libtorch/baseline_cases.h"
#include "libtorch/tensor_budget.h"
#include "model_spec/model_catalogue.h"

namespace lano::torch_baseline_size_test {
namespace {

// What is counted without LibTorch is what the models hold, number by number.
TEST(BaselineSizeOfModels, CountsEveryWeight) {
  const LanoShape plane = test::on_mesh({19, 33}), line = test::on_mesh({40}), cloud = test::on_cloud(50, 2);
  LanoShape solid = test::on_mesh({16, 9, 7}, 2);
  solid.output_channels = 3;
  for (const ModelInfo& model : model_catalogue()) {
    if (model.name == "lano") continue;
    for (const LanoShape& shape : {plane, line, solid, cloud}) {
      for (const int variant : {0, 1, 2}) {
        BaselineConfig config = test::small_config(std::string(model.name));
        config.modes = 3;
        config.latent_grid = 20;
        if (variant == 1) {
          config.layers = 3;
          config.width = 24;
          config.ffn_ratio = 3;
          config.modes = 5;
          config.wavelets = 2;
          config.basis = 3;
          config.tokens = 5;
          config.experts = 2;
          config.levels = 2;
          config.window = 4;
          config.attention = LinearAttentionKind::fourier;
        }
        if (variant == 2) {
          config.task = Task::time_conditional;
          config.position = Position::reference;
        }
        LanoShape own = shape;
        own.reference_box.assign(static_cast<std::size_t>(2 * shape.dims), 0);
        for (std::size_t a = 0; a < static_cast<std::size_t>(shape.dims); ++a) own.reference_box[2 * a + 1] = 1;
        std::shared_ptr<OperatorModel> made;
        try {
          made = make_model(to_json(config, own), 1);
        } catch (const UsageError&) {
          continue;  // a geometry it does not take: CatalogueTest knows which
        }
        std::int64_t numbers = 0;
        for (const auto& parameter : made->parameters()) numbers += parameter.numel();
        EXPECT_EQ(baseline_size(config, own).weights, static_cast<double>(numbers))
            << model.name << ", variant " << variant << ", mesh " << shape_text(shape.mesh);
      }
    }
  }
}

// LibTorch's own words for memory that is not there become the exception every program knows.
TEST(BaselineSizeOfModels, MemoryThatIsNotThereIsNotToldInLibTorchsWords) {
  EXPECT_THROW(with_memory([] { return torch::empty({std::int64_t{1} << 58}); }), std::bad_alloc);
  EXPECT_THROW(with_memory([] {
                 return torch::empty({std::int64_t{1} << 40, std::int64_t{1} << 40});
               }),
               std::bad_alloc);
  EXPECT_THROW(with_memory([] { return torch::ones({2}) + torch::ones({3}); }), c10::Error);
  EXPECT_EQ(with_memory([] { return torch::ones({2}); }).numel(), 2);
}

}  // namespace
}  // namespace lano::torch_baseline_size_test
