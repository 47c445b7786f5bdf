"""The package lano where NumPy is all there is: fit, evaluate, predict, save, load, and what it says is missing.
Usage: wheel_use.py SITE LANO (the folder it must come from; the program lano, for the same bytes)"""
import os
import subprocess
import sys
import time

import numpy as np

begun = time.perf_counter()
import lano  # noqa: E402

took = time.perf_counter() - begun
assert lano.__file__.startswith(sys.argv[1]), lano.__file__
assert took < 0.1, f"import lano took {took:.3f} s"

rng = np.random.default_rng(0)
a = rng.normal(size=(20, 12, 12))
u = np.tanh(a)
keys = {"epochs": 2, "layers": 2, "width": 8, "heads": 2, "agents": 4, "batch": 4}
op = lano.fit(a, u, quiet=True, **keys)
print(op.evaluate(a, u))
assert op.predict(a).shape == a.shape and op.predict(np.zeros((24, 24))).shape == (24, 24)
assert op.vjp(a[0], u[0]).input.shape == (12, 12)
op.save("model.safetensors")
assert np.array_equal(lano.load("model.safetensors").predict(a), op.predict(a))

# The same numbers as the program's, from the same arrays.
np.save("a.npy", a)
np.save("u.npy", u)
program = sys.argv[2]
words = [word for key, value in keys.items()
         for word in ("--set", f"{'train' if key in ('epochs', 'batch') else 'model'}.{key}={value}")]
set_ = lano.Dataset(a, u)
set_.save("set.npz")
assert np.array_equal(lano.Dataset.load("set.npz").input, set_.input)
subprocess.run([program, "import", "--input", "a.npy", "--output", "u.npy", "--name", "data",
                "--test-count", "0", "--out", "set.h5"],
               check=True, stdout=subprocess.DEVNULL)
subprocess.run([program, "train", "--data", "set.h5", "--out", "run", *words], check=True, capture_output=True)
theirs = lano.load("run/model.safetensors")
assert np.array_equal(theirs.predict(a), op.predict(a)), "the program's operator gives other numbers"

for call in (lambda: lano.generate("darcy"), lambda: lano.Dataset(a, u).save("x.h5"), lambda: lano.solve("darcy", u[0]),
             lambda: lano.fit(a, u, run="x", **keys), lambda: lano.Dataset.load("set.h5")):
    try:
        call()
    except lano.Error as error:
        assert "the package lano_solvers" in str(error), error
        continue
    raise AssertionError("nothing was missing")
try:
    lano._core.train(None, "set.h5", [], ["train.epochs=1"], "", 0.0, "y", "z", False, False, False, None)
except lano.Error as error:
    assert "HDF5" in str(error), error
found = subprocess.run([sys.executable, "-m", "lano", "info"], capture_output=True, text=True)
assert found.returncode == 1 and "lano_solvers" in found.stderr, found
assert not os.path.exists("x") and not os.path.exists("y")
print(f"import lano: {1e3 * took:.0f} ms; the same numbers as lano train")
