#!/usr/bin/env bash
# Both Python packages installed by pip into a virtual environment, without build isolation, and used together: data
# from the solvers, a run folder, its report, the command line.
# Usage: solvers_wheel_test.sh SOURCE PYTHON; 77: skipped.
set -euo pipefail
source=$1 python=$2
for module in pip setuptools wheel numpy venv; do
  "$python" -c "import $module" 2>/dev/null ||
    { echo "skipped: $python has no $module (Debian: python3-$module)"; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=ccache
"$python" -m venv --without-pip --system-site-packages "$scratch/venv"
cd "$scratch"
for package in "$source/python" "$source/python/solvers"; do
  "$scratch/venv/bin/python" -m pip install --no-build-isolation --no-deps --no-index "$package" >"$scratch/log" 2>&1 ||
    { tail -n 40 "$scratch/log"; exit 1; }
done
"$scratch/venv/bin/python" - <<'PYTHON'
import os

import lano
import lano_solvers

assert lano.__file__.startswith(os.getcwd()) and lano_solvers.__file__.startswith(os.getcwd()), lano.__file__
assert lano_solvers.program().startswith(os.getcwd()), lano_solvers.program()
data = lano.generate("darcy", train=20, test=5, resolution=32, stride=1)
op = lano.fit(data, run="run", epochs=2, layers=2, width=8, heads=2, agents=4)
run = lano.read_run("run")
assert run.state == "finished" and os.path.exists("run/report/index.html") and run.test_l2 > 0
u = lano.solve("darcy", data.input[0, ..., 0])
assert abs(u - data.output[0, ..., 0]).max() < 1e-5
print(op.evaluate(data))
PYTHON
"$scratch/venv/bin/python" -m lano runs run | grep -q 'run'
"$scratch/venv/bin/python" -m lano train --resume run --set train.epochs=3 2>"$scratch/error" && exit 1
grep -q 'lano: resuming a run' "$scratch/error"
echo "both packages work together from a virtual environment"
