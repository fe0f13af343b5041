# How Strata's own code is compiled: standard, optimisation, warnings.

if(STRATA_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_options(-Wall -Wextra)
add_link_options(-Wl,--as-needed) # MPI's wrapper also names a library of C++ bindings that nothing here uses
if(STRATA_WERROR)
    add_compile_options(-Werror)
endif()

# For what computes: the flags of this machine's processor, in the folder that calls it. The front, the launcher and what
# they rest on do without, so that one build of them starts on every processor of its kind, also an emulated one. A
# cross-compiler has no "native" processor: what it would ask is the machine that compiles.
macro(strata_compile_for_this_processor)
    if(STRATA_NATIVE AND NOT CMAKE_CROSSCOMPILING)
        include(CheckCXXCompilerFlag)
        check_cxx_compiler_flag(-march=native STRATA_HAVE_MARCH_NATIVE)
        if(STRATA_HAVE_MARCH_NATIVE)
            add_compile_options(-march=native)
        else()
            check_cxx_compiler_flag(-mcpu=native STRATA_HAVE_MCPU_NATIVE)
            if(STRATA_HAVE_MCPU_NATIVE)
                add_compile_options(-mcpu=native)
            endif()
        endif()
    endif()
endmacro()

# strata_runs_once(SOURCES...): what runs once in a run (reading a case, resolving and planning a graph, starting programs, printing)
# compiles in two thirds of the time with -O1, and takes no longer that anybody could see. Kernels, copies and whatever steps do stay
# with the optimisation of the build. Sources of the calling folder; strata_folder_runs_once(): all targets in it and below.
function(strata_runs_once)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()
macro(strata_folder_runs_once)
    add_compile_options($<$<CONFIG:Release>:-O1>)
endmacro()

# Libraries may lie in a private prefix (set-up without root): what was linked is what is found at run time.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
