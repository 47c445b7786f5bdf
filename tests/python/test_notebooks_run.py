"""The notebooks run, with little data and seconds of training: labelled slow."""
import subprocess
import sys

import pytest

from conftest import SOURCE


@pytest.mark.parametrize("name", ["cloud", "darcy", "inverse"])
def test_it_runs(name):
    pytest.importorskip("matplotlib", reason="no matplotlib here: the notebooks are not run")
    done = subprocess.run([sys.executable, SOURCE / "scripts" / "notebooks", "--quick", name], capture_output=True,
                          text=True)
    assert done.returncode == 0 and f"{name}: ran" in done.stdout, done.stdout + done.stderr
