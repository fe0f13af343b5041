#include "benchmarks/machine/cycle_counter.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "core/machine/counters.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::bench::machine_measures {
namespace {

int open_event(std::uint64_t config, int group) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = config;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, group, 0));
}

}  // namespace

CycleCounter::CycleCounter() {
    group_ = open_event(PERF_COUNT_HW_CPU_CYCLES, -1);
    if (group_ >= 0) second_ = open_event(PERF_COUNT_HW_INSTRUCTIONS, group_);
    if (second_ >= 0) return;
    std::optional<int> paranoid;
    const int error = errno;
    if (const auto level = machine::read_number("/proc/sys/kernel/perf_event_paranoid"))
        paranoid = static_cast<int>(*level);
    why_ = machine::why_not(error, paranoid);
    if (group_ >= 0) close(group_);
    group_ = -1;
}

CycleCounter::~CycleCounter() {
    if (second_ >= 0) close(second_);
    if (group_ >= 0) close(group_);
}

CycleCounter::Count CycleCounter::read() const {
    // PERF_FORMAT_GROUP with both times: how many, enabled, running, then the values (perf_event_open(2)).
    std::array<std::uint64_t, 5> values{};
    if (!works() || ::read(group_, values.data(), sizeof values) != sizeof values) return {};
    return {values[3], values[4], values[1] == values[2]};
}

}  // namespace strata::bench::machine_measures
