"""Derivatives against finite differences of a double-precision oracle, for every kind of model."""
import numpy as np
import pytest

import lano
from conftest import SMALL, fields, grid
from oracle import Oracle

KINDS = """autoregressive autoregressive_cloud cells changing changing_cloud changing_two_frames
changing_two_frames_cloud cloud cloud_exchange cloud_in_file_order cloud_in_space cloud_index
cloud_neighbours cloud_neighbours_in_space cloud_on_a_line displaced edge exchange_of_a_mesh few_points
ffn_stencil grid latent line line_sequence mesh mlp no_bias no_dwc odd_width one_agent reference
sequence space sum time_conditional time_conditional_cloud two_frames""".split()


@pytest.mark.parametrize("name", KINDS)
def test_against_finite_differences(models, name):
    path = models / f"{name}.safetensors"
    op, oracle = lano.load(path), Oracle(path)
    x = np.load(models / f"{name}.coordinates.npy")[0]
    a = np.load(models / f"{name}.input.npy")[0]
    rng = np.random.default_rng(1)
    points, du, frames = len(x), len(op.output), op.state_frames
    g = rng.normal(size=(points, du)).astype(np.float32)
    state = rng.normal(size=(frames, points, du)).astype(np.float32) if frames else None
    time = 0.37 if op.task == "time_conditional" else None
    doubles = [None if v is None else v.astype(float) for v in (x, a, state)]
    oracle.freeze(doubles[0], doubles[1])

    mesh = op.mesh or [points]
    shaped_x, shaped_a = x.reshape(*mesh, -1), a.reshape(*mesh, -1) if a.size else None
    lead = [frames] if frames > 1 else []
    shaped_state = None if state is None else state.reshape(*lead, *mesh, du)
    u = op.predict(shaped_a, shaped_x, time=time, state=shaped_state)
    wanted = oracle.predict(*[None if v is None else v[None] for v in doubles], time)[0]
    assert np.abs(u.reshape(wanted.shape) - wanted).max() < 1e-5 * np.abs(wanted).max()  # the oracle is this model

    found = op.vjp(shaped_a, g.reshape(*mesh, du), shaped_x, time=time, state=shaped_state)
    for which in ("coordinates", "input", "state"):
        ours = getattr(found, which)
        if ours is None or ours.size == 0:
            continue
        truth = oracle.slopes(which, g.astype(float), *doubles, time)
        error = ours.reshape(truth.shape) - truth
        assert np.abs(error).max() < 1e-3 * np.abs(truth).max(), which
        assert np.linalg.norm(error) < 1e-5 * np.linalg.norm(truth), which


def test_shapes_and_batches(op, data):
    a = data[0][:3]
    g = np.random.default_rng(0).normal(size=a.shape)
    many = op.vjp(a, g)
    assert many.input.shape == a.shape and many.coordinates.shape == (3, 10, 9, 2) and many.state is None
    for i in range(3):
        one = op.vjp(a[i], g[i])
        assert np.array_equal(one.input, many.input[i]) and np.array_equal(one.coordinates, many.coordinates[i])
    with_channels = op.vjp(a[0][..., None], g[0][..., None])
    assert with_channels.input.shape == (10, 9, 1) and np.array_equal(with_channels.input[..., 0], many.input[0])


def test_it_is_linear_in_the_slopes(op, data):
    a = data[0][0]
    g, h = np.random.default_rng(0).normal(size=(2, 10, 9))
    both = op.vjp(a, 2 * g - h).input
    assert both == pytest.approx(2 * op.vjp(a, g).input - op.vjp(a, h).input, abs=1e-4 * np.abs(both).max())


def test_it_leads_downhill():
    """The input of a given output, found by steps along the derivative."""
    a, u = fields(24, grid(8, 8), seed=5)
    op = lano.fit(a, np.tanh(a), epochs=15, layers=2, width=16, heads=2, agents=8, quiet=True)
    target = op.predict(a[3])
    guess = np.zeros_like(target)
    losses = []
    for _ in range(60):
        error = op.predict(guess) - target
        losses.append(float((error**2).sum()))
        guess = guess - 0.2 * op.vjp(guess, 2 * error).input
    assert losses[-1] < 0.05 * losses[0]


def test_as_a_function_of_pytorch(op, data):
    """The example of docs/python.md."""
    torch = pytest.importorskip("torch", reason="no PyTorch here: the example of docs/python.md is not run")
    import re
    from conftest import SOURCE
    code = re.search(r"```python\n(import torch.*?)```", (SOURCE / "docs" / "python.md").read_text(), re.S).group(1)
    names = {"lano": lano, "op": op}
    exec(code, names)
    a = torch.tensor(data[0][0], dtype=torch.float32, requires_grad=True)
    loss = (names["Solve"].apply(a, op)**2).sum()
    loss.backward()
    u = op.predict(data[0][0])
    assert a.grad.numpy() == pytest.approx(op.vjp(data[0][0], 2 * u).input)
