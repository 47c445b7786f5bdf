"""What the arrays of a user are: samples, frames, axes of points, channels, coordinates; and the arrays as training
wants them."""
from __future__ import annotations

import json
from typing import Any, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from ._errors import error, plain_error

_AXES = ("x", "y", "z")


class Parts(NamedTuple):
    """A dataset as the extension modules take it."""
    coordinates: np.ndarray  # [1 or samples, points, dims]; clouds of different sizes [points of all, dims]
    input: np.ndarray  # [samples, points, channels]
    output: np.ndarray  # [samples, (times,) points, channels]
    shared: bool  # one set of coordinates for all samples
    counts: List[int]  # points of each sample where they differ, else empty
    description: dict  # that of core/set_description.h, without the names of input and output


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


def axes_of(coordinates: Any) -> Optional[List[np.ndarray]]:
    """Coordinates as one row of numbers per axis of a grid, or None."""
    if not is_list(coordinates) or len(coordinates) > 3 or not all(np.ndim(axis) == 1 for axis in coordinates):
        return None
    return [numbers(axis, "coordinates") for axis in coordinates]


def _understand(a: Optional[np.ndarray], u: np.ndarray, coordinates: Any, times: Any, axes: Optional[int],
                box: Any) -> _Understood:
    samples = u.shape[0]
    rows = None if coordinates is None else axes_of(coordinates)
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
    behind = ", after those of samples and times" if times is not None else ""
    raise error("understanding the arrays",
                "coordinates [points, dims] or [samples, points, dims] of the points of the output",
                f"coordinates {list(c.shape)} and output {list(u.shape)}", "both have the same axes of points" + behind)


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
        raise error("understanding the arrays",
                    f"{frames} times, one per frame of the output, or the step between them",
                    f"an array {list(t.shape)}")
    return [float(value) for value in t]


def named(names: Any, count: int, default: str, what: str) -> List[dict]:
    if names is None:
        names = [default if count == 1 else f"{default}{i + 1}" for i in range(count)]
    if isinstance(names, str):
        names = [names]
    names = [str(name) for name in names]
    if len(names) != count:
        raise error("naming the fields", f"{count} names of {what} channels", str(len(names)))
    return [{"name": name, "unit": "1"} for name in names]


def from_arrays(input: Any, output: Any, coordinates: Any, times: Any, box: Any, axes: Optional[int],
                geometry: Optional[str], name: str) -> Parts:
    """Arrays with one row per sample."""
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
    c = floats(known.coordinates, "coordinates")
    dims = c.shape[-1]
    if not 1 <= dims <= 3:
        raise error("understanding the arrays", "one to three coordinates per point, on the last axis",
                    str(dims))
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
    c = c.reshape(1 if known.shared else samples, count, dims)
    description = _description(name, kind, list(points), c, times_of, box if coordinates is None else None)
    return Parts(c, _on_points(a, points, samples, count), floats(u, "output").reshape(shape), known.shared, [],
                 description)


def _on_points(a: Optional[np.ndarray], points: Tuple[int, ...], samples: int, count: int) -> np.ndarray:
    """[samples, points, channels] of an input field, or of parameters that are constant over the points."""
    if a is None:
        return np.zeros((samples, count, 0), dtype=np.float32)
    rest = a.shape[1:]
    if a.ndim <= 2 and rest != points:
        row = floats(a, "input").reshape(samples, 1, -1)
        return np.ascontiguousarray(np.broadcast_to(row, (samples, count, row.shape[-1])))
    channels = rest[-1] if has_channels(rest, points, "input") else 1
    return floats(a, "input").reshape(samples, count, channels)


def from_lists(input: Any, output: Any, coordinates: Any, times: Any, name: str) -> Parts:
    """Lists with one array per sample: clouds, of different sizes or not."""
    doing = "understanding clouds of different sizes"
    if coordinates is None or not is_list(coordinates) or not is_list(output):
        raise plain_error(doing, "it needs lists of arrays for output and coordinates, one array per sample",
                          "give every array as a list, or as one array if all clouds have the same size")
    if times is not None:
        raise plain_error(doing, "clouds of different sizes cannot have times",
                          "bring all samples to one size for time-dependent data")
    if len(output) == 0 or len(coordinates) != len(output) or (input is not None and len(input) != len(output)):
        raise error(doing, f"{len(coordinates)} arrays in each list", f"{len(output)} of output"
                    + ("" if input is None else f" and {len(input)} of input"))
    rows: dict = {"coordinates": [], "input": [], "output": []}
    counts: List[int] = []
    for i, (x, u) in enumerate(zip(coordinates, output)):
        x = floats(x, f"coordinates of sample {i}")
        if x.ndim != 2 or x.shape[0] < 1 or not 1 <= x.shape[1] <= 3:
            raise error(doing, f"coordinates [points, dims] of sample {i}", str(list(x.shape)))
        n = x.shape[0]
        rows["coordinates"].append(x)
        for what, values in (("output", u), ("input", None if input is None else input[i])):
            field = floats(np.zeros((n, 0)) if values is None else values, f"{what} of sample {i}")
            if field.shape[0:1] != (n,) or field.ndim > 2:
                raise error(doing, f"{what} of {n} points in sample {i}, as its coordinates",
                            str(list(field.shape)))
            rows[what].append(field[:, None] if field.ndim == 1 else field)
        counts.append(n)
    for what, arrays in rows.items():
        if len({array.shape[1] for array in arrays}) != 1:
            raise error(doing, f"the same number of {what} channels in every sample",
                        str(sorted({array.shape[1] for array in arrays})))
    x, a, u = (np.concatenate(rows[what]) for what in rows)
    median = sorted(counts)[len(counts) // 2]
    if len(set(counts)) == 1:  # clouds of one size after all
        x, a, u = (array.reshape(len(counts), median, array.shape[-1]) for array in (x, a, u))
        counts = []
    return Parts(x, a, u, False, counts, _description(name, "points", [median], x, [], None))


def _description(name: str, geometry: str, shape: List[int], coordinates: np.ndarray, times: List[float],
                 box: Any) -> dict:
    dims = coordinates.shape[-1]
    if box is None:
        flat = coordinates.reshape(-1, dims).astype(np.float64)
        ends = np.stack([flat.min(0), flat.max(0)], -1)
        if not np.isfinite(ends).all():
            raise plain_error("understanding the arrays", "the coordinates are not finite")
    else:
        ends = np.asarray(box, dtype=np.float64)
    return {
        "name": str(name), "geometry": geometry, "shape": shape,
        "fields": {"coordinates": [{"name": _AXES[i], "unit": "1"} for i in range(dims)]},
        "box": [float(end) for end in ends.reshape(-1)], "time": times,
        "generator": json.dumps({"program": "lano.Dataset"}, separators=(",", ":"))}


def _line_like(line: np.ndarray, n: int, low: float, high: float) -> np.ndarray:
    """n points placed in [low, high] as those of `line` are: at both ends, at cell centres, at left ends of cells."""
    step = (line[-1] - line[0]) / max(1, len(line) - 1)
    close = 1e-4 * max(high - low, 1e-30)
    cell = (high - low) / n
    if abs(line[0] - low) < close and abs(line[-1] + step - high) < close:
        return low + cell * np.arange(n)
    if abs(line[0] - step / 2 - low) < close and abs(line[-1] + step / 2 - high) < close:
        return low + cell * (np.arange(n) + 0.5)
    return np.linspace(line[0], line[-1], n)


def grid_like(trained: np.ndarray, points: Tuple[int, ...], box: List[float]) -> np.ndarray:
    """A grid of other extents in the place of a uniform one [n1, ..., dims] in a box."""
    axes = trained.ndim - 1
    rows = []
    for axis, n in enumerate(points):
        line = trained[tuple(slice(None) if k == axis else 0 for k in range(axes))][:, axis].astype(np.float64)
        rows.append(_line_like(line, n, box[2 * axis], box[2 * axis + 1]))
    return np.ascontiguousarray(np.stack(np.meshgrid(*rows, indexing="ij"), -1), dtype=np.float32)
