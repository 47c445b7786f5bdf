#include "train/resume_cases.h"

namespace lano::resume_test {
namespace {

INSTANTIATE_TEST_SUITE_P(Fused, KilledAtRandom, ::testing::Values(Victim{"fused", "lano", Engine::fused}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lano::resume_test
