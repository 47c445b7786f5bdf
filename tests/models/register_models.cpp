// train() and load_model() of these tests know the models of LibTorch, as lano-torch does.
#include <gtest/gtest.h>

#include "models/torch_trainable.h"

namespace lano {
namespace {

class KnowModels : public testing::Environment {
 public:
  void SetUp() override { register_torch_models(); }
};

const testing::Environment* const kKnown = testing::AddGlobalTestEnvironment(new KnowModels);

}  // namespace
}  // namespace lano
