#include "benchmarks/integrity/others.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

/// Idle (waiting for devices included) and stolen seconds of each PU, and the tasks that can run (proc(5)).
struct Times {
    std::map<int, std::pair<double, double>> pus;
    int running = 0;
};

Times read_times(const std::string& root) {
    Times times;
    const std::string text = machine::read_file(root + "/proc/stat").value_or("");
    const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const char* line = text.c_str() + at;
        if (std::string_view(line, 3) == "cpu" && line[3] >= '0' && line[3] <= '9') {
            char* next = nullptr;
            const int pu = static_cast<int>(std::strtol(line + 3, &next, 10));
            double field[8] = {};  // user, nice, system, idle, iowait, irq, softirq, steal
            for (double& value : field) value = tick * static_cast<double>(std::strtoull(next, &next, 10));
            times.pus[pu] = {field[3] + field[4], field[7]};
        } else if (std::string_view(line, end - at).rfind("procs_running ", 0) == 0) {
            times.running = std::atoi(line + 14);
        }
        at = end + 1;
    }
    return times;
}

}  // namespace

void Others::look(double now_s, const std::map<int, OwnUse>& own) {
    const Times times = read_times(root_);
    running_ = times.running;
    if (before_s_ >= 0) {
        Tick tick{now_s - before_s_, {}};
        for (const auto& [pu, idle_stolen] : times.pus) {
            const auto before = before_.find(pu);
            if (before == before_.end()) continue;
            const double stolen = idle_stolen.second - before->second.second;
            double other = tick.wall - (idle_stolen.first - before->second.first);
            const auto now = own.find(pu);
            const auto then = own_before_.find(pu);
            if (now != own.end() && then != own_before_.end()) {
                if (now->second.wants_all && then->second.wants_all) other = tick.wall;
                other -= now->second.cpu_s - then->second.cpu_s;
            }
            tick.other[pu] = std::clamp(other - stolen, 0.0, tick.wall);
        }
        window_.push_back(std::move(tick));
        if (window_.size() > kWindow) window_.pop_front();
    }
    before_s_ = now_s;
    before_ = times.pus;
    own_before_ = own;
}

double Others::share(int pu) const {
    double other = 0, wall = 0;
    for (const Tick& tick : window_) {
        const auto found = tick.other.find(pu);
        if (found == tick.other.end()) return 0;
        other += found->second;
        wall += tick.wall;
    }
    return wall > 0 ? other / wall : 0;
}

double Others::all() const {
    if (window_.empty()) return 0;
    // Idle time is told to a hundredth of a second: within a window that is as much as this.
    constexpr double noise = 0.17;
    double sum = 0;
    for (const auto& [pu, other] : window_.back().other) {
        const double here = share(pu);
        if (here > noise) sum += here;
    }
    return sum;
}

}  // namespace strata::integrity
