#!/usr/bin/env bash
# Every example, built and run against an installed tree; all must say the same.
# Usage: examples_test.sh BUILD CMAKE SOURCE PYTHON
set -euo pipefail
build=$1 cmake=$2 source=$3 python=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
model=$source/tests/data/files/model-v1.safetensors
"$cmake" --install "$build" --prefix "$prefix" >/dev/null
library=$(dirname "$(find "$prefix" -name 'liblano.so')")
export LD_LIBRARY_PATH=$library
cc -Wall -Werror -std=c99 -I"$prefix/include" "$source/examples/c/predict.c" -L"$library" -llano -o "$scratch/c"
gfortran -Wall -J"$scratch" "$source/examples/fortran/predict.f90" -L"$library" -llano -o "$scratch/fortran"
"$cmake" -S "$source/examples/cpp" -B "$scratch/cpp" -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
"$cmake" --build "$scratch/cpp" >/dev/null
wanted=$("$scratch/c" "$model")
grep -qE '^81 points, mean [0-9]\.[0-9]{6}e-0' <<<"$wanted" || { echo "C: $wanted"; exit 1; }
for found in "$("$scratch/cpp/predict" "$model")" "$("$scratch/fortran" "$model" | sed 's/E/e/; s/mean  */mean /')" \
             "$(PYTHONPATH=$(dirname "$(find "$prefix" -name 'lano*.so' -path '*python*')") \
                "$python" "$source/examples/python/predict.py" "$model")"; do
  # The last digit may round differently in another language's print.
  [ "${found%?e*}" = "${wanted%?e*}" ] || { echo "'$found' where C says '$wanted'"; exit 1; }
done
if "$scratch/c" "$source/README.md" 2>"$scratch/error"; then echo "a README was taken for a model"; exit 1; fi
grep -q 'safetensors' "$scratch/error"
PYTHONPATH=$(dirname "$(find "$prefix" -name 'lano*.so' -path '*python*')") \
  "$python" "$source/tests/runtime/python_test.py" "$model"
echo "four languages say: $wanted"
