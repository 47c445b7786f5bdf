"""Errors of an operator on samples."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List

import numpy as np

if TYPE_CHECKING:
    from ._dataset import Dataset

_LABELS = {"relative_l2": "relative L2", "relative_h1": "relative L2, gradient", "max_error": "largest error"}


class Evaluation:
    """Errors on samples, by the code of `lano eval`.

    relative_l2, relative_h1 (of the gradient, on uniform grids) and max_error are means over the samples;
    summary[name] has deviation, median, quantiles and extremes, per_sample[name] one number per sample, and per_step
    the relative L2 of each frame of time-dependent data.
    """

    def __init__(self, found: Dict[str, Any], set_: "Dataset | None" = None, split: str = "all"):
        self.summary: Dict[str, Dict[str, float]] = {name: found[name] for name in _LABELS if name in found}
        rows = found["per_sample"]
        self.ids: List[int] = [row["id"] for row in rows]
        self.per_sample: Dict[str, np.ndarray] = {
            name: np.array([np.nan if row[name] is None else row[name] for row in rows]) for name in self.summary
            if all(name in row for row in rows)}
        self.per_step = np.array(found.get("per_step", {}).get("relative_l2", []), dtype=float)
        self.seconds = float(found.get("seconds") or 0)
        self._about = f"{len(rows)} sample{'s' if len(rows) != 1 else ''}" + (f" ({split})" if split != "all" else "")

    def _mean(self, name: str) -> float:
        value = self.summary[name]["mean"] if name in self.summary else None
        return float("nan") if value is None else float(value)

    @property
    def relative_l2(self) -> float:
        """||u - u*|| / ||u*||, mean over the samples."""
        return self._mean("relative_l2")

    @property
    def relative_h1(self) -> float:
        """The same of the gradient; NaN off uniform grids."""
        return self._mean("relative_h1")

    @property
    def max_error(self) -> float:
        """The largest difference at a point, mean over the samples."""
        return self._mean("max_error")

    def __repr__(self) -> str:
        lines = [self._about]
        for name, s in self.summary.items():
            lines.append(f"{_LABELS[name]:<22} mean {s['mean']:.4e}  deviation {s['deviation']:.2e}  "
                         f"median {s['median']:.4e}  95 % {s['q95']:.4e}  worst {s['maximum']:.4e}")
        if len(self.per_step):
            lines.append(f"{'frames':<22} first {self.per_step[0]:.4e}  last {self.per_step[-1]:.4e}")
        return "\n".join(lines)
