#!/usr/bin/env bash
# Every experiment of the paper at its smallest: what each writes, that it resumes and keeps what is finished, and what
# it refuses. The numbers mean nothing; that every command runs from nothing to a table does.
# Usage: experiment_test.sh LANO CONFIGS
set -uo pipefail
lano=$1 configs=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export OMP_NUM_THREADS=1
failures=0
bad() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# study NAME ROWS OPTIONS...: succeeds, with a table of ROWS rows, a plot and a page.
study() {
  local name=$1 rows=$2
  shift 2
  timeout -s KILL 120 "$lano" experiment "$name" --preset smoke --configs "$configs" --data data --out "$name" "$@" \
    >out 2>err || bad "$name ended with $?: $(tail -c 300 err)"
  local found
  found=$(tail -n +2 "$name/$name.csv" | wc -l)
  [ "$found" = "$rows" ] || bad "$name has $found rows, not $rows: $(cat "$name/$name.csv")"
  grep -q 'class="sheet"' "$name/index.html" || [ "$name" = ablation ] || bad "the page of $name has no plot"
  ls "$name"/*.png >/dev/null 2>&1 || [ "$name" = ablation ] || bad "$name has no picture"
  ! grep -q ',nan,' "$name/$name.csv" || bad "$name has no number somewhere: $(cat "$name/$name.csv")"
}

study agents 6 --benchmarks darcy --agents 4,8,16         # three trained, three evaluations of one model
study size 4 --benchmarks darcy --depths 1 --widths 8      # the reference stands on both curves
study resolution 6 --benchmarks darcy,airfoil
study zero-shot 7 --benchmarks darcy,airfoil --models lano
study ablation 10 --benchmarks elasticity
# Each switch is really off: fewer parameters without bias, fewer still without the stencil too.
parameters() { awk -F, -v row="\"$1\"" '$4 == row { print $8 }' ablation/ablation.csv; }
all=$(parameters reference) unbiased=$(parameters 'without bias') bare=$(parameters 'without bias and DWC')
[ "$bare" -lt "$unbiased" ] && [ "$unbiased" -lt "$all" ] || bad "parameters of the ablation: $all, $unbiased, $bare"
study horizon 2 --models lano
grep -q '^burgers,"LANO",8,' horizon/steps.csv || bad "horizon does not reach the eighth step: $(cat horizon/steps.csv)"
grep -q '^navier-stokes,"LANO",6,15,' horizon/steps.csv ||
  bad "no sixth step behind ten frames: $(cat horizon/steps.csv)"

# The same command keeps what is there; another seed is added to it.
before=$(stat -c %y%s agents/darcy/agents-8/seed-0/model.safetensors)
study agents 12 --benchmarks darcy --agents 4,8,16 --seeds 2
[ "$before" = "$(stat -c %y%s agents/darcy/agents-8/seed-0/model.safetensors)" ] || bad "a finished run was made again"
grep -q 'finished before, kept' out || bad "a finished run is not called kept"

# Your own data, with a recipe.
timeout -s KILL 60 "$lano" experiment ablation --data data/darcy.h5 --config "$configs/darcy/smoke.toml" \
  --set train.epochs=1 --out own >out 2>err || bad "an ablation on own data: $(cat err)"
grep -q '| ablation | latent agents |' own/ablation.md || bad "no row of latent agents: $(cat own/ablation.md)"

# refuses PATTERN OPTIONS...: exit code 2 and one line that says why.
refuses() {
  local pattern=$1
  shift
  timeout -s KILL 60 "$lano" experiment "$@" --configs "$configs" >out 2>err
  [ $? = 2 ] || bad "'$*' is not refused: $(tail -c 300 err)"
  grep -q -- "$pattern" err || bad "'$*' says '$(cat err)', not '$pattern'"
  [ "$(wc -l <err)" = 1 ] || bad "'$*' takes $(wc -l <err) lines to say it"
}
refuses "expected benchmarks among airfoil, darcy, pipe, found 'elasticity'" resolution --preset smoke \
  --benchmarks elasticity --data data --out none
refuses "did you mean 'darcy'" agents --preset smoke --benchmarks darcey --data data --out none
refuses 'at least two numbers' agents --preset smoke --benchmarks darcy --agents 8 --data data --out none
refuses 'the folder of the benchmarks' zero-shot --models lano --data data/darcy.h5 --out none
refuses 'benchmarks have their recipes' agents --config "$configs/darcy/smoke.toml" --data data --out none
refuses 'other recipes\|the recipe differs from' agents --preset smoke --benchmarks darcy --agents 4,8,16 --data data \
  --out agents --set train.batch=3
[ ! -e none ] || bad "a refusal leaves a folder"

[ "$failures" = 0 ] || { echo "$failures failures"; exit 1; }
