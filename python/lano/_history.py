"""The course of a training."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np


class History:
    """One entry per epoch in each array: epoch, train_loss, validation_l2, validation_ema_l2 (of the running mean of
    the weights; NaN without one), seconds."""

    def __init__(self, columns: Dict[str, List[Optional[float]]]):
        def column(name: str) -> np.ndarray:
            return np.array([np.nan if value is None else value for value in columns.get(name, [])], dtype=float)
        self.epoch = column("epoch").astype(int)
        self.train_loss, self.validation_l2 = column("train_loss"), column("validation_l2")
        self.validation_ema_l2, self.seconds = column("validation_ema_l2"), column("seconds")

    def __len__(self) -> int:
        return len(self.epoch)

    def __repr__(self) -> str:
        if not len(self):
            return "<lano.History: no epoch yet>"
        best = f", best validation {np.nanmin(self.validation_l2):.4e}" if np.isfinite(self.validation_l2).any() else ""
        return f"<lano.History: {len(self)} epochs, loss {self.train_loss[0]:.4e} -> {self.train_loss[-1]:.4e}{best}>"

    def plot(self, ax: Any = None) -> Any:
        """Loss and validation error against the epoch, by matplotlib; returns its axes."""
        from ._plot import pyplot
        if ax is None:
            _, ax = pyplot().subplots(figsize=(6, 3.6), layout="constrained")
        ax.semilogy(self.epoch, self.train_loss, label="training loss")
        if np.isfinite(self.validation_l2).any():
            ax.semilogy(self.epoch, self.validation_l2, label="validation, relative L2")
        if np.isfinite(self.validation_ema_l2).any():
            ax.semilogy(self.epoch, self.validation_ema_l2, label="validation, averaged weights")
        ax.set_xlabel("epoch")
        ax.legend()
        return ax
