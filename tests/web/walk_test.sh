#!/usr/bin/env bash
# The page in Debian's Chromium, served and exported: short (one model, in ./test) or full (every control). Screenshots
# stay in the build folder. Exits with 77 (skipped) where Chromium, node or the pinned npm packages cannot be had.
# Usage: walk_test.sh LANO SOURCE BUILD_FOLDER short|full
set -euo pipefail
lano=$1 source=$2 build=$3 kind=$4
skip() { echo "SKIPPED: $1"; exit 77; }
chromium=$(command -v chromium) || skip "no chromium on this machine (scripts/packages test)"
command -v node >/dev/null || skip "no node on this machine (scripts/packages test)"
folder=$source/build/browser
status=0
said=$("$source/scripts/npm-folder" "$source/tests/web" "$folder" 2>&1) || status=$?
[ $status != 77 ] || skip "$said"
[ $status = 0 ] || { echo "$said"; exit 1; }

scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT
small=(--set train.epochs=2 --set model.layers=1 --set model.width=16 --set model.heads=2)
make() {  # BENCHMARK, its options
  local name=$1; shift
  "$lano" generate "$name" "$@" --out "$scratch/$name.h5" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
  "$lano" train --data "$scratch/$name.h5" --out "$scratch/$name" "${small[@]}" --set model.agents=16 \
    >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}
make darcy --resolution 43 --stride 1 --train 30 --test 3
names=(darcy)
if [ "$kind" = full ]; then
  make elasticity --train 30 --test 3
  make burgers --resolution 32 --frames 6 --train 12 --test 3
  make pipe --preset smoke --train 12 --test 3
  names=(darcy elasticity burgers pipe)
fi
words=()
for name in "${names[@]}"; do words+=("$scratch/$name/model.safetensors" --data "$scratch/$name.h5"); done
"$lano" serve "${words[@]}" --port 0 >"$scratch/served" 2>&1 &
server=$!
for _ in $(seq 200); do grep -q http:// "$scratch/served" && break; sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$scratch/served") || { cat "$scratch/served"; exit 1; }
page=
if [ -e "$(dirname "$lano")/../lib/lano.wasm" ]; then
  page=$scratch/page.html
  "$lano" export "$scratch/darcy/model.safetensors" --page "$page" --data "$scratch/darcy.h5"
else
  said=$("$lano" export "$scratch/darcy/model.safetensors" --page "$scratch/page.html" 2>&1) && exit 1
  grep -q emscripten <<<"$said"
fi
mkdir -p "$build/screenshots"
node "$source/tests/web/walk.mjs" "$kind" "$folder" "$chromium" "$lano" "$url" "$scratch" "$build/screenshots" "$page"
