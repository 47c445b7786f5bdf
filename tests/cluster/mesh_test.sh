#!/usr/bin/env bash
# The points of a sample divided over ranks of MPI: the same model file and the same answers as one process, bit for
# bit, for every kind of mesh and cloud, alone and in groups. Usage: mesh_test.sh LANO CONFIGS PYTHON
# LANO_RANKS: these numbers of ranks alone.
set -u
lano=$1 configs=$2 python=$3
# shellcheck source=tests/cluster/on_ranks.sh
. "$(dirname "$0")/on_ranks.sh"

# Sets of a few samples, large enough to be cut into four pieces: a grid, the same coarser, four long rows (one for each
# rank), the same finer, a cloud of 2900 points, clouds of different sizes, a torus in time.
"$python" - <<'PY'
import os
import numpy as np
random = np.random.default_rng(1)
def field(x, k):
    return np.sin(5 * x[..., 0] + k) + np.cos(7 * x[..., 1] - k)
def grid(n, m):
    return np.stack(np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, m), indexing="ij"), -1)
def save(name, places):
    np.save(name + "-a.npy", np.stack([field(x, k) for k, x in enumerate(places)]).astype("f4"))
    np.save(name + "-u.npy", np.stack([field(x, k) ** 2 for k, x in enumerate(places)]).astype("f4"))
save("grid", [grid(58, 50)] * 4)
save("coarse", [grid(34, 30)] * 4)
rows = [grid(4, 725) + 0.02 * np.sin(9 * grid(4, 725)[..., ::-1] + k) for k in range(4)]
save("rows", rows)
np.save("rows-x.npy", np.stack(rows).astype("f4"))
fine = [grid(9, 901) + 0.02 * np.sin(9 * grid(9, 901)[..., ::-1] + k) for k in range(4)]
save("fine", fine)
np.save("fine-x.npy", np.stack(fine).astype("f4"))
cloud = [random.random((2900, 2)) for _ in range(4)]
save("cloud", cloud)
np.save("cloud-x.npy", np.stack(cloud).astype("f4"))
for name in "xau":
    os.mkdir("ragged-" + name)
for k, n in enumerate([2700, 2900, 2650, 2800]):
    x = random.random((n, 2))
    for name, values in ("x", x), ("a", field(x, k)), ("u", field(x, k) ** 2):
        np.save(f"ragged-{name}/{k}.npy", values.astype("f4"))
t = np.arange(5) * 0.1
torus = np.stack([[field(2 * np.pi * grid(60, 48) / 7 * 1.4, k + s) for s in t] for k in range(4)])
np.save("torus-u.npy", torus.astype("f4"))
PY
import() {
  local out=$1; shift
  "$lano" import "$@" --test-count 1 --out "$out.h5" >import.log 2>&1 || wrong "import $out: $(tail -n 1 import.log)"
}
import grid --input grid-a.npy --output grid-u.npy
import coarse --input coarse-a.npy --output coarse-u.npy
import rows --geometry mesh --coords rows-x.npy --input rows-a.npy --output rows-u.npy
import fine --geometry mesh --coords fine-x.npy --input fine-a.npy --output fine-u.npy
import cloud --geometry points --coords cloud-x.npy --input cloud-a.npy --output cloud-u.npy
import ragged --geometry points --coords ragged-x --input ragged-a --output ragged-u
import torus --output torus-u.npy --time first --time 0.1 --periodic 0,1 --grid-points left

cat >small.toml <<'TOML'
[model]
layers = 2
width = 32
heads = 4
agents = 16
[train]
batch = 1
epochs = 1
TOML
small=(--config small.toml --threads 1)

# NAME MESH-RANKS... -- what to train; then what the model says on a set, on as many ranks.
same() {
  local name=$1 data=$2 counts=${LANO_RANKS:-$3}; shift 3
  "$lano" train --data "$data.h5" "${small[@]}" "$@" --out "$name-1" >"$name.log" 2>&1 ||
    { wrong "$name alone: $(tail -n 1 "$name.log")"; return; }
  for count in $counts; do
    on "$count" "$lano" train --data "$data.h5" "${small[@]}" "$@" --mesh-ranks "$count" --out "$name-$count" \
      >"$name-$count.log" 2>&1 || { wrong "$name on $count ranks: $(head -n 1 "$name-$count.log")"; continue; }
    cmp -s "$name-1/model.safetensors" "$name-$count/model.safetensors" ||
      wrong "$name: another model file on $count ranks"
  done
}

# NAME SET COUNTS FILE...: all points from rank 0 as .npy (or numbered .vtu), and for meshes .h5 written by all ranks,
# which holds the bytes of the .npy and can be predicted from. (HDF5 writes the time of day into a file.)
answers() {
  local name=$1 data=$2 counts=${LANO_RANKS:-$3} file=$4; shift 4
  local model=$name-1/model.safetensors
  rm -f one.npy one-*.vtu
  "$lano" predict "$model" --data "$data.h5" "$@" --threads 1 --out "one.$file" >predict.log 2>&1 ||
    { wrong "$name predicts alone: $(tail -n 1 predict.log)"; return; }
  for count in $counts; do
    rm -f many.npy many.h5 many-*.vtu
    on "$count" "$lano" predict "$model" --data "$data.h5" "$@" --threads 1 --out "many.$file" >predict.log 2>&1 ||
      { wrong "$name predicts on $count ranks: $(grep -h lano: predict.log | head -n 1)"; continue; }
    for one in one*."$file"; do
      cmp -s "$one" "many${one#one}" || wrong "$name: other answers on $count ranks"
    done
    [ "$file" = npy ] && [[ $data != *cloud* ]] || continue
    on "$count" "$lano" predict "$model" --data "$data.h5" "$@" --threads 1 --out many.h5 >predict.log 2>&1 ||
      { wrong "$name writes on $count ranks: $(grep -h lano: predict.log | head -n 1)"; continue; }
    "$python" - <<'PY' || wrong "$name: other numbers in the file that $count ranks wrote"
import sys
import numpy as np
sys.exit(np.load("one.npy").tobytes() not in open("many.h5", "rb").read())
PY
    "$lano" predict "$model" --data many.h5 "${@/test/all}" --threads 1 --out again.npy --force >predict.log 2>&1 &&
      cmp -s one.npy again.npy || wrong "$name: the file that $count ranks wrote reads otherwise"
  done
}

same grid grid "2 3 4" --set model.ffn_stencil=true --set model.padding=edge --set train.augment=flips
answers grid grid "2 3 4" npy --split test
answers grid coarse "2" npy --split test
answers grid coarse "4" npy  # two groups of two ranks: more than a sample has pieces for
same rows rows "4" --set model.task=steady
answers rows rows "4" npy --split test
same moved rows "2" --set model.task=steady --set normalise.displacement=true
answers moved fine "2 3" npy --split test  # between trained points the displacement follows from those of other ranks
same cloud cloud "3" --set model.stencil=order
answers cloud cloud "3" npy --split test
same nearest cloud "2" --set model.stencil=neighbours --set model.ffn_stencil=true
answers nearest cloud "2" npy --split test
same ragged ragged "2" --set train.batch=2
answers ragged ragged "2" vtu
same torus torus "2" --set model.task=autoregressive --set train.rollout=2
answers torus torus "3" npy --split test
same times torus "2" --set model.task=time_conditional --set train.epoch_samples=6
answers times torus "2" npy --split test

# Groups of two: samples divided over the groups, points within them; then on with another division.
both=(--data grid.h5 "${small[@]}" --set train.batch=2 --set train.epochs=2)
"$lano" train "${both[@]}" --out both-1 >/dev/null 2>&1 || wrong "both alone"
on 4 "$lano" train "${both[@]}" --mesh-ranks 2 --stop-after 1 --out both-4 >both.log 2>&1 ||
  wrong "groups: $(head -n 1 both.log)"
on 2 "$lano" train --resume both-4 --mesh-ranks 2 --threads 1 >both.log 2>&1 || wrong "going on: $(head -n 1 both.log)"
cmp -s both-1/model.safetensors both-4/model.safetensors || wrong "groups of ranks: another model file"

# Four groups of two.
"$lano" generate darcy --resolution 43 --stride 1 --train 10 --test 2 --out darcy.h5 >/dev/null 2>&1
four=(--data darcy.h5 "${small[@]}" --set train.batch=4)
"$lano" train "${four[@]}" --out four-1 >/dev/null 2>&1 || wrong "four groups alone"
on 8 "$lano" train "${four[@]}" --mesh-ranks 2 --out four-8 >four.log 2>&1 || wrong "eight ranks: $(head -n 1 four.log)"
cmp -s four-1/model.safetensors four-8/model.safetensors || wrong "eight ranks in four groups: another model file"

# Wrong use: one sentence before the first step.
refused 4 'dividing each mesh over 3 ranks: expected a number that divides the ranks' train "${both[@]}" --mesh-ranks 3
refused 3 'divide each mesh over more of them by --mesh-ranks' train "${both[@]}"
refused 4 'dividing a sample over 4 ranks: expected at most 2' predict grid-1/model.safetensors --data coarse.h5 \
  --mesh-ranks 4

said() {
  [ "$(grep -c '^lano: ' err.log)" = 1 ] && grep -q "^lano: $2" err.log || wrong "$1: $(grep '^lano: ' err.log)"
}
# One rank meets a number that is none in its own points (all look at the first sample and the last): it says so, and
# all end.
"$python" - <<'PY'
import numpy as np
a = np.load("grid-a.npy")
bytes_ = open("grid.h5", "rb").read()
at = bytes_.index(a[2].tobytes()) + a[2].nbytes - 4
open("nan.h5", "wb").write(bytes_[:at] + np.float32("nan").tobytes() + bytes_[at + 4:])
PY
# Ten seconds more than a job without a fault takes on this machine now: a busy one needs as long to start the ranks.
start=$SECONDS
on 3 "$lano" predict grid-1/model.safetensors --data grid.h5 --out good.h5 >out.log 2>&1 || wrong "no fault, and failed"
most=$((SECONDS - start + 10)) start=$SECONDS
on 3 "$lano" predict grid-1/model.safetensors --data nan.h5 --out bad.h5 >out.log 2>err.log && wrong "a NaN was taken"
[ $((SECONDS - start)) -le $most ] || wrong "a NaN on one rank: $((SECONDS - start)) s to end"
said "a NaN on one rank" "rank 2: reading 'nan.h5': expected finite numbers in /input"
ls bad.h5* >/dev/null 2>&1 && wrong "a NaN on one rank left a file"

# A full disk on one rank: its part of the file cannot be written (the limit is on the size of a file; MPICH's own
# shared memory is one).
if [ "$mpirun" = mpirun ]; then
on_full() { bash -c 'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then ulimit -f 20; fi; exec "$@"' - "$@"; }
export -f on_full
start=$SECONDS
on 2 bash -c 'on_full "$@"' - "$lano" predict grid-1/model.safetensors --data grid.h5 --out full.h5 \
  >out.log 2>err.log && wrong "a full disk was taken"
[ $((SECONDS - start)) -le $most ] || wrong "a full disk on one rank: $((SECONDS - start)) s to end"
said "a full disk on one rank" "rank 1: writing 'full.h5': expected space"
ls full.h5* >/dev/null 2>&1 && wrong "a full disk on one rank left a file"
fi

# The bench of a cluster checks the bits, and what it says was exchanged is what was.
on 2 "$lano" bench cluster --points 4096 --training-points 4096 --layers 1 --rounds 1 --json >bench.log 2>&1 ||
  wrong "bench cluster: $(head -n 1 bench.log)"
"$python" - <<'PY' || wrong "bench cluster: $(tail -n 1 bench.log)"
import json
r = json.loads(open("bench.log").read().splitlines()[-1])
for of in r["prediction"], r["training"]:
    assert of["same_bits"], of
    assert of["gathers"] == of["planned_gathers"] and of["swaps"] == of["planned_swaps"], of
    assert abs(of["bytes"] / of["planned_bytes"] - 1) < 0.05, of
PY
finish
