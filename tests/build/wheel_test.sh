#!/usr/bin/env bash
# The Python wheel: made by pip, unpacked into a clean folder, used from there.
# Usage: wheel_test.sh SOURCE PYTHON MODELS (the program onnx_models, which makes some); 77: skipped.
set -euo pipefail
source=$1 python=$2 models=$3
for module in pip setuptools wheel numpy; do
  "$python" -c "import $module" 2>/dev/null ||
    { echo "skipped: $python has no $module (Debian: python3-$module)"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
"$python" -m pip wheel --no-build-isolation --no-deps --no-index --wheel-dir "$scratch" "$source/python" \
  >"$scratch/log" 2>&1 ||
  { tail -n 40 "$scratch/log"; exit 1; }
wheels=("$scratch"/lano-*.whl)
[ ${#wheels[@]} = 1 ] && [ -f "${wheels[0]}" ] || { echo "no wheel in $(ls "$scratch")"; exit 1; }
case ${wheels[0]##*/} in *-none-any.whl) echo "a wheel for any machine, though it holds machine code"; exit 1 ;; esac
"$python" -m zipfile -e "${wheels[0]}" "$scratch/site"
module=$(find "$scratch/site" -name 'lano*.so')
[ -f "$module" ] || { echo "no module in the wheel"; exit 1; }
# Ours inside; from the system the C and C++ run time, OpenMP and Highway; no path of the machine that built it.
while read -r name; do
  case $name in
    libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libgomp.so.1 | libpthread.so.0 | \
      libdl.so.2 | libhwy.so.* | ld-linux-*) ;;
    *) echo "the module needs $name"; exit 1 ;;
  esac
done < <(objdump -p "$module" | awk '$1 == "NEEDED" {print $2}')
if objdump -p "$module" | grep -E 'RPATH|RUNPATH'; then
  echo "the module looks for libraries where it was built"
  exit 1
fi
mkdir "$scratch/models"
"$models" "$scratch/models" >/dev/null
cd "$scratch"  # not the source folder, which Python would look in first
PYTHONPATH=$scratch/site \
  "$python" -c 'import sys, lano; assert lano.__file__.startswith(sys.argv[1]), lano.__file__' "$scratch/site"
PYTHONPATH=$scratch/site \
  "$python" "$source/tests/runtime/python_test.py" "$source/tests/data/files/model-v1.safetensors" \
  "$scratch/models/autoregressive.safetensors" "$scratch/models/time_conditional.safetensors"
echo "${wheels[0]##*/} works from a clean folder"
