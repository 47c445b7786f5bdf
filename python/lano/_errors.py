"""The one exception of the package, in the one form of the project: what was being done, what was expected, what was
found, what to do."""
from __future__ import annotations

from ._core import Error


def error(doing: str, expected: str, found: str, advice: str = "") -> Error:
    return Error(f"{doing}: expected {expected}, found {found}" + (f"; {advice}" if advice else ""))
