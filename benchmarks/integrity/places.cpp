#include "benchmarks/integrity/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

std::string microcode_of(int pu) {
    if (const auto text =
            machine::read_file(fmt::format("/sys/devices/system/cpu/cpu{}/microcode/version", pu)))
        return *text;
    // A guest has it in /proc/cpuinfo alone.
    std::istringstream lines(machine::read_file("/proc/cpuinfo").value_or(""));
    bool here = false;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        if (line.rfind("processor", 0) == 0) here = line.substr(colon + 2) == std::to_string(pu);
        if (here && line.rfind("microcode", 0) == 0) return line.substr(colon + 2);
    }
    return "";
}

bool among(const std::vector<int>& list, int pu) {
    return std::find(list.begin(), list.end(), pu) != list.end();
}

}  // namespace

std::vector<Place> places(const machine::Machine& machine, const std::vector<int>& pus) {
    for (const int pu : pus)
        if (!among(machine.allowed.pus, pu))
            throw Error("this CPU cannot be tested from here")
                .given(std::to_string(pu))
                .allowed(print_cpulist(machine.allowed.pus));
    std::vector<Place> list;
    for (const machine::Core& core : machine.cores)
        for (const int pu : core.pus) {
            if (!among(pus.empty() ? machine.allowed.pus : pus, pu)) continue;
            list.push_back({pu, core.os_index,
                            machine.packages.at(static_cast<std::size_t>(core.package)).os_index, core.domain,
                            core.pus, microcode_of(pu)});
            break;  // one worker a core
        }
    return list;
}

std::optional<double> temperature(int package, const std::string& root) {
    std::optional<double> highest;
    const std::string folder = root + "/sys/class/hwmon";
    int packages_seen = 0;
    for (const std::string& name : machine::list_folder(folder)) {
        const std::string sensor = fmt::format("{}/{}", folder, name);
        const std::string kind = machine::read_file(sensor + "/name").value_or("");
        if (kind != "coretemp" && kind != "k10temp") continue;
        // One sensor a package; coretemp also says which.
        const std::string label = machine::read_file(sensor + "/temp1_label").value_or("");
        const std::string here = fmt::format("Package id {}", package);
        const int number = packages_seen++;
        if (label.rfind("Package id ", 0) == 0 ? label != here : number != package) continue;
        for (const std::string& file : machine::list_folder(sensor))
            if (file.rfind("temp", 0) == 0 && file.ends_with("_input"))
                if (const auto millidegrees = machine::read_number(fmt::format("{}/{}", sensor, file)))
                    highest = std::max(highest.value_or(-1e3), 1e-3 * static_cast<double>(*millidegrees));
    }
    return highest;
}

}  // namespace strata::integrity
