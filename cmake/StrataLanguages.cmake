# Languages beside C++: C for the tests of the C interface and to find HDF5, Fortran for the module of teams. Either may be absent. When
# cross-compiling, a compiler that was not named would be that of the machine which compiles.

include(CheckLanguage)

if((STRATA_TESTS OR STRATA_HDF5) AND (CMAKE_C_COMPILER OR NOT CMAKE_CROSSCOMPILING))
    check_language(C)
    if(CMAKE_C_COMPILER)
        enable_language(C)
        set(CMAKE_C_STANDARD 11)
        set(CMAKE_C_EXTENSIONS OFF)
    endif()
endif()

if(STRATA_FORTRAN AND (CMAKE_Fortran_COMPILER OR NOT CMAKE_CROSSCOMPILING))
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
        enable_language(Fortran)
    endif()
endif()
if(CMAKE_Fortran_COMPILER AND STRATA_FORTRAN)
    message(STATUS "Fortran: module strata_mlp with ${CMAKE_Fortran_COMPILER}")
else()
    message(STATUS "Fortran: no compiler, or switched off: the module strata_mlp is left out")
endif()
