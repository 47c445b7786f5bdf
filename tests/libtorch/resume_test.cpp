#include "train/resume_cases.h"

namespace lano::resume_test {
namespace {

INSTANTIATE_TEST_SUITE_P(Torch, KilledAtRandom,
                         ::testing::Values(Victim{"composite", "lano", Engine::composite},
                                           Victim{"transolver", "transolver", Engine::composite}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lano::resume_test
