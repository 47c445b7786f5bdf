"""Rough hands: each ends in one clear lano.Error, TypeError or ValueError, and none in a crash."""
import numpy as np
import pytest

import lano
from conftest import SMALL, grid

A = np.random.default_rng(0).normal(size=(8, 6, 7))
X = np.random.default_rng(1).uniform(size=(8, 30, 2))
NAN = A.copy()
NAN[5, 2, 3] = np.nan
HUGE = A.astype(float).copy()
HUGE[0, 0, 0] = 1e300
STILL = A * 1e-42


def fit(*arguments, **words):
    return lano.fit(*arguments, **dict(SMALL, quiet=True, **words))


# what is done, the exception, a part of its sentence
FIT = [
    (lambda: fit(A), TypeError, "the output is missing"),
    (lambda: fit(A, None), TypeError, "the output is missing"),
    (lambda: fit("a.npy", A), TypeError, "an array of numbers, found <U5"),
    (lambda: fit(A, "u"), TypeError, "output: expected an array of numbers"),
    (lambda: fit(A, A + 1j), TypeError, "real and imaginary part as channels"),
    (lambda: fit(A, np.array(["x"] * 8)), TypeError, "an array of numbers"),
    (lambda: fit([[1, 2], [3]], A), ValueError, "rows of different lengths"),
    (lambda: fit(A[:5], A), lano.Error, "an input of 8 samples, as the output has"),
    (lambda: fit(A, A[:, :5]), lano.Error, r"expected input on points of shape \[5, 7\]"),
    (lambda: fit(A[:0], A[:0]), lano.Error, "at least one sample"),
    (lambda: fit(A[:, :0], A[:, :0]), lano.Error, "at least one sample and point"),
    (lambda: fit(3.0, A), lano.Error, "an input of 8 samples"),
    (lambda: fit(A, 3.0), lano.Error, r"output \[samples, points...\]"),
    (lambda: fit(A, np.zeros((8, 2, 2, 2, 2, 2))), lano.Error, "grids of one to three axes"),
    (lambda: fit(NAN, A), lano.Error, "finite numbers in /input, found nan in sample 5 at value 17"),
    (lambda: fit(A, NAN), lano.Error, "finite numbers in /output, found nan in sample 5"),
    (lambda: fit(A, HUGE), lano.Error, "finite numbers in /output, found inf"),
    (lambda: fit(A, STILL), lano.Error, "give them in another unit"),
    (lambda: fit(np.ma.masked_less(A, 0), A), ValueError, "found masked values"),
    (lambda: fit(A, A, X), lano.Error, "the points of the output"),
    (lambda: fit(None, X[..., 0], X[:5]), lano.Error, "coordinates of all 8 samples, or of one"),
    (lambda: fit(None, X[..., 0], np.zeros((30, 4))), lano.Error, "one to three coordinates per point"),
    (lambda: fit(None, X[..., 0], np.full((30, 2), np.inf)), lano.Error, "coordinates are not finite"),
    (lambda: fit(A, A, geometry="sphere"), lano.Error, 'geometry "grid", "mesh" or "points"'),
    (lambda: fit(A, A, geometry="points"), lano.Error, "one axis of points for a cloud"),
    (lambda: fit(A, A, box=[0, 1]), lano.Error, "a box of 2 pairs"),
    (lambda: fit(A, A, box=[[1, 0], [0, 1]]), lano.Error, "a box of 2 pairs"),
    (lambda: fit(A, A, axes=4), lano.Error, "an output with 4 axes of points"),
    (lambda: fit(None, np.stack([A, A], 1), times=[0, 1, 2]), lano.Error, "2 times, one per frame"),
    (lambda: fit(None, np.stack([A, A], 1), times=[1, 0]), lano.Error, "at least two frames at rising times"),
    (lambda: fit(None, np.stack([A, A], 1), times=[0, np.nan]), lano.Error, "rising times|finite times"),
    (lambda: fit(np.zeros((8, 6, 6)), np.zeros((8, 6, 6, 6))), lano.Error, "which may be either"),
    (lambda: fit(None, A), lano.Error, "input|learn|channel"),
    (lambda: fit([A[0], A[1]], [A[0]], [X[0], X[1]]), lano.Error, "2 arrays in each list"),
    (lambda: fit([X[0, :, 0], X[1, :9, 0]], [X[0, :, 1], X[1, :, 1]], [X[0], X[1]]), lano.Error,
     "input of 30 points in sample 1"),
    (lambda: fit(None, [X[0, :, 0], X[1, :9, :2]], [X[0], X[1, :9]]), lano.Error, "the same number of output channels"),
    (lambda: fit(None, [X[0, :, 0], X[1, :9, 0]]), lano.Error, "lists of arrays for output and coordinates"),
    (lambda: fit(A, A, validation=1.5), lano.Error, "a validation share in"),
    (lambda: fit(A, A, validation="some"), (ValueError, TypeError), "float"),
    (lambda: fit(A, A, minutes=-1), lano.Error, "minutes above 0"),
    (lambda: fit(A, A, minutes="five"), ValueError, "five"),
    (lambda: fit(A, A, wdith=8), lano.Error, "did you mean 'width'"),
    (lambda: fit(A, A, kind="muon"), lano.Error, "one of schedule.kind, optimiser.kind"),
    (lambda: fit(A, A, learning_rate=-1), lano.Error, "schedule.learning_rate above 0"),
    (lambda: fit(A, A, learning_rate=None), TypeError, "a number, a word or a list"),
    (lambda: fit(A, A, bias="inner"), lano.Error, "model.bias"),
    (lambda: lano.fit(A, A, width=10, heads=3, epochs=1, quiet=True), lano.Error, "heads"),
    (lambda: fit(A, A, recipe=7), TypeError, "a TOML file or a dictionary"),
    (lambda: fit(A, A, recipe="nowhere.toml"), lano.Error, "nowhere.toml"),
    (lambda: fit(A, A, recipe={1: 2}), TypeError, "names of keys"),
    (lambda: fit(A, A, recipe={"data": {"file": "x.h5"}}), lano.Error, "give the data as arrays"),
    (lambda: fit(A, A, start="nowhere.safetensors"), lano.Error, "nowhere.safetensors"),
    (lambda: fit(A, A, start=3), TypeError, "a model file or an Operator"),
    (lambda: lano.fit(A, A, recipe={"model.name": "fno"}, epochs=1, quiet=True), lano.Error, "fno"),
    (lambda: fit(A, A, task="autoregressive"), lano.Error, "times"),
    (lambda: fit(lano.Dataset(A, A), A), TypeError, "has its output"),
    (lambda: fit(A, A, nonsense__key=1), lano.Error, "a key of a recipe"),
]


@pytest.mark.parametrize("number", range(len(FIT)))
def test_fit(number):
    call, kind, part = FIT[number]
    if number == 32:  # an input is not needed: the grid alone is one, though a poor one
        assert call().input == []
        return
    with pytest.raises(kind, match=part) as caught:
        call()
    assert "\n" not in str(caught.value)


PREDICT = [
    (lambda op: op.predict("text"), TypeError, "an array of numbers"),
    (lambda op: op.predict(None), None, ""),
    (lambda op: op.predict(np.zeros((10, 9)) * 1j), TypeError, "complex"),
    (lambda op: op.predict(np.zeros((2, 3, 10, 9))), lano.Error, "2 axes of points"),
    (lambda op: op.predict(np.full((10, 9), np.nan)), lano.Error, "finite numbers in input"),
    (lambda op: op.predict(np.zeros((0, 9))), lano.Error, "at least one sample and point"),
    (lambda op: op.predict(np.zeros((0, 10, 9))), lano.Error, "at least one sample"),
    (lambda op: op.predict(np.zeros(17)), lano.Error, "expected"),
    (lambda op: op.predict(np.zeros((10, 9)), np.zeros((10, 9, 3))), lano.Error, "2 channels"),
    (lambda op: op.predict(np.zeros((10, 9)), grid(5, 5)), lano.Error, "at points of shape"),
    (lambda op: op.predict(np.zeros((10, 9)), state=np.zeros((10, 9))), lano.Error, "does not step in time"),
    (lambda op: op.predict(np.zeros((10, 9)), times=[0, 1]), lano.Error, "not conditioned on time"),
    (lambda op: op.predict(np.zeros((10, 9)), time=0, times=[0]), lano.Error, "times= does not go with time="),
    (lambda op: op.roll_out(np.zeros((10, 9)), 2), lano.Error, "does not step in time"),
    (lambda op: op.predict([np.zeros((10, 9))], [grid(10, 9), grid(10, 9)]), lano.Error, "1 arrays of coordinates"),
    (lambda op: op.evaluate(np.zeros((3, 10, 9))), TypeError, "the output to compare with is missing"),
    (lambda op: op.evaluate(np.zeros((3, 10, 9)), np.zeros((2, 10, 9))), lano.Error, "an input of 2 samples"),
    (lambda op: op.evaluate(np.zeros((3, 10, 9, 2)), np.zeros((3, 10, 9))), lano.Error, "trained on another kind"),
    (lambda op: op.vjp(np.zeros((10, 9)), np.zeros((9, 10))), lano.Error, "slopes of the output"),
    (lambda op: op.vjp(np.zeros((10, 9)), np.full((10, 9), np.inf)), lano.Error, "slopes of the output are not finite"),
    (lambda op: op.vjp(np.zeros((2, 10, 9)), np.zeros((3, 10, 9))), lano.Error, "slopes of 2 samples"),
    (lambda op: op.use_agents(0), lano.Error, "agents|at least"),
    (lambda op: op.use_agents(10**9), lano.Error, "agents|expected"),
    (lambda op: op.save("/nowhere/at/all.safetensors"), lano.Error, "/nowhere"),
    (lambda op: op.plot(A[:3, :, :], A[:3], channel=4), lano.Error, "an output channel|matplotlib|another kind"),
    (lambda op: lano.load("/nowhere"), lano.Error, "nothing at that path"),
    (lambda op: lano.load(__file__), lano.Error, "safetensors"),
    (lambda op: lano.load(7), TypeError, "PathLike"),
    (lambda op: lano.Operator("x"), TypeError, "lano.fit or lano.load"),
    (lambda op: lano.Dataset.load("/nowhere.h5"), lano.Error, "nothing at that path"),
    (lambda op: lano.Dataset.load(__file__), lano.Error, "HDF5"),
    (lambda op: lano.Dataset(A, A).save("set.txt"), lano.Error, r"must end in .h5 or .npz"),
    (lambda op: lano.Dataset(A, A).part("training"), lano.Error, '"train", "validation" or "test"'),
    (lambda op: lano.Dataset(A, A).test, lano.Error, "has no samples"),
    (lambda op: lano.Dataset(A, A, test=9), lano.Error, "a test split of 0 to 8"),
    (lambda op: lano.Dataset(A, A, output_names=["p", "q"]), lano.Error, "1 names of output channels"),
    (lambda op: lano.Dataset.from_files(output="/nowhere.npy"), lano.Error, "/nowhere.npy"),
    (lambda op: lano.generate("dracy"), lano.Error, "did you mean|one of the benchmarks"),
    (lambda op: lano.generate("pipe", resolution=5), lano.Error, "fixed by the benchmark"),
    (lambda op: lano.generate(5), TypeError, "the name of a benchmark"),
    (lambda op: lano.solve("darcy", -np.ones((8, 8))), lano.Error, "positive"),
    (lambda op: lano.solve("darcy", np.ones((8, 9))), lano.Error, "a square grid"),
    (lambda op: lano.solve("burgers", np.ones((8, 8))), lano.Error, "velocities"),
    (lambda op: lano.solve("stokes", np.ones((8, 8))), lano.Error, '"darcy" or "burgers"'),
    (lambda op: lano.read_run("/nowhere"), lano.Error, "there is nothing at that path; name the --out"),
    (lambda op: lano.resume("/nowhere"), lano.Error, "no run that has begun"),
    (lambda op: lano.report("/nowhere"), lano.Error, "/nowhere"),
    (lambda op: lano.set_threads(10**6), lano.Error, "threads"),
]


@pytest.mark.parametrize("number", range(len(PREDICT)))
def test_use(number, op):
    call, kind, part = PREDICT[number]
    if kind is None:  # without input the training grid has none: a sentence of the operator's own
        with pytest.raises(lano.Error, match="values of input"):
            call(op)
        return
    with pytest.raises(kind, match=part) as caught:
        call(op)
    assert "\n" not in str(caught.value)


def test_errors_are_runtime_errors():
    assert issubclass(lano.Error, RuntimeError) and lano.Error.__module__ == "lano"
