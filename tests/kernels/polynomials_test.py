"""The polynomials of src/kernels/simd_kernels.cpp, derived again: Remez' exchange finds the polynomial whose largest
weighted error is least, and the coefficients in the source must be as good to rounding, with the errors that its
comments state. Usage: polynomials_test.py SIMD_KERNELS.CPP"""

import math
import re
import sys

import numpy as np
from numpy.polynomial import chebyshev


def remez(f, weight, degree, low, high):
    """The largest weighted error of the best polynomial: its degree + 2 extrema are equal, of alternating sign."""
    inside = lambda x: (2 * x - low - high) / (high - low)
    dense = (low + high) / 2 - (high - low) / 2 * np.cos(np.linspace(0, np.pi, 20001))
    x = (low + high) / 2 - (high - low) / 2 * np.cos(np.pi * np.arange(degree + 2) / (degree + 1))
    signs = (-1.0) ** np.arange(degree + 2)
    for _ in range(20):
        matrix = np.column_stack([chebyshev.chebvander(inside(x), degree) * weight(x)[:, None], signs])
        coefficients = np.linalg.solve(matrix, weight(x) * f(x))[:-1]
        error = weight(dense) * (chebyshev.chebval(inside(dense), coefficients) - f(dense))
        pieces = np.split(np.arange(dense.size), np.flatnonzero(np.diff(np.sign(error))) + 1)
        assert len(pieces) == degree + 2, f"{len(pieces)} extrema instead of {degree + 2}"
        x = dense[[piece[np.argmax(np.abs(error[piece]))] for piece in pieces]]
    return np.abs(error).max()


def coefficients_of(source, function):
    """The constants of its Horner scheme, the highest power first."""
    body = re.search(rf"HWY_INLINE V {function}\(.*?\n}}\n", source, re.S).group()
    first = re.findall(r"V p = hn::Set\(d, ([-+.e0-9]+)f\)", body)
    others = re.findall(r"p = hn::MulAdd\(p, \w, hn::Set\(d, ([-+.e0-9]+)f\)\)", body)
    return np.array([float(c) for c in first + others])


def check(what, error, best, stated):
    print(f"{what}: largest error {error:.3e}, of the best polynomial {best:.3e}, stated {stated:.1e}")
    assert best <= error <= stated, what


source = open(sys.argv[1], encoding="utf-8").read()

# 2^r, relative error. The constant term is set to 1, which shifts the error: the best polynomial with that term is
# compared with the rest.
r = np.linspace(-0.5, 0.5, 100001)
two = coefficients_of(source, "exp2_below")
assert two.size == 7 and two[-1] == 1
best = remez(lambda x: 2.0**x, lambda x: 2.0**-x, 6, -0.5, 0.5)
check("2^r", np.abs(np.polyval(two, r) / 2.0**r - 1).max(), best, 2.6e-9)
shifted = two.copy()
shifted[-1] += 5.6e-10
check("2^r with its own constant term", np.abs(np.polyval(shifted, r) / 2.0**r - 1).max(), 0.999 * best, 1.95e-9)

# erfcx, weighted by exp(-y^2)/2: the absolute error of Phi.
y = np.linspace(0, 4.3, 50001)
erfc = np.vectorize(math.erfc)
tail = coefficients_of(source, "normal")
assert tail.size == 13
best = remez(lambda x: np.exp(x * x) * erfc(x), lambda x: np.exp(-x * x) / 2, 12, 0, 4.3)
check("Phi", np.abs(np.exp(-y * y) / 2 * np.polyval(tail, y) - erfc(y) / 2).max(), best, 4.45e-9)
assert math.erfc(4.3) / 2 < 6e-10
