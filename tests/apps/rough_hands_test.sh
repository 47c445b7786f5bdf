#!/usr/bin/env bash
# Misuse of the commands: full disks behind the streams, devices and links for files, files that change
# under a training, impossible numbers. Each must end in a sentence and an exit code, and lose nothing.
# Usage: rough_hands_test.sh LANO
set -uo pipefail
lano=$1
scratch=$(mktemp -d)
trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
export OMP_NUM_THREADS=2
failures=0
bad() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# ends CODE PATTERN COMMAND...: within 20 s, with this code and one line on stderr that has the pattern.
ends() {
  local code=$1 pattern=$2 found
  shift 2
  timeout -s KILL 20 "$@" >out 2>err
  found=$?
  [ "$found" = "$code" ] || bad "'$*' ended with $found, not $code: $(head -c 300 err)"
  grep -q -- "$pattern" err || bad "'$*' says '$(head -c 300 err)', not '$pattern'"
  [ "$(wc -l <err)" -le 1 ] || bad "'$*' takes $(wc -l <err) lines to say it"
}

"$lano" generate darcy --preset smoke --train 8 --test 2 --resolution 21 --stride 2 --out darcy.h5 >/dev/null 2>&1 ||
  { echo "no dataset"; exit 1; }
tiny=(--set model.layers=1 --set model.width=8 --set model.heads=2 --set model.agents=4
  --set train.epochs=2 --set train.batch=2 --set train.selection=last)
small=(--data darcy.h5 "${tiny[@]}")
"$lano" train "${small[@]}" --out run >/dev/null 2>&1 || { echo "no run"; exit 1; }
cp -r run plain

# Numbers that overflow or mean nothing.
for setting in train.batch=4611686018427387904 train.accumulate=4611686018427387904 train.epochs=9223372036854775807 \
               optimiser.epsilon=-1 schedule.learning_rate=inf train.agents_range='[1,1e30]' model.layers=1000000 \
               model.width=2147483648 model.ffn_ratio=1099511627776 train.clip=nan; do
  ends 2 "expected .*${setting%%=*}" "$lano" train "${small[@]}" --set "$setting" --out none
  [ ! -e none ] || bad "$setting leaves a folder"
done
# A key that the model does not read is no mistake: its note does not precede the error message.
ends 2 'train.ema in' "$lano" train "${small[@]}" --set model.wavelets=0 --set train.ema=7 --out none
ends 1 "model 'x'" "$lano" train "${small[@]}" --set model.latent_grid=8 --set 'train.from="x"' --out none
ends 2 'fits in this machine' "$lano" train "${small[@]}" --set model.width=65536 --set model.ffn_ratio=64 --out none
[ ! -e none ] || bad "a model beyond the memory leaves a folder"
# The same for other operators, for whose sizes LibTorch would give its own errors, or take gigabytes.
if [ -x "$(dirname "$lano")/lano-torch" ]; then
  for words in "fno model.modes=4 model.width=65536" "u-fno model.modes=4 model.width=65536" \
               "galerkin model.width=65536 model.ffn_ratio=1024" \
               "transolver model.slices=65536 model.layers=1024 model.width=4096" "lsm model.basis=65536" \
               "ono model.features=65536" "gnot model.experts=65536 model.width=4096" \
               "geo-fno model.latent_grid=65536" "softmax model.width=65536" "deeponet model.width=65536"; do
    read -ra sizes <<<"${words#* }"
    ends 2 'fits in this machine' "$lano" train --data darcy.h5 --set model.name="${words%% *}" "${sizes[@]/#/--set=}" \
      --out none
    [ ! -e none ] || bad "$words leaves a folder"
  done
  ends 2 'model.modes of at most 9' "$lano" train --data darcy.h5 --set model.name=fno --set model.modes=10 --out none
  ends 2 'between 1 and 16' "$lano" train --data darcy.h5 --set model.name=wmt --set model.wavelets=100 --out none
  ends 2 'between 1 and 1024' "$lano" train --data darcy.h5 --set model.name=fno --set model.modes=100000 --out none
fi
ends 2 'one line' "$lano" train "${small[@]}" --set $'train.seed=3\nmodel.width=16' --out none
ends 2 'the name of --out is empty' "$lano" train "${small[@]}" --out ''
for many in 100000 2147483647; do
  ends 2 'at most 1024' "$lano" train "${small[@]}" --threads $many --out none
  ends 2 'at most 1024' env OMP_NUM_THREADS=$many "$lano" eval run/model.safetensors --data darcy.h5
  ends 2 'at most 1024' "$lano" generate darcy --preset smoke --out none.h5 --threads $many
done
ends 2 UTF-8 "$lano" train "${tiny[@]}" --data $'dar\xffcy.h5' --out none
[ ! -e none ] || bad "a path that is no UTF-8 leaves a folder"

# Streams that cannot be written. The work continues; lost output is a failure.
if [ -w /dev/full ]; then
  "$lano" train "${small[@]}" --out deaf >out 2>/dev/full || bad "training with 2>/dev/full ends with $?"
  [ -f deaf/evaluation.json ] || bad "no evaluation with 2>/dev/full"
  cmp -s deaf/model.safetensors run/model.safetensors || bad "2>/dev/full changes the model"
  for words in "eval run/model.safetensors --data darcy.h5 --json" "info darcy.h5" "runs ." "train --keys"; do
    # shellcheck disable=SC2086
    "$lano" $words >/dev/full 2>err && bad "'$words >/dev/full' ends with 0"
    grep -qE '^lano: (writing to stdout: the output was lost|cannot write to file: No space left)' err ||
      bad "'$words >/dev/full' says '$(cat err)'"
  done
fi
"$lano" train "${small[@]}" --out closed >out 2>&- || bad "training with stderr closed ends with $?"
cmp -s closed/model.safetensors run/model.safetensors || bad "a closed stderr changes the model"
[ -f closed/evaluation.json ] || bad "no evaluation with stderr closed"

# Devices, pipes and links for files.
ends 1 'pipe or a device' "$lano" predict /dev/zero --data darcy.h5 --out u.h5
ends 1 'pipe or a device' "$lano" info /dev/zero
mkfifo pipe.safetensors
ends 1 'pipe or a device' "$lano" info pipe.safetensors
ln -sf /dev/zero plain/evaluation.json
timeout -s KILL 20 "$lano" runs . >out 2>err || bad "runs ends with $? on a link to /dev/zero: $(head -c 300 err)"
ends 1 'a link out of it' "$lano" report plain
cp run/evaluation.json plain/evaluation.json.copy && mv plain/evaluation.json.copy plain/evaluation.json
ln -sf /etc/passwd plain/config.toml
ends 1 'a link out of it' "$lano" report plain
ln -sf ../darcy.h5 plain/evaluation.h5
cp run/config.toml config.copy && mv config.copy plain/config.toml
ends 1 'a link out of it' "$lano" report plain
ln -sf evaluation.real plain/evaluation.json && cp run/evaluation.json plain/evaluation.real
cp run/evaluation.h5 shown && mv shown plain/evaluation.h5
"$lano" report plain >out 2>err || bad "a link within the folder is refused: $(cat err)"

# Untrusted text on a terminal: no escapes, no marks that change its direction.
name=$'runs/a\x1b[2J\xc2\x9b\x7f\xe2\x80\xae'
mkdir -p runs && cp -r run "$name"
for words in "runs runs" "runs runs --csv"; do
  # shellcheck disable=SC2086
  "$lano" $words 2>&1 | grep -q '^runs/a.*finished' || bad "'$words' does not list a run with escapes in its name"
  # shellcheck disable=SC2086
  "$lano" $words 2>&1 | LC_ALL=C grep -qP '\x1b|\x7f|\xc2\x9b|\xe2\x80\xae' &&
    bad "'$words' passes escape characters to the terminal"
done

# A dataset that changes under a training.
cp darcy.h5 held.h5
"$lano" train "${tiny[@]}" --data held.h5 --set train.epochs=3000 --out held >out 2>err &
training=$!
for _ in $(seq 100); do [ -s held/metrics.csv ] && break; sleep 0.1; done
printf x | dd of=held.h5 bs=1 seek=4000 conv=notrunc 2>/dev/null
wait $training
code=$?
[ $code = 1 ] || bad "a dataset overwritten in place under a training: exit $code"
grep -q 'changed or replaced' err || bad "a dataset overwritten in place: '$(tail -n 1 err)'"
[ ! -e held/evaluation.json ] || bad "a dataset overwritten in place is judged all the same"

# A small address space: a result or an error message, never a hang. Sanitizers need terabytes of it: not under them.
if (ulimit -v 4000000; "$lano" --version >/dev/null 2>&1); then
  for kilobytes in 100000 150000 200000 300000 500000; do
    for words in "generate pipe --preset smoke --train 1 --test 1 --out small.h5" "info darcy.h5"; do
      # shellcheck disable=SC2086
      (ulimit -v $kilobytes; exec timeout -s KILL 20 "$lano" $words >out 2>err)
      code=$?
      [ $code = 0 ] || [ $code = 1 ] || bad "'$words' with $kilobytes KB of address space ends with $code"
      [ $code = 0 ] || [ "$(wc -l <err)" = 1 ] || bad "'$words' with $kilobytes KB says '$(head -c 300 err)'"
      rm -f small.h5
    done
  done
  (ulimit -v 500000; exec "$lano" generate pipe --preset smoke --train 1 --test 1 --out small.h5 >out 2>err) &&
    bad "a flow solved in 500 MB of address space: the limit is too high"
  grep -q 'address space of at least' err || bad "a small address space: '$(head -c 300 err)'"
fi

# Runs that are not finished, names that cannot be.
"$lano" train "${small[@]}" --stop-after 1 --out half >/dev/null 2>&1
"$lano" report half >out 2>err || bad "no report of a stopped run: $(cat err)"
grep -q 'It was stopped after epoch 1 of 2.*lano train --resume half' half/report/index.html ||
  bad "the report of a stopped run should say so, and how to go on"
mkdir -p begun && cp half/config.toml begun
ends 1 'is not finished and has no model yet.*lano train --resume begun' "$lano" info begun/model.safetensors
ends 1 'a run that is not finished' "$lano" report half --picture half.png
ends 1 'belongs to the run .half.: name that' "$lano" report half/config.toml
ends 1 'belongs to the run .half.: name that' "$lano" runs half/config.toml
long=$(printf 'x%.0s' $(seq 300))
ends 1 "reading '$long.h5': there is nothing at that path" "$lano" info "$long.h5"
ends 1 'File name too long' "$lano" train "${small[@]}" --out "$long"
ends 1 'File name too long' "$lano" runs "$long"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
  as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  chmod 755 "$scratch" && mkdir -p shut/inside && cp darcy.h5 shut.h5 && chmod 700 shut && chmod 600 shut.h5
  if "${as_nobody[@]}" "$lano" --version >/dev/null 2>&1; then
    ends 1 'ermission denied' "${as_nobody[@]}" "$lano" info shut.h5
    ends 1 'ermission denied' "${as_nobody[@]}" "$lano" runs shut
    ends 1 'ermission denied' "${as_nobody[@]}" "$lano" report shut/inside
  fi
fi

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "nothing broke"
