"""The wheel of the module lano: CMake builds it, with the libraries of this project inside; setuptools packs it.
What is made on the way stays in build/wheel."""
import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
MADE = SOURCE / "build" / "wheel"


class CMakeModule(build_ext):
    def build_extension(self, ext):
        tree, target = MADE / "cmake", Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DLANO_ONLY_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
        options += os.environ.get("LANO_CMAKE_OPTIONS", "").split()
        subprocess.run(["cmake", "-S", SOURCE, "-B", tree, *options], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "lano_python", "--parallel"], check=True)
        self.copy_file(tree / "python" / target.name, target)


MADE.mkdir(parents=True, exist_ok=True)
version = re.search(r"project\(lano VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
setup(version=version, packages=[], py_modules=[], ext_modules=[Extension("lano", [])],
      cmdclass={"build_ext": CMakeModule},
      options={"build": {"build_base": str(MADE)}, "egg_info": {"egg_base": str(MADE)},
               "bdist_wheel": {"bdist_dir": str(MADE / "packed")}})
