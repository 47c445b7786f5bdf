"""Predicts on the training grid with a constant input. Usage: predict.py MODEL.safetensors"""
import sys

import numpy as np

import lano

op = lano.load(sys.argv[1])
points = len(op.coordinates)
output = op.predict(np.full((points, len(op.input)), 5.0, dtype=np.float32), op.coordinates)
print(f"{points} points, mean {output.mean(dtype=np.float64):.6e}")
