# Cross-compilation for 64-bit Arm Linux. STRATA_SYSROOT holds the arm64 hwloc and fmt (setup/aarch64.sh makes one);
# the compiler's own C library is used beside it, so it is a list of search paths, not a --sysroot.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

if(DEFINED ENV{STRATA_SYSROOT})
    set(STRATA_SYSROOT "$ENV{STRATA_SYSROOT}")
    set(CMAKE_FIND_ROOT_PATH "${STRATA_SYSROOT}" /usr/aarch64-linux-gnu)
    set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
    set(CMAKE_EXE_LINKER_FLAGS_INIT
        "-Wl,-rpath-link,${STRATA_SYSROOT}/usr/lib/aarch64-linux-gnu -Wl,-rpath,${STRATA_SYSROOT}/usr/lib/aarch64-linux-gnu")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(STRATA_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(STRATA_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${STRATA_QEMU};-L;/usr/aarch64-linux-gnu")
endif()
