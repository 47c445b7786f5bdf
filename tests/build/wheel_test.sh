#!/usr/bin/env bash
# The Python wheel: made by pip, installed into a virtual environment that has NumPy and nothing else, used there.
# Usage: wheel_test.sh SOURCE PYTHON MODELS (the program onnx_models, which makes some) LANO; 77: skipped.
set -euo pipefail
source=$1 python=$2 models=$3 program=$4
for module in pip setuptools wheel numpy venv; do
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

# A virtual environment with NumPy alone, taken from the system: nothing is downloaded.
"$python" -m venv --without-pip "$scratch/venv"
site=$("$scratch/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
ln -s "$("$python" -c 'import numpy, os; print(os.path.dirname(numpy.__file__))')" "$site/numpy"
"$python" -m pip --python "$scratch/venv/bin/python" install --no-deps --no-index "${wheels[0]}" >"$scratch/log" 2>&1 ||
  { cat "$scratch/log"; exit 1; }
module=$(find "$site/lano" -name '_core*.so')
[ -f "$module" ] || { echo "no module in the wheel"; exit 1; }
# Our module, and Highway next to it; from the system the C and C++ run time and OpenMP; no path of the machine that
# built it; no symbol of FFTW or UMFPACK, whose licence is the GPL.
for library in "$module" "$site"/lano/lib*.so*; do
  while read -r name; do
    case $name in
      libc.so.6 | libm.so.6 | libstdc++.so.6 | libgcc_s.so.1 | libgomp.so.1 | libpthread.so.0 | \
        libdl.so.2 | ld-linux-*) ;;
      libhwy.so.*) [ -f "$site/lano/$name" ] || { echo "$name is not in the wheel"; exit 1; } ;;
      *) echo "${library##*/} needs $name"; exit 1 ;;
    esac
  done < <(objdump -p "$library" | awk '$1 == "NEEDED" {print $2}')
done
paths=$(objdump -p "$module" | awk '$1 == "RPATH" || $1 == "RUNPATH" {print $2}')
[ "$paths" = "\$ORIGIN" ] || { echo "the module looks for libraries in '$paths'"; exit 1; }
if nm -D "$module" | grep -qiE ' (fftw|umfpack|H5)'; then echo "a library that is not to be inside"; exit 1; fi
[ "$(stat -c %s "${wheels[0]}")" -lt 3000000 ] || { echo "a wheel of $(stat -c %s "${wheels[0]}") bytes"; exit 1; }

mkdir "$scratch/models"
"$models" "$scratch/models" >/dev/null
cd "$scratch"  # not the source folder, which Python would look in first
"$scratch/venv/bin/python" "$source/tests/build/wheel_use.py" "$site" "$program"
"$scratch/venv/bin/python" "$source/tests/runtime/python_test.py" "$source/tests/data/files/model-v1.safetensors" \
  "$scratch/models/autoregressive.safetensors" "$scratch/models/time_conditional.safetensors"
echo "${wheels[0]##*/} works where there is NumPy and nothing else"
