"""The notebooks as they lie in the repository: made from their sources, with outputs, small."""
import importlib.machinery
import importlib.util
import json

import pytest

from conftest import SOURCE

FOLDER = SOURCE / "examples" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def script():
    loader = importlib.machinery.SourceFileLoader("notebooks", str(SOURCE / "scripts" / "notebooks"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("notebooks", loader))
    loader.exec_module(module)
    return module


def test_there_are_three():
    assert NAMES == ["cloud", "darcy", "inverse"]


@pytest.mark.parametrize("name", NAMES)
def test_made_from_its_source(name):
    path = FOLDER / f"{name}.ipynb"
    assert path.stat().st_size < 300_000
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    assert cells == script().cells_of((FOLDER / f"{name}.py").read_text()), "run scripts/notebooks"
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("relative L2" in "".join(output.get("text", [])) for output in outputs)
    texts = json.dumps(outputs)
    assert str(SOURCE) not in texts and "/root" not in texts and "/work" not in texts


def test_a_cell_that_fails_is_not_kept():
    pytest.importorskip("matplotlib", reason="no matplotlib here")
    with pytest.raises(ZeroDivisionError):
        script().run_cell("1 / 0", {})
    assert script().run_cell("print('x')\n1 + 1", {})[1]["data"]["text/plain"] == ["2"]
