#!/usr/bin/env bash
# Training on ranks of MPI: the same model file as one process, whatever their number; failures that end the whole job
# with one sentence. Usage: mpi_test.sh LANO CONFIGS
# LANO_RANKS: trainings on these numbers of ranks alone.
set -u
lano=$1 configs=$2
# shellcheck source=tests/cluster/on_ranks.sh
. "$(dirname "$0")/on_ranks.sh"

"$lano" generate darcy --resolution 43 --stride 3 --train 20 --test 4 --out grid.h5 >/dev/null 2>&1
"$lano" generate elasticity --train 10 --test 2 --out cloud.h5 >/dev/null 2>&1
"$lano" generate burgers --train 8 --test 2 --out motion.h5 >/dev/null 2>&1
small=(--set model.layers=2 --set train.epochs=2 --threads 1)

# NAME RANKS... -- what to train
same() {
  local name=$1 counts=${LANO_RANKS:-$2}; shift 2
  "$lano" train "$@" "${small[@]}" --out "$name-1" >"$name.log" 2>&1 ||
    { wrong "$name alone: $(tail -n 1 "$name.log")"; return; }
  for count in $counts; do
    on "$count" "$lano" train "$@" "${small[@]}" --out "$name-$count" >"$name-$count.log" 2>&1 ||
      { wrong "$name on $count ranks: $(head -n 1 "$name-$count.log")"; continue; }
    cmp -s "$name-1/model.safetensors" "$name-$count/model.safetensors" ||
      wrong "$name: another model file on $count ranks"
    [ "$(wc -l <"$name-1/metrics.csv")" = "$(wc -l <"$name-$count/metrics.csv")" ] || wrong "$name: other metrics"
  done
}
same grid "2 3 4" --config "$configs/darcy/laptop.toml" --data grid.h5 --set train.batch=4 --set train.augment=rotations
same cloud "2 3" --config "$configs/elasticity/laptop.toml" --data cloud.h5 --set train.batch=3 \
  --set train.accumulate=2 --set train.points=300
same motion "2 3" --config "$configs/burgers/laptop.toml" --data motion.h5 --set train.batch=3 --set train.rollout=2 \
  --set train.epoch_samples=10 --set train.ema=0.9 --set model.dropout=0.1
same times "2" --config "$configs/burgers/laptop.toml" --data motion.h5 --set train.batch=4 \
  --set model.task=time_conditional --set train.rollout=1 --set train.epoch_samples=10 --set train.increments=false \
  --set train.noise=0

# Stopped on three ranks, gone on with two.
grid=(--config "$configs/darcy/laptop.toml" --data grid.h5 --set train.batch=4 --set train.augment=rotations)
on 3 "$lano" train "${grid[@]}" "${small[@]}" --stop-after 1 --out again >/dev/null 2>&1 ||
  wrong "stopping on three ranks"
on 2 "$lano" train --resume again --threads 1 >/dev/null 2>&1 || wrong "going on with two ranks"
cmp -s grid-1/model.safetensors again/model.safetensors || wrong "resumed with another number of ranks: other bytes"

# Wrong use: one sentence before the first step.
refused 3 'training on 3 ranks: expected at least one sample of a batch for each, found train.batch = 2' \
  train "${grid[@]}" --set train.batch=2
refused 2 "reading 'none.h5': there is nothing at that path" train --config "$configs/darcy/laptop.toml" --data none.h5
refused 4 'dividing each mesh over 4 ranks: expected at most 1: 225 points are cut into as many pieces' \
  train "${grid[@]}" --mesh-ranks 4
refused 2 'expected one process, found 2 ranks' report grid-1
refused 2 'expected a LANO on the fused engine, found model.name = fno' train "${grid[@]}" --set model.name=fno

# Ranks that would not do the same: what the sentence says; program, dataset and further options of rank 1.
unlike() {
  local pattern=$1 program=$2 data=$3 recipe=(--config "$configs/darcy/laptop.toml" --set train.batch=4); shift 3
  timeout 300 mpirun --oversubscribe -n 1 "$lano" train --data grid.h5 "${recipe[@]}" --out unlike : \
    -n 1 "$program" train --data "$data" "${recipe[@]}" --out unlike "$@" >out.log 2>err.log &&
    wrong "unlike ranks trained: $pattern"
  [ "$(grep -c '^lano: ' err.log)" = 1 ] && grep -q "^lano: training on 2 ranks: $pattern" err.log ||
    wrong "unlike ranks said: $(grep '^lano: ' err.log)"
  [ ! -e unlike ] || { wrong "unlike ranks left a folder: $pattern"; rm -rf unlike; }
}
"$lano" generate darcy --resolution 43 --stride 3 --train 20 --test 4 --seed 1 --out other.h5 >/dev/null 2>&1
mkdir -p other/bin
cp "$lano" "$folder/lano-mpi.so" other/bin/
echo >>other/bin/lano  # another build
unlike 'expected on rank 1 the dataset of rank 0: .*; give all ranks the same dataset' "$lano" other.h5
unlike 'expected on rank 1 the command of rank 0' "$lano" grid.h5 --set model.width=16
unlike 'expected on rank 1 the program of rank 0' other/bin/lano grid.h5

# What one rank does wrong is said by the first, with its name.
timeout 300 mpirun --oversubscribe -n 1 "$lano" train "${grid[@]}" --out odd : \
  -n 1 "$lano" train "${grid[@]}" --bad --out odd >out.log 2>err.log &&
  wrong "a rank with another command line was taken"
grep -q '^lano: rank 1: .*--bad' err.log || wrong "another command line on rank 1: $(head -n 1 err.log)"

# A killed rank ends the job within seconds, and what is left goes on to the same bytes. Its ranks are known by the
# folder, which is this test's own: the same test may run in another build at the same time.
long=("${grid[@]}" --set model.layers=2 --set train.epochs=40 --set checkpoint.steps=5 --threads 1)
ranks="^[^ ]*lano train .*--out $work/killed"
"$lano" train "${long[@]}" --out whole >/dev/null 2>&1 || wrong "the long run alone"
on 2 "$lano" train "${long[@]}" --out "$work/killed" >/dev/null 2>&1 &
for _ in $(seq 1200); do ls killed/checkpoint/step-* >/dev/null 2>&1 && break; sleep 0.1; done
pkill -9 -n -f -- "$ranks" || wrong "the job ended before one of its ranks was killed"
start=$SECONDS
wait $! && wrong "a job with a killed rank succeeded"
[ $((SECONDS - start)) -le 10 ] || wrong "a job with a killed rank took $((SECONDS - start)) s to end"
pgrep -f -- "$ranks" >/dev/null && wrong "ranks are left behind"
on 2 "$lano" train --resume killed --threads 1 >/dev/null 2>&1 || wrong "going on after a kill"
cmp -s whole/model.safetensors killed/model.safetensors || wrong "after a kill: other bytes"

"$lano" info --system | grep -q '^MPI .*MPI' || wrong "info --system: $("$lano" info --system | grep MPI)"
finish
