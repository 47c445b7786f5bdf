"""Datasets: arrays in and out, files, splits, the benchmarks and their solvers."""
import subprocess

import numpy as np
import pytest

import lano
from conftest import fields, grid


def same(one, other):
    for name in ("_coordinates", "_input", "_output", "_splits"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one._counts == other._counts and one._description == other._description


def test_arrays_come_back(data):
    a, u = data
    set_ = lano.Dataset(a, u, test=4)
    assert np.array_equal(set_.input[..., 0], a.astype(np.float32)) and set_.output.shape == (24, 10, 9, 1)
    assert set_.coordinates == pytest.approx(grid(10, 9)) and len(set_) == 24 and set_.geometry == "grid"
    assert set_.splits.tolist() == [0] * 18 + [1] * 2 + [2] * 4
    assert np.array_equal(set_.test.input[..., 0], a[-4:].astype(np.float32))
    assert set_.part([3, 1]).output[1, ..., 0] == pytest.approx(u[1])
    assert repr(set_) == ("<lano.Dataset 'data': 24 samples, grid 10x9, 1 input, 1 output channel; "
                          "18 train, 2 validation, 4 test>")


def test_shuffled_is_the_same_samples(data):
    a, u = data
    one, two = lano.Dataset(a, u, shuffle=1), lano.Dataset(a, u, shuffle=1)
    assert np.array_equal(one.input, two.input) and not np.array_equal(one.input[..., 0], a.astype(np.float32))
    assert sorted(one.output.sum((1, 2, 3))) == pytest.approx(sorted(u.sum((1, 2))), abs=1e-3)
    pairs = {round(float(x.sum()), 3): float(y.sum()) for x, y in zip(a, u)}
    for x, y in zip(one.input, one.output):  # each input still has its output
        assert pairs[round(float(x.sum()), 3)] == pytest.approx(float(y.sum()), abs=1e-3)


@pytest.mark.parametrize("ending", ["h5", "npz"])
def test_files(tmp_path, data, clouds, ending):
    a, u = data
    x, ca, cu = clouds
    moved = grid(10, 9) + 0.01 * np.random.default_rng(0).normal(size=(24, 10, 9, 2))
    for set_ in (lano.Dataset(a, u, test=3), lano.Dataset(ca, cu, x), lano.Dataset(a, u, moved),
                 lano.Dataset(None, np.stack([u, u**2], 1), times=[0.5, 1.5], name="moving", output_names=["p"])):
        path = tmp_path / f"set.{ending}"
        set_.save(path)
        same(lano.Dataset.load(path), set_)
        path.unlink()


def test_clouds_come_back(clouds):
    x, a, u = clouds
    set_ = lano.Dataset(a, u, x)
    assert [row.shape for row in set_.input] == [(n, 1) for n in range(20, 32)]
    assert np.array_equal(set_.output[5][:, 0], u[5].astype(np.float32))
    assert np.array_equal(set_.part([7, 2]).coordinates[1], x[2].astype(np.float32))


def test_the_importer_s_files(tmp_path, data):
    a, u = data
    np.save(tmp_path / "a.npy", a)
    np.savez(tmp_path / "both.npz", a=a, u=u)
    np.save(tmp_path / "u.npy", u)
    one = lano.Dataset.from_files(input=tmp_path / "a.npy", output=tmp_path / "u.npy", say=False)
    two = lano.Dataset.from_files(tmp_path / "both.npz", input="a", output="u", say=False)
    for set_ in (one, two):
        assert np.array_equal(set_.input[..., 0], a.astype(np.float32))
        assert np.array_equal(set_._coordinates, lano.Dataset(a, u)._coordinates)


def test_the_same_points_as_the_importer_s(tmp_path, data, program):
    """A grid without coordinates lies where `lano import` lays it."""
    a, u = data
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "u.npy", u)
    subprocess.run([program, "import", "--input", tmp_path / "a.npy", "--output", tmp_path / "u.npy",
                    "--box", "-1", "2", "0", "3", "--out", tmp_path / "set.h5"], check=True, capture_output=True)
    theirs, ours = lano.Dataset.load(tmp_path / "set.h5"), lano.Dataset(a, u, box=[-1, 2, 0, 3])
    assert np.array_equal(theirs._coordinates, ours._coordinates)
    assert theirs._description["box"] == ours._description["box"] and theirs.geometry == ours.geometry


def test_generated_and_solved():
    """A generated sample and the solver on its coefficient are the same numbers."""
    set_ = lano.generate("darcy", train=3, test=1, resolution=20, stride=1, seed=4, quiet=True)
    assert len(set_) == 4 and set_.name == "darcy"
    for i in range(4):
        u = lano.solve("darcy", set_.input[i, ..., 0])
        assert u == pytest.approx(set_.output[i, ..., 0], rel=1e-5)


def test_darcy_against_an_exact_solution():
    """-div(a grad u) = f with a = 1 and u = sin(pi x) sin(pi y): second order."""
    errors = []
    for n in (16, 32, 64):
        s = np.sin(np.pi * (np.arange(n) + 0.5) / n)
        exact = np.outer(s, s)
        errors.append(np.abs(lano.solve("darcy", np.ones((n, n)), source=2 * np.pi**2 * exact) - exact).max())
    assert errors[0] / errors[1] > 3.7 and errors[1] / errors[2] > 3.7


def test_burgers_decays_and_keeps_its_mean():
    n = 32
    x = 2 * np.pi * np.arange(n) / n
    v = np.stack([np.broadcast_to(0.3 + 0.1 * np.sin(x)[:, None], (n, n)), np.zeros((n, n))], -1)
    found = lano.solve("burgers", v, frames=4)
    assert found.shape == (4, n, n, 2)
    assert found[..., 0].mean((1, 2)) == pytest.approx([0.3] * 4, abs=1e-10) and np.abs(found[..., 1]).max() < 1e-12
    spread = found[..., 0].std((1, 2))
    assert (np.diff(spread) < 0).all() and spread[0] < v[..., 0].std()
