# Install rules, in one place: programs by what they are, libraries and headers as a CMake package.

include(CMakePackageConfigHelpers)

# The libraries of a solver of one's own are one export, those for C and Fortran another: a tree may have the first alone.
set(STRATA_SOLVER_LIBRARIES base machine observe launch team team_mpi balance graph output run geometry curvilinear overset)
set(STRATA_TEAM_LIBRARIES mlp mlplib mlplib_i8 mlp_fortran)
set(STRATA_EXPORTS "")
# A wheel has all solvers, though pyproject.toml does not know them: all that is in their parts goes where the first part does.
set(STRATA_WITH_FIRST first)
if(SKBUILD)
    foreach(name IN LISTS STRATA_SHIPPED_SOLVERS)
        strata_manifest(${name} part part)
        list(APPEND STRATA_WITH_FIRST ${part})
    endforeach()
endif()

foreach(target IN LISTS STRATA_PRODUCT)
    set(export "")
    string(REGEX REPLACE "^strata_" "" name "${target}")
    get_target_property(type ${target} TYPE)
    strata_part_of(${target} component)
    if(component IN_LIST STRATA_WITH_FIRST)
        set(component Unspecified)
    endif()
    if(type STREQUAL "EXECUTABLE" AND target STREQUAL "strata")
        install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    elseif(type STREQUAL "EXECUTABLE")
        install(TARGETS ${target} RUNTIME DESTINATION "${STRATA_LIBEXECDIR}" COMPONENT ${component})
    elseif(type STREQUAL "MODULE_LIBRARY")
        install(TARGETS ${target} LIBRARY DESTINATION "${STRATA_LIBEXECDIR}" COMPONENT ${component})
    elseif(name IN_LIST STRATA_SOLVER_LIBRARIES)
        set(export strataTargets)
    elseif(name IN_LIST STRATA_TEAM_LIBRARIES)
        set(export strataTeamTargets)
    endif()
    if(export)
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
        install(
            TARGETS ${target}
            EXPORT ${export}
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component}
            LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT ${component})
        list(APPEND STRATA_EXPORTS ${export})
    endif()
endforeach()

install(
    DIRECTORY cases
    DESTINATION "${CMAKE_INSTALL_DATADIR}/strata"
    FILES_MATCHING
    PATTERN "*.toml"
    PATTERN "*.alloy")

foreach(name IN LISTS STRATA_SHIPPED_SOLVERS) # `strata new` knows their names by them
    install(FILES solvers/${name}/solver.toml DESTINATION "${CMAKE_INSTALL_DATADIR}/strata/solvers/${name}")
endforeach()

install(FILES contrib/site/site.toml DESTINATION "${CMAKE_INSTALL_SYSCONFDIR}/strata")

if(STRATA_EXPORTS)
    install(
        DIRECTORY core methods
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata"
        COMPONENT solver
        FILES_MATCHING
        PATTERN "*.hpp")
    install(
        FILES core/team/mlp/include/strata/mlp.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata"
        COMPONENT develop)
    if(TARGET strata_mlp_fortran)
        # Modules are as their compiler writes them; for another one there are their sources.
        get_target_property(modules strata_mlp_fortran Fortran_MODULE_DIRECTORY)
        install(
            DIRECTORY "${modules}/" core/team/mlp/
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata/fortran"
            COMPONENT develop
            FILES_MATCHING
            PATTERN "*.mod"
            PATTERN "*.f90"
            PATTERN "include" EXCLUDE)
    endif()

    # The MPI that the libraries were built with, as the package defines it again.
    set(STRATA_MPI_FOUND FALSE)
    set(STRATA_MPI_PROPERTIES "")
    if(MPI_CXX_FOUND)
        set(STRATA_MPI_FOUND TRUE)
        foreach(property IN ITEMS COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_LIBRARIES LINK_OPTIONS)
            get_target_property(value MPI::MPI_CXX INTERFACE_${property})
            if(value)
                string(APPEND STRATA_MPI_PROPERTIES
                       "        set_property(TARGET MPI::MPI_CXX PROPERTY INTERFACE_${property} [[${value}]])\n")
            endif()
        endforeach()
    endif()
    set(STRATA_LZMA_FOUND FALSE)
    if(TARGET LibLZMA::LibLZMA)
        set(STRATA_LZMA_FOUND TRUE)
    endif()
    set(package "${PROJECT_BINARY_DIR}/package")
    configure_package_config_file(
        cmake/strataConfig.cmake.in "${package}/strataConfig.cmake" INSTALL_DESTINATION "${STRATA_CMAKEDIR}")
    configure_file(cmake/strataStart.cmake.in "${package}/strataStart.cmake" @ONLY)
    write_basic_package_version_file("${package}/strataConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
    install(
        FILES "${package}/strataConfig.cmake" "${package}/strataConfigVersion.cmake" "${package}/strataStart.cmake"
              cmake/FindHwloc.cmake cmake/strataSolver.cmake
        DESTINATION "${STRATA_CMAKEDIR}"
        COMPONENT solver)
    list(REMOVE_DUPLICATES STRATA_EXPORTS)
    foreach(export IN LISTS STRATA_EXPORTS)
        set(component solver)
        if(export STREQUAL "strataTeamTargets")
            set(component develop)
        endif()
        install(
            EXPORT ${export}
            NAMESPACE strata::
            DESTINATION "${STRATA_CMAKEDIR}"
            COMPONENT ${component})
    endforeach()
endif()
