# Precompiled headers: reading the headers of the standard library and of fmt takes each source about a second (core/launch/explain.cpp:
# 4.5 s without this, 3.6 s with it). They are compiled once for each set of flags, and every target with these flags uses the
# result. A source includes what it needs all the same: it has to compile with STRATA_PCH=OFF.

option(STRATA_PCH "Precompile the headers that most sources include" ON)

set(STRATA_PRECOMPILED
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdlib> <cstring> <deque> <filesystem> <fstream>
    <functional> <limits> <map> <memory> <numeric> <optional> <random> <set> <span> <sstream> <stdexcept> <string>
    <string_view> <thread> <tuple> <utility> <vector> <fmt/format.h> <fmt/ranges.h>)

# strata_flags_of(TARGET OPTIONS LIBRARIES): its compile options with those that come from what it links, but for warnings, and of
# the libraries that decide about headers those which it links: OpenMP and threads where they have a flag, Catch2.
function(strata_flags_of target options libraries)
    get_target_property(flags ${target} COMPILE_OPTIONS)
    get_target_property(open ${target} LINK_LIBRARIES)
    set(seen "")
    set(decisive "")
    while(open)
        list(POP_FRONT open library)
        string(REGEX REPLACE "^\\$<(TARGET_NAME_IF_EXISTS|BUILD_INTERFACE):(.*)>$" "\\2" library "${library}")
        if(NOT TARGET "${library}" OR library IN_LIST seen)
            continue()
        endif()
        list(APPEND seen ${library})
        if(library MATCHES "^(OpenMP|Threads|Catch2)::|^strata_fmt$")
            list(APPEND decisive ${library})
            continue()
        endif()
        get_target_property(more ${library} INTERFACE_COMPILE_OPTIONS)
        if(more)
            list(APPEND flags ${more})
        endif()
        get_target_property(more ${library} INTERFACE_LINK_LIBRARIES)
        if(more)
            list(APPEND open ${more})
        endif()
    endwhile()
    list(REMOVE_ITEM flags "flags-NOTFOUND")
    # Warnings do not matter to a precompiled header, nor does how much is optimised, as long as something is. What changes values
    # does: GCC takes the options of functions for other processors (target attributes) from the header.
    if(flags MATCHES "(^|;|:)-O[123]") # of a target in a folder that has -O0
        list(FILTER flags EXCLUDE REGEX "-O0")
    endif()
    list(FILTER flags EXCLUDE REGEX "^(-W|\\$<\\$<CXX_COMPILER_ID:[A-Za-z]+>:-W|(\\$<\\$<CONFIG:[A-Za-z]+>:)?-O[123])")
    get_target_property(pthread Threads::Threads INTERFACE_COMPILE_OPTIONS)
    if(NOT pthread)
        list(REMOVE_ITEM decisive Threads::Threads)
    endif()
    list(SORT decisive)
    list(REMOVE_DUPLICATES flags)
    list(SORT flags)
    set(${options} "${flags}" PARENT_SCOPE)
    set(${libraries} "${decisive}" PARENT_SCOPE)
endfunction()

# strata_precompile(TARGET...): one precompiled header, of 5 s and 100 MB, for each set of flags that at least ten sources share; for
# fewer it costs what it saves.
function(strata_precompile)
    set(kinds "")
    foreach(target IN LISTS ARGN)
        get_target_property(type ${target} TYPE)
        get_target_property(sources ${target} SOURCES)
        if(NOT type MATCHES "^(EXECUTABLE|STATIC_LIBRARY|OBJECT_LIBRARY)$" OR NOT sources OR sources MATCHES "[.](c|f|f90)(;|$)")
            continue()
        endif()
        strata_flags_of(${target} options libraries)
        if(NOT "strata_fmt" IN_LIST libraries)
            continue()
        endif()
        get_target_property(folder ${target} SOURCE_DIR)
        if(folder MATCHES "^${PROJECT_SOURCE_DIR}/tests(/|$)" AND NOT "Catch2::Catch2" IN_LIST libraries)
            list(APPEND libraries Catch2::Catch2) # so that all of the tests share a header: nobody else reads it
            list(SORT libraries)
        endif()
        string(MD5 kind "${options} ${libraries}")
        string(SUBSTRING ${kind} 0 8 kind)
        if(NOT kind IN_LIST kinds)
            list(APPEND kinds ${kind})
            set(${kind}_targets "")
            set(${kind}_sources 0)
            set(${kind}_options "${options}")
            set(${kind}_libraries "${libraries}")
        endif()
        list(APPEND ${kind}_targets ${target})
        list(LENGTH sources count)
        math(EXPR ${kind}_sources "${${kind}_sources} + ${count}")
    endforeach()

    # An object library wants a source. It is only written where it changes.
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pch/empty.cpp" CONTENT "// headers alone\n" @ONLY)
    foreach(kind IN LISTS kinds)
        if(${kind}_sources LESS 10)
            continue()
        endif()
        set(headers ${STRATA_PRECOMPILED})
        if("${${kind}_libraries}" MATCHES "Catch2::")
            list(APPEND headers "${PROJECT_SOURCE_DIR}/tests/catch.hpp")
        endif()
        set(header strata_pch_${kind})
        add_library(${header} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/pch/empty.cpp")
        set_target_properties(${header} PROPERTIES COMPILE_OPTIONS "${${kind}_options}")
        target_link_libraries(${header} PRIVATE ${${kind}_libraries})
        target_precompile_headers(${header} PRIVATE ${headers})
        foreach(target IN LISTS ${kind}_targets)
            target_precompile_headers(${target} REUSE_FROM ${header})
            get_target_property(type ${target} TYPE)
            if(type STREQUAL "EXECUTABLE")
                target_compile_options(${target} PRIVATE -fPIC) # as libraries and the header, in place of -fPIE
            endif()
            # GCC looks for memory that it no longer needs whenever it has 128 MB more, and walks through all of the header each time.
            # With 300 MB an object takes up to a tenth less time, and 30 MB more.
            target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Winvalid-pch;--param=ggc-min-heapsize=300000>)
            if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
                # GCC 12 sees bounds broken within std::string where there are none (its bug 105651), and no longer leaves it out as of
                # a system's header when that is precompiled.
                target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
            endif()
        endforeach()
    endforeach()
endfunction()

if(STRATA_PCH AND STRATA_IS_TOP_LEVEL)
    strata_collect_targets("${PROJECT_SOURCE_DIR}" all)
    strata_precompile(${all} ${built_when_asked})
endif()
