"""Steps an autoregressive operator five times from a bump in the middle of its grid.
Usage: roll_out.py MODEL.safetensors (of a model that was trained on a grid or mesh)"""
import sys

import numpy as np

import lano

op = lano.load(sys.argv[1])
places = np.meshgrid(*[(np.arange(n) + 0.5) / n - 0.5 for n in op.mesh], indexing="ij")
bump = np.exp(-20 * sum(place**2 for place in places))
state = np.stack([(c + 1) * bump for c in range(len(op.output))], -1)
a = np.stack([0.5 - bump] * len(op.input), -1)
for step, u in enumerate(op.roll_out(state, 5, a), 1):
    print(f"step {step}, mean {u.mean(dtype=np.float64):.6e}, largest {u.max():.6e}")
