"""Progress of a training: a bar on a terminal or in a notebook, a line from time to time anywhere else."""
from __future__ import annotations

import sys
import time


class Progress:
    """Called by the trainer with (kind, text, done, total)."""

    _WIDTH = 24

    def __init__(self, quiet: bool = False):
        self._quiet = quiet
        self._live = not quiet and (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self._begun = self._drawn = time.monotonic()
        self._long = 0  # characters of the line that stands
        self._label = ""

    def say(self, line: str) -> None:
        if not self._quiet:
            print(line, flush=True)

    def __call__(self, kind: str, text: str, done: int, total: int) -> None:
        if self._quiet:
            return
        if kind == "say":
            self.say(text)
        elif kind == "warn":
            print(f"lano: {text}", file=sys.stderr, flush=True)
        elif kind == "begin":
            self._label, self._begun, self._drawn = text, time.monotonic(), time.monotonic()
        elif kind == "advance":
            self._draw(text, done, total)
        elif kind == "end":
            if self._live and self._long:
                print(file=sys.stderr, flush=True)
            self._long = 0

    def _draw(self, detail: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._drawn < (0.2 if self._live else 10.0):
            return
        self._drawn = now
        share = done / total if total else 0.0
        left = (now - self._begun) * (1 - share) / share if share > 0 else 0.0
        clock = f"{int(left // 60)} min {int(left % 60)} s left" if left >= 60 else f"{left:.0f} s left"
        filled = int(share * self._WIDTH)
        bar = "█" * filled + "░" * (self._WIDTH - filled)
        line = f"{self._label} {bar} {100 * share:3.0f}%  {clock}  {detail}"
        if self._live:
            print("\r" + line + " " * max(0, self._long - len(line)), end="", file=sys.stderr, flush=True)
            self._long = len(line)
        else:
            print(line, file=sys.stderr, flush=True)
