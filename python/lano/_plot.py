"""Pictures with matplotlib, which is imported only when needed."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Tuple

import numpy as np

from ._errors import error, plain_error

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._operator import Operator


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as reason:
        raise plain_error("plotting", f"matplotlib is missing ({reason})", "pip install matplotlib") from None
    return plt


def _chosen(errors: np.ndarray) -> List[Tuple[str, int]]:
    """Best, median and worst, each sample once."""
    order = np.argsort(errors, kind="stable")
    places = {"best": 0, "median": len(order) // 2, "worst": len(order) - 1}
    rows: List[Tuple[str, int]] = []
    for label, place in places.items():
        if int(order[place]) not in [row for _, row in rows]:
            rows.append((label, int(order[place])))
    return rows


def _draw(ax: Any, x: np.ndarray, field: np.ndarray, kind: str, shape: Tuple[int, ...], limits: Any,
          colours: str) -> Any:
    """One field on its points; returns what a colour bar is made of, None for lines."""
    low, high = limits
    if kind != "points" and len(shape) == 1:
        ax.plot(x[:, 0], field)
        return None
    if kind != "points" and len(shape) == 3:  # the middle slice of the first axis
        middle = shape[0] // 2
        x = x.reshape(*shape, -1)[middle].reshape(-1, x.shape[-1])[:, -2:]
        field = field.reshape(shape)[middle].reshape(-1)
        shape = shape[1:]
    if kind == "points" or x.shape[-1] != 2:
        if x.shape[-1] == 1:
            order = np.argsort(x[:, 0])
            ax.plot(x[order, 0], field[order])
            return None
        ax.set_aspect("equal")
        return ax.scatter(x[:, 0], x[:, 1], c=field, s=max(1.0, 2000 / len(x)), vmin=low, vmax=high, cmap=colours)
    ax.set_aspect("equal")
    grid = x.reshape(*shape, 2)
    return ax.pcolormesh(grid[..., 0], grid[..., 1], field.reshape(shape), shading="gouraud", vmin=low, vmax=high,
                         cmap=colours, rasterized=True)


def _last_frame(field: np.ndarray, times: List[float]) -> np.ndarray:
    return field[-1] if times else field


def plot_samples(op: "Operator", set_: "Dataset", channel: int = 0) -> Any:
    """Rows: best, median, worst; columns: input, truth, prediction, error. Of time-dependent data the last frame."""
    from . import _core
    from ._evaluation import Evaluation
    import json
    plt = pyplot()
    if not 0 <= channel < len(op.output):
        raise error("plotting", f"an output channel from 0 to {len(op.output) - 1}", str(channel))
    found = Evaluation(json.loads(_core.evaluate_set(op._core, set_._handle(), "all", 0)))
    rows = _chosen(found.per_sample["relative_l2"])
    columns = (["input"] if op.input else []) + ["truth", "prediction", "error"]
    figure, axes = plt.subplots(len(rows), len(columns), squeeze=False, layout="constrained",
                                figsize=(3.1 * len(columns), 2.7 * len(rows)))
    for (label, row), line in zip(rows, axes):
        one = set_.part([row])
        frames, flat = _core.predict_set(op._core, one._handle(), 0)
        count = one._counts[0] if one._counts else int(np.prod(one.shape))
        prediction = _last_frame(flat.reshape(frames, count, -1), [0.0])[:, channel]
        truth = _last_frame(one._output.reshape(-1, count, len(op.output)), [0.0])[:, channel]
        x = one._coordinates.reshape(-1, one._coordinates.shape[-1])[:count]
        limits = (float(truth.min()), float(truth.max()))
        shown = {"truth": (truth, limits, "viridis"), "prediction": (prediction, limits, "viridis"),
                 "error": (prediction - truth, (None, None), "coolwarm")}
        if op.input:
            shown["input"] = (one._input.reshape(count, -1)[:, 0], (None, None), "viridis")
        for name, ax in zip(columns, line):
            field, ends, colours = shown[name]
            drawn = _draw(ax, x, field, set_.geometry, one.shape, ends, colours)
            if drawn is not None:
                figure.colorbar(drawn, ax=ax)
            error_text = f" (relative L2 {found.per_sample['relative_l2'][row]:.2e})" if name == "error" else ""
            ax.set_title(f"{label}: {name}{error_text}" if name == columns[0] else f"{name}{error_text}", fontsize=9)
    return figure
