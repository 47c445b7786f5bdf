#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "lano/lano.h"

namespace {

const std::string kModel = std::string(LANO_TEST_FILES) + "/model-v1.safetensors";

struct Loaded {
  lano_operator* op = nullptr;
  Loaded() { EXPECT_EQ(lano_load(kModel.c_str(), &op), LANO_OK) << lano_message(); }
  ~Loaded() { lano_free(op); }
};

TEST(CApi, LoadsDescribesAndPredicts) {
  Loaded m;
  EXPECT_EQ(lano_task(m.op), LANO_STEADY);
  EXPECT_EQ(lano_dims(m.op), 2);
  EXPECT_EQ(lano_input_channels(m.op), 1);
  EXPECT_EQ(lano_output_channels(m.op), 1);
  EXPECT_GT(lano_parameters(m.op), 0);
  int64_t extents[3] = {};
  EXPECT_EQ(lano_mesh(m.op, extents), 2);
  EXPECT_EQ(extents[0], 9);
  EXPECT_EQ(extents[1], 9);
  ASSERT_EQ(lano_grid_points(m.op), 81);
  std::vector<float> input, output(81);
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 9; ++j) input.push_back((i + 2 * j) % 3 == 0 ? 12.0f : 3.0f);
  }
  ASSERT_EQ(lano_predict(m.op, 81, nullptr, input.data(), output.data()), LANO_OK) << lano_message();
  // What this model gave on the day it was made (tests/train/trainer_test.cpp).
  EXPECT_NEAR(output[0], 0.000888168055, 1e-7);
  EXPECT_NEAR(output[4 * 9 + 4], 0.00768688181, 1e-7);
  EXPECT_NEAR(output[3 * 9 + 7], 0.00860316306, 1e-7);
  lano_call call{};
  call.axes = 2;
  call.mesh[0] = call.mesh[1] = 9;
  std::vector<float> again(81);
  ASSERT_EQ(lano_predict_call(m.op, 81, nullptr, input.data(), again.data(), &call), LANO_OK) << lano_message();
  EXPECT_EQ(again, output);
  int64_t used = 0;
  EXPECT_EQ(lano_use_agents(m.op, 4, &used), LANO_OK) << lano_message();
  EXPECT_EQ(used, 4);
}

TEST(CApi, ImpossibleNumbersGetASentence) {
  Loaded m;
  std::vector<float> input(81, 3.0f), output(81);
  input[40] = std::nanf("");
  EXPECT_EQ(lano_predict(m.op, 81, nullptr, input.data(), output.data()), LANO_FAILED);
  EXPECT_NE(std::string(lano_message()).find("finite numbers in input"), std::string::npos) << lano_message();
  EXPECT_EQ(lano_predict(m.op, INT64_MAX, nullptr, input.data(), output.data()), LANO_MISUSED);
  EXPECT_NE(std::string(lano_message()).find("2^40"), std::string::npos) << lano_message();
  EXPECT_EQ(lano_predict(m.op, -1, nullptr, input.data(), output.data()), LANO_MISUSED);
  lano_operator* none = nullptr;
  EXPECT_EQ(lano_load("/dev/zero", &none), LANO_FAILED);
  EXPECT_NE(std::string(lano_message()).find("a pipe or a device"), std::string::npos) << lano_message();
  input[40] = 3;
  lano_set_threads(1000000);  // bounded
  EXPECT_EQ(lano_predict(m.op, 81, nullptr, input.data(), output.data()), LANO_OK) << lano_message();
  lano_set_threads(0);
}

TEST(CApi, DecodesPointsAgainstPreparedAgents) {
  std::vector<float> grid, input(81, 3.0f), all(81);
  for (int i = 0; i < 81; ++i) grid.insert(grid.end(), {static_cast<float>(i / 9) / 8, static_cast<float>(i % 9) / 8});
  lano_prepared* prepared = nullptr;
  {
    Loaded m;
    ASSERT_EQ(lano_predict(m.op, 81, grid.data(), input.data(), all.data()), LANO_OK) << lano_message();
    ASSERT_EQ(lano_prepare(m.op, 81, grid.data(), input.data(), nullptr, &prepared), LANO_OK) << lano_message();
  }  // outlives its operator
  const float probe[] = {0.5f, 0.5f, 0.46f, 0.53f}, a[] = {3.0f, 3.0f};
  float u[2] = {};
  ASSERT_EQ(lano_decode(prepared, 2, probe, a, nullptr, u), LANO_OK) << lano_message();
  EXPECT_NEAR(u[0], all[40], 1e-7);
  EXPECT_NE(u[1], u[0]);
  EXPECT_NEAR(u[1], u[0], 0.2 * std::abs(u[0]));
  const float outside[] = {7.0f, 0.5f};
  EXPECT_EQ(lano_decode(prepared, 1, outside, a, nullptr, u), LANO_FAILED);
  EXPECT_NE(std::strstr(lano_message(), "within the prepared grid"), nullptr) << lano_message();
  EXPECT_EQ(lano_decode(nullptr, 1, probe, a, nullptr, u), LANO_MISUSED);
  EXPECT_EQ(lano_prepare(nullptr, 81, grid.data(), input.data(), nullptr, &prepared), LANO_MISUSED);
  lano_prepared_free(prepared);
  lano_prepared_free(nullptr);
}

TEST(CApi, EveryMistakeIsAStatusAndASentence) {
  lano_operator* op = nullptr;
  EXPECT_EQ(lano_load("/nowhere", &op), LANO_FAILED);
  EXPECT_EQ(op, nullptr);
  EXPECT_NE(std::strstr(lano_message(), "nothing at that path"), nullptr) << lano_message();
  EXPECT_EQ(lano_load(nullptr, &op), LANO_MISUSED);
  EXPECT_EQ(lano_load(kModel.c_str(), nullptr), LANO_MISUSED);
  Loaded m;
  std::vector<float> values(200);
  EXPECT_EQ(lano_predict(nullptr, 81, nullptr, values.data(), values.data()), LANO_MISUSED);
  EXPECT_EQ(lano_predict(m.op, 81, nullptr, values.data(), nullptr), LANO_MISUSED);
  EXPECT_EQ(lano_predict(m.op, -1, nullptr, values.data(), values.data()), LANO_MISUSED);
  EXPECT_EQ(lano_predict(m.op, 80, nullptr, values.data(), values.data()), LANO_FAILED);
  EXPECT_NE(std::strstr(lano_message(), "81 values of input"), nullptr) << lano_message();
  EXPECT_EQ(lano_predict(m.op, 81, nullptr, nullptr, values.data()), LANO_FAILED);
  lano_call call{};
  call.axes = 4;
  EXPECT_EQ(lano_predict_call(m.op, 81, nullptr, values.data(), values.data(), &call), LANO_MISUSED);
  for (const std::array<int64_t, 2> mesh : {std::array<int64_t, 2>{-9, -9}, {INT64_MAX, 2}, {0, 81}, {81, 0}}) {
    call = {};
    call.axes = 2;
    call.mesh[0] = mesh[0];
    call.mesh[1] = mesh[1];
    EXPECT_EQ(lano_predict_call(m.op, 81, nullptr, values.data(), values.data(), &call), LANO_FAILED) << mesh[0];
    EXPECT_NE(std::strstr(lano_message(), "a mesh of 2 axes"), nullptr) << lano_message();
  }
  EXPECT_EQ(lano_use_agents(m.op, 0, nullptr), LANO_MISUSED);
  lano_free(nullptr);
  // Another thread has its own message.
  std::string other;
  std::thread([&] { other = lano_message(); }).join();
  EXPECT_EQ(other, "no failure");
}

}  // namespace
