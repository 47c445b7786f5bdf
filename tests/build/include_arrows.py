"""Fails where an include goes against the arrows of the architecture, LibTorch enters the torch-free part, a library
prints, or a process is started other than by core/child_process."""
import pathlib
import re
import sys

ALLOWED = {
    "core": set(),
    "cluster": {"core"},
    "model_spec": {"core"},
    "kernels": {"core", "model_spec"},
    "pde": {"core"},
    "normalise": {"core"},
    "data": {"core", "normalise"},
    "metrics": {"core"},
    "runtime": {"core", "model_spec", "kernels", "normalise"},
    "evaluate": {"core", "model_spec", "normalise", "data", "metrics", "runtime"},
    "run": {"core", "evaluate"},
    "train": {"core", "model_spec", "kernels", "normalise", "data", "metrics", "evaluate", "runtime", "run"},
    "experiment": {"core", "model_spec", "data", "metrics", "evaluate", "run", "train", "report"},
    "report": {"core", "model_spec", "metrics", "evaluate", "run"},
    "serve": {"core", "model_spec", "data", "pde", "runtime", "evaluate", "report"},
    "libtorch": {"core", "model_spec", "kernels", "normalise", "data", "metrics", "evaluate", "runtime", "train"},
}
TORCH = {"libtorch"}
PRINTS = re.compile(r"fmt::print|std::(cout|cerr|clog|printf|puts)|\b(printf|puts)\(")
STARTS = re.compile(r"\b(popen|system|fork|posix_spawn|execl|execv|execve|execvp|execvpe)\(")
STARTERS = {"child_process.cpp", "rehearsal.cpp"}  # of src/core
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def faults(root):
    """One line per forbidden include; root holds src and apps."""
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        folder = path.relative_to(root / "src").parts[0]
        if folder not in ALLOWED:
            yield f"{path}: folder '{folder}' is not in the table of modules"
            continue
        text = path.read_text()
        code = re.sub(r"//[^\n]*", "", text)
        if PRINTS.search(code):
            yield f"{path}: a library prints; tell a Listener (core/listener.h)"
        if STARTS.search(code) and not (folder == "core" and path.name in STARTERS):
            yield f"{path}: a process is started other than by core/child_process.h"
        for _, name in INCLUDE.findall(text):
            first = name.split("/")[0]
            if first in ALLOWED and first != folder and first not in ALLOWED[folder]:
                yield f"{path}: '{name}' goes against the arrows ({folder} may use {sorted(ALLOWED[folder])})"
            if first in {"torch", "ATen", "c10"} and folder not in TORCH:
                yield f"{path}: LibTorch in the torch-free part"
    for path in sorted(path for folder in ("apps", "bench") for path in (root / folder).rglob("*.cpp")):
        if STARTS.search(re.sub(r"//[^\n]*", "", path.read_text())):
            yield f"{path}: a process is started other than by core/child_process.h"
    for path in sorted((root / "apps" / "lano").glob("*")):
        if path.suffix in {".h", ".cpp"}:
            for _, name in INCLUDE.findall(path.read_text()):
                if name.split("/")[0] in {"torch", "ATen", "c10", "libtorch"}:
                    yield f"{path}: '{name}' would link LibTorch into lano"


def self_test():
    """The check must be able to fail."""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "src" / "pde").mkdir(parents=True)
        (root / "apps" / "lano").mkdir(parents=True)
        (root / "src" / "pde" / "a.cpp").write_text('#include "data/dataset.h"\n#include <torch/torch.h>\n'
                                                 'void f() { fmt::print("x"); std::system("ls"); }\n')
        (root / "apps" / "lano" / "b.cpp").write_text('#include "libtorch/lano.h"\n')
        found = list(faults(root))
        assert len(found) == 5, found


if __name__ == "__main__":
    self_test()
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "all includes follow the arrows")
    sys.exit(1 if found else 0)
