#include "spectral_cases.h"

namespace lano::u_no_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  if (name.starts_with("unet.")) return theirs_of_the_unet(name.substr(5));
  if (!name.starts_with("down") && !name.starts_with("up")) return theirs_of_the_frame(name);
  const bool down = name.starts_with("down");
  const std::size_t digit = down ? 4 : 2;
  const std::string way = std::string(1, static_cast<char>(name[digit] + 1)) + (down ? "_down." : "_up."),
                    part = name.substr(digit + 2);
  if (part.starts_with("spectral.")) return "process" + way + renamed(part.substr(9), {{"complex", "weights"}});
  return "w" + way + "double_conv." + theirs_of_the_unet(part.substr(6));
}

TEST(UShapedOperator, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "U_NO_structured_2D", .model = "u-no", .theirs = theirs});
  expect_parity({.file = "U_NO_unstructured", .model = "u-no", .theirs = theirs});
}

// 328,880,661 and 338,381,591 are the public implementation's.
TEST(UShapedOperator, ParameterCounts) {
  using namespace counted;
  const auto count = [](std::int64_t c, std::int64_t modes, std::int64_t n) {
    std::int64_t sum = encoder(c, c) + unet(c) + decoder(c, 2 * c);
    std::int64_t half = n / 2;
    const auto scale = [&](std::int64_t channels) {
      const std::int64_t kept = std::max<std::int64_t>(1, std::min(modes, half));
      return spectral(channels, kept) + double_convolution(channels, 1, channels);
    };
    for (const auto& [down, up] :
         {std::pair{1, 1}, std::pair{2, 1}, std::pair{4, 2}, std::pair{8, 4}, std::pair{8, 8}}) {
      sum += scale(down * c) + scale(up * c);
      half /= 2;
    }
    return sum;
  };
  EXPECT_EQ(count(128, 12, 96), 328880661);  // 85 points are padded to 96
  EXPECT_EQ(count(128, 12, 96) + projection(128, 12), 338381591);
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("u-no"), darcy()), 1)), count(4, 3, 96));
  EXPECT_EQ(parameter_count(*make_model(to_json(tiny_baseline("u-no"), elasticity()), 1)),
            count(4, 3, 16) + projection(4, 3));
}

TEST(UShapedOperator, WorksOnItsGeometries) { expect_works_everywhere("u-no"); }

}  // namespace
}  // namespace lano::u_no_test
