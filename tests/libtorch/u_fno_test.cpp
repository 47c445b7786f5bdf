#include "spectral_cases.h"

namespace lano::u_fno_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  if (name.starts_with("unets."))
    return renamed(theirs_of_the_unet(name), {{"unets.0.", "u_net2."}, {"unets.1.", "u_net3."}});
  return theirs_of_fourier_layers(name);
}

// Theirs makes whole U-net models, with encoder, projection and decoder, and asks them for the part between.
std::set<std::string> unused() {
  std::set<std::string> names;
  for (const std::string unet : {"u_net2.", "u_net3."}) {
    for (const std::string weight :
         {"fftproject_in.weights1", "fftproject_in.weights2", "fftproject_out.weights1", "fftproject_out.weights2"}) {
      names.insert(unet + weight);
    }
    for (const std::string map : {"preprocess.linear_pre.0", "preprocess.linear_post", "fc1", "fc2", "iphi.fc0",
                                  "iphi.fc_code", "iphi.fc_no_code", "iphi.fc1", "iphi.fc2", "iphi.fc3", "iphi.fc4"}) {
      names.insert(unet + map + ".weight");
      names.insert(unet + map + ".bias");
    }
  }
  return names;
}

TEST(UFno, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "U_FNO_structured_2D", .model = "u-fno", .theirs = theirs, .unused = unused()});
  expect_parity({.file = "U_FNO_unstructured", .model = "u-fno", .theirs = theirs, .unused = unused()});
}

// 157,474,179 and 185,976,969 are the public implementation's, with the parts it does not use.
TEST(UFno, ParameterCounts) {
  using namespace counted;
  const auto count = [](std::int64_t c, std::int64_t modes) {
    return encoder(c, c) + 4 * (spectral(c, modes) + linear(c, c)) + 2 * unet(c) + decoder(c, c);
  };
  const std::int64_t unused = encoder(128, 128) + decoder(128, 128);
  EXPECT_EQ(count(128, 12), 157474179 - 2 * unused);
  EXPECT_EQ(count(128, 12) + projection(128, 12), 185976969 - 2 * (unused + projection(128, 12)));
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("u-fno"), darcy()), 1)), count(4, 3));
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("u-fno"), elasticity()), 1)),
            count(4, 3) + projection(4, 3));
}

TEST(UFno, WorksOnItsGeometries) { expect_works_everywhere("u-fno"); }

}  // namespace
}  // namespace lano::u_fno_test
