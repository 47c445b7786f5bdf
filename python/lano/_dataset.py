"""Datasets: what the arrays of a user are, and the arrays themselves as training wants them."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import error
from ._solvers import run_program, solvers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Fields = Union[ArrayLike, Sequence[ArrayLike]]

_SPLITS = ("train", "validation", "test")
_AXES = ("x", "y", "z")


def numbers(values: Any, what: str) -> np.ndarray:
    """As an array of real numbers, of the type they have."""
    try:
        array = np.asarray(values)
    except ValueError as reason:
        raise ValueError(f"{what}: expected an array of numbers, found rows of different lengths ({reason}); "
                         "give clouds of different sizes as a list of arrays") from None
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise ValueError(f"{what}: expected numbers everywhere, found masked values; fill them or leave those samples")
    if array.dtype.kind == "c":
        raise TypeError(f"{what}: expected real numbers, found complex ones; give real and imaginary part as channels")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: expected an array of numbers, found {array.dtype} of shape {array.shape}")
    return array


def is_list(values: Any) -> bool:
    """Whether it is one array per sample: a list or tuple of arrays, or an array of objects."""
    if isinstance(values, np.ndarray):
        return values.dtype == object
    return isinstance(values, (list, tuple)) and len(values) > 0 and all(
        isinstance(value, np.ndarray) and value.ndim > 0 for value in values)


def floats(values: Any, what: str) -> np.ndarray:
    """As float32 in C's order; a copy only where it is not so already."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(numbers(values, what), dtype=np.float32)


def has_channels(shape: Tuple[int, ...], points: Tuple[int, ...], what: str) -> bool:
    """Whether an axis of channels follows the axes of the points; fails where it is neither."""
    if shape == points:
        return False
    if len(shape) == len(points) + 1 and shape[:-1] == points:
        return True
    raise error("understanding the arrays", f"{what} on points of shape {list(points)}, with or without channels",
                str(list(shape)), "all arrays have one row per sample, then the same axes of points")


class _Understood:
    """Shapes of a dataset: samples, frames, axes of points, channels."""

    def __init__(self, points: Tuple[int, ...], frames: bool, coordinates: Optional[np.ndarray], shared: bool):
        self.points, self.frames, self.coordinates, self.shared = points, frames, coordinates, shared


def _grid_points(a: Optional[np.ndarray], u: np.ndarray, timed: bool, axes: Optional[int]) -> Tuple[int, ...]:
    """The axes of the points of arrays without coordinates."""
    rest = u.shape[2 if timed else 1:]
    if axes is not None:
        if not 1 <= axes <= 3 or len(rest) not in (axes, axes + 1):
            raise error("understanding the arrays", f"an output with {axes} axes of points, with or without channels",
                        f"{list(rest)} behind the samples", "say axes=, the number of axes of the grid")
        return rest[:axes]
    given = None if a is None or a.ndim < 2 else a.shape[1:]
    if given is not None and given != rest:
        for points in (rest, rest[:-1]):
            if points and given in (points, points + given[len(points):len(points) + 1]):
                return points
        if given[:-1] and rest[:-1] == given[:-1]:
            return rest[:-1]
    if len(rest) > 1 and (rest[-1] == 1 or (rest[-1] <= 4 and min(rest[:-1]) >= 8)):
        return rest[:-1]  # the last axis is too short for a grid
    return rest


def _axes_of(coordinates: Any) -> Optional[List[np.ndarray]]:
    """Coordinates as one row of numbers per axis of a grid, or None."""
    if not is_list(coordinates) or len(coordinates) > 3 or not all(np.ndim(axis) == 1 for axis in coordinates):
        return None
    return [numbers(axis, "coordinates") for axis in coordinates]


def _understand(a: Optional[np.ndarray], u: np.ndarray, coordinates: Any, times: Any, axes: Optional[int],
                box: Any) -> _Understood:
    samples = u.shape[0]
    rows = None if coordinates is None else _axes_of(coordinates)
    if rows is not None:
        coordinates = np.stack(np.meshgrid(*rows, indexing="ij"), -1)
    if coordinates is None:
        timed = times is not None
        if not timed and a is not None and a.ndim >= 2 and u.ndim == a.ndim + 1 and axes is None:
            behind = u.shape[2:] == a.shape[1:]
            if behind and u.shape[1:-1] == a.shape[1:]:
                raise error("understanding the arrays", "output whose second axis is time, or whose last is channels",
                            f"{list(u.shape)}, which may be either", "say times= for frames, or axes= for channels")
            timed = behind
        points = _grid_points(a, u, timed, axes)
        if not points or len(points) > 3:
            raise error("understanding the arrays", "grids of one to three axes: [samples, n1, n2, n3, channels]",
                        str(list(u.shape)), "give coordinates= for clouds and meshes")
        return _Understood(points, timed, _grid(points, box), True)
    c = numbers(coordinates, "coordinates")
    if c.ndim == 1:
        c = c[:, None]
    for shared in (True, False):
        points = c.shape[:-1] if shared else c.shape[1:-1]
        if not points or (not shared and c.shape[0] != samples):
            continue
        for timed in ((True,) if times is not None else (False, True)):
            rest = u.shape[2 if timed else 1:]
            if rest == points or rest[:-1] == points:
                return _Understood(points, timed, c, shared)
    if samples != c.shape[0] and c.ndim > 2 and (c.shape[1:-1] == u.shape[1:c.ndim - 1]):
        raise error("understanding the arrays", f"coordinates of all {samples} samples, or of one",
                    f"coordinates of {c.shape[0]}")
    raise error("understanding the arrays",
                "coordinates [points, dims] or [samples, points, dims] of the points of the output",
                f"coordinates {list(c.shape)} and output {list(u.shape)}",
                "both have the same axes of points" + (", behind those of samples and times" if times is not None else ""))


def _grid(points: Tuple[int, ...], box: Any) -> np.ndarray:
    """The nodes of a uniform grid in a box, by default the unit box; both ends are nodes."""
    ends = np.asarray([[0.0, 1.0]] * len(points) if box is None else box, dtype=np.float64).reshape(-1)
    if ends.size != 2 * len(points) or not np.isfinite(ends).all() or not (ends[0::2] < ends[1::2]).all():
        raise error("laying out a grid", f"a box of {len(points)} pairs (lower end, upper end)", repr(box))
    rows = []
    for n, low, high in zip(points, ends[0::2], ends[1::2]):
        rows.append(low + (np.arange(n) / (n - 1) if n > 1 else np.zeros(1)) * (high - low))
    return np.stack(np.meshgrid(*rows, indexing="ij"), -1)


def _times(times: Any, frames: int) -> List[float]:
    if times is None:
        return [float(i) for i in range(frames)]
    t = numbers(times, "times")
    if t.ndim == 0:
        t = float(t) * np.arange(frames)
    if t.ndim != 1 or t.size != frames:
        raise error("understanding the arrays", f"{frames} times, one per frame of the output, or the step between them",
                    f"an array {list(t.shape)}")
    return [float(value) for value in t]


def _names(names: Any, count: int, default: str, what: str) -> List[dict]:
    if names is None:
        names = [default if count == 1 else f"{default}{i + 1}" for i in range(count)]
    if isinstance(names, str):
        names = [names]
    names = [str(name) for name in names]
    if len(names) != count:
        raise error("naming the fields", f"{count} names of {what} channels", str(len(names)))
    return [{"name": name, "unit": "1"} for name in names]


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
        lists = is_list(output) or (coordinates is not None and is_list(coordinates) and _axes_of(coordinates) is None)
        if lists:
            self._from_lists(input, output, coordinates, times, name)
        else:
            self._from_arrays(input, output, coordinates, times, box, axes, geometry, name)
        d = self._description
        d["fields"]["input"] = _names(input_names, self._input.shape[-1], "a", "input")
        d["fields"]["output"] = _names(output_names, self._output.shape[-1], "u", "output")
        samples = len(self)
        if not isinstance(test, (int, np.integer)) or not 0 <= test <= samples:
            raise error("dividing the samples", f"a test split of 0 to {samples} samples", repr(test))
        if shuffle is not None and shuffle is not False:
            self._reorder(np.random.default_rng(int(shuffle)).permutation(samples))
        self._splits = np.asarray(_core.make_splits(samples - int(test), int(test), float(validation)), dtype=np.uint8)

    # ---- understanding

    def _from_arrays(self, input: Any, output: Any, coordinates: Any, times: Any, box: Any, axes: Optional[int],
                     geometry: Optional[str], name: str) -> None:
        u = numbers(output, "output")
        a = None if input is None else numbers(input, "input")
        if u.ndim < 2 or u.shape[0] == 0 or u.size == 0:
            raise error("understanding the arrays", "output [samples, points...] with at least one sample and point",
                        str(list(u.shape)))
        if a is not None and (a.ndim < 1 or a.shape[0] != u.shape[0]):
            raise error("understanding the arrays", f"an input of {u.shape[0]} samples, as the output has",
                        str(list(a.shape)))
        known = _understand(a, u, coordinates, times, axes, box)
        points, samples = known.points, u.shape[0]
        count = int(np.prod(points))
        rest = u.shape[2 if known.frames else 1:]
        channels = rest[-1] if has_channels(rest, points, "output") else 1
        frames = u.shape[1] if known.frames else 1
        shape = (samples, frames, count, channels) if known.frames else (samples, count, channels)
        self._output = floats(u, "output").reshape(shape)
        self._input = self._on_points(a, points, samples, count)
        c = floats(known.coordinates, "coordinates")
        dims = c.shape[-1]
        if not 1 <= dims <= 3:
            raise error("understanding the arrays", "one to three coordinates per point, on the last axis",
                        str(dims))
        self._coordinates = c.reshape(1 if known.shared else samples, count, dims)
        self._shared = known.shared
        self._counts: List[int] = []
        uniform = known.shared and len(points) == dims and _core.is_uniform(c, list(points))
        told = "grid" if uniform else "points" if len(points) == 1 and dims > 1 else "mesh"
        kind = told if geometry is None else geometry
        if kind not in ("grid", "mesh", "points"):
            raise error("understanding the arrays", 'geometry "grid", "mesh" or "points"', repr(geometry))
        if kind == "points" and len(points) != 1:
            raise error("understanding the arrays", "one axis of points for a cloud", f"{list(points)}")
        if kind == "grid" and len(points) != dims:
            raise error("understanding the arrays", "as many coordinates per point as axes of a grid",
                        f"{dims} coordinates on {len(points)} axes")
        times_of = _times(times, frames) if known.frames else []
        if known.frames and (frames < 2 or not all(b > a for a, b in zip(times_of, times_of[1:]))):
            raise error("understanding the arrays", "at least two frames at rising times", str(times_of[:5]))
        self._describe(name, kind, list(points), dims, times_of, box if coordinates is None else None)

    def _on_points(self, a: Optional[np.ndarray], points: Tuple[int, ...], samples: int, count: int) -> np.ndarray:
        """[samples, points, channels] of an input field, or of parameters that are constant over the points."""
        if a is None:
            return np.zeros((samples, count, 0), dtype=np.float32)
        rest = a.shape[1:]
        if a.ndim <= 2 and rest != points:
            row = floats(a, "input").reshape(samples, 1, -1)
            return np.ascontiguousarray(np.broadcast_to(row, (samples, count, row.shape[-1])))
        channels = rest[-1] if has_channels(rest, points, "input") else 1
        return floats(a, "input").reshape(samples, count, channels)

    def _from_lists(self, input: Any, output: Any, coordinates: Any, times: Any, name: str) -> None:
        doing = "understanding clouds of different sizes"
        if coordinates is None or not is_list(coordinates) or not is_list(output):
            raise error(doing, "lists of arrays for output and coordinates, one array per sample", "others",
                        "give every array as a list, or as one array where all clouds have the same size")
        if times is not None:
            raise error(doing, "steady outputs", "times", "bring all samples to one size for time-dependent data")
        if len(output) == 0 or len(coordinates) != len(output) or (input is not None and len(input) != len(output)):
            raise error(doing, f"{len(coordinates)} arrays in each list", f"{len(output)} of output"
                        + ("" if input is None else f" and {len(input)} of input"))
        rows: dict = {"coordinates": [], "input": [], "output": []}
        self._counts = []
        for i, (x, u) in enumerate(zip(coordinates, output)):
            x = floats(x, f"coordinates of sample {i}")
            if x.ndim != 2 or x.shape[0] < 1 or not 1 <= x.shape[1] <= 3:
                raise error(doing, f"coordinates [points, dims] of sample {i}", str(list(x.shape)))
            n = x.shape[0]
            rows["coordinates"].append(x)
            for what, values in (("output", u), ("input", None if input is None else input[i])):
                field = np.zeros((n, 0), dtype=np.float32) if values is None else floats(values, f"{what} of sample {i}")
                if field.shape[0:1] != (n,) or field.ndim > 2:
                    raise error(doing, f"{what} of {n} points in sample {i}, as its coordinates", str(list(field.shape)))
                rows[what].append(field.reshape(n, -1) if n and field.size else field.reshape(n, 0))
            self._counts.append(n)
        for what, arrays in rows.items():
            if len({array.shape[1] for array in arrays}) != 1:
                raise error(doing, f"the same number of {what} channels in every sample",
                            str(sorted({array.shape[1] for array in arrays})))
        self._coordinates, self._input, self._output = (np.concatenate(rows[what]) for what in rows)
        self._shared = False
        if len(set(self._counts)) == 1:  # clouds of one size after all
            samples, n = len(self._counts), self._counts[0]
            self._coordinates, self._input, self._output = (
                array.reshape(samples, n, -1) if array.size else array.reshape(samples, n, 0)
                for array in (self._coordinates, self._input, self._output))
            self._counts = []
        median = sorted(self._counts)[len(self._counts) // 2] if self._counts else self._output.shape[1]
        self._describe(name, "points", [median], self._coordinates.shape[-1], [], None)

    def _describe(self, name: str, geometry: str, shape: List[int], dims: int, times: List[float], box: Any) -> None:
        if box is None:
            flat = self._coordinates.reshape(-1, dims).astype(np.float64)
            ends = np.stack([flat.min(0), flat.max(0)], -1)
            if not np.isfinite(ends).all():
                raise error("understanding the arrays", "finite coordinates", "others")
        else:
            ends = np.asarray(box, dtype=np.float64)
        self._description = {
            "name": str(name), "geometry": geometry, "shape": shape,
            "fields": {"coordinates": [{"name": _AXES[i], "unit": "1"} for i in range(dims)]},
            "box": [float(end) for end in ends.reshape(-1)], "time": times,
            "generator": json.dumps({"program": "lano.Dataset"}, separators=(",", ":"))}

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
            raise error(f"reading '{path}'", "a dataset file", "nothing at that path")
        if path.endswith(".npz"):
            return cls._load_npz(path)
        return cls._of(solvers(f"reading '{path}'").read_dataset(path), os.path.abspath(path))

    @classmethod
    def _load_npz(cls, path: str) -> "Dataset":
        try:
            with np.load(path, allow_pickle=False) as file:
                if "lano_description" not in file:
                    raise error(f"reading '{path}'", "a dataset that Dataset.save wrote", "other arrays",
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
            raise error("reading a dataset", "one with output", "none")
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
            raise error(f"writing '{path}'", "a name that ends in .h5 or .npz", "another")
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
        return (f"{len(self)} sample{'s' if len(self) != 1 else ''}, {where}{frames}, {len(d['fields']['input'])} input, "
                f"{du} output channel{'s' if du != 1 else ''}")

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
            raise error("choosing samples", "at least one", f"none in {which!r}")
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
