#!/usr/bin/env bash
# What users get: installs this build into a clean prefix, moves it, and uses it from outside the source tree, from
# CMake with and without the other libraries, from C through pkg-config, and as the program on PATH with its recipes.
# Usage: find_package_test.sh BUILD CMAKE SOURCE
set -euo pipefail
build=$1 cmake=$2 source=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
prefix=$scratch/moved
mv "$scratch/first" "$prefix"
model=$source/tests/data/files/model-v1.safetensors
wrong() { echo "$*"; exit 1; }

# Configures the project in the folder $1 against the installation; what CMake says goes to $1/log.
configure() {  # FOLDER [cmake options...]
  local folder=$1; shift
  rm -rf "$folder/build"
  "$cmake" -S "$folder" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "$@" \
    >"$folder/log" 2>&1
}
make_user() {  # FOLDER: configured and built
  configure "$@" || { cat "$1/log"; wrong "$1 was not configured"; }
  "$cmake" --build "$1/build" --parallel 2 >"$1/log" 2>&1 || { cat "$1/log"; wrong "$1 was not built"; }
}
# A project that asks for the components $2 and links $3.
project() {  # FOLDER COMPONENTS TARGETS
  mkdir -p "$scratch/$1"
  cat > "$scratch/$1/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(user CXX)
find_package(lano 0.1 REQUIRED COMPONENTS $2)
add_executable(user main.cpp)
target_link_libraries(user PRIVATE $3)
CMAKE
  [ -f "$scratch/$1/main.cpp" ] || echo 'int main() {}' > "$scratch/$1/main.cpp"
}

# Headers: those of include/lano and what they include, each complete by itself; of other libraries the JSON alone.
[ "$(ls "$prefix/include")" = lano ] || wrong "include/ holds $(ls "$prefix/include" | tr '\n' ' ')"
missing=$(diff <(cd "$source/include/lano" && ls ./*.h) <(cd "$prefix/include/lano" && ls ./*.h) || true)
[ -z "$missing" ] || wrong "include/lano of the source (<) and of the installation (>) differ: $missing"
foreign=$(grep -rnE '#include (<[^>]*/|")' "$prefix/include" |
  grep -vE '#include (<nlohmann/json|"lano/detail/)' || true)
[ -z "$foreign" ] || wrong "a user's compiler would look for: $foreign"
(cd "$prefix/include" && find lano -name '*.h' -print0 | LC_ALL=C sort -z |
  xargs -0 -P 2 -I{} "${CXX:-c++}" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I. -include '{}' -x c++ /dev/null) ||
  wrong "a header does not compile by itself"
"${CC:-cc}" -std=c99 -Wall -Werror -fsyntax-only -I"$prefix/include" -include lano/lano.h -x c /dev/null
paths=$(grep -rlF -e "$build" -e "$source" -e "$scratch" "$prefix/lib" "$prefix/include" \
  --include='*.cmake' --include='*.pc' --include='*.h' || true)
[ -z "$paths" ] || wrong "the installation names folders of the machine that built it: $paths"

# A user who predicts, on a machine without the libraries that prediction does not need.
without=(HDF5 PNG FFTW3 Eigen3 LibZip ZLIB UMFPACK Torch)
without=("${without[@]/#/-DCMAKE_DISABLE_FIND_PACKAGE_}")
without=("${without[@]/%/=ON}")
project predicts runtime "lano::runtime lano::metrics"
cat > "$scratch/predicts/main.cpp" <<'CPP'
#include <lano/error.h>
#include <lano/metrics.h>
#include <lano/model_file.h>
#include <lano/operator.h>
#include <lano/threads.h>
#include <lano/version.h>
#include <cstdio>
#include <numeric>
int main(int argc, char** argv) try {
  lano::set_thread_count(2);
  const lano::Operator op = lano::Operator::load(argv[argc - 1]);
  const std::vector<float> input(op.coordinates().size() / 2, 5.0f);
  const std::vector<float> u = op.predict(op.coordinates(), input);
  std::printf("lano %s: mean %.4e, off by %g\n", lano::kVersion,
              std::accumulate(u.begin(), u.end(), 0.0) / static_cast<double>(u.size()), lano::relative_l2(u, u));
} catch (const lano::Error& error) {
  std::printf("%s\n", error.what());
  return 1;
}
CPP
make_user "$scratch/predicts" "${without[@]}"
said=$("$scratch/predicts/build/user" "$model" || true)
[[ $said =~ ^'lano 0.1.'[0-9]+': mean 6.1369e-03, off by 0'$ ]] || wrong "the user's program says '$said'"
loaded=$(ldd "$scratch/predicts/build/user" | grep -E 'hdf5|png|fftw|umfpack|zip|libz\.|torch' || true)
[ -z "$loaded" ] || wrong "a program that predicts loads $loaded"
if "$scratch/predicts/build/user" "$source/README.md" >"$scratch/said"; then wrong "a README was taken for a model"; fi
grep -q safetensors "$scratch/said"

# The same switches do take effect: components that need those libraries are refused, and left out where optional.
project needs data lano::data
! configure "$scratch/needs" "${without[@]}" || wrong "the component data was found without HDF5"
project may "runtime OPTIONAL_COMPONENTS data" "lano::runtime \$<\$<BOOL:\${lano_data_FOUND}>:no_such_target>"
make_user "$scratch/may" "${without[@]}"
# A component that does not exist, and a version that is not installed.
project asks_too_much "runtime gpu" lano::runtime
! configure "$scratch/asks_too_much" || wrong "the component gpu was found"
tr -s ' \n' ' ' <"$scratch/asks_too_much/log" |
  grep -q "lano has no component 'gpu'; this installation has: runtime, data, solvers, train, report" ||
  { cat "$scratch/asks_too_much/log"; wrong "that is not what CMake says of a component that does not exist"; }
project later runtime lano::runtime
sed -i 's/find_package(lano 0.1/find_package(lano 0.9/' "$scratch/later/CMakeLists.txt"
! configure "$scratch/later" || wrong "version 0.9 was found"

# A user of everything: a PDE of their own, a dataset of it, a training, its evaluation, a picture, a file for ParaView.
project whole "data solvers train report" "lano::data lano::solvers lano::train lano::report"
cat > "$scratch/whole/main.cpp" <<'CPP'
#include <lano/benchmarks.h>
#include <lano/dataset.h>
#include <lano/evaluation.h>
#include <lano/generation.h>
#include <lano/picture.h>
#include <lano/problem.h>
#include <lano/training.h>
#include <lano/vtk.h>
#include <cstdio>
#include <fstream>
int main() {
  lano::DarcyConfig darcy;
  darcy.resolution = 11;
  darcy.stride = 1;
  const lano::DarcyProblem problem(darcy);
  const lano::Problem& any = problem;
  lano::generate_dataset("set.h5", any.describe(), lano::make_splits(8, 2, 0.25), any.coordinates(),
                         [&](std::int64_t i, std::int64_t attempt, const lano::SampleArrays& to) {
                           return any.make(i, attempt, to);
                         });
  const lano::TrainConfig recipe = lano::read_recipe_files(
      {}, {"data.file=set.h5", "train.epochs=2", "model.layers=1", "model.width=16", "model.agents=4"});
  const lano::TrainResult result = lano::train(recipe, "run");
  const lano::DatasetReader set("set.h5");
  lano::LoadedModel model = lano::load_model(std::filesystem::path("run/model.safetensors"));
  const std::vector<std::int64_t> test = set.indices(lano::Split::test);
  const lano::Samples samples = set.read(test);
  const lano::Judged judged = lano::judge(*model.predictor, set.description(), samples);
  const std::vector<float> u(samples.output.begin(), samples.output.begin() + 121);
  const std::string png = lano::encode_png(lano::draw_field(
      set.description().geometry, set.description().shape, any.coordinates(), 2, u, 0, 1, lano::ColourMap::field));
  std::ofstream("u.png", std::ios::binary) << png;
  lano::write_vtk("u.vts", set.description(), any.coordinates(), {{"u", u}});
  const double difference = judged.evaluation.relative_l2.summary.mean - result.test_l2;
  std::printf("%d epochs, %zu judged, as in training: %s\n", static_cast<int>(result.epochs), test.size(),
              difference < 1e-12 && difference > -1e-12 && result.test_l2 > 0 ? "yes" : "no");
}
CPP
make_user "$scratch/whole"
said=$(cd "$scratch/whole" && build/user 2>&1 || true)
[ "$said" = "2 epochs, 2 judged, as in training: yes" ] || wrong "the whole user's program says '$said'"
[ "$(head -c 4 "$scratch/whole/u.png" | tail -c 3)" = PNG ]
grep -q StructuredGrid "$scratch/whole/u.vts"

# A C program, found by pkg-config alone.
if command -v pkg-config >/dev/null; then
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  read -ra flags <<<"$(pkg-config --cflags --libs lano)"
  "${CC:-cc}" -std=c99 -Wall -Werror "$source/examples/c/predict.c" "${flags[@]}" -o "$scratch/predict-c"
  said=$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir lano) "$scratch/predict-c" "$model" 2>&1 || true)
  [[ $said == '81 points, mean 6.1368'* ]] || wrong "the C program says '$said'"
  pkg-config --exact-version="$(sed -n 's/.*kVersion = "\(.*\)".*/\1/p' "$prefix/include/lano/detail/core/version.h")" \
    lano || wrong "pkg-config gives the version $(pkg-config --modversion lano)"
fi

# The program: on PATH, with its recipes, away from the source tree and from where it was installed first.
mkdir "$scratch/elsewhere"
cd "$scratch/elsewhere"
installed() { env -i PATH="$prefix/bin" HOME="$scratch" lano "$@" >"$scratch/said" 2>&1; }
for step in "--version" "generate darcy --resolution 22 --stride 2 --train 8 --test 2 --out darcy.h5" \
            "train --config darcy/smoke --data darcy.h5 --out run --set train.epochs=1" \
            "predict run/model.safetensors --data darcy.h5 --split test --out u.npy"; do
  # shellcheck disable=SC2086
  installed $step || { cat "$scratch/said"; wrong "the installed program fails at: lano $step"; }
done
[ -s u.npy ]
! installed train --config darcy/no_such --data darcy.h5 --out other || wrong "a recipe that is not there was read"
echo "installed, moved and used: components, headers, C by pkg-config, the program with its recipes"
