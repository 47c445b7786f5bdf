"""The one exception of the package, in the one form of the project: what was being done, what was expected, what was
found, what to do."""
from __future__ import annotations

from ._core import Error


def error(doing: str, expected: str, found: str, advice: str = "") -> Error:
    return plain_error(doing, f"expected {expected}, found {found}", advice)


def plain_error(doing: str, problem: str, advice: str = "") -> Error:
    """Where there is no value to show as found: the problem is a plain sentence."""
    return Error(f"{doing}: {problem}" + (f"; {advice}" if advice else ""))
