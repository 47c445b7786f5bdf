"""`python -m lano ARGUMENTS` is `lano ARGUMENTS`: the command line of the package lano_solvers."""
import os
import sys

from ._errors import Error
from ._solvers import program


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        from ._core import __version__
        print(f"lano {__version__}")
        return 0
    try:
        path = program("starting the command line")
    except Error as reason:
        print(f"lano: {reason}", file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execv(path, [path, *sys.argv[1:]])
    return 1


if __name__ == "__main__":
    sys.exit(main())
