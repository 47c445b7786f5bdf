"""lano.fit: what it takes, what it says, that it is `lano train`."""
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import lano
from conftest import SMALL, fields, grid


def bytes_of(op, folder):
    op.save(folder / "some.safetensors")
    return (folder / "some.safetensors").read_bytes()


def sets(**keys):
    return [word for key, value in keys.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


FULL = {"model__layers": 2, "model__width": 8, "model__heads": 2, "model__agents": 4, "train__batch": 4,
        "train__epochs": 2}


def understood(capsys, *arguments, **words):
    op = lano.fit(*arguments, **words, **SMALL)
    return op, capsys.readouterr().out.splitlines()[0]


def test_grid(capsys, data):
    op, said = understood(capsys, *data)
    assert said == "24 samples, grid 10x9, 1 input, 1 output channel"
    assert op.mesh == [10, 9] and op.task == "steady" and op.geometry == "grid"
    assert len(op.history) == 2 and np.isfinite(op.history.train_loss).all()
    assert np.isfinite(op.history.validation_l2).all() and op.training["finished"]


def test_it_learns(data):
    a = data[0]
    u = np.tanh(a)
    op = lano.fit(a[:20], u[:20], epochs=30, layers=2, width=16, heads=2, agents=8, quiet=True)
    assert op.history.validation_l2[-1] < 0.3 * op.history.validation_l2[0]
    assert op.evaluate(a[20:], u[20:]).relative_l2 < 0.15


@pytest.mark.parametrize("shape, said", [
    ((12, 40), "12 samples, grid 40, 1 input, 1 output channel"),
    ((12, 40, 2), "12 samples, grid 40, 2 input, 2 output channels"),
    ((12, 8, 9, 3), "12 samples, grid 8x9, 3 input, 3 output channels"),
    ((12, 6, 5, 7), "12 samples, grid 6x5x7, 1 input, 1 output channel"),
    ((12, 6, 5, 7, 1), "12 samples, grid 6x5x7, 1 input, 1 output channel"),
])
def test_shapes_of_grids(shape, said):
    a = np.random.default_rng(0).normal(size=shape)
    assert lano.Dataset(a, 2 * a).summary() == said


def test_channels_told_apart_by_the_other_array():
    a, u = np.zeros((5, 6, 7)), np.ones((5, 6, 7, 5))
    assert lano.Dataset(a, u).summary() == "5 samples, grid 6x7, 1 input, 5 output channels"
    assert lano.Dataset(u, a).summary() == "5 samples, grid 6x7, 5 input, 1 output channel"
    assert lano.Dataset(np.zeros((5, 6, 7, 2)), u).summary() == "5 samples, grid 6x7, 2 input, 5 output channels"
    assert lano.Dataset(a, np.ones((5, 6, 7)), axes=1).summary() == "5 samples, grid 6, 7 input, 7 output channels"
    assert lano.Dataset(np.zeros((5, 3)), a).summary() == "5 samples, grid 6x7, 3 input, 1 output channel"


def test_mesh(capsys):
    x = grid(8, 9)
    x[..., 0] += 0.1 * np.sin(3 * x[..., 1])
    a, u = fields(12, x, channels=2)
    op, said = understood(capsys, a, u, coordinates=x)
    assert said == "12 samples, mesh 8x9, 2 input, 2 output channels"
    assert op.predict(a, x).shape == u.shape


def test_deformed_meshes(capsys):
    rng = np.random.default_rng(0)
    x = grid(8, 9) + 0.02 * rng.normal(size=(12, 8, 9, 2))
    u = np.sin(3 * x[..., 0]) * x[..., 1]
    op, said = understood(capsys, None, u, coordinates=x)
    assert said == "12 samples, mesh 8x9, 0 input, 1 output channel"
    assert op.predict(coordinates=x).shape == u.shape
    assert op.evaluate(None, u, x).relative_l2 < 10


def test_axes_as_rows(capsys, data):
    op, said = understood(capsys, *data, (np.linspace(0, 2, 10), np.linspace(-1, 1, 9)))
    assert "grid 10x9" in said
    assert op.coordinates.min(0).tolist() == [0, -1] and op.coordinates.max(0).tolist() == [2, 1]


def test_clouds_of_one_size(capsys):
    x = np.random.default_rng(0).uniform(size=(12, 30, 2))
    u = np.sin(3 * x[..., 0])
    op, said = understood(capsys, x[..., 1], u, coordinates=x)
    assert said == "12 samples, clouds of 30 points in 2 dimensions, 1 input, 1 output channel"
    found = op.predict(x[..., 1], x)
    assert found.shape == u.shape
    shuffled = np.random.default_rng(1).permutation(30)  # the order of the points does not matter
    assert np.array_equal(op.predict(x[0, shuffled, 1], x[0, shuffled]), found[0, shuffled])


def test_clouds_of_different_sizes(capsys, clouds):
    x, a, u = clouds
    op, said = understood(capsys, a, u, coordinates=x)
    assert said == "12 samples, clouds of 20 to 31 points in 2 dimensions, 1 input, 1 output channel"
    found = op.predict(a, x)
    assert [row.shape for row in found] == [row.shape for row in u]
    relative = [np.linalg.norm(p - q) / np.linalg.norm(q) for p, q in zip(found, u)]
    assert op.evaluate(a, u, x).per_sample["relative_l2"] == pytest.approx(relative, rel=1e-4)


def test_time_conditional(capsys, data):
    a, u = data
    times = [0.0, 0.5, 1.0, 2.0]
    frames = np.stack([np.exp(-t) * u for t in times], 1)
    two = np.stack([a, a**2], -1)  # two inputs, one output: no state
    op, said = understood(capsys, two, frames, times=times, task="time_conditional")
    assert said == "24 samples, grid 10x9, 4 frames from t = 0 to 2, 2 input, 1 output channel"
    assert op.task == "time_conditional" and op.times == times
    assert op.predict(two[0], time=0.7).shape == (10, 9, 1)
    assert op.predict(two[0], times=[0.1, 0.2, 0.3]).shape == (3, 10, 9, 1)
    assert np.array_equal(op.predict(two[:2])[1, 2], op.predict(two[1], time=1.0))
    found = op.evaluate(two, frames)
    assert len(found.per_step) == 4 and found.per_step.mean() > 0


def test_all_times_at_once(capsys, data):
    a, u = data
    times = [0.5, 1.0, 2.0]
    frames = np.stack([np.stack([np.exp(-t) * u, t * u], -1) for t in times], 1)  # [24, 3, 10, 9, 2]
    three = np.stack([a, a**2, a**3], -1)
    op, said = understood(capsys, lano.Dataset(three, frames, times=times, output_names=["p", "q"]))
    assert said == "24 samples, grid 10x9, 3 frames from t = 0.5 to 2, 3 input, 2 output channels"
    assert op.task == "steady" and op.times == times and op.output == ["p", "q"]
    one, many = op.predict(three[0]), op.predict(three[:3])
    assert one.shape == (3, 10, 9, 2) and many.shape == (3, 3, 10, 9, 2)
    assert np.array_equal(one, many[0])
    found = op.evaluate(three, frames)
    assert len(found.per_step) == 3
    errors = [np.linalg.norm(p - q) / np.linalg.norm(q) for p, q in zip(op.predict(three), frames)]
    assert found.per_sample["relative_l2"] == pytest.approx(errors, rel=1e-4)
    again = pickle.loads(pickle.dumps(op))
    assert again.times == times and np.array_equal(again.predict(three[0]), one)
    # The derivative along a direction of the input, against a difference of predictions.
    rng = np.random.default_rng(3)
    g, along = rng.normal(size=one.shape), rng.normal(size=three[0].shape)
    slope = (op.vjp(three[0], g).input * along).sum()
    step = 1e-2
    truth = (g * (op.predict(three[0] + step * along) - op.predict(three[0] - step * along))).sum() / (2 * step)
    assert slope == pytest.approx(truth, rel=1e-2)
    points = op.coordinates[:5]
    assert op.prepare(three[0]).decode(points, three[0].reshape(-1, 3)[:5]).shape == (3, 5, 2)
    with pytest.raises(lano.Error, match="not conditioned on time"):
        op.predict(three[0], times=[0.5])


def test_autoregressive(capsys, data):
    _, u = data
    frames = np.stack([np.roll(u, k, 1) for k in range(5)], 1)
    op, said = understood(capsys, None, frames, times=0.1)
    assert said == "24 samples, grid 10x9, 5 frames from t = 0 to 0.4, 0 input, 1 output channel"
    assert op.task == "autoregressive" and op.state_frames == 1
    state = frames[0, 0]
    rolled = op.roll_out(state, 3)
    assert rolled.shape == (3, 10, 9, 1)
    for k in range(3):
        state = op.predict(state=state)
        assert np.array_equal(state, rolled[k, ..., 0])
    assert len(op.evaluate(None, frames).per_step) == 4


def test_the_same_bytes_as_lano_train(tmp_path, data, program):
    set_ = lano.Dataset(*data, test=4)
    set_.save(tmp_path / "set.h5")
    subprocess.run([program, "train", "--data", tmp_path / "set.h5", "--out", tmp_path / "run", *sets(**FULL)],
                   check=True, capture_output=True)
    wanted = (tmp_path / "run" / "model.safetensors").read_bytes()
    assert bytes_of(lano.fit(set_, quiet=True, **FULL), tmp_path) == wanted
    assert bytes_of(lano.fit(lano.Dataset.load(tmp_path / "set.h5"), quiet=True, **FULL), tmp_path) == wanted
    lano.set_threads(1)
    try:
        assert bytes_of(lano.fit(set_, quiet=True, **FULL), tmp_path) == wanted
    finally:
        lano.set_threads(0)
    other = lano.fit(set_, quiet=True, seed=1, **FULL)
    assert bytes_of(other, tmp_path) != wanted


def test_a_recipe_in_every_form(tmp_path, data):
    recipe = {"model": {"layers": 2, "width": 8, "heads": 2, "agents": 4}, "train": {"batch": 4, "epochs": 2}}
    wanted = bytes_of(lano.fit(*data, quiet=True, **SMALL), tmp_path)
    assert bytes_of(lano.fit(*data, quiet=True, recipe=recipe), tmp_path) == wanted
    mixed = {"model.layers": 2, "train.batch": 4}
    assert bytes_of(lano.fit(*data, quiet=True, recipe=mixed, width=8, heads=2, agents=4, epochs=2), tmp_path) == wanted
    toml = tmp_path / "recipe.toml"
    toml.write_text("[model]\nlayers = 1\nwidth = 8\nheads = 2\nagents = 4\n[train]\nepochs = 3\nbatch = 4\n")
    op = lano.fit(*data, quiet=True, recipe=toml, epochs=1)
    assert len(op.history) == 1 and "layers = 1" in op.recipe


def test_minutes_are_kept(data):
    begun = time.monotonic()
    op = lano.fit(*data, minutes=0.05, quiet=True)
    assert time.monotonic() - begun < 40 and op.training["finished"]


def test_a_run_folder_is_that_of_lano_train(tmp_path, data, program):
    set_ = lano.Dataset(*data, test=4)
    lano.fit(set_, run=tmp_path / "mine", quiet=True, **FULL)
    subprocess.run([program, "train", "--data", tmp_path / "mine" / "data.h5", "--out", tmp_path / "theirs",
                    *sets(**FULL)], check=True, capture_output=True)
    names = {path.name for path in (tmp_path / "theirs").iterdir()}
    assert names | {"data.h5"} == {path.name for path in (tmp_path / "mine").iterdir()}
    model = "model.safetensors"
    assert (tmp_path / "mine" / model).read_bytes() == (tmp_path / "theirs" / model).read_bytes()
    shown = [lano.Dataset.load(tmp_path / run / "evaluation.h5") for run in ("mine", "theirs")]  # HDF5 keeps times
    assert np.array_equal(shown[0]._output, shown[1]._output)
    assert shown[0]._description == shown[1]._description
    run = lano.read_run(tmp_path / "mine")
    assert run.state == "finished" and run.epochs == 2 and run.test.relative_l2 == run.test_l2
    assert len(run.history) == 2 and run.config["model.width"] == "8"
    assert (run.load().predict(data[0][0]) == lano.load(run.model_file).predict(data[0][0])).all()
    with pytest.raises(lano.Error, match="a run that is already there"):
        lano.fit(set_, run=tmp_path / "mine", quiet=True, **FULL)
    assert open(lano.report(tmp_path / "mine")).read().startswith("<!")


def test_runs_go_on_from_either_side(tmp_path, data, program):
    set_ = lano.Dataset(*data, test=4)
    set_.save(tmp_path / "set.h5")
    begin = [program, "train", "--data", tmp_path / "set.h5", *sets(**dict(FULL, train__epochs=4))]
    subprocess.run([*begin, "--out", tmp_path / "whole"], check=True, capture_output=True)
    subprocess.run([*begin, "--out", tmp_path / "theirs", "--stop-after", "2"], check=True, capture_output=True)
    wanted = (tmp_path / "whole" / "model.safetensors").read_bytes()
    op = lano.resume(tmp_path / "theirs", quiet=True)
    assert len(op.history) == 4 and (tmp_path / "theirs" / "model.safetensors").read_bytes() == wanted
    interrupted(tmp_path, f"""
        set_ = lano.Dataset.load({str(tmp_path / 'set.h5')!r})
        op = lano.fit(set_, run={str(tmp_path / 'mine')!r}, epochs=3000, **keys)
        print('stopped', op.training['finished'], lano.read_run({str(tmp_path / 'mine')!r}).state)
    """, ["stopped False stopped"])
    subprocess.run([program, "train", "--resume", tmp_path / "mine", "--stop-after", "1"], check=True,
                   capture_output=True)


def interrupted(tmp_path, code, wanted, after="epoch 2"):
    """Runs code that trains for ever, sends Ctrl-C once it has begun, and looks at what it says."""
    script = tmp_path / "script.py"
    keys = {key: value for key, value in SMALL.items() if key != "epochs"}
    script.write_text("import lano\nkeys = " + repr(keys) + "\nimport lano._progress as p\n"
                      "p.Progress._draw = lambda self, text, done, total: print(text, flush=True)\n"
                      + textwrap.dedent(code))
    child = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in child.stdout:
        lines.append(line.strip())
        if line.startswith("epoch ") and int(line[6:].split("/")[0]) > 2:
            child.send_signal(signal.SIGINT)
            break
    rest, errors = child.communicate(timeout=60)
    assert child.returncode == 0, (lines[-3:], rest, errors)
    said = rest.splitlines()
    for line in wanted:
        assert line in said, (said[-5:], errors)


def test_ctrl_c_keeps_the_best_so_far(tmp_path, data):
    np.savez(tmp_path / "data.npz", a=data[0], u=data[1])
    interrupted(tmp_path, f"""
        import numpy as np, time
        data = np.load({str(tmp_path / 'data.npz')!r})
        op = lano.fit(data['a'], data['u'], epochs=100000, **keys)
        print('kept', op.predict(data['a'][0]).shape, len(op.history) >= 2, op.training['finished'])
        try:
            import signal, os
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            print('Ctrl-C is itself again')
    """, ["kept (10, 9) True False", "Ctrl-C is itself again"])


def test_ctrl_c_before_the_first_epoch(data, monkeypatch):
    import lano._progress
    calls = []

    def strike(self, kind, text, done, total):
        if kind == "begin":
            calls.append(kind)
            os.kill(os.getpid(), signal.SIGINT)
    monkeypatch.setattr(lano._progress.Progress, "__call__", strike)
    with pytest.raises(KeyboardInterrupt):
        lano.fit(*data, **dict(SMALL, epochs=100000))
    assert calls
    monkeypatch.undo()
    found = []  # the wish was for that training: the next one, in any thread, knows nothing of it
    thread = threading.Thread(target=lambda: found.append(lano.fit(*data, quiet=True, **SMALL)))
    thread.start()
    thread.join()
    assert found[0].training["finished"]


def test_training_in_a_thread(data, tmp_path):
    wanted = bytes_of(lano.fit(*data, quiet=True, **SMALL), tmp_path)
    found = []
    thread = threading.Thread(target=lambda: found.append(lano.fit(*data, quiet=True, **SMALL)))
    thread.start()
    thread.join()
    assert bytes_of(found[0], tmp_path) == wanted


def test_fine_tuning(data, op, tmp_path):
    a, u = data
    further = lano.fit(a, 2 * u, start=op, epochs=1, quiet=True)
    assert further.parameters == op.parameters
    op.save(tmp_path / "start.safetensors")
    again = lano.fit(a, 2 * u, start=tmp_path / "start.safetensors", epochs=1, quiet=True)
    assert np.array_equal(again.predict(a[0]), further.predict(a[0]))


def test_nothing_is_left_behind(data, tmp_path, monkeypatch):
    import tempfile
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lano.fit(*data, quiet=True, **SMALL)
    assert list(tmp_path.iterdir()) == []


def test_quiet_says_nothing(data, capsys):
    lano.fit(*data, quiet=True, **SMALL)
    said = capsys.readouterr()
    assert said.out == "" and said.err == ""


def test_arrays_of_every_kind(data, tmp_path):
    a, u = data
    wanted = bytes_of(lano.fit(a, u, quiet=True, **SMALL), tmp_path)
    frozen = a.copy()
    frozen.flags.writeable = False
    twice = np.repeat(a, 2, 1)[:, ::2]
    assert not twice.flags.c_contiguous
    for x, y in ((frozen, u), (np.asfortranarray(a), np.asfortranarray(u)), (twice, u), (a.tolist(), u.tolist()),
                 (a.astype(">f8"), u), (a[..., None], u[..., None])):
        assert bytes_of(lano.fit(x, y, quiet=True, **SMALL), tmp_path) == wanted
    assert np.array_equal(a, frozen)  # not written to
