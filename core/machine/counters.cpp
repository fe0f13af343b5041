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
    if (counters.hardware) return counters;
    if (hardware_error == ENOENT || hardware_error == EOPNOTSUPP || hardware_error == ENODEV) {
        counters.why = "this processor, or the hypervisor above it, offers no hardware counters";
    } else if (hardware_error == EACCES || hardware_error == EPERM) {
        counters.why = fmt::format("the system forbids them (perf_event_paranoid is {})",
                                   counters.paranoid.value_or(-1));
    } else {
        counters.why = std::strerror(hardware_error != 0 ? hardware_error : software_error);
    }
    return counters;
}

}  // namespace strata::machine
