#!/usr/bin/env bash
# What predicts, on ARM: compiled for aarch64 by Debian's cross compiler (preset aarch64), its tests run by qemu as a
# processor without SVE, its predictions compared with this machine's, a C program built against its installation.
# Usage: arm_test.sh SOURCE LIBRARY (this machine's liblano.so) MODELS (the program onnx_models, which makes some);
# 77: skipped.
set -euo pipefail
source=$1 library=$2 models=$3
skip() { echo "skipped: $1 is missing; scripts/packages arm installs it"; exit 77; }
for program in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v "$program" >/dev/null || skip "$program"
done
[ -d /usr/src/googletest ] || skip "the source of GoogleTest"
cd "$source"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong() { echo "$*"; exit 1; }

scripts/build aarch64 -DLANO_BUILD_TESTS=ON -DLANO_WARNINGS_AS_ERRORS=ON
build=build/aarch64
made=$build/lib/liblano.so
readelf -h "$made" | grep -q AArch64 || wrong "$made is not for aarch64"

# Highway compiles its NEON with the instructions of AES allowed, which not every board has; none may be in the library.
aarch64-linux-gnu-objdump -d --no-show-raw-insn "$made" >"$scratch/code"
grep -qE '\sfmla\s' "$scratch/code" || wrong "$made has no NEON"
aes=$(grep -cE '\s(aes(e|d|mc|imc)|pmull2?|sha[0-9a-z]+)\s' "$scratch/code" || true)
[ "$aes" = 0 ] || wrong "$made has $aes instructions of the cryptographic extension"

# Two programs at a time, a core each. Left out: tests that take qemu minutes and are about no arithmetic.
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
ctest --test-dir "$build" --output-on-failure --no-tests=error -j 2 --timeout 300 >"$scratch/tests" 2>&1 ||
  { cat "$scratch/tests"; exit 1; }
grep -E 'tests passed|Total Test time' "$scratch/tests"
for test in 'TileKernels.*/neon' 'Networks.*EveryInstructionSet' Partition ModelFile CApi ManyCallers RollOut \
            Prepare Vjp; do
  grep -qE "$test.*Passed" "$scratch/tests" || wrong "no test of $test has run"
done

# The same model files here and there. A C program of a user's, from the installation, which has what predicts alone.
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >/dev/null
[ ! -e "$prefix/include/lano/training.h" ] || wrong "headers are installed whose library is not"
mkdir "$scratch/models"
"$models" "$scratch/models" >/dev/null
aarch64-linux-gnu-gcc -O2 -Wall -Werror tests/arm/predictions.c -I"$prefix/include" -L"$prefix/lib" -llano -lm \
  -o "$scratch/there"
cc -O2 -Wall -Werror tests/arm/predictions.c -Iinclude "$library" -lm -o "$scratch/here"
files=(tests/data/files/model-v1.safetensors "$scratch"/models/*.safetensors)
LD_LIBRARY_PATH=$(dirname "$library") "$scratch/here" "${files[@]}" >"$scratch/here.txt"
qemu-aarch64-static -cpu cortex-a53 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$prefix/lib" \
  "$scratch/there" "${files[@]}" >"$scratch/there.txt"
# The largest difference of each model, relative to its largest value.
awk -v limit=1e-5 '
  function close_model() { if (name != "" && !(largest > 0 && off <= limit * largest)) {
                             print name ": off by " off " of " largest; bad = 1 }
                           if (largest > 0 && off / largest > worst) worst = off / largest
                           name = $2; largest = off = 0; ++count }
  FNR == NR { here[FNR] = $0; lines = FNR; next }
  /^model/ { if (here[FNR] != $0) { print "another model in line " FNR; exit 1 } close_model(); next }
  { if ($1 ~ /nan|inf/ || here[FNR] ~ /nan|inf/) { print "line " FNR " is " $1; bad = 1 }
    d = $1 - here[FNR]; d = d < 0 ? -d : d; size = here[FNR] < 0 ? -here[FNR] : here[FNR] + 0
    if (d > off) off = d; if (size > largest) largest = size }
  END { close_model(); if (FNR != lines || count < 20) { print "some lines are missing"; exit 1 }
        printf "%d models, off by at most %.1e of their largest value from x86\n", count - 1, worst; exit bad }' \
  "$scratch/here.txt" "$scratch/there.txt"
