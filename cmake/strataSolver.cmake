# For solvers of one's own, with find_package(strata).

# strata::solver: all that a solver links; of the methods a program gets what it calls. With MPI it also runs over nodes, under
# mpirun or srun.
if(TARGET strata::run AND NOT TARGET strata::solver)
    add_library(strata::solver INTERFACE IMPORTED)
    set_property(TARGET strata::solver PROPERTY INTERFACE_LINK_LIBRARIES strata::overset strata::curvilinear strata::geometry
                                                strata::run)
    if(TARGET strata::team_mpi AND TARGET MPI::MPI_CXX)
        set_property(TARGET strata::solver APPEND PROPERTY INTERFACE_LINK_LIBRARIES strata::team_mpi)
    endif()
endif()

# strata_solver(NAME SOURCES...): a program that `strata run` starts for cases with solver = "NAME": optimised for this processor
# (STRATA_NATIVE=OFF: for all of its kind), and with the same bits from every compiler, since a product and a sum are never one
# rounding. Its result says how it was compiled.
function(strata_solver name)
    if(NOT TARGET strata::solver)
        message(FATAL_ERROR "This Strata was built without toml++, and so without what solvers link. `strata doctor` says how to get it.")
    endif()
    option(STRATA_NATIVE "Compile for the processor of this machine" ${strata_NATIVE})
    set(options -ffp-contract=off)
    if(STRATA_NATIVE AND NOT CMAKE_CROSSCOMPILING)
        include(CheckCXXCompilerFlag)
        check_cxx_compiler_flag(-march=native STRATA_HAVE_MARCH_NATIVE)
        if(STRATA_HAVE_MARCH_NATIVE)
            list(APPEND options -march=native)
        else()
            check_cxx_compiler_flag(-mcpu=native STRATA_HAVE_MCPU_NATIVE)
            if(STRATA_HAVE_MCPU_NATIVE)
                list(APPEND options -mcpu=native)
            endif()
        endif()
    endif()
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE strata::solver)
    target_link_options(${name} PRIVATE LINKER:--as-needed)
    target_compile_options(${name} PRIVATE ${options})
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    string(JOIN " " flags ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options})
    target_compile_definitions(
        ${name} PRIVATE "STRATA_SOLVER_COMPILER=\"${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}\""
                        "STRATA_SOLVER_FLAGS=\"${flags}\"")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
endfunction()
