"""Runs and reports, benchmarks and their solvers."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

import numpy as np

from . import _core
from ._arrays import numbers
from ._dataset import Dataset, options
from ._errors import error
from ._evaluation import Evaluation
from ._history import History
from ._operator import Operator, load
from ._solvers import run_program, solvers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Run:
    """The contents of a run folder: state, history, config, errors; also during training or after a stop."""

    def __init__(self, found: Dict[str, Any]):
        self.folder: str = found["folder"]
        self.state: str = found["state"]  # "finished", "stopped" or "running"
        self.epochs: int = found["epochs"]
        self.total_epochs: int = found["total_epochs"]
        self.best_epoch: int = found["best_epoch"]
        self.validation_l2: Optional[float] = found["validation_l2"]
        self.test_l2: Optional[float] = found["test_l2"]
        self.baseline: str = found["baseline"]
        self.parameters: int = found["parameters"]
        self.seconds: Optional[float] = found["seconds"]
        self.set: str = found["set"]
        self.config: Dict[str, str] = found["config"]
        self.notes: List[str] = found["notes"]  # one sentence per file that is damaged
        self.history = History(found.get("history", {}))
        self.test: Optional[Evaluation] = Evaluation(found["test"], None, "test") if "test" in found else None

    @property
    def model_file(self) -> str:
        return os.path.join(self.folder, "model.safetensors")

    def load(self) -> Operator:
        """Its operator, with its history."""
        op = load(self.model_file)
        op._history = self.history
        return op

    def __repr__(self) -> str:
        def number(value: Optional[float]) -> str:
            return "-" if value is None else f"{value:.4e}"
        return (f"<lano.Run '{self.folder}': {self.state}, epoch {self.epochs} of {self.total_epochs}, "
                f"validation {number(self.validation_l2)}, test {number(self.test_l2)}>")


def read_run(folder: Union[str, os.PathLike]) -> Run:
    """The run in a folder of `lano train --out` or `lano.fit(..., run=)`."""
    return Run(json.loads(_core.read_run(os.fspath(folder))))


def report(run: Union[str, os.PathLike, Run], *more: Union[str, os.PathLike, Run]) -> str:
    """Draws the HTML report of a run, or a comparison of several; returns the path of its page."""
    folders = [each.folder if isinstance(each, Run) else os.fspath(each) for each in (run, *more)]
    out = run_program("drawing a report", ["report", *folders])
    for word in reversed(out.split()):
        if word.endswith(".html"):
            return os.path.abspath(word)
    raise error("drawing a report", "the path of a page", repr(out.strip()[-200:]))


def generate(benchmark: str, *, train: Optional[int] = None, test: Optional[int] = None, quiet: bool = False,
             **words: Any) -> Dataset:
    """A benchmark's dataset by its own solver, on every core: "darcy", "burgers", "elasticity", "plasticity",
    "airfoil", "pipe".

    The keywords are the options of `lano generate`: resolution, stride, medium, frames, seed, validation, preset.
    """
    import tempfile
    if not isinstance(benchmark, str):
        raise TypeError(f"generate: expected the name of a benchmark, found {type(benchmark).__name__}")
    with tempfile.TemporaryDirectory(prefix="lano-") as folder:
        out = os.path.join(folder, f"{benchmark}.h5" if benchmark.isalnum() else "set.h5")
        run_program("generating a dataset", ["generate", benchmark, "--out", out,
                                             *options(dict(words, train=train, test=test))])
        made = Dataset.load(out)
    made._path = None
    if not quiet:
        print(made.summary())
    return made


def solve(problem: str, input: ArrayLike, *, source: Union[float, ArrayLike] = 1.0, tolerance: float = 1e-10,
          viscosity: float = 0.02, interval: float = 0.05, frames: int = 10, steps: int = 10) -> np.ndarray:
    """One sample by the verified solver of a benchmark, in double precision.

    solve("darcy", a)       -div(a grad u) = source at the cell centres ((i+1/2)/n, (j+1/2)/n) of the unit square, u = 0
                            on its boundary; a [n, n] -> u [n, n]
    solve("burgers", v)     viscous flow, periodic on the unit square, from velocities v [n, n, 2] at (i/n, j/n);
                            `frames` fields after each `interval`, `steps` of the solver each -> [frames, n, n, 2]
    """
    field = numbers(input, "input").astype(np.float64)
    if problem == "darcy":
        if field.ndim == 3 and field.shape[-1] == 1:
            return solve(problem, field[..., 0], source=source, tolerance=tolerance)[..., None]
        f = np.broadcast_to(numbers(source, "source").astype(np.float64), field.shape)
        return solvers("solving darcy").solve_darcy(field, f, float(tolerance))
    if problem == "burgers":
        if field.ndim != 3 or field.shape[-1] != 2:
            raise error("solving burgers", "velocities [n, n, 2]", str(list(field.shape)))
        found = solvers("solving burgers").solve_burgers(np.moveaxis(field, -1, 0), float(viscosity), float(interval),
                                                         int(frames), int(steps))
        return np.moveaxis(found, 1, -1)
    raise error("solving a problem", '"darcy" or "burgers"', repr(problem),
                "the other benchmarks draw their geometry themselves: lano.generate")
