# hwloc, as the target hwloc::hwloc. Its version is read from the header, so that no pkg-config is needed.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(PC_HWLOC QUIET hwloc)
endif()

find_path(Hwloc_INCLUDE_DIR hwloc.h HINTS ${PC_HWLOC_INCLUDE_DIRS})
find_library(Hwloc_LIBRARY hwloc HINTS ${PC_HWLOC_LIBRARY_DIRS})
mark_as_advanced(Hwloc_INCLUDE_DIR Hwloc_LIBRARY)

if(Hwloc_INCLUDE_DIR)
    file(STRINGS "${Hwloc_INCLUDE_DIR}/hwloc.h" Hwloc_API REGEX "#define HWLOC_API_VERSION 0x[0-9a-fA-F]+")
    # 0x00020900 is 2.9.0
    if(Hwloc_API MATCHES "0x([0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])([0-9a-fA-F][0-9a-fA-F])([0-9a-fA-F][0-9a-fA-F])")
        math(EXPR Hwloc_MAJOR "0x${CMAKE_MATCH_1}")
        math(EXPR Hwloc_MINOR "0x${CMAKE_MATCH_2}")
        math(EXPR Hwloc_PATCH "0x${CMAKE_MATCH_3}")
        set(Hwloc_VERSION "${Hwloc_MAJOR}.${Hwloc_MINOR}.${Hwloc_PATCH}")
    endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS Hwloc_LIBRARY Hwloc_INCLUDE_DIR VERSION_VAR Hwloc_VERSION)

if(Hwloc_FOUND AND NOT TARGET hwloc::hwloc)
    add_library(hwloc::hwloc UNKNOWN IMPORTED)
    set_target_properties(
        hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${Hwloc_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Hwloc_INCLUDE_DIR}")
endif()
