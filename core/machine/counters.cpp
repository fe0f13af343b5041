#include "core/machine/counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

struct Event {
    const char* name;
    std::uint32_t type;
    std::uint64_t config;
};

constexpr Event kEvents[] = {
    {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
};

/// 0 where the counter opened, else the system's reason. Kernel time is left out, as unprivileged users must.
int try_event(const Event& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.type;
    attributes.config = event.config;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
    if (fd < 0) return errno;
    close(static_cast<int>(fd));
    return 0;
}

}  // namespace

std::string why_not(int error_number, std::optional<int> paranoid) {
    constexpr int users_may_count = 2;  // sysctl/kernel.rst: up to 2, a user may measure his own programs
    switch (error_number) {
        case ENOENT:
        case EOPNOTSUPP:
        case ENODEV:
            return "this processor, or the hypervisor above it, offers no hardware counters";
        case ENOSYS:
            return "this system has no perf_event_open";
        case EACCES:
        case EPERM:
            return paranoid && *paranoid <= users_may_count
                       ? "a container's filter forbids perf_event_open"
                       : fmt::format("the system forbids them (perf_event_paranoid is {})",
                                     paranoid ? fmt::format("{}", *paranoid) : "unknown");
        default:
            return std::strerror(error_number);
    }
}

Counters try_counters() {
    Counters counters;
    if (const auto level = read_number("/proc/sys/kernel/perf_event_paranoid"))
        counters.paranoid = static_cast<int>(*level);
    int software_error = 0, hardware_error = 0;
    for (const Event& event : kEvents) {
        const int error = try_event(event);
        const bool software = event.type == PERF_TYPE_SOFTWARE;
        if (error == 0) {
            counters.events.emplace_back(event.name);
            (software ? counters.software : counters.hardware) = true;
        } else {
            (software ? software_error : hardware_error) = error;
        }
    }
    if (!counters.hardware)
        counters.why = why_not(hardware_error != 0 ? hardware_error : software_error, counters.paranoid);
    return counters;
}

}  // namespace strata::machine
