"""Predicts a field on a cloud of scattered points, from an input that varies from point to point.
Usage: cloud.py MODEL.safetensors (of a model that was trained on clouds in the plane)"""
import sys

import numpy as np

import lano

POINTS = 500
op = lano.load(sys.argv[1])
i = np.arange(POINTS)  # a sequence that fills the unit square evenly, without a grid
xy = np.stack([0.5 + i * 0.7548776662466927, 0.5 + i * 0.5698402909980532], -1) % 1.0
x, y = xy.T
a = np.stack([np.sin(3 * x + c) * np.cos(2 * y) for c in range(len(op.input))], -1)
u = op.predict(a, xy)
print(f"{POINTS} points, mean {u.mean(dtype=np.float64):.6e}, least {u.min():.6e}, largest {u.max():.6e}")
