"""The package: what it says of itself, how fast it comes, what it says where its second part is missing."""
import inspect
import os
import pydoc
import subprocess
import sys
import typing

import numpy as np
import pytest

import lano


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env=dict(os.environ, **environment))


def test_help_shows_what_to_do():
    text = pydoc.plain(pydoc.render_doc(lano))
    for part in ("op = lano.fit(a, u, coordinates=xy, minutes=5)", "op.vjp(a, du)", "lano.Error"):
        assert part in text
    for name in lano.__all__:
        thing = getattr(lano, name)
        if callable(thing):
            assert inspect.getdoc(thing), name
    for kind in (lano.Operator, lano.Dataset, lano.Evaluation, lano.History):
        for name, member in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and name not in ("train", "validation", "test"):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"


def test_every_name_is_typed():
    assert os.path.exists(os.path.join(os.path.dirname(lano.__file__), "py.typed"))
    for function in (lano.fit, lano.load, lano.resume, lano.generate, lano.solve, lano.read_run, lano.report,
                     lano.Operator.predict, lano.Operator.vjp, lano.Operator.evaluate, lano.Dataset.__init__):
        signature = inspect.signature(function)
        for parameter in signature.parameters.values():
            typed = parameter.annotation is not inspect.Parameter.empty
            assert parameter.name == "self" or typed, (function, parameter)
    assert typing.get_type_hints(lano.set_threads) == {"count": int, "return": type(None)}


def test_it_comes_in_a_moment():
    """The best of several starts, with NumPy loaded already: others use this machine too."""
    code = ("import numpy, time; t = time.perf_counter(); import lano; "
            "print(1e3 * (time.perf_counter() - t))")
    times = [float(run(code).stdout) for _ in range(5)]
    assert min(times) < 100, times


def test_it_loads_no_more_than_it_needs():
    loaded = run("import lano, sys; print([m for m in ('matplotlib', 'lano_solvers', 'subprocess', 'tempfile', 'torch')"
                 " if m in sys.modules])").stdout.strip()
    assert "matplotlib" not in loaded and "lano_solvers" not in loaded and "torch" not in loaded


def test_the_command_line(tmp_path):
    found = subprocess.run([sys.executable, "-m", "lano", "generate", "darcy", "--preset", "smoke", "--train", "2",
                            "--test", "1", "--out", tmp_path / "darcy.h5"], capture_output=True, text=True)
    assert found.returncode == 0 and (tmp_path / "darcy.h5").exists(), found.stderr
    assert subprocess.run([sys.executable, "-m", "lano", "nonsense"], capture_output=True).returncode == 2
    version = subprocess.run([sys.executable, "-m", "lano", "--version"], capture_output=True, text=True).stdout
    assert version == f"lano {lano.__version__}\n"


@pytest.mark.parametrize("call", ["lano.generate('darcy')", "lano.solve('darcy', numpy.ones((8, 8)))",
                                  "lano.Dataset(a, a).save('x.h5')", "lano.report('x')", "lano.fit(a, a, run='x')",
                                  "lano.Dataset.from_files(output='x.npy')"])
def test_what_is_missing_is_said(call, tmp_path):
    code = ("import sys, numpy, lano\nsys.modules['lano_solvers'] = None\na = numpy.ones((4, 8, 8))\n"
            f"try:\n    {call}\nexcept lano.Error as error:\n    print(error)\n")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    said = found.stdout.strip().splitlines()[-1]
    assert "the package lano_solvers" in said and "pip install" in said, found
    assert list(tmp_path.iterdir()) == []


def test_another_version_of_the_second_package_is_refused():
    code = ("import lano, lano_solvers\nlano_solvers.__version__ = '0.0.1'\n"
            "try:\n    lano.solve('darcy', [[1.0, 1], [1, 1]])\nexcept lano.Error as error:\n    print(error)\n")
    assert f"expected lano_solvers of version {lano.__version__}" in run(code).stdout


def test_threads():
    lano.set_threads(1)
    assert lano.thread_count() == 1
    lano.set_threads(0)
    assert lano.thread_count() >= 1


def test_keys_of_a_recipe():
    keys = lano.recipe_keys()
    assert "model.width" in keys and "train.epochs" in keys and len(keys) > 40
    assert np.all([":" in text for text in keys.values()])
