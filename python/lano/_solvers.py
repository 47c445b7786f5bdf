"""The second package, lano_solvers: dataset files (HDF5), the solvers (FFTW, UMFPACK) and the program `lano`. It is
looked for when something needs it; an error message says what is missing."""
from __future__ import annotations

import os
from typing import Any, Callable, List, Optional

from ._core import __version__
from ._errors import error, plain_error

_ADVICE = ("install it in addition to lano with 'pip install --no-build-isolation ./python/solvers' from LANO's "
           "sources (Debian: libhdf5-dev libfftw3-dev libsuitesparse-dev libzip-dev libpng-dev), "
           "or use the packages of a CMake build with -DLANO_BUILD_PYTHON=ON")


def solvers(doing: str) -> Any:
    """The extension module with HDF5 and the solvers."""
    try:
        from lano_solvers import _solvers
    except ImportError as reason:
        raise plain_error(doing, f"the package lano_solvers (files and solvers) is missing or unusable ({reason})",
                          _ADVICE) from None
    _check_version(doing)
    return _solvers


def program(doing: str) -> str:
    """The path of the program `lano`."""
    try:
        import lano_solvers
    except ImportError as reason:
        raise plain_error(doing, f"the package lano_solvers (the program lano) is missing or unusable ({reason})",
                          _ADVICE) from None
    _check_version(doing)
    path = lano_solvers.program()
    if path is None:
        raise plain_error(doing, "the program lano is neither in the package lano_solvers nor on PATH", _ADVICE)
    return path


def _check_version(doing: str) -> None:
    import lano_solvers
    if lano_solvers.__version__ != __version__:
        raise error(doing, f"lano_solvers of version {__version__}, as lano is", lano_solvers.__version__,
                    "install both from the same sources")


def run_program(doing: str, arguments: List[str], say: Optional[Callable[[str], None]] = None) -> str:
    """Runs `lano ARGUMENTS`; its output goes line by line to `say`, and its error message becomes an Error."""
    import subprocess
    from ._core import Error
    path = program(doing)
    environment = dict(os.environ, LC_ALL=os.environ.get("LC_ALL", "C.UTF-8"))
    try:
        child = subprocess.Popen([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env=environment, errors="replace")
    except OSError as reason:
        raise error(doing, f"the program '{path}' to start", str(reason), _ADVICE) from None
    with child:
        try:
            out, err = child.communicate()
        except BaseException:
            child.terminate()
            child.wait()
            raise
    lines = [line for line in err.splitlines() if line.strip()]
    if child.returncode != 0:
        spoken = [line for line in lines if line.startswith("lano: ")] or lines or out.splitlines()
        sentence = spoken[-1] if spoken else f"lano ended with code {child.returncode}"
        raise Error(sentence[len("lano: "):] if sentence.startswith("lano: ") else f"{doing}: {sentence}")
    if say is not None:
        for line in out.splitlines():
            say(line)
    return out
