# fmt, as the target strata_fmt: its headers alone. Its functions are compiled once, into strata_base (core/base/fmt_compiled.cpp).
# Where that cannot be done (a compiler that does not keep inline functions), strata_fmt is fmt as a bare header, which costs
# seconds of compile time in each source and nothing else.

add_library(strata_fmt INTERFACE)
get_target_property(headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
set(STRATA_FMT_SOURCE "")
set(source "${PROJECT_SOURCE_DIR}/core/base/fmt_compiled.cpp")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND EXISTS "${source}")
    set(STRATA_FMT_OPTIONS -O1 -fkeep-inline-functions)
    # The library as it will be, but for its optimisation, and a program that uses it.
    if(NOT DEFINED STRATA_FMT_COMPILES)
        set(folder "${PROJECT_BINARY_DIR}/CMakeFiles/fmt")
        file(WRITE "${folder}/uses.cpp" "
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <string>
#include <vector>
int main(int count, char** words) {
    const std::vector<double> values(count, 0.5);
    std::string text;
    fmt::format_to(std::back_inserter(text), \"{:>10} {:x} {}\", words[0], count, static_cast<const void*>(words));
    fmt::print(stderr, \"{} {:.3e} {} {:L} {}\\n\", 1.0, 1.0F, 3.0L, count, fmt::join(values, \",\"));
    fmt::print(\"{} {}\\n\", text, values);
    try {
        return static_cast<int>(fmt::format(fmt::runtime(words[0]), count).size());
    } catch (const fmt::format_error&) {
        throw fmt::system_error(1, \"{}\", count);
    }
}
")
        set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
        try_compile(
            compiles "${folder}/library" "${source}"
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${headers}"
            COMPILE_DEFINITIONS -O0 -fkeep-inline-functions
            COPY_FILE "${folder}/libtried.a"
            CXX_STANDARD 20)
        set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
        if(compiles)
            try_compile(
                compiles "${folder}/program" "${folder}/uses.cpp"
                CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${headers}"
                LINK_LIBRARIES "${folder}/libtried.a"
                CXX_STANDARD 20)
        endif()
        set(STRATA_FMT_COMPILES ${compiles} CACHE INTERNAL "Whether fmt can be compiled once")
        message(STATUS "fmt, compiled once: ${compiles}")
    endif()
    if(STRATA_FMT_COMPILES)
        set(STRATA_FMT_SOURCE fmt_compiled.cpp)
    endif()
endif()
if(STRATA_FMT_SOURCE)
    target_include_directories(strata_fmt SYSTEM INTERFACE "${headers}")
else()
    target_link_libraries(strata_fmt INTERFACE fmt::fmt-header-only)
endif()
