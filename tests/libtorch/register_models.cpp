// train() and load_model() of these tests know the models of LibTorch, as lano-torch does; and every test draws the
// same random numbers, whichever ran before it (LibTorch's own generator begins with another seed in each process).
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "libtorch/torch_trainable.h"

namespace lano {
namespace {

class SameNumbers : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo&) override { torch::manual_seed(7); }
};

class KnowModels : public testing::Environment {
 public:
  void SetUp() override {
    register_torch_models();
    testing::UnitTest::GetInstance()->listeners().Append(new SameNumbers);
  }
};

const testing::Environment* const kKnown = testing::AddGlobalTestEnvironment(new KnowModels);

}  // namespace
}  // namespace lano
