#!/usr/bin/python3
"""How far rules for the displacement at another resolution are from the truth (docs/accuracy.md, Why displacement).

Usage: bench/displacement_rules.py airfoil-fine.h5   # lano generate airfoil --train 200 --test 30 --out airfoil-fine.h5
The mean mesh is that of the training samples at every second point; the truth that at every point and every third one.
Prints root mean square and largest error of the vertical displacement in units of its deviation.
"""
import sys

import h5py
import numpy as np


def rows(known, places, through):
    """Lagrange's weights of the nearest `through` of `known` points at each place."""
    matrix = np.zeros((len(places), known))
    for i, place in enumerate(places):
        first = int(min(max(np.floor(place) - (through // 2 - 1), 0), known - through))
        for k in range(first, first + through):
            others = [j for j in range(first, first + through) if j != k]
            matrix[i, k] = np.prod([(place - j) / (k - j) for j in others])
    return matrix


def onto(a, b, field):
    return np.einsum("ia,jb,...abc->...ijc", a, b, field)


with h5py.File(sys.argv[1]) as file:
    shape = [int(n) for n in file.attrs["shape"].strip(b"[]").split(b",")]
    meshes = file["coords"][:][file["split"][:] == 0].reshape(-1, *shape, 2).astype(float)
mean = meshes.mean(0)
moved = meshes - mean
scale = moved[:, ::2, ::2, 1].std()
trained = mean[::2, ::2]
n, m = trained.shape[:2]


def show(name, error):
    error = error[..., 1] / scale
    print(f"{name:<58} {np.sqrt((error**2).mean()):8.3f} {abs(error).max():8.2f}")


for stride in (1, 3):
    here = (np.arange(0, shape[0], stride) / 2, np.arange(0, shape[1], stride) / 2)
    some = slice(None, None, stride)
    print(f"every {stride}. point: {len(here[0])}x{len(here[1])} from {n}x{m}, scale {scale:.5f}")
    for through in (2, 4, 6):
        between = onto(rows(n, here[0], through), rows(m, here[1], through), trained)
        show(f"  the mean mesh through {through} points", between - mean[some, some])
    for through in (2, 6):
        back = [rows(len(place), np.arange(count) * 2 / stride, through) for place, count in zip(here, (n, m))]
        at_trained = onto(*back, meshes[:, some, some]) - trained
        found = onto(rows(n, here[0], 2), rows(m, here[1], 2), at_trained)
        show(f"  the displacement, coordinates through {through} points", found - moved[:, some, some])
