"""The wheel of the package lano_solvers: the module with HDF5 and the solvers, and the program lano. It uses the
libraries of the machine it was built on. What is made on the way stays in build/wheel-solvers."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path(__file__).resolve().parent.parent.parent
MADE = SOURCE / "build" / "wheel-solvers"


class CMakeModule(build_ext):
    def build_extension(self, ext):
        tree, target = MADE / "cmake", Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DLANO_BUILD_PYTHON=ON", "-DLANO_BUILD_TESTS=OFF",
                   f"-DPython3_EXECUTABLE={sys.executable}"]
        options += os.environ.get("LANO_CMAKE_OPTIONS", "").split()
        subprocess.run(["cmake", "-S", SOURCE, "-B", tree, *options], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "lano_python_solvers", "lano", "--parallel"], check=True)
        self.copy_file(tree / "python" / "lano_solvers" / target.name, target)
        (target.parent / "bin").mkdir(exist_ok=True)
        shutil.copy2(tree / "bin" / "lano", target.parent / "bin" / "lano")


if __name__ == "__main__":
    MADE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(MADE / "packed", ignore_errors=True)
    version = re.search(r"project\(lano VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
    setup(version=version, packages=["lano_solvers"], install_requires=[f"lano=={version}"],
          ext_modules=[Extension("lano_solvers._solvers", [])], cmdclass={"build_ext": CMakeModule},
          options={"build": {"build_base": str(MADE)}, "egg_info": {"egg_base": str(MADE)},
                   "bdist_wheel": {"bdist_dir": str(MADE / "packed")}})
