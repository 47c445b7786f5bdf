"""Fixtures of the package's tests. LANO_MODELS names the program onnx_models, LANO_PROGRAM the program lano; the
package is that on PYTHONPATH. Data are made here, by a few lines of NumPy: smooth fields and what a filter makes of
them."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lano

sys.path.insert(0, str(Path(__file__).parent))
SOURCE = Path(__file__).resolve().parent.parent.parent
SMALL = {"layers": 2, "width": 8, "heads": 2, "agents": 4, "batch": 4, "epochs": 2}


def fields(samples, points, seed=0, channels=1):
    """Sums of a few waves at points [..., 2] in the unit square, and a smoother field that depends on them."""
    rng = np.random.default_rng(seed)
    a = np.zeros((samples, *points.shape[:-1], channels))
    u = np.zeros_like(a)
    for k in range(1, 4):
        for sample in range(samples):
            for c in range(channels):
                phase, size, turn = rng.uniform(0, 6), rng.normal(), rng.uniform(0, 3)
                wave = np.sin(2 * k * (np.cos(turn) * points[..., 0] + np.sin(turn) * points[..., 1]) + phase)
                a[sample, ..., c] += size * wave
                u[sample, ..., c] += size * wave / k**2
    return a, u


def grid(n1, n2):
    return np.stack(np.meshgrid(np.linspace(0, 1, n1), np.linspace(0, 1, n2), indexing="ij"), -1)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """Small models of every switch, geometry and task, with random weights."""
    folder = tmp_path_factory.mktemp("models")
    subprocess.run([os.environ["LANO_MODELS"], str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def program():
    return os.environ["LANO_PROGRAM"]


@pytest.fixture(scope="session")
def data():
    """A grid 10x9: a, u [24, 10, 9]."""
    a, u = fields(24, grid(10, 9))
    return a[..., 0], u[..., 0]


@pytest.fixture(scope="session")
def op(data):
    return lano.fit(*data, quiet=True, **SMALL)


@pytest.fixture(scope="session")
def clouds():
    """Clouds of 20 to 31 points: lists of coordinates, inputs and outputs."""
    rng = np.random.default_rng(3)
    x = [rng.uniform(0, 1, (20 + i, 2)) for i in range(12)]
    pairs = [fields(1, points, seed=i) for i, points in enumerate(x)]
    return x, [a[0, :, 0] for a, _ in pairs], [u[0, :, 0] for _, u in pairs]
