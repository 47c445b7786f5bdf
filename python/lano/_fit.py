"""Training: lano.fit and lano.resume."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _core
from ._dataset import Dataset
from ._errors import error, plain_error
from ._history import History
from ._operator import Operator
from ._progress import Progress
from ._recipe import assignments
from ._solvers import solvers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Fields = Union[ArrayLike, Sequence[ArrayLike]]


def fit(input: Union[Fields, Dataset, None], output: Optional[Fields] = None, coordinates: Optional[Fields] = None, *,
        times: Optional[ArrayLike] = None, minutes: Optional[float] = None,
        recipe: Union[None, str, os.PathLike, Mapping[str, Any]] = None,
        run: Union[None, str, os.PathLike] = None, start: Union[None, str, os.PathLike, Operator] = None,
        validation: float = 0.1, shuffle: Union[bool, int, None] = None, box: Optional[ArrayLike] = None,
        axes: Optional[int] = None, geometry: Optional[str] = None, quiet: bool = False, **keys: Any) -> Operator:
    """Trains an operator that maps input to output, and returns it.

    ::

        op = lano.fit(a, u)                              # grids [samples, n1, n2], with or without channels last
        op = lano.fit(a, u, coordinates=xy, minutes=5)   # meshes and clouds; lists of arrays if sizes differ
        op = lano.fit(a, u, times=t)                     # u [samples, len(t), n1, n2]
        op = lano.fit(lano.Dataset.load("darcy.h5"), epochs=50, width=64)

    input, output, coordinates, times, box, axes, geometry, validation and shuffle are those of `lano.Dataset`, which
    may be given instead. A share of the samples is kept apart for validation, on which the weights are chosen.

    minutes      how long it may take; without a recipe sizes and epochs are chosen for it (10 by default)
    recipe       a TOML file as `lano train --config` takes it, or a dictionary
    **keys       single keys of the recipe: epochs=50, width=64, seed=1, learning_rate=2e-3; model__width=64 where a
                 name is not unique (`lano.recipe_keys()` lists all)
    run          a folder for the run, with the files of `lano train --out`; it can be resumed
                 by `lano.resume` and `lano train --resume`; needs the package lano_solvers
    start        a model to begin with: a model file or an Operator
    quiet        print nothing

    Ctrl-C ends the training after the current step and returns the best operator so far. The same data, recipe and seed
    give the same bytes as `lano train`, on any number of threads.
    """
    progress = Progress(quiet)
    if isinstance(input, Dataset):
        if output is not None or coordinates is not None:
            raise TypeError("fit: a Dataset has its output and coordinates with it")
        set_ = input
    else:
        if output is None:
            raise TypeError("fit: the output is missing: lano.fit(input, output)")
        set_ = Dataset(input, output, coordinates, times=times, box=box, axes=axes, geometry=geometry,
                       validation=validation, shuffle=shuffle)
    if minutes is not None and not 0 < float(minutes) < 1e6:
        raise error("training", "minutes above 0", repr(minutes))
    files, overrides = assignments(recipe, keys)
    progress.say(set_.summary())
    wish = {"files": files, "overrides": overrides, "minutes": 0.0 if minutes is None else float(minutes)}
    return _train(set_, wish, run, start, progress)


def _train(set_: Dataset, wish: dict, run: Any, start: Any, progress: Progress) -> Operator:
    import tempfile
    with tempfile.TemporaryDirectory(prefix="lano-") as scratch:
        begin = _start_file(start, scratch)
        if run is None:
            folder = os.path.join(scratch, "run")
            found = json.loads(_core.train(set_._handle(), "arrays", start=begin, folder=folder, resume=False,
                                           scratch=os.path.join(scratch, "timing"), shown=False, baselines=True,
                                           progress=progress, **wish))
            return _operator(found, folder, progress)
        folder = os.fspath(run)
        module = solvers(f"training into '{folder}'")
        if os.path.exists(os.path.join(folder, "config.toml")):
            raise error(f"training into '{folder}'", "a new folder", "a run that is already there",
                        f"choose another, or resume it: lano.resume({folder!r})")
        data = set_._path
        if data is None or not os.path.exists(data):
            os.makedirs(folder, exist_ok=True)
            data = os.path.abspath(os.path.join(folder, "data.h5"))
            set_.save(data)
        found = json.loads(module.train(None, data, start=begin, folder=folder, resume=False,
                                        scratch=folder.rstrip(os.sep) + ".timing", shown=True, baselines=True,
                                        progress=progress, **wish))
        return _with_report(_operator(found, folder, progress), found, folder, progress)


def _with_report(op: Operator, found: dict, folder: str, progress: Progress) -> Operator:
    """The last step of `lano train`: the report of the run."""
    from ._run import report
    if found["finished"]:
        progress.say(f"report: {report(folder)}")
    return op


def _start_file(start: Any, scratch: str) -> str:
    if start is None:
        return ""
    if isinstance(start, Operator):
        path = os.path.join(scratch, "start.safetensors")
        start.save(path)
        return path
    if not isinstance(start, (str, os.PathLike)):
        raise TypeError(f"training: expected a model file or an Operator as start, found {type(start).__name__}")
    return os.fspath(start)


def _operator(found: dict, folder: str, progress: Progress) -> Operator:
    """The operator of the run; if it was interrupted, the best so far."""
    model = os.path.join(folder, "model.safetensors")
    if not os.path.exists(model):
        raise KeyboardInterrupt("interrupted before the first epoch was done: there is no model yet")
    if not found["finished"]:
        progress.say(f"stopped in epoch {min(found['epochs'] + 1, found['total_epochs'])} of {found['total_epochs']}: "
                     f"the best operator so far, of epoch {found['best_epoch']}, is kept")
    history = History(json.loads(_core.read_run(folder))["history"])
    op = Operator(_core.Operator.load(model), history, found)
    if found["finished"]:
        which = "test_l2" if found["test_l2"] is not None else "validation_l2"
        if found[which] is not None:
            line = f"{which[:-3]} relative L2 {found[which]:.4e} after {found['seconds']:.0f} s of training"
            best = min((error_, name) for name, error_ in found[which[:-3] + "_baselines"].items()
                       ) if found[which[:-3] + "_baselines"] else None
            progress.say(line + (f"; for comparison, {best[1]} {best[0]:.2e}" if best else ""))
    return op


def resume(run: Union[str, os.PathLike], *, quiet: bool = False) -> Operator:
    """Resumes a run that was stopped, begun by `lano.fit(..., run=)` or by `lano train`, and returns its operator.

    It ends with the same bytes as a run that was never stopped.
    """
    folder = os.fspath(run)
    if not os.path.exists(os.path.join(folder, "config.toml")):
        raise plain_error(f"resuming '{folder}'", "there is no run that has begun",
                          "name the run= of lano.fit or the --out of 'lano train'")
    progress = Progress(quiet)
    module = solvers(f"resuming '{folder}'")
    found = json.loads(module.train(None, "", [], [], "", 0.0, folder, folder + ".timing", True, True, True, progress))
    return _with_report(_operator(found, folder, progress), found, folder, progress)
