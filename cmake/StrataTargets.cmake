# Helpers for the CMakeLists.txt of the folders.

# All targets made in a folder and below it, but for those that are only built when asked for.
function(strata_collect_targets directory result)
    get_property(all DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
    set(found "")
    foreach(target IN LISTS all)
        get_target_property(aside ${target} EXCLUDE_FROM_ALL)
        if(NOT aside)
            list(APPEND found ${target})
        endif()
    endforeach()
    get_property(folders DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
    foreach(folder IN LISTS folders)
        strata_collect_targets("${folder}" below)
        list(APPEND found ${below})
    endforeach()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# strata_library(NAME SOURCES... [LIBRARIES ...]): the static library strata_NAME with the alias strata::NAME.
# Headers are included by their path from the root of the repository.
function(strata_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_library(strata_${name} STATIC ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
    add_library(strata::${name} ALIAS strata_${name})
    target_include_directories(
        strata_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                              "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/strata>")
    target_compile_features(strata_${name} PUBLIC cxx_std_20)
    target_link_libraries(strata_${name} PUBLIC ${ARG_LIBRARIES})
endfunction()

set(STRATA_CASES_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/StrataCases.cmake")

# strata_test(NAME SOURCES... [LIBRARIES ...] [LABELS ...]): a Catch2 program whose cases CTest runs one by one.
function(strata_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES} ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(${name} PRIVATE strata_catch_main ${ARG_LIBRARIES})
    set(which "")
    if(CMAKE_CROSSCOMPILING) # under emulation: no further program starts, and not all calls of the kernel are there
        set(which "~[native]~[.]")
    endif()
    set(properties TIMEOUT ${STRATA_TEST_TIMEOUT} SKIP_REGULAR_EXPRESSION "cannot try: ")
    if(ARG_LABELS)
        list(APPEND properties LABELS "${ARG_LABELS}")
    endif()
    set(quoted "")
    foreach(property IN LISTS properties)
        string(APPEND quoted " [==[${property}]==]")
    endforeach()
    set(cases "${CMAKE_CURRENT_BINARY_DIR}/${name}_cases.cmake")
    add_custom_command(
        TARGET ${name}
        POST_BUILD
        COMMAND "${CMAKE_COMMAND}" "-Dprogram=$<TARGET_FILE:${name}>" "-Demulator=${CMAKE_CROSSCOMPILING_EMULATOR}" "-Dname=${name}"
                "-Dwhich=${which}" "-Dproperties=${quoted}" "-Dfile=${cases}" -P "${STRATA_CASES_SCRIPT}"
        VERBATIM)
    set(include "${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake")
    file(WRITE "${include}" "if(EXISTS [==[${cases}]==])\n    include([==[${cases}]==])\nelse()\n"
         "    add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()
