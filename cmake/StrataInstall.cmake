# Install rules, in one place: programs by what they are, libraries and headers as a CMake package.

include(CMakePackageConfigHelpers)

if(SKBUILD) # a wheel: programs go where the environment keeps its own, data to the environment's root
    set(CMAKE_INSTALL_BINDIR "${SKBUILD_SCRIPTS_DIR}")
    set(CMAKE_INSTALL_LIBEXECDIR "${SKBUILD_DATA_DIR}/libexec")
    set(CMAKE_INSTALL_DATADIR "${SKBUILD_DATA_DIR}/share")
endif()

set(STRATA_LIBEXECDIR "${CMAKE_INSTALL_LIBEXECDIR}/strata")
set(STRATA_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/strata")

foreach(target IN LISTS STRATA_PRODUCT)
    get_target_property(type ${target} TYPE)
    strata_part_of(${target} component)
    if(component STREQUAL "first")
        set(component Unspecified)
    endif()
    if(type STREQUAL "EXECUTABLE" AND target STREQUAL "strata")
        install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    elseif(type STREQUAL "EXECUTABLE")
        install(TARGETS ${target} RUNTIME DESTINATION "${STRATA_LIBEXECDIR}" COMPONENT ${component})
    elseif(type STREQUAL "MODULE_LIBRARY")
        install(TARGETS ${target} LIBRARY DESTINATION "${STRATA_LIBEXECDIR}" COMPONENT ${component})
    elseif(target MATCHES "^strata_(base|machine|observe|launch|team|team_mpi|balance|graph|output|run|mlp|mlplib|mlplib_i8|mlp_fortran)$")
        set_target_properties(${target} PROPERTIES EXPORT_NAME ${CMAKE_MATCH_1})
        install(
            TARGETS ${target}
            EXPORT strataTargets
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
            LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
        list(APPEND STRATA_EXPORTED ${target})
    endif()
endforeach()

install(
    DIRECTORY cases
    DESTINATION "${CMAKE_INSTALL_DATADIR}/strata"
    FILES_MATCHING
    PATTERN "*.toml")

if(STRATA_EXPORTED)
    install(
        DIRECTORY core
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata"
        COMPONENT development
        FILES_MATCHING
        PATTERN "*.hpp")
    install(
        FILES core/team/mlp/include/strata/mlp.h
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata"
        COMPONENT development)
    if(TARGET strata_mlp_fortran)
        # Modules are as their compiler writes them; for another one there are their sources.
        get_target_property(modules strata_mlp_fortran Fortran_MODULE_DIRECTORY)
        install(
            DIRECTORY "${modules}/" core/team/mlp/
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/strata/fortran"
            COMPONENT development
            FILES_MATCHING
            PATTERN "*.mod"
            PATTERN "*.f90"
            PATTERN "include" EXCLUDE)
    endif()
    install(
        EXPORT strataTargets
        NAMESPACE strata::
        DESTINATION "${STRATA_CMAKEDIR}"
        COMPONENT development)
    configure_package_config_file(
        cmake/strataConfig.cmake.in "${PROJECT_BINARY_DIR}/strataConfig.cmake" INSTALL_DESTINATION "${STRATA_CMAKEDIR}")
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/strataConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
    install(
        FILES "${PROJECT_BINARY_DIR}/strataConfig.cmake" "${PROJECT_BINARY_DIR}/strataConfigVersion.cmake"
              cmake/FindHwloc.cmake
        DESTINATION "${STRATA_CMAKEDIR}"
        COMPONENT development)
endif()
