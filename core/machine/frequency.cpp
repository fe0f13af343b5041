#include "core/machine/frequency.hpp"

#include <fmt/format.h>

#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

std::optional<int> megahertz(const std::string& path) {
    const auto khz = read_number(path);
    if (!khz) return std::nullopt;
    return static_cast<int>(*khz / 1000);
}

}  // namespace

void read_frequencies(Machine& machine, const std::string& root) {
    const std::string cpu = root + "/sys/devices/system/cpu/";
    for (Core& core : machine.cores) {
        if (core.pus.empty()) continue;
        const std::string folder = fmt::format("{}cpu{}/cpufreq/", cpu, core.pus.front());
        core.base_mhz = megahertz(folder + "base_frequency");
        core.max_mhz = megahertz(folder + "cpuinfo_max_freq");
        core.governor = read_file(folder + "scaling_governor");
        if (core.index == 0 && !core.max_mhz && !core.governor) break;  // no cpufreq here, as in most guests
    }
    if (const auto off = read_number(cpu + "intel_pstate/no_turbo")) {
        machine.turbo = *off == 0;
    } else if (const auto boost = read_number(cpu + "cpufreq/boost")) {
        machine.turbo = *boost != 0;
    }
}

}  // namespace strata::machine
