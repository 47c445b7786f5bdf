#!/usr/bin/env bash
# liblano.so depends on nothing but the C and C++ run time, OpenMP and Highway (and the sanitizers', where they are on),
# and shows lano_* alone.
set -euo pipefail
library=$1
foreign=$(objdump -p "$library" | awk '/NEEDED/ {print $2}' |
  grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|libgomp|libhwy|libasan|libubsan|ld-linux.*)\.so' || true)
[ -z "$foreign" ] || { echo "liblano.so needs $foreign"; exit 1; }
shown=$(nm -D --defined-only "$library" | awk '{print $3}' |
  grep -vE '^(lano_[a-z_]+|_ZTI.*|_ZTS.*|__asan.*|__odr_asan.*)$' || true)
[ -z "$shown" ] || { echo "liblano.so shows more than its interface: $(head -n 5 <<<"$shown")"; exit 1; }
nm -D --defined-only "$library" | grep -q ' lano_predict$'
