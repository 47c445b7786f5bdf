#!/usr/bin/env bash
# Every example of an installed LANO, built and run against an installed tree; what is there in four languages must say
# the same, what learns must have learned.
# Usage: examples_test.sh BUILD CMAKE SOURCE PYTHON MODELS (the program onnx_models, which makes some)
set -euo pipefail
build=$1 cmake=$2 source=$3 python=$4 models=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
model=$source/tests/data/files/model-v1.safetensors
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
library=$(dirname "$(find "$prefix" -name 'liblano.so')")
export LD_LIBRARY_PATH=$library
python_path=$(dirname "$(dirname "$(find "$prefix" -name '_core*.so')")")
"$cmake" -S "$source/examples/cpp" -B "$scratch/cpp" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$scratch/cpp" >/dev/null
mkdir "$scratch/models"
"$models" "$scratch/models" >/dev/null

# Two outputs with the same words, and numbers that differ by no more than the rounding of their last digits.
same() {
  awk 'NR == FNR { line[FNR] = $0; lines = FNR; next }
       { gsub(/,/, ""); count = split($0, b); text = line[FNR]; gsub(/,/, "", text); if (split(text, a) != count) exit 1
         for (i = 1; i <= count; ++i) {
           if (a[i] == b[i]) continue
           d = a[i] - b[i]; size = a[i] + 0; size = size < 0 ? -size : size
           if (size == 0 || (d < 0 ? -d : d) > 3e-6 * size) exit 1
         } }
       END { if (FNR != lines) exit 1 }' <(printf '%s\n' "$1") <(printf '%s\n' "$2")
}

# The example NAME in four languages with a model; the first prints PATTERN, the others the same.
agree() {  # NAME MODEL PATTERN
  local name=$1 model=$2 pattern=$3 wanted found
  cc -Wall -Werror -std=c99 -I"$prefix/include" "$source/examples/c/$name.c" -L"$library" -llano -lm \
    -o "$scratch/$name-c"
  gfortran -Wall -J"$scratch" "$source/examples/fortran/lano.f90" "$source/examples/fortran/$name.f90" \
    -L"$library" -llano -o "$scratch/$name-fortran"
  wanted=$("$scratch/$name-c" "$model")
  grep -qE "$pattern" <<<"$wanted" || { echo "C: $wanted"; return 1; }
  for found in "$("$scratch/cpp/$name" "$model")" \
               "$("$scratch/$name-fortran" "$model" | sed 's/E/e/g')" \
               "$(PYTHONPATH=$python_path "$python" "$source/examples/python/$name.py" "$model")"; do
    same "$wanted" "$found" || { echo "'$found' where C says '$wanted'"; return 1; }
  done
  echo "four languages say: $wanted"
}
same 'a 1.000000e-01, 2' 'a 1.000001e-01, 2' && ! same 'a 1.0e-01' 'a 1.1e-01' && ! same 'a 1' 'b 1' ||
  { echo "the comparison does not compare"; exit 1; }
agree predict "$model" '^81 points, mean [0-9]\.[0-9]{6}e-0'
agree cloud "$scratch/models/cloud.safetensors" '^500 points, mean -?[0-9]\.[0-9]{6}e.*largest'
agree roll_out "$scratch/models/autoregressive.safetensors" '^step 5, mean -?[0-9]\.[0-9]{6}e'
# An own PDE: LANO learns it ten times better than the mean of the training samples, an untrained one not at all; a
# new sample by the model file is as near; the same command again trains nothing.
said=$("$scratch/cpp/own_benchmark" "$scratch/rod")
awk '/^test error: LANO / { lano = $4 + 0; mean = $7 + 0 } /^a new rod: / { found = $4; solved = $8; off = $NF + 0 }
     END { exit !(lano > 0 && lano < 0.03 && lano < mean / 10 && off > 0 && off < 0.03 &&
                  found > 0.97 * solved && found < 1.03 * solved) }' <<<"$said" ||
  { echo "the own benchmark was not learned: $said"; exit 1; }
[ "$("$scratch/cpp/own_benchmark" "$scratch/rod")" = "$said" ] || { echo "a finished run was trained again"; exit 1; }
echo "an own PDE: $said"
if "$scratch/roll_out-c" "$model" 2>"$scratch/error"; then echo "a steady model was rolled out"; exit 1; fi
grep -q 'does not step in time' "$scratch/error"
if "$scratch/predict-c" "$source/README.md" 2>"$scratch/error"; then echo "a README was taken for a model"; exit 1; fi
grep -q 'safetensors' "$scratch/error"
PYTHONPATH=$python_path "$python" "$source/tests/runtime/python_test.py" "$model" \
  "$scratch/models/autoregressive.safetensors" "$scratch/models/time_conditional.safetensors"
