# Where things are installed. A wheel (scikit-build) puts programs where the environment keeps its own, and data at the
# environment's root; its libraries and headers lie in the Python package, from where the CMake package finds them by their relative path.

include(GNUInstallDirs)

if(SKBUILD)
    set(CMAKE_INSTALL_BINDIR "${SKBUILD_SCRIPTS_DIR}")
    set(CMAKE_INSTALL_LIBEXECDIR "${SKBUILD_DATA_DIR}/libexec")
    set(CMAKE_INSTALL_DATADIR "${SKBUILD_DATA_DIR}/share")
    set(CMAKE_INSTALL_SYSCONFDIR "${SKBUILD_DATA_DIR}/etc")
    set(CMAKE_INSTALL_LIBDIR "strata/prefix/lib")
    set(CMAKE_INSTALL_INCLUDEDIR "strata/prefix/include")
endif()

set(STRATA_LIBEXECDIR "${CMAKE_INSTALL_LIBEXECDIR}/strata")
set(STRATA_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/strata")
