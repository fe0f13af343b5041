// fmt, compiled once. As a bare header it is compiled into every source that formats anything, 2 to 4 seconds
// each, and its shared library brings the C++ runtime's, and loading and relocating the two takes longer (0.5
// ms) than all that `strata launch` does by itself. This source is compiled with -fkeep-inline-functions:
// every function of the header that the calls below lead to becomes one that others link to
// (cmake/StrataFmt.cmake checks that they do).
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>
#include <cstdio>
#include <string>

namespace strata::base {

std::string every_way_into_fmt(std::FILE* file, double d, float f, long double l) {
    fmt::print(file, "{} {}", d, f);
    fmt::print("{}", fmt::system_error(1, "{}", l).what());
    return fmt::format("{:L} {:L} {}", 1000, d, l);
}

}  // namespace strata::base
