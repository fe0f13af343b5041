# The third-party pieces. hwloc and fmt are required; every other one disables only what needs it.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Hwloc 2.0 REQUIRED)
find_package(fmt REQUIRED)

if(STRATA_BENCHMARKS)
    find_package(OpenMP COMPONENTS CXX)
endif()

if(STRATA_MPI) # teams over several nodes, benchmarks of messages
    set(MPI_CXX_SKIP_MPICXX ON) # the C++ bindings that MPI removed in 2012 pull in a library of their own
    find_package(MPI COMPONENTS CXX) # leaves MPI::MPI_CXX behind also where a program does not link: ask MPI_CXX_FOUND
    if(STRATA_BENCHMARKS AND STRATA_FFTW)
        find_package(FFTW3)
    endif()
endif()

if(STRATA_HDF5 AND CMAKE_C_COMPILER_LOADED) # field files; its package is looked for with a C compiler
    find_package(HDF5 COMPONENTS C)
endif()

if(STRATA_PAPI) # hardware counters of tasks
    find_path(STRATA_PAPI_HEADERS papi.h)
    find_library(STRATA_PAPI_LIBRARY papi)
    if(NOT STRATA_PAPI_HEADERS OR NOT STRATA_PAPI_LIBRARY)
        set(STRATA_PAPI_LIBRARY "")
    endif()
endif()

if(STRATA_METIS) # owners of patches by what they exchange
    find_path(STRATA_METIS_HEADERS metis.h)
    find_library(STRATA_METIS_LIBRARY metis)
endif()
if(NOT STRATA_METIS OR NOT STRATA_METIS_HEADERS OR NOT STRATA_METIS_LIBRARY)
    set(STRATA_METIS_LIBRARY "")
endif()

if(STRATA_XZ AND STRATA_SOLVERS) # packed grids
    find_package(LibLZMA)
endif()

if(STRATA_VALGRIND) # simulated counters of tasks
    find_path(STRATA_CALLGRIND_HEADERS valgrind/callgrind.h)
endif()

if(STRATA_SOLVERS) # case files are TOML
    find_path(STRATA_TOMLPLUSPLUS_HEADERS toml++/toml.h)
    if(NOT STRATA_TOMLPLUSPLUS_HEADERS)
        message(STATUS "toml++ was not found: the solvers are left out")
    endif()
endif()

if(STRATA_TESTS)
    find_package(Catch2 QUIET)
    if(NOT TARGET Catch2::Catch2 AND NOT CMAKE_DISABLE_FIND_PACKAGE_Catch2)
        find_path(STRATA_CATCH_HEADERS catch2/catch.hpp) # the header alone is enough
        if(STRATA_CATCH_HEADERS)
            add_library(Catch2::Catch2 INTERFACE IMPORTED)
            target_include_directories(Catch2::Catch2 INTERFACE "${STRATA_CATCH_HEADERS}")
        endif()
    endif()
    if(NOT TARGET Catch2::Catch2)
        message(STATUS "Catch2 was not found: the native unit tests are left out")
    endif()
endif()
