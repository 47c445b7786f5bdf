#!/usr/bin/env bash
# The example of an operator of one's own: it learns, beside LANO, what neither the mean field nor its own layers
# without the integral do (24 % and 17 % wrong on these samples), and the same command again keeps what is trained.
# Usage: own_operator_test.sh PROGRAM
set -euo pipefail
program=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
said=$("$program" "$scratch/runs")
# NAME MOST: the error that the program prints for this operator is below MOST.
below() {
  awk -v name="$1" -v most="$2" '$1 == name && $3 + 0 > 0 && $3 < most { good = 1 } END { exit !good }' <<<"$said" ||
    { echo "the test error of $1 is not below $2: $said"; exit 1; }
}
below low-rank 0.09
below lano 0.04
grep -qE '^on the same samples: mean field 2\.[0-9]{2}e-01, ' <<<"$said" || { echo "no mean field: $said"; exit 1; }
[ "$("$program" "$scratch/runs")" = "$said" ] ||
  { echo "the same command again does not keep what is trained"; exit 1; }
echo "$said"
