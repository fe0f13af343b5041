#include "core/base/process_age.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/units.hpp"

namespace strata {

double process_age_s() {
    std::ifstream file("/proc/self/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    // The program's name, in parentheses, may hold anything; field 22 is when it began, in ticks since boot.
    std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 2)));
    std::string skipped;
    for (int field = 3; field < 22; ++field) fields >> skipped;
    double began = 0;
    timespec up{};
    if (!(fields >> began) || clock_gettime(CLOCK_BOOTTIME, &up) != 0) return 0;
    began /= static_cast<double>(sysconf(_SC_CLK_TCK));
    return std::max(0.0, static_cast<double>(up.tv_sec) + 1e-9 * static_cast<double>(up.tv_nsec) - began);
}

std::string in_all_line() {
    const double age = process_age_s();
    return age > 1 ? fmt::format("in all {}\n", print_duration(age)) : "";
}

}  // namespace strata
