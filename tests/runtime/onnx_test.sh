#!/usr/bin/env bash
# Exported models in onnxruntime against `lano predict`. Exits with 77 (skipped) where onnxruntime cannot be had.
# Usage: onnx_test.sh LANO MADE_MODELS SOURCE ONNXRUNTIME_FOLDER
set -euo pipefail
lano=$1 made_models=$2 source=$3 onnxruntime=$4
status=0
said=$("$source/scripts/onnxruntime" "$onnxruntime" 2>&1) || status=$?
if [ $status = 77 ]; then echo "SKIPPED: $said"; exit 77; fi
[ $status = 0 ] || { echo "$said"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$made_models" "$scratch"
node "$source/tests/onnx/compare.mjs" "$lano" "$scratch" "$onnxruntime"
