"""LANO: learn the solution operator of a PDE from data, check it, and use it.

    import lano
    op = lano.fit(a, u, coordinates=xy, minutes=5)    # NumPy arrays in: grids, meshes, clouds, time-dependent output
    op.evaluate(a_test, u_test)                       # relative L2 and other errors, the same code as `lano eval`
    u_new = op.predict(a_new)                         # any resolution; lists of arrays for clouds of different sizes
    op.save("darcy.safetensors")                      # one file, for Python, C, C++, Fortran and the program lano
    op = lano.load("darcy.safetensors")
    op.plot(a_test, u_test)                           # matplotlib: best, median and worst sample
    op.vjp(a, du)                                     # derivatives, for optimisation through the operator

Arrays hold one sample per row: a and u are [samples, n1, n2] on a grid, with or without channels on the last axis;
coordinates [points, dims] make it a cloud, [n1, n2, dims] a mesh; with times= the second axis of u is time.

    lano.fit, lano.resume       train, resume a run that was stopped
    lano.load, lano.Operator    use a trained operator
    lano.Dataset                samples with their fields and splits, from arrays and files
    lano.generate, lano.solve   the benchmarks, with their verified solvers
    lano.read_run, lano.report  the results of a run
    lano.recipe_keys            every key of a recipe
    lano.set_threads            threads of a call
    lano.Error                  every failure, in one sentence: what was being done, expected, found, what to do

This package needs NumPy and nothing else. Dataset files (.h5), importers, solvers, run folders, reports and the command
line (`python -m lano`) come with a second one, lano_solvers; functions that need it say so if it is missing.
"""
from __future__ import annotations

from ._core import Error, __version__, thread_count
from ._dataset import Dataset
from ._evaluation import Evaluation
from ._fit import fit, resume
from ._history import History
from ._operator import Operator, Prepared, Slopes, load
from ._recipe import keys as recipe_keys
from ._run import Run, generate, read_run, report, solve

Error.__doc__ = "What went wrong, in one sentence: what was being done, what was expected, what was found, what to do."
Error.__module__ = "lano"


def set_threads(count: int) -> None:
    """Number of threads of each call, from any thread; 0: OMP_NUM_THREADS or all cores."""
    from . import _core
    _core.set_threads(int(count))


__all__ = ["Dataset", "Error", "Evaluation", "History", "Operator", "Prepared", "Run", "Slopes", "__version__", "fit",
           "generate", "load", "read_run", "recipe_keys", "report", "resume", "set_threads", "solve", "thread_count"]
