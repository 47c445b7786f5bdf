"""Steps an autoregressive operator five times from a constant state. Usage: roll_out.py MODEL.safetensors"""
import sys

import numpy as np

import lano

op = lano.load(sys.argv[1])
points = len(op.coordinates)
state = np.full((points, len(op.output)), 0.25, dtype=np.float32)
states = op.roll_out(state, 5, op.coordinates, np.full((points, len(op.input)), 0.5, dtype=np.float32))
print(f"{len(states)} steps, mean {states[-1].mean(dtype=np.float64):.6e}")
