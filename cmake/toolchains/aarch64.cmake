# Cross-compilation for 64-bit Arm Linux. STRATA_SYSROOT holds the arm64 libraries (setup/aarch64.sh makes one). They are search
# paths, not a --sysroot: the cross-compiler brings its own C library to link against.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(STRATA_SYSROOT "$ENV{STRATA_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH "${STRATA_SYSROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CXX_FLAGS_INIT "-isystem ${STRATA_SYSROOT}/usr/include/aarch64-linux-gnu") # hwloc's configured header
foreach(folder IN ITEMS usr/lib lib)
    string(APPEND CMAKE_EXE_LINKER_FLAGS_INIT " -Wl,-rpath-link,${STRATA_SYSROOT}/${folder}/aarch64-linux-gnu")
endforeach()

find_program(STRATA_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(STRATA_QEMU)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${STRATA_QEMU};-L;${STRATA_SYSROOT}")
endif()
