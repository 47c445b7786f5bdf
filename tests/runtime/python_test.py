"""An operator from Python: shapes, exceptions, the interpreter lock. Runs from an installed tree, without pytest.
Usage: python_test.py MODEL STEPPING TIMED (the 9x9 Darcy model of version 1, an autoregressive one and a
time-conditional one)"""
import sys
import threading

import numpy as np

import lano


def raises(kind, part, call):
    try:
        call()
    except kind as error:
        assert part in str(error), str(error)
        return
    raise AssertionError("no " + kind.__name__)


op = lano.load(sys.argv[1])
assert op.mesh == [9, 9] and op.coordinates.shape == (81, 2) and op.task == "steady"
i, j = np.meshgrid(range(9), range(9), indexing="ij")
a = np.where((i + 2 * j) % 3 == 0, 12.0, 3.0)  # float64: converted
u = op.predict(a[..., None])
assert u.shape == (9, 9, 1) and u.dtype == np.float32
assert np.array_equal(op.predict(a), u[..., 0])  # channels where the input has them
# The values this model gave on the day it was made (tests/train/trainer_test.cpp).
for (p, q), value in {(0, 0): 0.000888168055, (4, 4): 0.00768688181,
                      (8, 2): 0.00108496973, (3, 7): 0.00860316306}.items():
    assert abs(u[p, q, 0] - value) < 1e-7
grid = op.coordinates.reshape(9, 9, 2)
assert np.array_equal(op.predict(a[..., None], grid), u)
assert np.array_equal(op.predict(a.reshape(81, 1), op.coordinates).ravel(), u.ravel())
for view in (np.asfortranarray(grid), np.repeat(grid, 2, 1)[:, ::2]):  # not contiguous in C's order
    assert not view.flags.c_contiguous
    assert np.array_equal(op.predict(np.asfortranarray(a), view), u[..., 0])
raises(lano.Error, "expected", lambda: op.predict(a, grid[:5]))
raises(lano.Error, "2 channels", lambda: op.predict(a, np.zeros((9, 9, 3))))
raises(lano.Error, "at points of shape [9, 9]", lambda: op.predict(np.zeros((3, 27)), grid))
raises(lano.Error, "does not step in time", lambda: op.predict(a, grid, state=a))
raises(lano.Error, "nothing at that path", lambda: lano.load("/nowhere"))
raises(TypeError, "expected an array of numbers", lambda: op.predict("text", grid))
assert issubclass(lano.Error, RuntimeError)
prepared = op.prepare(a, grid)
assert np.allclose(prepared.decode(grid, a), u, rtol=0, atol=1e-7)
zoom = prepared.decode(np.array([[0.5, 0.5], [0.51, 0.48]]), np.array([a[4, 4], a[4, 4]]))
assert zoom.shape == (2, 1) and abs(zoom[0, 0] - u[4, 4, 0]) < 1e-7
raises(lano.Error, "within the prepared grid", lambda: prepared.decode(np.array([[9.0, 0.5]]), np.array([3.0])))
# The interpreter continues while one thread computes.
fine = np.stack(np.meshgrid(*[np.linspace(0, 1, 600)] * 2, indexing="ij"), -1)
inputs = np.full((600, 600), 3.0)
computing = threading.Thread(target=lambda: op.predict(inputs, fine))
computing.start()
steps = 0
while computing.is_alive():
    steps += 1
assert steps > 10000, steps
results = [None] * 4


def work(k):
    results[k] = op.predict(a[..., None], grid)


threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert all(np.array_equal(r, u) for r in results)
print("all Python checks passed")

# Roll-outs: the same as stepping by hand.
stepping = lano.load(sys.argv[2])
state = np.linspace(-1, 1, len(stepping.coordinates) * len(stepping.output), dtype=np.float32)
state = state.reshape(*stepping.mesh, len(stepping.output))
a = np.full((*stepping.mesh, len(stepping.input)), 0.3, dtype=np.float32)
states = stepping.roll_out(state, 4, input=a)
assert states.shape == (4, *state.shape)
for found in states:
    state = stepping.predict(input=a, state=state)
    assert np.array_equal(found, state)
raises(lano.Error, "at least one step", lambda: stepping.roll_out(state, 0, input=a))
raises(lano.Error, "does not step in time", lambda: op.roll_out(np.zeros((9, 9, 1)), 2))

# Times: the same as asking for them one by one.
timed = lano.load(sys.argv[3])
a = np.full((*timed.mesh, len(timed.input)), 0.3, dtype=np.float32)
times = np.linspace(timed.times[0], timed.times[-1], 3)
answers = timed.predict(input=a, times=times)
assert answers.shape == (3, *timed.mesh, len(timed.output))
for t, found in zip(times, answers):
    assert np.array_equal(found, timed.predict(input=a, time=t))
assert not np.array_equal(answers[0], answers[2])
raises(lano.Error, "times is empty", lambda: timed.predict(input=a, times=[]))
raises(lano.Error, "a finite time", lambda: timed.predict(input=a, times=[0, float("nan")]))
raises(lano.Error, "times= does not go with time=", lambda: timed.predict(input=a, time=0, times=[0]))
raises(lano.Error, "not conditioned on time", lambda: stepping.predict(times=[0]))
assert op.times == [] and len(stepping.times) > 1
