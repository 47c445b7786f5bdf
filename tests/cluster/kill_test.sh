#!/usr/bin/env bash
# A rank killed at a random moment: the job ends within ten seconds, nothing is left half-written, and the run goes on
# to the bytes of one that was never stopped; samples divided over ranks and points divided over ranks in turn.
# Usage: kill_test.sh LANO CONFIGS TIMES
set -u
lano=$1 configs=$2 times=$3
# shellcheck source=tests/cluster/on_ranks.sh
. "$(dirname "$0")/on_ranks.sh"
"$lano" generate darcy --resolution 43 --stride 1 --train 20 --test 4 --out grid.h5 >/dev/null 2>&1
long=(--config "$configs/darcy/laptop.toml" --data grid.h5 --set train.batch=4 --set model.layers=2
  --set train.epochs=4 --set checkpoint.steps=3 --threads 1)
"$lano" train "${long[@]}" --out whole >/dev/null 2>&1 || wrong "the run alone"
RANDOM=20
longest=0
# The ranks of a job: their command begins with the program, that of mpirun does not, and the folder is this test's own.
ranks="^[^ ]*lano train .*--out $work/killed"
for time in $(seq "$times"); do
  rm -rf killed
  mesh=$((time % 2 + 1))
  on 2 "$lano" train "${long[@]}" --mesh-ranks "$mesh" --out "$work/killed" >/dev/null 2>killed.log &
  job=$!
  moment=$((RANDOM % 4000 + 50))
  sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
  for _ in $(seq 600); do
    mapfile -t found < <(pgrep -f -- "$ranks")
    if [ ${#found[@]} -gt 0 ] || ! kill -0 $job 2>/dev/null; then break; fi
    sleep 0.1
  done
  if [ ${#found[@]} -gt 0 ]; then kill -9 "${found[RANDOM % ${#found[@]}]}" 2>/dev/null; fi
  start=$(date +%s%N)
  wait $job
  ended=$((($(date +%s%N) - start) / 1000000))
  [ $ended -gt $longest ] && longest=$ended
  [ $ended -le 10000 ] || wrong "killed after $moment ms: $ended ms to end"
  pgrep -f -- "$ranks" >/dev/null && wrong "killed after $moment ms: ranks are left behind"
  if [ ! -e killed/config.toml ]; then
    on 2 "$lano" train "${long[@]}" --mesh-ranks "$mesh" --out killed >killed.log 2>&1 || wrong "beginning again"
  elif ! [ -e killed/evaluation.json ]; then
    on 2 "$lano" train --resume killed --mesh-ranks "$mesh" --threads 1 >killed.log 2>&1 ||
      wrong "going on after a kill at $moment ms: $(grep -h lano: killed.log | head -n 1)"
  fi
  cmp -s whole/model.safetensors killed/model.safetensors || wrong "killed after $moment ms: other bytes"
done
echo "$times kills, the longest end $longest ms"
finish
