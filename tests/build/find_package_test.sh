#!/usr/bin/env bash
# A user's project: installs this build into a scratch folder, finds it with find_package(lano),
# builds and runs a program.
set -euo pipefail
build=$1 cmake=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/prefix" >/dev/null
mkdir "$scratch/user"
cat > "$scratch/user/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(lano 0.1 REQUIRED)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE lano::data lano::pde lano::runtime lano::report lano::metrics lano::train)
CMAKE
cat > "$scratch/user/main.cpp" <<'CPP'
#include <cstdio>
#include <vector>
#include "core/version.h"
#include "data/npy.h"
#include "metrics/metrics.h"
#include "pde/darcy_problem.h"
#include "report/png_file.h"
#include "runtime/model_file.h"
int main() {
  lano::DarcyConfig config;
  config.resolution = 16;
  config.stride = 1;
  const lano::DarcyProblem problem(config);
  std::vector<float> a(256), u(256);
  problem.make(0, 0, {{}, a, u, {}});
  std::printf("user of lano %s: %g %zu\n", lano::kVersion, lano::relative_l2(u, u), lano::base64("x").size());
}
CPP
"$cmake" -S "$scratch/user" -B "$scratch/user/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
"$cmake" --build "$scratch/user/build" >/dev/null
"$scratch/user/build/user" | grep "user of lano .*: 0 4"
"$scratch/prefix/bin/lano" --version
