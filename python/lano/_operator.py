"""A trained operator: predictions, errors, derivatives, files."""
from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._arrays import axes_of, floats, grid_like, is_list, numbers
from ._dataset import Dataset
from ._errors import error, plain_error
from ._evaluation import Evaluation
from ._history import History

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Fields = Union[ArrayLike, Sequence[ArrayLike]]


class Slopes(NamedTuple):
    """The result of `Operator.vjp`: one derivative for each argument of the prediction."""
    input: Any  # in the form of the input; None if the model has none
    coordinates: Any  # [points..., dims], with the samples first if there are several
    state: Any  # of models that step in time, otherwise None


def _frames_of(channels: np.ndarray, frames: int) -> np.ndarray:
    """[points..., frames x fields] of an operator that predicts all times at once -> [frames, points..., fields]."""
    return np.moveaxis(channels.reshape(*channels.shape[:-1], frames, -1), -2, 0) if frames else channels


def _with_frames(description: dict) -> dict:
    """The dataset as its user knows it: times that the network has as channels are its times."""
    times = description.get("channel_times", [])
    if not times:
        return description
    fields = description["fields"]["output"]
    first = f" at t={times[0]:g}"
    output = [dict(field, name=field["name"][:-len(first)] if field["name"].endswith(first) else field["name"])
              for field in fields[:len(fields) // len(times)]]
    shown = dict(description, time=times, fields=dict(description["fields"], output=output))
    del shown["channel_times"]
    return shown


class Prepared:
    """The agents of an operator after they have seen a field: new points are decoded against them."""

    def __init__(self, core: Any, frames: int = 0):
        self._core = core
        self._frames = frames

    def decode(self, coordinates: ArrayLike, input: Optional[ArrayLike] = None, *,
               state: Optional[ArrayLike] = None) -> np.ndarray:
        """Query points [..., dims] and their input [..., channels] -> output [..., channels]."""
        return _frames_of(self._core.decode(floats(coordinates, "coordinates"), _maybe(input, "input"),
                                            state=_maybe(state, "state")), self._frames)


def _maybe(values: Any, what: str) -> Optional[np.ndarray]:
    return None if values is None else floats(values, what)


class Operator:
    """A trained operator, from `lano.fit` or `lano.load`.

    Takes and returns NumPy arrays of physical values. It may be called from many threads at once; the interpreter lock
    is released while it computes. It can be pickled and copied.
    """

    def __init__(self, core: Any, history: Optional[History] = None, training: Optional[dict] = None):
        if not isinstance(core, _core.Operator):
            raise TypeError("an Operator comes from lano.fit or lano.load")
        self._core = core
        self._description = json.loads(core.description)
        self._frames = len(self._description.get("channel_times", []))  # predicted at once; 0: one at a time
        self._description = _with_frames(self._description)
        self._history = history
        self.training = training or {}

    # ---- what it is

    @property
    def history(self) -> History:
        """The course of its training, epoch by epoch; not for loaded operators, see lano.read_run."""
        if self._history is None:
            raise AttributeError("history: this operator was loaded from a model file, which has none; "
                                 "lano.read_run(folder).history has that of a run")
        return self._history

    @property
    def task(self) -> str:
        """"steady", "autoregressive" (steps in time) or "time_conditional" (a function of time).

        A steady one with `times` predicts all of them at once.
        """
        return self._core.task

    @property
    def geometry(self) -> str:
        """"grid", "mesh" or "points"."""
        return self._description["geometry"]

    @property
    def mesh(self) -> List[int]:
        """The axes of the training grid or mesh; empty for clouds."""
        return [] if self.geometry == "points" else list(self._description["shape"])

    @property
    def coordinates(self) -> np.ndarray:
        """[points, dims] of the training grid; empty if each sample had its own."""
        return self._core.coordinates

    @property
    def input(self) -> List[str]:
        """The names of the input channels."""
        return [field["name"] for field in self._description["fields"]["input"]]

    @property
    def output(self) -> List[str]:
        """The names of the output channels."""
        return [field["name"] for field in self._description["fields"]["output"]]

    @property
    def times(self) -> List[float]:
        """The times of the training data; empty if they are steady."""
        return list(self._description["time"])

    @property
    def parameters(self) -> int:
        return self._core.parameters

    @property
    def state_frames(self) -> int:
        """Frames of the state of a model that steps in time, otherwise 0."""
        return self._core.state_frames

    @property
    def agents(self) -> int:
        return self._core.agents

    @property
    def recipe(self) -> str:
        """The recipe of its training, as TOML."""
        return json.loads(self._core.provenance).get("recipe", "")

    def use_agents(self, agents: int) -> int:
        """Sets another number of agents than in training; returns the number used. Not during predictions."""
        return self._core.use_agents(int(agents))

    def __repr__(self) -> str:
        where = "clouds" if self.geometry == "points" else f"{self.geometry} {'x'.join(map(str, self.mesh))}"
        return (f"<lano.Operator {', '.join(self.input) or 'geometry'} -> {', '.join(self.output)}, {where}, "
                f"{self.task}, {self.parameters} parameters>")

    # ---- files, pickles, copies

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Writes the model file (.safetensors), which every LANO program reads."""
        self._core.save(os.fspath(path))

    def __getstate__(self) -> dict:
        return {"model": self._core.to_bytes(), "agents": self.agents, "history": self._history,
                "training": self.training}

    def __setstate__(self, state: dict) -> None:
        self.__init__(_core.Operator.from_bytes(state["model"]), state["history"], state["training"])  # type: ignore
        if state["agents"] != self.agents:
            self.use_agents(state["agents"])

    # ---- predictions

    def predict(self, input: Optional[Fields] = None, coordinates: Optional[Fields] = None, *,
                time: Optional[float] = None, times: Optional[ArrayLike] = None,
                state: Optional[ArrayLike] = None) -> Any:
        """The predictions for one or many inputs.

        input         [points...] or [points..., channels] of one sample; samples first if there are many; a list of
                      arrays for clouds of different sizes
        coordinates   [points..., dims] of all samples or [samples, points..., dims]; a list for a list. Without them:
                      the training grid, or, if the input has another resolution, a grid in the same position
        time, times   time-conditional models: one time, or several, which give one more axis in front of the points;
                      of many samples by default the times of training
        state         autoregressive models: the state to step from; returns the next one

        Returns an array like the input, with a channel axis if the input has one or there are several outputs; a
        list for a list. Models that predict all times at once have those in front of the points.
        """
        coordinates = self._from_rows(coordinates, input)
        if is_list(input) or is_list(coordinates):
            return self._predict_list(input, coordinates, time, times, state)
        a, x, s = _maybe(input, "input"), _maybe(coordinates, "coordinates"), _maybe(state, "state")
        if times is not None and time is not None:
            raise plain_error("predicting", "times= does not go with time=", "leave one of them out")
        channels = len(self.output) > 1 or (a is not None and self._with_channels(a)) or (
            a is None and s is not None and self._state_with_channels(s))
        samples = self._samples_of(a, x, s)
        if samples is None:
            found = self._predict_one(a, x, time, times, s)
            return found if channels else found[..., 0]
        if s is not None or time is not None or (times is not None) or self.task != "steady":
            rows = [self._predict_one(None if a is None else a[i], self._coordinates_of(x, i), time,
                                      self._times_of(time, times, s), None if s is None else s[i])
                    for i in range(samples)]
            found = np.stack(rows)
        else:
            found = self._predict_many(a, x, samples)
        return found if channels else found[..., 0]

    def _times_of(self, time: Any, times: Any, state: Any) -> Any:
        return self.times if self.task == "time_conditional" and time is None and times is None else times

    def _predict_one(self, a: Any, x: Any, time: Any, times: Any, s: Any) -> np.ndarray:
        if x is None and a is not None:
            x = self._grid_for(self._points_shape(a))
        t = None if times is None else [float(value) for value in np.atleast_1d(numbers(times, "times"))]
        return _frames_of(self._core.predict(x, a, time=None if time is None else float(time), state=s, times=t),
                          self._frames)

    def _predict_many(self, a: Any, x: Any, samples: int) -> np.ndarray:
        """Steady models: all samples go through the network in groups, which keeps the cores busy."""
        points = self._points_shape(a[0]) if a is not None else tuple(x.shape[1:-1])
        dims = len(self._description["fields"]["coordinates"])
        if x is None:
            x = self._grid_for(points)
            if x is None:
                x = self.coordinates.reshape(*points, dims)
        shared = x.ndim == len(points) + 1
        count = int(np.prod(points))
        d = dict(self._description, shape=list(points))
        fields = np.zeros((samples, count, 0), np.float32) if a is None else a.reshape(samples, count, -1)
        handle = _core.Dataset(json.dumps(d), [2] * samples, [], shared, x, fields, None)
        _, flat = _core.predict_set(self._core, handle, 0)
        return flat.reshape(samples, *([self._frames] if self._frames else []), *points, len(self.output))

    def _predict_list(self, input: Any, coordinates: Any, time: Any, times: Any, state: Any) -> List[np.ndarray]:
        samples = len(input) if is_list(input) else len(coordinates)
        for what, values in (("input", input), ("coordinates", coordinates), ("state", state)):
            if values is not None and is_list(values) and len(values) != samples:
                raise error("predicting", f"{samples} arrays of {what}", str(len(values)))
        def at(values: Any, i: int) -> Any:
            return values[i] if is_list(values) else values
        return [self.predict(at(input, i), at(coordinates, i), time=time, times=times, state=at(state, i))
                for i in range(samples)]

    def roll_out(self, state: ArrayLike, steps: int, input: Optional[ArrayLike] = None,
                 coordinates: Optional[ArrayLike] = None) -> np.ndarray:
        """Models that step in time: all states [steps, points..., channels] that follow from one state."""
        x = _maybe(self._from_rows(coordinates, input), "coordinates")
        s, a = floats(state, "state"), _maybe(input, "input")
        if x is None and a is not None:
            x = self._grid_for(self._points_shape(a))
        return self._core.roll_out(s, int(steps), x, a)

    def prepare(self, input: Optional[ArrayLike] = None, coordinates: Optional[ArrayLike] = None, *,
                time: Optional[float] = None, state: Optional[ArrayLike] = None) -> Prepared:
        """Computes the agents of these points once; new points are then decoded against them."""
        return Prepared(self._core.prepare(_maybe(self._from_rows(coordinates, input), "coordinates"),
                                           _maybe(input, "input"), time=time, state=_maybe(state, "state")),
                        self._frames)

    # ---- shapes

    @property
    def _axes(self) -> int:
        return 1 if self.geometry == "points" else len(self._description["shape"])

    def _with_channels(self, a: np.ndarray) -> bool:
        """Whether the last axis of an input holds channels: it does if there are several."""
        da = len(self.input)
        if da != 1:
            return True
        return a.ndim > 1 and a.shape[-1] == 1

    def _state_with_channels(self, s: np.ndarray) -> bool:
        return len(self.output) > 1 or (s.ndim > 1 and s.shape[-1] == 1)

    def _points_shape(self, a: np.ndarray) -> Tuple[int, ...]:
        return tuple(a.shape[:-1]) if self._with_channels(a) else tuple(a.shape)

    def _samples_of(self, a: Any, x: Any, s: Any) -> Optional[int]:
        """The number of samples, or None if the arrays are those of one."""
        for what, values in (("input", a), ("coordinates", x), ("state", s)):
            if values is not None and values.size == 0:
                raise error("predicting", "at least one sample and point", f"{what} {list(values.shape)}")
        if a is not None and self.input:
            points = self._points_shape(a)
            if len(self.input) > 1 and a.shape[-1:] != (len(self.input),):
                raise error("predicting", f"{len(self.input)} input channels on the last axis", str(list(a.shape)))
            if len(points) == self._axes + 1:
                return points[0]
            if len(points) not in (1, self._axes):  # one row of points fits any mesh
                raise error("predicting", f"an input on {self._axes} axes of points, of one sample or of several",
                            str(list(a.shape)))
            return None
        if x is not None and x.ndim == self._axes + 2:
            return x.shape[0]
        frames = 1 if self.state_frames > 1 else 0
        if x is None and s is not None and s.ndim - frames == self._axes + 2:
            return s.shape[0]
        return None

    def _from_rows(self, coordinates: Any, input: Any) -> Any:
        """Turns the coordinates of a grid given per axis, (x, y), into those of its points."""
        if coordinates is None or self.geometry == "points" or is_list(input):
            return coordinates
        rows = axes_of(coordinates)
        if rows is None or len(rows) != self._axes:
            return coordinates
        return np.stack(np.meshgrid(*rows, indexing="ij"), -1)

    def _coordinates_of(self, x: Any, i: int) -> Any:
        return x if x is None or x.ndim <= self._axes + 1 else x[i]

    def _grid_for(self, points: Tuple[int, ...]) -> Optional[np.ndarray]:
        """The coordinates of a grid of other extents in the position of the training grid; None: the training grid."""
        mesh = tuple(self.mesh)
        if self.geometry == "points" or points == mesh or len(points) != len(mesh) or not len(self.coordinates):
            return None
        if self.geometry != "grid":
            raise error("predicting", f"a mesh {list(mesh)} as in training", str(list(points)),
                        "give coordinates= of the other mesh")
        return grid_like(self.coordinates.reshape(*mesh, -1), points, self._description["box"])

    # ---- errors

    def _dataset_for(self, input: Any, output: Any, coordinates: Any, times: Any, doing: str) -> Dataset:
        """Arrays of samples as a dataset of the kind this operator was trained on."""
        if isinstance(input, Dataset):
            if output is not None or coordinates is not None:
                raise TypeError(f"{doing}: a Dataset has its output and coordinates with it")
            return input
        if output is None:
            raise TypeError(f"{doing}: the output to compare with is missing")
        d = self._description
        if times is None and d["time"]:
            times = d["time"]
        if coordinates is None and self.geometry != "points" and not is_list(output):
            u = numbers(output, "output")
            points = u.shape[2 if d["time"] else 1:]
            points = points[:len(d["shape"])]
            x = self._grid_for(points)
            if x is None:
                if not len(self.coordinates):
                    raise plain_error(doing, "the coordinates are missing: it was trained with a mesh per sample")
                x = self.coordinates.reshape(*d["shape"], -1)
            coordinates = x
        elif coordinates is None and len(self.coordinates):
            coordinates = self.coordinates
        made = Dataset(input, output, coordinates, times=times, validation=0.0, geometry=None if is_list(output)
                       else self.geometry, name=d["name"], input_names=None, output_names=None)
        made._splits = np.full(len(made), 2, dtype=np.uint8)
        return made

    def evaluate(self, input: Any = None, output: Optional[Fields] = None, coordinates: Optional[Fields] = None, *,
                 times: Optional[ArrayLike] = None, steps: int = 0) -> Evaluation:
        """The errors on samples whose output is known, by the code of `lano eval`: relative L2 and others.

        Takes arrays as `lano.fit` does, or a Dataset; if it has a test split, only that split is evaluated.
        """
        set_ = self._dataset_for(input, output, coordinates, times, "evaluating a model")
        split = "test" if (set_._splits == 2).any() else "all"
        return Evaluation(json.loads(_core.evaluate_set(self._core, set_._handle(), split, int(steps))), set_, split)

    # ---- derivatives

    def vjp(self, input: Optional[ArrayLike], slopes: ArrayLike, coordinates: Optional[ArrayLike] = None, *,
            time: Optional[float] = None, state: Optional[ArrayLike] = None) -> Slopes:
        """The gradient of a scalar function of the prediction with respect to its arguments.

        With slopes = d(loss)/d(prediction), shaped as the prediction, gives d(loss)/d(input), d(loss)/d(coordinates)
        and, of models that step in time, d(loss)/d(state), in physical units. What is discrete or follows from the
        points is held fixed: their order, the pooling, the spacing, the neighbours of a cloud's stencil.
        """
        coordinates = self._from_rows(coordinates, input)
        a, x, s = _maybe(input, "input"), _maybe(coordinates, "coordinates"), _maybe(state, "state")
        g = floats(slopes, "slopes")
        samples = self._samples_of(a, x, s)
        if samples is None:
            return self._vjp_one(a, g, x, time, s)
        if g.shape[:1] != (samples,):
            raise error("taking a derivative", f"slopes of {samples} samples", str(list(g.shape)))
        rows = [self._vjp_one(None if a is None else a[i], g[i], self._coordinates_of(x, i), time,
                              None if s is None else s[i]) for i in range(samples)]
        parts = [None if part[0] is None else np.stack(part) for part in zip(*rows)]
        return Slopes(*parts)

    def _vjp_one(self, a: Any, g: np.ndarray, x: Any, time: Any, s: Any) -> Slopes:
        if x is None and a is not None:
            x = self._grid_for(self._points_shape(a))
        if self._frames:  # [frames, points..., fields], as the network has them
            if g.shape[:1] != (self._frames,):
                raise error("taking a derivative", f"slopes of {self._frames} frames", str(list(g.shape)))
            g = np.moveaxis(g.reshape(*g.shape[:1 + self._axes], len(self.output)), 0, -2)
            g = np.ascontiguousarray(g.reshape(*g.shape[:-2], -1))
        dx, da, ds = self._core.vjp(g, x, a, time=None if time is None else float(time), state=s)
        return Slopes(None if a is None else da.reshape(a.shape), dx, None if ds is None else ds.reshape(s.shape))

    # ---- pictures

    def plot(self, input: Any = None, output: Optional[Fields] = None, coordinates: Optional[Fields] = None, *,
             times: Optional[ArrayLike] = None, channel: int = 0) -> Any:
        """Best, median and worst sample as input, truth, prediction and error, with matplotlib; returns the figure."""
        from ._plot import plot_samples
        set_ = self._dataset_for(input, output, coordinates, times, "plotting")
        if isinstance(input, Dataset) and (set_._splits == 2).any():
            set_ = set_.test
        return plot_samples(self, set_, channel)


def load(path: Union[str, os.PathLike]) -> Operator:
    """An operator from its model file (.safetensors), trained by `lano train` or `lano.fit`."""
    return Operator(_core.Operator.load(os.fspath(path)))


__all__ = ["Operator", "Prepared", "Slopes", "load"]
