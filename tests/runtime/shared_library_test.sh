#!/usr/bin/env bash
# liblano.so depends on nothing but the C and C++ run time, OpenMP and Highway (and the sanitizers', where they are on),
# and shows what its header declares and nothing else, each function under the version of the interface that brought it.
# Usage: shared_library_test.sh LIBRARY HEADER VERSION (of the project: the SONAME and the names of versions follow it)
set -euo pipefail
library=$1 header=$2 version=$3
foreign=$(objdump -p "$library" | awk '/NEEDED/ {print $2}' |
  grep -vE '^(libc|libm|libstdc\+\+|libgcc_s|libgomp|libhwy|libasan|libubsan|ld-linux.*)\.so' || true)
[ -z "$foreign" ] || { echo "liblano.so needs $foreign"; exit 1; }
shown=$(nm -D --defined-only "$library" | awk '{print $3}' |
  grep -vE '^(LANO_[0-9.]+|_ZTI.*|_ZTS.*|__asan.*|__odr_asan.*)$' | sort)
declared=$(grep -oE '\blano_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
different=$(diff <(sed 's/@@.*//' <<<"$shown") <(printf '%s\n' "$declared") || true)
[ -z "$different" ] || { echo "the library (<) and its header (>) differ:"; echo "$different"; exit 1; }
grep -q '^lano_predict@@' <<<"$shown"
minor=${version%.*}
unversioned=$(grep -vE "@@LANO_${minor//./[.]}([.][0-9]+)?$" <<<"$shown" || true)
[ -z "$unversioned" ] || { echo "not of the interface of $minor: $unversioned"; exit 1; }
soname=$(objdump -p "$library" | awk '/SONAME/ {print $2}')
[ "$soname" = "liblano.so.$minor" ] || { echo "liblano.so of $version calls itself $soname"; exit 1; }
