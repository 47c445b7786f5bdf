#!/usr/bin/env bash
# Neither lano nor liblano.so loads LibTorch, directly or through another library.
set -euo pipefail
for file in "$@"; do
  loaded=$(ldd "$file")
  [ -n "$loaded" ] || { echo "nothing known of $file"; exit 1; }
  if grep -iE 'torch|c10|caffe' <<<"$loaded"; then echo "$file loads LibTorch"; exit 1; fi
done
