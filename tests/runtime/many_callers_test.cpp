// One operator and many callers: what they share (caches of geometry, pools of memory) must not mix their predictions.
#include <gtest/gtest.h>

#include <thread>

#include "core/random.h"
#include "core/threads.h"
#include "fuzz/tiny_models.h"
#include "runtime/operator.h"

namespace lano::many_callers_test {
namespace {

std::vector<float> uniform(std::size_t count, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(stream.uniform());
  return values;
}

struct Caller {
  Operator::Call call;
  std::vector<float> coordinates, input, wanted, found;
};

TEST(ManyCallers, GetTheAnswersTheyWouldGetAlone) {
  const int before = thread_count();
  for (const auto& [geometry, mesh] : {std::pair(Geometry::mesh, Shape{4, 3}), std::pair(Geometry::points, Shape{6})}) {
    const Operator shared(fuzz::tiny_model(geometry, mesh, {}));
    std::vector<Caller> all(6);
    for (std::size_t i = 0; i < all.size(); ++i) {
      Caller& caller = all[i];
      // Common and separate sizes, large enough for several threads each.
      const Shape own{static_cast<std::int64_t>(40 + i % 3), 50};
      const auto points = static_cast<std::size_t>(element_count(own));
      if (geometry == Geometry::mesh) caller.call.mesh = own;
      caller.coordinates = uniform(2 * points, 1 + i);
      caller.input = uniform(points, 20 + i);
      set_thread_count(1);
      const Operator alone(fuzz::tiny_model(geometry, mesh, {}));
      caller.wanted = alone.predict(caller.coordinates, caller.input, caller.call);
    }
    set_thread_count(2);
    std::vector<std::thread> threads;
    for (Caller& caller : all) {
      threads.emplace_back([&shared, &caller] {
        for (int i = 0; i < 3; ++i) caller.found = shared.predict(caller.coordinates, caller.input, caller.call);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Caller& caller : all) EXPECT_EQ(caller.found, caller.wanted);
  }
  set_thread_count(before);
}

}  // namespace
}  // namespace lano::many_callers_test
