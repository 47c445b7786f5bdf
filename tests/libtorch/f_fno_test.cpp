#include "spectral_cases.h"

namespace lano::f_fno_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  return renamed(theirs_of_the_frame(name), {{"layers.", "spectral_layers."}, {"pairs", "fourier_weight."}});
}

TEST(FactorisedFno, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "F_FNO_structured_2D", .model = "f-fno", .theirs = theirs});
  expect_parity({.file = "F_FNO_unstructured", .model = "f-fno", .theirs = theirs});
}

// Its own pairs count twice, those of the projection once: as there.
TEST(FactorisedFno, ParameterCounts) {
  EXPECT_EQ(parameter_count(*standard("f-fno", darcy())), 6342017);
  EXPECT_EQ(parameter_count(*standard("f-fno", elasticity())), 15842947);
}

TEST(FactorisedFno, WorksOnItsGeometries) { expect_works_everywhere("f-fno"); }

}  // namespace
}  // namespace lano::f_fno_test
