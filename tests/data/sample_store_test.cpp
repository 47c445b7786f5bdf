// The side store of a generation: what was added comes back after a reopening, and two processes never write to one.
#include "data/sample_store.h"

#include <gtest/gtest.h>

#include "scratch.h"

namespace lano::sample_store_test {
namespace {

using test::Scratch;

TEST(SampleStore, GoesOnWithWhatIsThere) {
  const Scratch scratch;
  const std::vector<float> first{1, 2, 3}, third{7, 8, 9};
  {
    SampleStore store(scratch / "side", "header", 4, 3, false);
    store.add(2, 1, third);
    store.add(0, 5, first);
  }
  const SampleStore again(scratch / "side", "header", 4, 3, false);
  EXPECT_EQ(again.found(), 2);
  std::vector<float> values(3);
  again.read(0, values);
  EXPECT_EQ(values, first);
  again.read(2, values);
  EXPECT_EQ(values, third);
}

TEST(SampleStore, ServesOneGenerationAtATime) {
  const Scratch scratch;
  {
    const SampleStore store(scratch / "side", "header", 4, 3, false);
    EXPECT_ERROR_WITH(SampleStore(scratch / "side", "header", 4, 3, false),
                      "another process is generating this dataset");
    EXPECT_ERROR_WITH(SampleStore(scratch / "side", "another", 4, 3, true),
                      "another process is generating this dataset");  // nor with --force
  }
  EXPECT_NO_THROW(SampleStore(scratch / "side", "header", 4, 3, false));
}

}  // namespace
}  // namespace lano::sample_store_test
