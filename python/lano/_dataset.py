"""Datasets: samples with their fields and splits, from arrays and files."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import axes_of, from_arrays, from_lists, is_list, named
from ._errors import error, plain_error
from ._solvers import run_program, solvers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Fields = Union[ArrayLike, Sequence[ArrayLike]]

_SPLITS = ("train", "validation", "test")


class Dataset:
    """Samples with their fields, divided into train, validation and test.

    From arrays, one sample per row::

        lano.Dataset(a, u)                          # grids: a, u of [samples, n1, n2], with or without channels last
        lano.Dataset(a, u, coordinates=xy)          # xy [points, dims]: a cloud, or [n1, n2, dims]: a mesh
        lano.Dataset(a, u, coordinates=xys)         # xys [samples, points, dims]: points of each sample's own
        lano.Dataset([a1, a2], [u1, u2], [x1, x2])  # clouds of different sizes: lists of arrays
        lano.Dataset(a, u, times=t)                 # u [samples, len(t), n1, n2]
        lano.Dataset(None, u, coordinates=xys)      # the geometry alone is the input
        lano.Dataset(k, u)                          # k [samples, 3]: parameters, constant over the points

    From files: `Dataset.load("darcy.h5")`, `Dataset.from_files(output="u.npy", ...)`.

    coordinates may also be one row of numbers per axis of a grid, (x, y). Without them the points are the nodes of a
    uniform grid in `box` (by default the unit box). `axes` says how many axes the grid has where it cannot be told;
    `geometry` is "grid", "mesh" or "points" and by default told from the coordinates. The last share `validation` of
    the samples is kept apart for validation, the last `test` samples before that for the test; `shuffle` (a seed, or
    True) mixes them first.
    """

    def __init__(self, input: Optional[Fields] = None, output: Optional[Fields] = None,
                 coordinates: Optional[Fields] = None, *, times: Optional[ArrayLike] = None,
                 box: Optional[ArrayLike] = None, axes: Optional[int] = None, geometry: Optional[str] = None,
                 validation: float = 0.1, test: int = 0, shuffle: Union[bool, int, None] = None,
                 input_names: Optional[Sequence[str]] = None, output_names: Optional[Sequence[str]] = None,
                 name: str = "data"):
        if isinstance(input, Dataset):
            raise TypeError("Dataset takes arrays; this is a Dataset already")
        if output is None:
            raise TypeError("Dataset: the output is missing: lano.Dataset(input, output, coordinates)")
        self._path: Optional[str] = None
        self._kept = np.zeros(0, dtype=np.float32)
        self._cells: Tuple[Optional[str], list] = (None, [])
        if is_list(output) or (coordinates is not None and is_list(coordinates) and axes_of(coordinates) is None):
            parts = from_lists(input, output, coordinates, times, name)
        else:
            parts = from_arrays(input, output, coordinates, times, box, axes, geometry, name)
        self._coordinates, self._input, self._output, self._shared, self._counts, self._description = parts
        fields = self._description["fields"]
        fields["input"] = named(input_names, self._input.shape[-1], "a", "input")
        fields["output"] = named(output_names, self._output.shape[-1], "u", "output")
        samples = len(self)
        if not isinstance(test, (int, np.integer)) or not 0 <= test <= samples:
            raise error("dividing the samples", f"a test split of 0 to {samples} samples", repr(test))
        if shuffle is not None and shuffle is not False:
            self._reorder(np.random.default_rng(int(shuffle)).permutation(samples))
        self._splits = np.asarray(_core.make_splits(samples - int(test), int(test), float(validation)), dtype=np.uint8)

    def _reorder(self, order: np.ndarray) -> None:
        if self._counts:
            first = np.concatenate([[0], np.cumsum(self._counts)])
            rows = np.concatenate([np.arange(first[i], first[i + 1]) for i in order])
            self._coordinates, self._input, self._output = (
                array[rows] for array in (self._coordinates, self._input, self._output))
            self._counts = [self._counts[i] for i in order]
        else:
            self._input, self._output = self._input[order], self._output[order]
            if not self._shared:
                self._coordinates = self._coordinates[order]

    # ---- files

    @classmethod
    def load(cls, path: Union[str, os.PathLike]) -> "Dataset":
        """A dataset file: .h5 as `lano generate`, `lano import` and `save` write it, or .npz of `save`."""
        path = os.fspath(path)
        if not os.path.exists(path):
            raise plain_error(f"reading '{path}'", "there is nothing at that path", "check the path")
        if path.endswith(".npz"):
            return cls._load_npz(path)
        return cls._of(solvers(f"reading '{path}'").read_dataset(path), os.path.abspath(path))

    @classmethod
    def _load_npz(cls, path: str) -> "Dataset":
        try:
            with np.load(path, allow_pickle=False) as file:
                if "lano_description" not in file:
                    raise plain_error(f"reading '{path}'", "it has arrays, but not those that Dataset.save writes",
                                      "lano.Dataset(input, output) takes them, or lano.Dataset.from_files by name")
                parts = {key: file[key] for key in ("splits", "counts", "coordinates", "input", "output")}
                parts["description"], parts["shared"] = str(file["lano_description"]), bool(file["shared"])
        except (OSError, KeyError, ValueError) as reason:
            raise error(f"reading '{path}'", "a dataset that Dataset.save wrote", str(reason)) from None
        parts.update(kept=np.zeros(0, np.float32), cells=[], cell_kind=None)
        return cls._of(parts, None)

    @classmethod
    def _of(cls, parts: dict, path: Optional[str]) -> "Dataset":
        made = cls.__new__(cls)
        made._path = path
        made._description = json.loads(parts["description"])
        d = made._description
        made._splits = np.asarray(parts["splits"], dtype=np.uint8)
        made._counts = [int(n) for n in parts["counts"]]
        made._kept, made._cells = parts["kept"], (parts["cell_kind"], parts["cells"])
        samples, n = len(made._splits), int(np.prod(d["shape"]))
        dims, da, du = (len(d["fields"][key]) for key in ("coordinates", "input", "output"))
        made._shared = bool(parts["shared"])
        lead: Tuple[int, ...] = (sum(made._counts),) if made._counts else (samples, n)
        made._coordinates = np.asarray(parts["coordinates"], np.float32).reshape(
            (1, n, dims) if made._shared else (*lead, dims))
        made._input = np.asarray(parts["input"], np.float32).reshape(*lead, da)
        if parts["output"] is None:
            raise plain_error("reading a dataset", "it has no output")
        frames = (len(d["time"]),) if d["time"] else ()
        made._output = np.asarray(parts["output"], np.float32).reshape(*lead[:1], *frames, *lead[1:], du)
        return made

    @classmethod
    def from_files(cls, *files: Union[str, os.PathLike], say: bool = True, **words: Any) -> "Dataset":
        """Arrays in .npy, .npz, .mat, .h5 and .pt files, by the importer of `lano import`.

        The keywords are its options: `Dataset.from_files("data.mat", input="coeff", output="sol")`,
        `Dataset.from_files(input="a.npy", output="u.npy", coords="xy.npy", shuffle=True)`. A list repeats an option.
        """
        import tempfile
        arguments = []
        for file in files:
            arguments += ["--from", os.fspath(file)]
        arguments += options(words)
        with tempfile.TemporaryDirectory(prefix="lano-") as folder:
            out = os.path.join(folder, "imported.h5")
            run_program("importing arrays", ["import", *arguments, "--out", out],
                        (lambda line: print(line.replace(out, "dataset"))) if say else None)
            made = cls.load(out)
        made._path = None
        return made

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes a dataset file: .h5, the form of every LANO program (needs lano_solvers), or .npz."""
        path = os.fspath(path)
        if path.endswith(".npz"):
            part = path + ".part"
            with open(part, "wb") as file:
                np.savez(file, lano_description=json.dumps(self._description), splits=self._splits,
                         counts=np.asarray(self._counts, np.int64), shared=self._shared,
                         coordinates=self._coordinates, input=self._input, output=self._output)
            os.replace(part, path)
            return
        if not path.endswith(".h5"):
            raise plain_error(f"writing '{path}'", "the name must end in .h5 or .npz")
        module = solvers(f"writing '{path}'")
        module.write_dataset(path, self._handle(module), self._kept, *self._cells)

    def _handle(self, module: Any = _core) -> Any:
        """The dataset as an extension module takes it; the arrays are not copied."""
        return module.Dataset(json.dumps(self._description), [int(s) for s in self._splits], self._counts, self._shared,
                              self._coordinates, self._input, self._output)

    # ---- looking

    def __len__(self) -> int:
        return len(self._counts) if self._counts else int(self._output.shape[0])

    def __repr__(self) -> str:
        counts = [f"{int((self._splits == i).sum())} {name}" for i, name in enumerate(_SPLITS)]
        return f"<lano.Dataset '{self.name}': {self.summary()}; {', '.join(counts)}>"

    def summary(self) -> str:
        """What was understood: "200 samples, grid 64x64, 1 input, 1 output channel"."""
        d = self._description
        shape = "x".join(str(n) for n in d["shape"])
        if d["geometry"] == "points":
            where = (f"clouds of {min(self._counts)} to {max(self._counts)} points" if self._counts
                     else f"clouds of {shape} points")
            where += f" in {len(d['fields']['coordinates'])} dimensions"
        else:
            where = f"{d['geometry']} {shape}"
        frames = f", {len(d['time'])} frames from t = {d['time'][0]:g} to {d['time'][-1]:g}" if d["time"] else ""
        du = len(d["fields"]["output"])
        return (f"{len(self)} sample{'s' if len(self) != 1 else ''}, {where}{frames}, "
                f"{len(d['fields']['input'])} input, {du} output channel{'s' if du != 1 else ''}")

    @property
    def name(self) -> str:
        return self._description["name"]

    @property
    def geometry(self) -> str:
        """"grid", "mesh" or "points"."""
        return self._description["geometry"]

    @property
    def shape(self) -> Tuple[int, ...]:
        """The axes of the points; of clouds of different sizes the median number of points."""
        return tuple(self._description["shape"])

    @property
    def times(self) -> List[float]:
        """Of the frames of the output; empty where it is steady."""
        return list(self._description["time"])

    @property
    def splits(self) -> np.ndarray:
        """One number per sample: 0 train, 1 validation, 2 test."""
        return self._splits.copy()

    def _shaped(self, flat: np.ndarray, frames: bool = False) -> Any:
        if self._counts:
            return np.split(flat, np.cumsum(self._counts)[:-1])
        lead = flat.shape[:2] if frames and self.times else flat.shape[:1]
        return flat.reshape(*lead, *self.shape, flat.shape[-1])

    @property
    def input(self) -> Any:
        """[samples, points..., channels]; a list of [points, channels] where clouds differ in size."""
        return self._shaped(self._input)

    @property
    def output(self) -> Any:
        """[samples, (times,) points..., channels]; a list of [points, channels] where clouds differ in size."""
        return self._shaped(self._output, frames=True)

    @property
    def coordinates(self) -> Any:
        """[points..., dims] where all samples share them, else [samples, points..., dims] or a list."""
        if self._counts:
            return self._shaped(self._coordinates)
        shaped = self._coordinates.reshape(self._coordinates.shape[0], *self.shape, self._coordinates.shape[-1])
        return shaped[0] if self._shared else shaped

    def part(self, which: Union[str, Sequence[int]]) -> "Dataset":
        """The samples of a split ("train", "validation", "test"), or those with these numbers."""
        if isinstance(which, str):
            if which not in _SPLITS:
                raise error("choosing samples", '"train", "validation" or "test"', repr(which))
            order = np.flatnonzero(self._splits == _SPLITS.index(which))
        else:
            order = np.arange(len(self))[np.asarray(which)]
        if order.size == 0:
            raise plain_error("choosing samples", f"{which!r} has no samples")
        made = Dataset.__new__(Dataset)
        made.__dict__.update(self.__dict__)
        made._path = None
        made._description = json.loads(json.dumps(self._description))
        made._splits = self._splits[order]
        per_sample = self._kept.reshape(len(self), -1) if self._kept.size else self._kept
        made._kept = per_sample[order].reshape(-1) if self._kept.size else self._kept
        kind, cells = self._cells
        made._cells = (kind, cells if len(cells) < 2 else [cells[i] for i in order])
        made._reorder(order)
        return made

    @property
    def train(self) -> "Dataset":
        return self.part("train")

    @property
    def validation(self) -> "Dataset":
        return self.part("validation")

    @property
    def test(self) -> "Dataset":
        return self.part("test")


def options(words: dict) -> List[str]:
    """Keywords as options of the command line: validation_share=0.2 is --validation-share 0.2."""
    arguments: List[str] = []
    for key, value in words.items():
        if value is None or value is False:
            continue
        flag = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            arguments.append(flag)
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            arguments += [flag, os.fspath(each) if isinstance(each, os.PathLike) else str(each)]
    return arguments
