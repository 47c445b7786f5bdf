# Compiles for Linux on ARM's 64-bit processors with Debian's cross compiler (scripts/packages arm), and runs what was
# made by qemu: preset aarch64, tests/arm/arm_test.sh. Headers of libraries that have nothing but headers (fmt, JSON,
# toml++, nanoflann, Highway) are this machine's own, which Debian's cross compiler looks for in /usr/include.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# A processor without SVE and what else came after ARMv8.0, as in the smallest boards: what needs more fails here.
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-cpu;cortex-a53;-L;/usr/aarch64-linux-gnu")
# This machine's own libraries are of another processor.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
