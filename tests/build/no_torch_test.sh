#!/usr/bin/env bash
# Neither lano nor liblano.so loads LibTorch, directly or through another library; nor a BLAS before a flow is solved,
# whose start-up takes time and, in a small address space, for ever.
set -euo pipefail
for file in "$@"; do
  # Names alone: an address such as 0x7f1c10a23000 would look like libc10.
  loaded=$(ldd "$file" | awk '{ count = split($1, part, "/"); print part[count] }')
  [ -n "$loaded" ] || { echo "nothing known of $file"; exit 1; }
  if grep -E '^lib(torch|c10|caffe)' <<<"$loaded"; then echo "$file loads LibTorch"; exit 1; fi
  if grep -E '^lib(openblas|blas|umfpack)' <<<"$loaded"; then echo "$file loads a BLAS at its start"; exit 1; fi
done
