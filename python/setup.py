"""The wheel of the package lano: CMake builds the module lano._core, with the libraries of this project and Highway
inside; setuptools packs it. Intermediate files stay in build/wheel."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
MADE = SOURCE / "build" / "wheel"


def needed_libraries(module):
    text = subprocess.run(["objdump", "-p", module], check=True, capture_output=True, text=True).stdout
    return re.findall(r"NEEDED\s+(\S+)", text)


class CMakeModule(build_ext):
    def build_extension(self, ext):
        tree, target = MADE / "cmake", Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DLANO_ONLY_PYTHON=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
        options += os.environ.get("LANO_CMAKE_OPTIONS", "").split()
        subprocess.run(["cmake", "-S", SOURCE, "-B", tree, *options], check=True)
        subprocess.run(["cmake", "--build", tree, "--target", "lano_python", "--parallel"], check=True)
        made = tree / "python" / "lano" / target.name
        self.copy_file(made, target)
        self.copy_file(SOURCE / "LICENSE", target.parent / "LICENSE")
        # Highway (Apache 2.0) is included: the module looks for it in its own folder.
        for name in needed_libraries(made):
            if name.startswith("libhwy"):
                self.copy_file(self.highway(made, name), target.parent / name)
                licence = Path("/usr/share/doc/libhwy1/copyright")
                if licence.exists():
                    self.copy_file(licence, target.parent / "libhwy.copyright")

    @staticmethod
    def highway(module, name):
        listed = subprocess.run(["ldd", module], check=True, capture_output=True, text=True).stdout
        found = re.search(rf"{re.escape(name)} => (\S+)", listed)
        if found is None:
            raise RuntimeError(f"packing the wheel: {name} is missing on this machine; install libhwy-dev")
        return found.group(1)


if __name__ == "__main__":
    MADE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(MADE / "packed", ignore_errors=True)
    version = re.search(r"project\(lano VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)
    setup(version=version, packages=["lano"], package_data={"lano": ["py.typed"]},
          ext_modules=[Extension("lano._core", [])], cmdclass={"build_ext": CMakeModule},
          options={"build": {"build_base": str(MADE)}, "egg_info": {"egg_base": str(MADE)},
                   "bdist_wheel": {"bdist_dir": str(MADE / "packed")}})
