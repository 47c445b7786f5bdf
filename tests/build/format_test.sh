#!/usr/bin/env bash
# C and C++ as .clang-format lays them out (Debian's clang-format 14), and no line beyond its 120 columns, also in
# scripts, CMake files and recipes; no statements joined by commas. To lay a file out: clang-format-14 -i FILE
set -euo pipefail
cd "$1"
if ! command -v clang-format-14 >/dev/null; then
  echo "clang-format-14 is missing; scripts/packages test installs it"
  exit 77
fi
folders=(apps bench examples include python src tests)
find "${folders[@]}" \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0 |
  xargs -0 -P 2 -n 40 clang-format-14 --dry-run -Werror
long=$(find "${folders[@]}" cmake configs scripts .ci test quickstart CMakeLists.txt CMakePresets.json -type f \
         \( -name '*.h' -o -name '*.cpp' -o -name '*.c' -o -name '*.py' -o -name '*.sh' -o -name '*.mjs' \
            -o -name '*.cmake' -o -name '*.toml' -o -name '*.f90' -o -name 'CMake*' -o ! -name '*.*' \) \
         ! -path '*/data/files/*' \
         ! -path 'tests/fuzz/regressions/*' -print0 |
       LC_ALL=C.UTF-8 xargs -0 awk 'length > 120 { print FILENAME ":" FNR ": " length " columns" }')
if [ -n "$long" ]; then echo "$long"; exit 1; fi
python3 tests/build/comma_operators.py "${folders[@]}"
