"""Recipes: keywords, dictionaries and TOML files as the assignments of `lano train --set`."""
from __future__ import annotations

import difflib
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _core
from ._errors import error

_DOING = "reading the recipe"


def keys() -> Dict[str, str]:
    """Every key of a recipe with its type and meaning, as `lano train --keys` lists them."""
    return {name: f"{kind}: {help_}" for name, kind, help_ in _core.recipe_keys()}


def _full_name(key: str, known: List[str]) -> str:
    """"width" is model.width, "epochs" train.epochs, "model__width" and "model.width" are themselves."""
    name = key.replace("__", ".").rstrip("_")
    if name in known:
        return name
    ends = [full for full in known if full.split(".", 1)[1] == name]
    if len(ends) == 1:
        return ends[0]
    if len(ends) > 1:
        raise error(_DOING, f"one of {', '.join(ends)}", f"'{key}'",
                    f"write {ends[0].replace('.', '__')}= for the first")
    near = difflib.get_close_matches(name, known + [full.split(".", 1)[1] for full in known], 1)
    raise error(_DOING, "a key of a recipe", f"'{key}'",
                f"did you mean '{near[0]}'?" if near else "lano.recipe_keys() lists them")


def _text(key: str, value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_text(key, each) for each in value) + "]"
    raise TypeError(f"{_DOING}: expected a number, a word or a list for '{key}', found {type(value).__name__}")


def _flat(given: Mapping[str, Any], prefix: str = "") -> List[Tuple[str, Any]]:
    rows: List[Tuple[str, Any]] = []
    for key, value in given.items():
        if not isinstance(key, str):
            raise TypeError(f"{_DOING}: expected names of keys, found {key!r}")
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{key}.")
        else:
            rows.append((prefix + key, value))
    return rows


def assignments(recipe: Union[None, str, os.PathLike, Mapping[str, Any]],
                words: Mapping[str, Any]) -> Tuple[List[str], List[str]]:
    """TOML files, and "key=value" of a dictionary and of keywords."""
    files: List[str] = []
    rows: List[Tuple[str, Any]] = []
    if isinstance(recipe, Mapping):
        rows = _flat(recipe)
    elif isinstance(recipe, (str, os.PathLike)):
        files = [os.fspath(recipe)]
    elif recipe is not None:
        raise TypeError(f"{_DOING}: expected a TOML file or a dictionary, found {type(recipe).__name__}")
    known = [name for name, _, _ in _core.recipe_keys()]
    rows += list(words.items())
    lines: Dict[str, Optional[str]] = {}
    for key, value in rows:
        name = _full_name(key, known)
        if name in ("data.file", "train.from"):
            raise error(_DOING, "keys of the recipe", f"'{name}'",
                        "give the data as arrays or a lano.Dataset, and a model to begin with as start=")
        lines[name] = f"{name}={_text(name, value)}"
    return files, [line for line in lines.values() if line is not None]
