#!/usr/bin/env bash
# The command line as a user types it: help, exit codes, one sentence for each mistake, nothing half-written, nothing
# lost; the whole workflow from generate to report, with LibTorch for other operators too.
# Usage: command_line_test.sh LANO WITH_TORCH
set -uo pipefail
lano=$1 torch=$2
configs=$(cd "$(dirname "$0")/../../configs" && pwd)
scratch=$(mktemp -d)
errors=$(mktemp)  # not in the scratch folder, whose files are counted
trap 'rm -rf "$scratch" "$errors"' EXIT
cd "$scratch" || exit 1
failures=0

complain() { echo "FAILED: $*"; failures=$((failures + 1)); }

# expect CODE PATTERN COMMAND...: the exit code, and a pattern in stdout and stderr together.
expect() {
  local code=$1 pattern=$2; shift 2
  local output status
  output=$("$@" 2>"$errors"); status=$?
  output=$(printf '%s\n' "$output"; cat "$errors")
  [ "$status" = "$code" ] || complain "'$*' exited $status, expected $code: $output"
  grep -qE -- "$pattern" <<<"$output" || complain "'$*' should say '$pattern', said: $output"
  # A mistake is one sentence on stderr: one line, from lano. Work that was finished before it has a line, too.
  if [ "$code" != 0 ] &&
    ! { [ "$(grep -cvE ' 100% [0-9]+/[0-9]+ ' "$errors")" = 1 ] && tail -n 1 "$errors" | grep -q '^lano: '; }; then
    complain "'$*' is not one sentence of lano: $(cat "$errors")"
  fi
}

# error_of COMMAND...: the mean relative L2 error on the test split that `lano train` or `lano eval` prints.
error_of() { "$@" 2>/dev/null | sed -nE 's/^(test )?relative L2 +(mean )?([0-9.e+-]+).*/\3/p' | head -n 1; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a > 0 && d < 2e-3 * a && -d < 2e-3 * a) }'; }
agrees() { below "$(sed -E 's/.*"max_rel_diff":([^,}]*).*/\1/' <<<"$1")" 1e-3; }
below() { awk -v error="$1" -v most="$2" 'BEGIN { exit !(error > 0 && error < most) }'; }

expect 0 '^lano [0-9]+\.[0-9]+\.[0-9]+$' "$lano" --version
for word in generate import info train eval predict tune experiment export serve bench report runs; do
  expect 0 "^  $word  +[a-z]" "$lano" --help
done
for word in eval experiment\ ablation experiment\ race export \
  generate import info predict report runs serve train tune; do
  expect 0 "^Example: lano $word [^ ]" "$lano" $word --help
done
expect 2 '^lano: A subcommand is required; see --help$' "$lano"
expect 2 "expected one of the commands generate, import, .*, found 'bogus'" "$lano" bogus
expect 2 'did you mean .darcy.' "$lano" generate dracy
expect 2 'a stride of at least 1 and below it, found resolution 421, stride 0$' \
  "$lano" generate darcy --stride 0 --out x.h5
expect 2 '^lano: --seed: -1 is too small; see --help$' "$lano" generate darcy --seed -1
expect 1 "^lano: reading 'none.h5': there is nothing at that path; " "$lano" info none.h5
expect 2 'no file is given; name a file, or use --system or --models' "$lano" info
expect 0 '^transolver +transformer +3,074,241 +977,089 +grid mesh points ' "$lano" info --models
expect 0 '^ht-net +transformer +1,615,489 +- +grid\* mesh\* +O\(N w\^2 C\) ' "$lano" info --models
expect 0 '^fno +spectral .* grid mesh points\* +O\(N C \(log N' "$lano" info --models
expect 0 'on a cloud of 972 points' "$lano" info --models
expect 0 '^threads +[1-9][0-9]* \(OpenMP\)$' "$lano" info --system
expect 0 '^kernels +plain( |$)' env LANO_SIMD=plain "$lano" info --system
expect 2 'LANO_SIMD.*plain.*found mmx' env LANO_SIMD=mmx "$lano" info --system
expect 1 "^lano: reporting on 'none': there is nothing at that path; " "$lano" report none
expect 2 "expected --onnx FILE ending in .onnx, found 'model.txt'$" "$lano" export none.safetensors --onnx model.txt
for mesh in 6x 6xx6 x6 0x6 6y6 -6x6; do
  expect 2 "expected --mesh like 64x64, found '$mesh'$" "$lano" export none.safetensors --onnx m.onnx --mesh=$mesh
done
expect 1 "reading model 'none.safetensors': there is nothing at that path" \
  "$lano" export none.safetensors --onnx m.onnx --mesh 6x6
[ -e m.onnx ] && complain "a refused export left m.onnx"

expect 0 '^d.h5: 20 samples of \[9, 9\]$' \
  "$lano" generate darcy --resolution 17 --stride 2 --train 16 --test 4 --out d.h5
expect 0 '^  train +14$' "$lano" info d.h5
sum=$(sha256sum d.h5)
expect 1 "writing 'd.h5': the file exists already; .*add --force" \
  "$lano" generate darcy --resolution 17 --stride 2 --train 16 --test 4 --out d.h5
expect 1 "writing 'no/where.h5': the folder 'no' does not exist" \
  "$lano" generate darcy --resolution 9 --stride 1 --train 4 --test 1 --out no/where.h5
[ "$sum" = "$(sha256sum d.h5)" ] || complain "a refused command changed d.h5"

# After a kill at any moment the same command resumes with what is finished, and the arrays are the same.
contents() { "$lano" info "$1" | sed -n 's/^ *contents *//p'; }
make=(generate darcy --resolution 85 --stride 4 --train 60 --test 4 --threads 2)
"$lano" "${make[@]}" --out whole.h5 >/dev/null 2>&1 || complain "generating whole.h5 failed"
# On a busy machine a generation may end before it is killed: then once more.
for _ in 1 2 3 4 5; do
  rm -f killed.h5*
  "$lano" "${make[@]}" --out killed.h5 >/dev/null 2>&1 & job=$!
  for _ in $(seq 200); do
    [ "$(stat -c %s killed.h5.samples 2>/dev/null || echo 0)" -gt 30000 ] && break
    sleep 0.01
  done
  kill -9 $job 2>/dev/null; wait $job 2>/dev/null
  [ -e killed.h5.samples ] && break
done
if [ -e killed.h5.samples ]; then
  expect 1 'expected the samples of this generation, found those of another; ' \
    "$lano" "${make[@]}" --seed 1 --out killed.h5
  expect 0 '^[1-9][0-9]* of them were there from a generation that was stopped$' "$lano" "${make[@]}" --out killed.h5
else
  complain "the generation ended before it was killed: nothing was tested"
fi
[ -n "$(contents whole.h5)" ] && [ "$(contents whole.h5)" = "$(contents killed.h5)" ] ||
  complain "a killed generation differs"
[ -e killed.h5.samples ] && complain "the side store was left behind"
expect 0 '^picture: whole.h5.png \(columns: coefficient \| pressure\)$' "$lano" info whole.h5 --plot
[ -s whole.h5.png ] || complain "whole.h5.png is missing"
rm -f whole.h5* killed.h5*
expect 0 '^e.h5: 5 samples of \[972\]$' "$lano" generate elasticity --train 4 --test 1 --out e.h5
expect 2 '--stride is fixed by the benchmark' "$lano" generate elasticity --stride 2 --out e2.h5
expect 0 '^l.h5: 6 samples of \[9, 9\]$' \
  "$lano" generate darcy --medium lognormal --resolution 17 --stride 2 --train 5 --test 1 --out l.h5
rm -f e.h5 l.h5

# A full disk while writing (a limit on file size): one sentence, no file, no part, nothing lost.
full=$(ulimit -f 8; "$lano" generate darcy --resolution 65 --stride 1 --train 40 --test 4 --out full.h5 2>&1); status=$?
[ "$status" = 1 ] || complain "a full disk exited $status: $full"
grep -q 'full.h5.*File too large' <<<"$full" || complain "a full disk should name the file and the cause: $full"
forced=$(ulimit -f 8; "$lano" generate darcy --resolution 65 --stride 1 --train 40 --test 4 --out d.h5 --force 2>&1) &&
  complain "a full disk was not noticed: $forced"
[ "$sum" = "$(sha256sum d.h5)" ] || complain "a full disk lost d.h5"
ls | grep -vx -e d.h5 -e 'd.h5.samples' -e 'full.h5.samples' &&
  complain "a full disk left more than the samples it had finished"
rm -f ./*.samples

head -c 1000 d.h5 > cut.h5
expect 1 "reading 'cut.h5': expected a complete HDF5 file, found truncated file" "$lano" info cut.h5
echo text > text.h5
expect 1 "reading 'text.h5': it is not an HDF5 file" "$lano" info text.h5
echo text > text.safetensors
expect 1 "reading model 'text.safetensors': it is not a .safetensors file" "$lano" info text.safetensors
expect 2 'importing arrays: --output is missing; ' "$lano" import --out i.h5
expect 1 "reading 'none.npy': there is nothing at that path" "$lano" import --output none.npy --out i.h5
# Arrays by FILE:NAME, here of a dataset file; a benchmark whose files are not there, and one that does not exist.
expect 0 "^keyed.h5: 20 samples$" "$lano" import --input d.h5:input --output d.h5:output --channels last --out keyed.h5
expect 0 "^  train +16$" "$lano" info keyed.h5
expect 2 "found the arrays coords, input, output, split; did you mean 'output'" \
  "$lano" import --output d.h5:ouput --out i.h5
foo=$("$lano" import --output d.h5:foo --out i.h5 2>&1)
[[ $foo == *"found the arrays"* && $foo != *"did you mean"* ]] || complain "nothing is near 'foo': $foo"
# Any file with arrays: what it holds, and the command it suggests, which works.
"$lano" import --input a[]=d.h5:input --output d.h5:output --channels last --shuffle 3 --name named \
  --out shuffled.h5 > said ||
  complain "import with --shuffle and names"
for line in '20 samples' 'train 16, validation 2, test 2' 'geometry     grid \[' 'input        a$' \
  'output       output' \
  'made by      lano import, shuffle 3, sources d.h5'; do
  grep -Eq "$line" said || complain "the summary of an import lacks '$line': $(cat said)"
done
expect 0 "^shuffled.h5: dataset 'named', 20 samples$" "$lano" info shuffled.h5
"$lano" info shuffled.h5 | grep -q '[{}]' && complain "raw JSON in lano info"
"$lano" info shuffled.h5 | grep -q ' \[\]' && complain "empty units in lano info"
npy_header="{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }"
{ printf '\223NUMPY\001\000v\000'; printf '%-117s\n' "$npy_header"; head -c 48 /dev/zero; } > u.npy
expect 0 "^  - +\[3, 4\] +float32$" "$lano" info u.npy
expect 0 "lano import --input INPUT --output u.npy" "$lano" info u.npy
expect 1 "the only test sample is among the training samples" "$lano" import --output u.npy --out i.h5
expect 2 "the lower end of each axis before its upper end" "$lano" import --output u.npy --box 1 0 --out i.h5
echo text > text.pt
expect 1 "since version 1.6" "$lano" info text.pt
expect 2 "a share of the training samples, .*, found 'nothing'$" \
  "$lano" import --output u.npy --validation nothing --out i.h5
expect 2 "expected a seed, a whole number, found 'x'$" "$lano" import --output u.npy --shuffle x --out i.h5
expect 0 "^Example: lano import --benchmark darcy " "$lano" import --help
expect 2 "smooth1.mat' is not in --from" "$lano" import --benchmark darcy --from . --out i.h5
expect 2 "did you mean .pipe." "$lano" import --benchmark pipes --from . --out i.h5
expect 2 "expected --train with a number of samples, found 'a.npz'" \
  "$lano" import --benchmark pipe --from . --train a.npz --out i.h5
[ -e i.h5 ] && complain "a failed import left i.h5"

# Run folders by hand: lists and pages of runs that are finished, stopped, running and damaged.
# make_run FOLDER SEED WIDTH VALIDATION TEST
make_run() {
  mkdir -p "$1"
  printf '[data]\nfile = "d.h5"\n[model]\nwidth = %s\n[train]\nepochs = 2\nseed = %s\n' "$3" "$2" > "$1/config.toml"
  printf '%s\n' 'epoch,step,validation_ema_l2,learning_rate,train_loss,validation_l2,seconds' \
    '1,4,,1e-3,0.7,0.6,1' "2,8,0.45,1e-3,0.5,$4,1" > "$1/metrics.csv"
  cat > "$1/evaluation.json" <<END
{"parameters": 1234, "epochs": 2, "best_epoch": 2, "selection": "best on validation",
 "selection_text": "Kept: the best of two epochs.", "weights": "ema", "train_samples": 4, "validation_samples": 1,
 "validation_l2": $4, "training_seconds": 2.0, "set": "darcy", "test":
 {"samples": 1, "seconds": 0.1, "relative_l2": {"mean": $5}, "max_error": {"mean": 0.1},
  "per_sample": [{"id": 5, "relative_l2": $5}]}}
END
}
expect 1 "listing the runs in 'runs': there is nothing at that path" "$lano" runs
mkdir runs
expect 0 '^no run in runs$' "$lano" runs
make_run runs/a 0 16 0.25 0.5
make_run runs/b 0 32 0.125 0.75
make_run runs/c 0 16 0.5 0.25
rm runs/c/evaluation.json
expect 0 'runs/a +finished +2/2 +2.500e-01 +2 +5.000e-01 +1,234 +2.0 s +0 +darcy +16$' "$lano" runs
expect 0 'runs/c +stopped at epoch 2 of 2 +2/2 +4.500e-01 +2 +- +- +2.0 s' "$lano" runs
touch runs/c/lock
expect 0 'runs/c +running' flock runs/c/lock "$lano" runs
expect 0 'runs/c +stopped' "$lano" runs
[ "$("$lano" runs --sort validation | awk 'NR > 1 {printf "%s ", $1}')" = "runs/b runs/a runs/c " ] ||
  complain "--sort validation: $("$lano" runs --sort validation)"
[ "$("$lano" runs runs/a runs/b runs --csv --keys train.epochs | tail -n 1)" = \
  "runs/c,run,stopped,2,2,0.45,,2,ema,,,,2,0,darcy,2" ] || complain "--csv: $("$lano" runs --csv)"
expect 2 "did you mean 'model.width'" "$lano" runs --keys model.widht
expect 2 "name, validation, test or time" "$lano" runs --sort tets
mkdir runs/hurt && echo '[' > runs/hurt/config.toml && printf 'epoch,seconds\n1,' > runs/hurt/metrics.csv
expect 0 "runs/hurt +stopped at epoch 1" "$lano" runs
expect 0 "hurt/config.toml.*valid TOML" "$lano" runs
expect 0 '^report: runs/a/report/index.html$' "$lano" report runs/a
for part in 'Kept: the best of two epochs.' 'averaged weights' '(EMA)'; do
  grep -qF "$part" runs/a/report/index.html || complain "the report of a run should say '$part'"
done
expect 1 "reporting on 'runs': that folder holds no run; " "$lano" report runs/a runs
expect 0 '^report: report.html$' "$lano" report runs/a runs/b runs/c runs/hurt
for part in 'LANO on darcy' 'model.width' 'runs/hurt' '<polyline'; do
  grep -qF "$part" report.html || complain "report.html lacks '$part'"
done
make_run runs/g/seed-0 0 16 0.25 0.5
make_run runs/g/seed-1 1 16 0.35 0.6
expect 0 'runs/g/seed-1 +finished' "$lano" runs
printf '%s%s\n' '{"seeds":[{"seed":0,"run":"seed-0"},{"seed":1,"run":"seed-1"}],' \
  '"validation_l2":{"mean":0.3,"deviation":0.05},"test_l2":{"mean":0.55,"deviation":0.05}}' > runs/g/seeds.json
expect 0 'runs/g +mean of 2 seeds +3.000e-01 \+- 5.0e-02 +5.500e-01 \+- 5.0e-02' "$lano" runs runs/g
expect 0 '^report: runs/g/report/index.html$' "$lano" report runs/g
grep -qF '5.500e-01 ± 5.0e-02' runs/g/report/index.html || complain "the report of seeds lacks their mean"
rm -rf runs report.html

tiny="--set model.layers=1 --set model.width=16 --set model.heads=2 --set model.agents=4 --set train.epochs=2"
expect 2 "did you mean 'model.width'" "$lano" train --data d.h5 --out run --set model.widht=3
expect 2 'a multiple of model.heads, found 32 and 3$' "$lano" train --data d.h5 --out run --set model.heads=3
expect 2 'no dataset is given; give it with --data' "$lano" train --out run
expect 1 "reading 'none.h5': there is nothing at that path" "$lano" train --data none.h5 --out run
[ -e run ] && complain "refused trainings left a folder"
# Two epochs leave a fifth of the solution wrong, one epoch three fifths.
trained=$(error_of "$lano" train --data d.h5 --out run $tiny)
below "$trained" 0.3 || complain "a training reached an error of '$trained'"
for file in config.toml metrics.csv events.jsonl model.safetensors evaluation.json report/index.html; do
  [ -s "run/$file" ] || complain "run/$file is missing"
done
expect 1 "training into 'run': expected a new folder, found a run that is already there" \
  "$lano" train --data d.h5 --out run $tiny
expect 0 "^run/model.safetensors: model 'lano', 3345 parameters in 26 tensors$" "$lano" info run/model.safetensors
judged=$(error_of "$lano" eval run/model.safetensors --data d.h5)
[ "$judged" = "$trained" ] || complain "lano eval gives an error of '$judged', lano train gave '$trained'"
expect 0 '"per_sample":\[\{"id":16,"max_error":[0-9.]+.*"relative_l2":0\.[0-9]+' \
  "$lano" eval run/model.safetensors --data d.h5 --json
expect 2 "expected train, validation, test or all, found 'tset'$" \
  "$lano" eval run/model.safetensors --data d.h5 --split tset
for out in p.h5 p.npy; do
  expect 0 "^$out: 4 predictions of \[9, 9\]; " \
    "$lano" predict run/model.safetensors --data d.h5 --split test --out $out
done
for out in p.vts p.vtu; do
  expect 0 "^$out: 1 prediction of \[9, 9\]; " "$lano" predict run/model.safetensors --data d.h5 --sample 3 --out $out
  [ -s $out ] || complain "$out is missing"
done
expect 0 "^p.h5: dataset 'darcy', 4 samples$" "$lano" info p.h5
expect 1 "writing 'p.h5': the file exists already; .*add --force" \
  "$lano" predict run/model.safetensors --data d.h5 --out p.h5
expect 2 "ending in .h5, .npy, .npz, .vts, .vtu or .pvd, found 'p.txt'$" \
  "$lano" predict run/model.safetensors --data d.h5 --out p.txt
expect 1 "reading model 'none.safetensors': there is nothing at that path" \
  "$lano" predict none.safetensors --data d.h5 --out q.h5
expect 2 'no input is given; give either --data' "$lano" predict run/model.safetensors --out q.h5
expect 0 '^report: run/report/index.html$' "$lano" report run
cp -r run strange && cp d.h5 strange/evaluation.h5
expect 1 'truth and prediction of each field' "$lano" report strange
rm -r strange
expect 0 '^run +finished +2/2 ' "$lano" runs .
expect 0 'using 9 agents' "$lano" eval run/model.safetensors --data d.h5 --agents 9
expect 0 '^b.h5: 5 samples of \[8, 8\] at 4 times$' \
  "$lano" generate burgers --resolution 16 --frames 4 --train 4 --test 1 --out b.h5
expect 0 '^  periodic +x, y$' "$lano" info b.h5
# Ten frames to ten frames on a torus: the state is what the set gives.
expect 0 '^ns.h5: 5 samples of \[8, 8\] at 2 times$' \
  "$lano" generate navier-stokes --resolution 16 --viscosity 1e-2 --frames 12 --train 4 --test 1 --out ns.h5
expect 0 'initial +10 frames, t = 1 to 10' "$lano" info ns.h5
expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' \
  "$lano" train --data ns.h5 --out nsrun $tiny --set model.task=autoregressive --set train.selection=last
expect 0 'state_frames 10' "$lano" info nsrun/model.safetensors
expect 2 'more than the 10 frames given, found resolution 128, stride 2, frames 10$' \
  "$lano" generate navier-stokes --frames 10 --out ns2.h5
expect 2 '--viscosity is fixed by the benchmark' "$lano" generate darcy --viscosity 1 --out ns2.h5
# Without a config a recipe is chosen, ends in time, and is explained in three lines; --set applies.
expect 0 'model   LANO of 3 blocks, width 16' "$lano" train --data d.h5 --out own --minutes 0.03
said=$("$lano" train --data d.h5 --out own2 --minutes 0.03 --set model.agents=4 2>&1)
for line in 'data    grid \[9, 9\], 14 training and 2 validation samples' \
  'model   LANO of 3 blocks, width 16, 4 agents' 'steps   [0-9]+ epochs of [0-9]+ steps at '; do
  grep -qE "^$line" <<<"$said" || complain "a chosen recipe should say '$line', said: $said"
done
expect 1 "training into 'own': expected a new folder, found a run that is already there" \
  "$lano" train --data d.h5 --out own --minutes 0.03
expect 2 'the epochs of a run are fixed' "$lano" train --resume own --minutes 1
[ ! -e own.timing ] || complain "the timed steps left a folder"
expect 2 'output at 4 times; set model.task to autoregressive .* or time_conditional' \
  "$lano" train --data b.h5 --out brun $tiny --set model.task=steady --set train.selection=last
expect 2 'output at 4 times; set model.task to auto' "$lano" train --data b.h5 --out b2 --set model.task=steady
expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' \
  "$lano" train --data b.h5 --out brun $tiny --set model.task=autoregressive --set train.selection=last
expect 0 'rolled out to frame 6; the dataset has 3' "$lano" eval brun/model.safetensors --data b.h5 --steps 6
expect 0 '^  frame +2, t = 0.1 +relative L2 [0-9]\.[0-9]{4}e-0[1-9]$' \
  "$lano" eval brun/model.safetensors --data b.h5 --steps 2 --picture seen.png --animation now.png
grep -q acTL now.png || complain "now.png does not move"
expect 0 'animation: then.png' "$lano" report brun --animation then.png
# All times in one prediction: frames again for whoever evaluates or predicts.
expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e[-+]0[0-9]$' \
  "$lano" train --data b.h5 --out once $tiny --set data.times=channels --set train.selection=last
expect 0 '^  frame +3, t = 0.15 +relative L2 [0-9]\.[0-9]{4}e[-+]0[0-9]$' \
  "$lano" eval once/model.safetensors --data b.h5
expect 0 '^once.pvd .numbered.: 1 prediction of \[8, 8\], 4 frames, t = 0 to 0.15' \
  "$lano" predict once/model.safetensors --data b.h5 --split test --out once.pvd
expect 2 'predicts all times of its training at once; leave out --times$' \
  "$lano" predict once/model.safetensors --data b.h5 --times 0.1 --out never.npy
expect 0 '^  network +all times at once, 8 channels$' "$lano" info once/model.safetensors
grep -q acTL then.png || complain "then.png does not move"
grep -q 'relative L2 against t"' brun/report/index.html || complain "the error in time is not drawn over the times"
expect 0 '^b.npy: 1 prediction of \[8, 8\], 6 frames, t = 0 to 0.25; ' \
  "$lano" predict brun/model.safetensors --data b.h5 --split test --steps 5 --out b.npy
expect 0 '^b.pvd \(numbered\): 1 prediction of \[8, 8\], 6 frames, t = 0 to 0.25; ' \
  "$lano" predict brun/model.safetensors --data b.h5 --split test --steps 5 --out b.pvd
[ -s b.pvd ] && [ -s b-t005.vts ] || complain "b.pvd or its frames are missing"
expect 1 'b-t000.vts.*add --force' "$lano" predict brun/model.safetensors --data b.h5 --split test --out b.pvd
expect 2 'does not step in time' "$lano" predict run/model.safetensors --data d.h5 --split test --steps 5 --out s.npy
expect 2 'not conditioned on time' \
  "$lano" predict brun/model.safetensors --data b.h5 --split test --times 0:1:0.5 --out s.npy
[ ! -e s.npy ] || complain "a refused prediction left s.npy"
expect 0 '^\| ablation \| without bias and DWC \| [0-9]\.[0-9]+e-0[1-9] ' \
  "$lano" experiment ablation --data d.h5 --out table $tiny --set train.epochs=1
# The paper's recipes: literally, with every training sample and the last weights, and as we read it.
mkdir papers && cp d.h5 papers/darcy.h5
paper=(experiment table --models lano --benchmarks darcy --data papers $tiny --set train.epochs=1 --threads 1)
expect 0 '^\| relative promotion of LANO \|' "$lano" "${paper[@]}" --preset paper --out paper1
grep -q '16 training (none kept for validation) and 4 test samples' paper1/table.md ||
  complain "the paper's table does not say what it learned from: $(cat paper1/table.md)"
grep -q 'The last weights are kept' paper1/table.md || complain "the paper's table does not say which weights it keeps"
expect 0 'train_on train\+validation, train_samples 16,' "$lano" info paper1/darcy/lano/seed-0/model.safetensors
expect 0 'was trained on its validation split \(data.train_on\): evaluate it on test' \
  "$lano" eval paper1/darcy/lano/seed-0/model.safetensors --data d.h5 --split validation
expect 0 'Weights are chosen on validation' "$lano" "${paper[@]}" --preset paper-ours --out paper2
expect 0 '^\| ablation \| without bias and DWC \| [0-9]\.[0-9]+e-0[1-9] ' \
  "$lano" experiment ablation --preset paper-ours --benchmarks darcy --data papers $tiny --set train.epochs=1 \
  --out paper3
# Plasticity steps from the undeformed block: of 4 frames 3 are predicted, as 20 of the paper's 21.
expect 0 '^papers/plasticity.h5: 3 samples of \[41, 13\] at 4 times$' \
  "$lano" generate plasticity --preset smoke --frames 4 --train 2 --test 1 --out papers/plasticity.h5
expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' \
  "$lano" train --config "$configs/plasticity/paper.toml" --data papers/plasticity.h5 --out forged $tiny \
  --set train.epochs=1
[ "$("$lano" eval forged/model.safetensors --data papers/plasticity.h5 | grep -c '^  frame   [123], t = ')" = 3 ] ||
  complain "three frames should be predicted"
expect 2 'expected one of "fused" "composite" for train.engine, found "quick"' \
  "$lano" train --data d.h5 --out engine $tiny --set train.engine=quick
# Kept to the bit through stop and resume.
expect 0 '^stopped in epoch 2 of 2; resume with: lano train --resume parts$' \
  "$lano" train --data d.h5 --out parts $tiny --stop-after 1
expect 0 "^test relative L2 +$trained$" "$lano" train --resume parts
expect 0 "^relative L2 +mean $trained " "$lano" eval run/model.safetensors --data d.h5 --picture seen.png
[ "$(head -c 4 seen.png | tail -c 3)" = PNG ] || complain "seen.png is no picture"
expect 0 '^picture: judged.png' "$lano" report run --picture judged.png
[ "$(head -c 4 judged.png | tail -c 3)" = PNG ] || complain "judged.png is no picture"
expect 2 'does not have several times; use --picture' "$lano" report run --animation moving.png
expect 0 '^report: both.html$' "$lano" report run parts --out both.html
grep -q 'median test sample' both.html || complain "both.html shows no sample"
cmp run/model.safetensors parts/model.safetensors || complain "a resumed run differs"
expect 0 "^test relative L2 +$trained$" "$lano" train --resume --out parts
expect 1 'there is no run in that folder' "$lano" train --resume nowhere
# Ctrl-C: a state, a hint, 130; a second process in the folder is refused meanwhile.
"$lano" train --data d.h5 --out long $tiny --set train.epochs=100000 >long.txt 2>&1 &
pid=$!
for _ in $(seq 300); do [ -s long/checkpoint/best.safetensors ] && break; sleep 0.1; done
expect 1 "a folder no other process works in, found process $pid; " "$lano" train --resume long
kill -INT $pid
wait $pid && complain "an interrupted training exits with 0"
[ $? = 130 ] || complain "an interrupted training does not exit with 130"
grep -q 'lano train --resume long' long.txt || complain "no hint after Ctrl-C: $(tail -n 3 long.txt)"
printf 'broken' >"$(ls long/checkpoint/step-* | tail -n 1)"
expect 0 'skipping a damaged checkpoint' "$lano" train --resume long --stop-after 1
# Several seeds: ordinary runs, all counted, kept by a second call.
expect 2 'expected --seeds of at least 2, found 1$' "$lano" train --data d.h5 --out seeds $tiny --seeds 1
expect 2 '--stop-after does not go with --seeds' "$lano" train --data d.h5 --out seeds $tiny --seeds 2 --stop-after 1
[ -e seeds ] && complain "refused trainings left a folder"
expect 0 'test +mean [0-9.e-]+ \+- [0-9.e-]+' "$lano" train --data d.h5 --out seeds $tiny --seeds 2 --threads 1
cmp run/model.safetensors seeds/seed-0/model.safetensors || complain "a seed of a group differs from the run alone"
[ -s seeds/seeds.json ] && [ -s seeds/recipe.toml ] && [ ! -e seeds/config.toml ] ||
  complain "seeds/ holds other files than it should"
expect 1 'a group of seeds that is already there' "$lano" train --data d.h5 --out seeds $tiny
expect 1 'a group of seeds that is already there; .*add --resume to resume it$' \
  "$lano" train --data d.h5 --out seeds $tiny --seeds 2
expect 0 'seed 1: finished before, kept' "$lano" train --resume seeds
expect 0 'seed 1: finished before, kept' "$lano" train --data d.h5 --out seeds $tiny --seeds 2 --resume
# A search: killed at some moment, the same command ends with the same table.
search=(tune --data d.h5 $tiny --vary schedule.learning_rate=1e-4..1e-2:log --vary model.heads=1..4
  --trials 4 --rungs 2 --keep 0.5 --threads 1)
expect 0 '^best: tuned/best.toml; ' "$lano" "${search[@]}" --out tuned
"$lano" "${search[@]}" --out killed >/dev/null 2>&1 & job=$!
for _ in $(seq 1000); do [ -e killed/trial-001/rung-0/metrics.csv ] && break; sleep 0.01; done
kill -9 $job 2>/dev/null; wait $job 2>/dev/null
expect 0 '^best: killed/best.toml; ' "$lano" "${search[@]}" --out killed
cmp tuned/tune.csv killed/tune.csv || complain "a killed search ends with another table"
grep -l '"test"' tuned/trial-*/rung-*/evaluation.json && complain "tuning has read the test split"
expect 2 'started with seed 0' "$lano" "${search[@]}" --seed 1 --out tuned
expect 2 "did you mean 'model.width'" "$lano" tune --data d.h5 --vary model.widht=8,16 --out t
expect 2 '--vary is required' "$lano" tune --data d.h5 --out t
[ -e t ] && complain "a refused search left a folder"
expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' "$lano" train --config tuned/best.toml --out winner --threads 1
# A race: stopped by Ctrl-C and by a kill, the same command ends with the table of one never stopped; the test split
# is not evaluated; finished runs are kept, those of another recipe refused.
race=(experiment race --data d.h5 $tiny --set train.epochs=20 --seeds 3 --threads 1 --recipe base
  --recipe "wide: model.width=32 model.heads=4")
expect 0 '^\| wide +\| [0-9]+ +\| 20 .*seeds. spread' "$lano" "${race[@]}" --out race1
"$lano" "${race[@]}" --out race2 >race2.txt 2>&1 & job=$!
for _ in $(seq 1000); do [ -e race2/base/seed-0/metrics.csv ] && break; sleep 0.01; done
kill -INT $job; wait $job
[ $? = 130 ] || complain "an interrupted race does not exit with 130"
grep -q 'stopped; the same command resumes' race2.txt || complain "no hint after Ctrl-C: $(tail -n 3 race2.txt)"
"$lano" "${race[@]}" --out race2 >/dev/null 2>&1 & job=$!
for _ in $(seq 1000); do [ -e race2/wide/seed-0/metrics.csv ] && break; sleep 0.01; done
kill -9 $job 2>/dev/null; wait $job 2>/dev/null
for _ in $(seq 100); do flock -n race2/wide/seed-0/lock true 2>/dev/null && break; sleep 0.1; done
expect 0 '^\| wide +\| [0-9]+ +\| 20 .*seeds. spread' "$lano" "${race[@]}" --out race2
for folder in race1 race2; do cut -d, -f1-4,6- $folder/race.csv >$folder.csv; done  # all but the seconds
cmp race1.csv race2.csv || complain "a stopped race ends with another table"
grep -l '"test"' race1/*/seed-*/evaluation.json && complain "a race has judged the test split"
race=(experiment race --data d.h5 $tiny --set train.epochs=20 --seeds 3 --threads 1 --out race1 --recipe base)
before=$(sha256sum race1/*/seed-*/model.safetensors)
expect 0 'wide, seed 2: finished before, kept' "$lano" "${race[@]}" --recipe 'wide: model.width=32 model.heads=4'
[ "$before" = "$(sha256sum race1/*/seed-*/model.safetensors)" ] || complain "a finished race was trained again"
expect 2 "racing 'wide': the recipe differs from the one in" "$lano" "${race[@]}" --recipe 'wide: model.width=48'
expect 0 '^\| wild +\|.*\| 0 of 3 seeds: diverged +\|$' \
  "$lano" "${race[@]}" --recipe 'wide: model.width=32 model.heads=4' \
  --recipe 'wild: schedule.learning_rate=1e30 train.clip=0'
expect 1 'the reference or all other recipes failed' \
  bash -c '"$@" >/dev/null' - "$lano" "${race[@]}" --recipe 'wild: schedule.learning_rate=1e30 train.clip=0'
race=(experiment race --data d.h5 $tiny --out t --recipe base)
expect 2 'at least two recipes' "$lano" "${race[@]}"
expect 2 "two named 'base'" "$lano" "${race[@]}" --recipe base
expect 2 "recipe 'w': .*did you mean 'model.width'" "$lano" "${race[@]}" --recipe 'w: model.widht=8'
expect 2 'put a name and a colon before' "$lano" "${race[@]}" --recipe model.width=8
expect 1 "reading config 'none.toml': there is nothing at that path" "$lano" "${race[@]}" --recipe none.toml
[ -e t ] && complain "a refused race left a folder"

if [ "$torch" != ON ]; then
  # What needs LibTorch says so, and how to get it; nothing is left behind.
  for what in --set\ model.name=transolver --set\ train.engine=composite --device\ cuda; do
    expect 1 'needs LibTorch.*libtorch-dev.*LANO_WITH_TORCH=ON' "$lano" train --data d.h5 --out t $tiny $what
  done
  expect 1 'needs LibTorch' "$lano" bench step
  expect 1 'needs LibTorch' "$lano" eval run/model.safetensors --data d.h5 --engine composite
  expect 1 'needs LibTorch' "$lano" experiment table --models lano,fno --out t
  expect 1 'needs LibTorch' "$lano" experiment race --data d.h5 $tiny --recipe base --recipe 't: model.name=fno' --out t
  [ -e t ] && complain "a refused training left a folder"
else
  composite=$(error_of "$lano" eval run/model.safetensors --data d.h5 --engine composite)
  near "$composite" "$trained" || complain "the composite engine gives an error of '$composite', not '$trained'"
  expect 0 'roofline [0-9]\.[0-9]{3}$' "$lano" bench forward --case elasticity --seconds 0.1
  last=$("$lano" bench step --case elasticity --seconds 0.1 --json | tail -n 1)
  for field in case threads composite_ms fused_ms speedup gflops sgemm_gflops roofline \
               peak_bytes_fused peak_bytes_composite max_rel_diff; do
    grep -q "\"$field\":[\"0-9]" <<<"$last" || complain "bench step --json lacks $field: $last"
  done
  agrees "$last" || complain "fused and composite steps give different numbers: $last"
  last=$("$lano" bench runtime --seconds 0 --json | tail -n 1)
  for field in runtime_ms composite_ms load_ms start_ms max_rel_diff; do
    grep -q "\"$field\":[0-9]" <<<"$last" || complain "bench runtime --json lacks $field: $last"
  done
  agrees "$last" || complain "the runtime and LibTorch calls give different numbers: $last"
  grep -qE '"onnxruntime_ms":([0-9]|null)' <<<"$last" || complain "bench runtime --json lacks onnxruntime_ms: $last"
  expect 2 'onnxruntime-node is not in node_modules' "$lano" bench runtime --onnxruntime "$scratch"
  expect 2 '^lano: --case: elastic not in \{elasticity,darcy,airfoil,pipe\}; see --help$' \
    "$lano" bench step --case elastic
  expect 2 '^lano: A subcommand is required; see --help$' "$lano" bench
  # The composite path learns the same, and says the same in the end to a few digits.
  composite=$(error_of "$lano" train --data d.h5 --out plain $tiny --set train.engine=composite)
  near "$composite" "$trained" || complain "trained by the composite engine: an error of '$composite', not '$trained'"
  expect 2 'LANO_SIMD.*plain.*found mmx' \
    env LANO_SIMD=mmx "$lano" train --data d.h5 --out simd $tiny --set train.engine=composite
  # Another operator in the same workflow, on a grid and on a cloud; options of LANO alone give a note or are refused.
  small="--set model.name=transolver --set model.slices=4 $tiny"
  expect 0 'transolver does not read model.agents: it has no effect' "$lano" train --data d.h5 --out other $small
  expect 0 "model 'transolver', [0-9]+ parameters" "$lano" info other/model.safetensors
  expect 0 '^relative L2 +mean [0-9]\.[0-9]{4}e-0[1-9] ' \
    "$lano" eval other/model.safetensors --data d.h5 --picture other.png
  expect 0 '^other.h5: 4 predictions of \[9, 9\]; ' \
    "$lano" predict other/model.safetensors --data d.h5 --split test --out other.h5
  expect 2 'this model has no agent tokens' "$lano" eval other/model.safetensors --data d.h5 --agents 4
  expect 0 '^other +finished +2/2 ' "$lano" runs .
  grep -qF 'Transolver on darcy' other/report/index.html || complain "the report of a transolver has another title"
  expect 0 '^report: two.html$' "$lano" report run other --out two.html
  grep -qF 'Operators on darcy: 2 runs' two.html || complain "two operators on one page have another title"
  expect 2 'other models have no agents' "$lano" train --data d.h5 --out o2 $small --set train.agents_range=[2,4]
  expect 2 "a key that transolver reads, found 'model.bias'" \
    "$lano" tune --data d.h5 --out o2 $small --vary model.bias=outer,none
  expect 2 "did you mean 'transolver'" "$lano" train --data d.h5 --out o2 $tiny --set model.name=transolvr
  expect 2 "expected model.name = \"lano\", .*, found 'transolver'$" \
    "$lano" experiment ablation --data d.h5 --out o2 $small
  [ -e o2 ] && complain "refused trainings left a folder"
  expect 0 '^cloud.h5: 5 samples of \[972\]$' "$lano" generate elasticity --train 4 --test 1 --out cloud.h5
  expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' \
    "$lano" train --data cloud.h5 --out onpoints $small --set train.selection=last
  expect 0 '^cloud.vtu: 1 prediction of \[972\]; ' \
    "$lano" predict onpoints/model.safetensors --data cloud.h5 --split test --out cloud.vtu
  printf '[model]\nlayers = 1\nwidth = 16\n[train]\nepochs = 1\n' > a.toml
  printf '[model]\nname = "transolver"\nwidth = 8\nheads = 2\n' > b.toml
  expect 0 '^test relative L2 +[0-9]\.[0-9]{4}e-0[1-9]$' \
    "$lano" train --config a.toml --config b.toml --data d.h5 --out layered
  grep -q '^width = 8$' layered/config.toml && grep -q '^layers = 1$' layered/config.toml ||
    complain "two --config are not laid one over the other"
  # Two operators under a budget: killed in the middle, the same command ends with every pair;
  # a second call trains nothing.
  mkdir sets && cp d.h5 sets/darcy.h5
  table=(experiment table --preset smoke --models lano,transolver --benchmarks darcy --data sets
    --minutes 0.05 --threads 1 --out table2)
  "$lano" "${table[@]}" >/dev/null 2>&1 & job=$!
  for _ in $(seq 600); do [ -e table2/darcy/lano/seed-0/metrics.csv ] && break; sleep 0.05; done
  kill -9 $job 2>/dev/null; wait $job 2>/dev/null
  for _ in $(seq 100); do flock -n table2/darcy/lano/seed-0/lock true 2>/dev/null && break; sleep 0.1; done
  expect 0 '^\| relative promotion of LANO \| +\| -?[0-9.]+ % \|$' "$lano" "${table[@]}"
  for file in table.md table.csv index.html darcy/transolver/pair.json darcy/lano/seed-0/model.safetensors; do
    [ -s table2/$file ] || complain "table2/$file is missing"
  done
  [ "$(grep -cE '^darcy,(lano|transolver),[0-9.]+,' table2/table.csv)" = 2 ] ||
    complain "table.csv lacks a pair: $(cat table2/table.csv)"
  [ "$(grep -o '<figure>' table2/index.html | wc -l)" = 6 ] || complain "the page shows no two operators side by side"
  before=$(sha256sum table2/darcy/*/seed-0/model.safetensors)
  expect 0 '^\| Transolver \| transformer \| .*[0-9]' "$lano" "${table[@]}"
  [ "$before" = "$(sha256sum table2/darcy/*/seed-0/model.safetensors)" ] ||
    complain "a finished table was trained again"
  expect 2 "the preset, --minutes or --set differ from those in" "$lano" "${table[@]}" --set train.batch=3
  expect 2 "did you mean 'transolver'" "$lano" experiment table --models transolvr --out t3
  expect 2 "did you mean 'darcy'" "$lano" experiment table --benchmarks dracy --out t3
  [ -e t3 ] && complain "a refused table left a folder"
  expect 0 'transolver +\| [0-9]+ .*2 seeds: too few to tell' "$lano" experiment race --data d.h5 $tiny --seeds 2 \
    --threads 1 --out torchrace --recipe base --recipe 'transolver: model.name=transolver model.slices=4'
  # Cost against N: two sizes, a plot, one JSON object in the last line.
  last=$("$lano" bench cost --models lano,transolver --max-points 4096 --layers 1 --width 16 --heads 2 --budget 1 \
    --threads 1 --out cost --json 2>/dev/null | tail -n 1)
  for part in '"cells":' '"slopes":' '"model":"transolver"' '"peak_bytes":' '"time":'; do
    grep -qF "$part" <<<"$last" || complain "bench cost --json lacks $part: $last"
  done
  [ "$(head -c 4 cost/cost.png | tail -c 3)" = PNG ] && [ -s cost/cost.html ] || complain "bench cost drew no plot"
  expect 0 '^transolver forward at N = 4096: left out: about .* over --budget 0.001$' \
    "$lano" bench cost --models transolver --max-points 4096 --layers 1 --width 16 --heads 2 --budget 0.001 --threads 1
  for device in cuda cuda:3; do
    expect 2 "choosing a device: LibTorch does not offer '$device' on this machine" \
      "$lano" train --data d.h5 --out t $tiny --device $device
  done
  expect 2 "expected cpu, cuda or cuda:N, found 'tpu'$" "$lano" train --data d.h5 --out t $tiny --device tpu
  expect 2 "choosing a device: LibTorch does not offer 'cuda' on this machine" \
    "$lano" eval run/model.safetensors --data d.h5 --device cuda
  [ -e t ] && complain "a refused device left a folder"
fi

[ "$failures" = 0 ] && echo "the command line keeps its word" || exit 1
