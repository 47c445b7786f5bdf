"""What `lano` needs libraries for beyond NumPy: dataset files (HDF5), the solvers of the benchmarks (FFTW, UMFPACK),
and the program `lano` itself. `lano` uses this package by itself; there is nothing here to be called by hand."""
from pathlib import Path
from typing import Optional

from ._solvers import __version__

__all__ = ["__version__", "program"]


def program() -> Optional[str]:
    """The path of the program `lano`: in this package, next to it in a build or an installation, or on PATH."""
    import shutil
    here = Path(__file__).absolute().parent
    # A wheel has it inside; a build in <build>/bin next to <build>/python; an installation in <prefix>/bin.
    candidates = [here / "bin" / "lano", here.parent.parent / "bin" / "lano",
                  here.parent.parent.parent.parent / "bin" / "lano"]
    for path in candidates:
        if path.is_file():
            return str(path)
    return shutil.which("lano")
