#include "core/machine/last_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/cpulist.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {

std::uint64_t last_level_caches(const std::string& cpus) {
    double all = 0;
    const auto online = read_file(cpus + "/online");
    if (!online) return 0;
    for (const int cpu : parse_cpulist(*online)) {
        std::int64_t last = 0;
        double share = 0;  // of this CPU
        const std::string caches = cpus + "/cpu" + std::to_string(cpu) + "/cache";
        for (const std::string& name : list_folder(caches)) {
            const std::string at = caches + "/" + name;
            const auto level = read_number(at + "/level");
            const auto size = read_file(at + "/size"), sharers = read_file(at + "/shared_cpu_list");
            if (!level || *level < last || !size || !sharers) continue;
            // The kernel writes "32768K".
            const double unit = size->ends_with('M') ? 0x1p20 : size->ends_with('K') ? 0x1p10 : 1;
            last = *level;
            share = std::strtod(size->c_str(), nullptr) * unit /
                    static_cast<double>(std::max<std::size_t>(1, parse_cpulist(*sharers).size()));
        }
        all += share;
    }
    return static_cast<std::uint64_t>(std::llround(all));
}

}  // namespace strata::machine
