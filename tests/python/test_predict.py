"""Operators in use: shapes, kinds of arrays, resolutions, threads, pickles."""
import copy
import pickle
import threading

import numpy as np
import pytest

import lano
from conftest import SMALL, fields, grid


def test_one_and_many(op, data):
    a, _ = data
    many = op.predict(a)
    assert many.shape == a.shape and many.dtype == np.float32
    for i in (0, 7, 23):
        assert np.array_equal(op.predict(a[i]), many[i])


def test_channels_as_in_the_input(op, data):
    a, _ = data
    assert op.predict(a[0]).shape == (10, 9) and op.predict(a[0][..., None]).shape == (10, 9, 1)
    assert op.predict(a[:3][..., None]).shape == (3, 10, 9, 1)
    assert op.predict(a[0].reshape(90)).shape == (90,) and op.predict(a[0].reshape(90, 1)).shape == (90, 1)


def test_other_resolutions_lie_in_the_same_place(op):
    fine, _ = fields(2, grid(19, 17), seed=9)
    found = op.predict(fine[..., 0])
    assert found.shape == (2, 19, 17)
    assert np.array_equal(found, op.predict(fine[..., 0], grid(19, 17)))
    assert np.array_equal(found[1], op.predict(fine[1, ..., 0]))
    rows = (np.linspace(0, 1, 19), np.linspace(0, 1, 17))  # one row of numbers per axis
    assert np.array_equal(found, op.predict(fine[..., 0], rows))


@pytest.mark.parametrize("points, wanted", [
    (lambda n: (np.arange(n) + 0.5) / n, lambda n: (np.arange(n) + 0.5) / n),  # cell centres
    (lambda n: np.arange(n) / n, lambda n: np.arange(n) / n),  # left ends: periodic
    (lambda n: np.linspace(0, 1, n), lambda n: np.linspace(0, 1, n))])
def test_the_kind_of_grid_is_kept(points, wanted):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(6, 12))
    set_ = lano.Dataset(a, a, points(12)[:, None])
    set_._description["box"] = [0.0, 1.0]
    op = lano.fit(set_, quiet=True, **SMALL)
    assert op._grid_for((30,))[:, 0] == pytest.approx(wanted(30), abs=1e-6)


def test_arrays_of_every_kind(op, data):
    a = data[0].astype(np.float32)
    wanted = op.predict(a)
    frozen = a.copy()
    frozen.flags.writeable = False
    for view in (frozen, np.asfortranarray(a), np.repeat(a, 2, 2)[..., ::2], a.astype(np.float64), a.tolist(),
                 a[::-1][::-1], a.astype(">f4")):
        assert np.array_equal(op.predict(view), wanted)
    whole = (10 * a).astype(np.int16)
    assert np.array_equal(op.predict(whole), op.predict(whole.astype(float)))


def test_the_answer_is_the_caller_s_own(op, data):
    first = op.predict(data[0])
    kept = first.copy()
    second = op.predict(data[0])
    second[:] = 0
    assert np.array_equal(first, kept) and first.flags.writeable and first.flags.owndata or first.base is not second


def test_files_pickles_copies(op, data, tmp_path):
    a = data[0][0]
    wanted = op.predict(a)
    op.save(tmp_path / "a.safetensors")
    again = lano.load(tmp_path / "a.safetensors")
    again.save(tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    for other in (again, pickle.loads(pickle.dumps(op)), copy.copy(op), copy.deepcopy(op)):
        assert np.array_equal(other.predict(a), wanted) and other.parameters == op.parameters
    assert len(pickle.loads(pickle.dumps(op)).history) == len(op.history)
    fewer = copy.deepcopy(op)
    fewer.use_agents(1)
    assert fewer.agents == 1 and op.agents == 4 and pickle.loads(pickle.dumps(fewer)).agents == 1
    with pytest.raises(AttributeError, match="read_run"):
        again.history


def test_many_threads(op, data):
    a = data[0]
    wanted = op.predict(a)
    found = [None] * 6

    def work(k):
        found[k] = op.predict(a)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(each, wanted) for each in found)


def test_the_interpreter_goes_on(op):
    """While one thread predicts or trains, others run."""
    a = np.zeros((1, 700, 700))
    done = threading.Thread(target=lambda: op.predict(a))
    done.start()
    turns = 0
    while done.is_alive():
        turns += 1
    assert turns > 10000


def test_prepared(op, data):
    a = data[0][0]
    x = grid(10, 9)
    prepared = op.prepare(a, x)
    assert prepared.decode(x, a)[..., 0] == pytest.approx(op.predict(a), abs=1e-5)


def test_what_it_says_of_itself(op):
    assert repr(op) == f"<lano.Operator a -> u, grid 10x9, steady, {op.parameters} parameters>"
    assert op.input == ["a"] and op.output == ["u"] and op.times == [] and op.coordinates.shape == (90, 2)
    assert "width = 8" in op.recipe


def test_evaluate_is_lano_eval(op, data, program, tmp_path):
    import json
    import subprocess
    a, u = data
    lano.Dataset(a, u, test=24, validation=0.0).save(tmp_path / "set.h5")
    op.save(tmp_path / "model.safetensors")
    out = subprocess.run([program, "eval", tmp_path / "model.safetensors", "--data", tmp_path / "set.h5", "--json"],
                         check=True, capture_output=True, text=True).stdout
    theirs = json.loads(out)
    ours = op.evaluate(a, u)
    for name in ("relative_l2", "relative_h1", "max_error"):
        assert getattr(ours, name) == theirs[name]["mean"], name
        assert ours.summary[name] == theirs[name]
        assert list(ours.per_sample[name]) == [row[name] for row in theirs["per_sample"]]
    error = op.predict(a) - u
    relative = np.linalg.norm(error.reshape(24, -1), axis=1) / np.linalg.norm(u.reshape(24, -1), axis=1)
    assert ours.per_sample["relative_l2"] == pytest.approx(relative, rel=1e-5)
    assert ours.relative_l2 == op.evaluate(a[..., None], u[..., None]).relative_l2
    assert "relative L2 " in repr(ours)


def test_evaluate_judges_the_test_split_of_a_dataset(op, data):
    a, u = data
    set_ = lano.Dataset(a, u, test=5)
    assert len(op.evaluate(set_).ids) == 5
    assert op.evaluate(set_).relative_l2 == pytest.approx(op.evaluate(a[-5:], u[-5:]).relative_l2)
    assert len(op.evaluate(set_.train).ids) == 17


def test_plots(op, data, clouds, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="no matplotlib here: op.plot is not tested")
    matplotlib.use("Agg")
    a, u = data
    figure = op.plot(a, u)
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert [t.split(":")[0] for t in titles[::4]] == ["best", "median", "worst"] and len(titles) == 12
    errors = op.evaluate(a, u).per_sample["relative_l2"]
    assert f"{errors.min():.2e}" in titles[3] and f"{errors.max():.2e}" in titles[-1]
    figure.savefig(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    assert op.history.plot().get_xlabel() == "epoch"
    x, ca, cu = clouds
    lano.fit(ca, cu, x, quiet=True, **SMALL).plot(ca, cu, x).savefig(tmp_path / "cloud.png")
    line = np.random.default_rng(0).normal(size=(6, 20))
    lano.fit(line, line, quiet=True, **SMALL).plot(line, line).savefig(tmp_path / "line.png")
    frames = np.stack([u, 2 * u, 3 * u], 1)
    lano.fit(None, frames, times=1.0, quiet=True, **SMALL).plot(None, frames).savefig(tmp_path / "frames.png")


def test_without_matplotlib(op, data, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(lano.Error, match="plotting: matplotlib is missing"):
        op.plot(*data)
