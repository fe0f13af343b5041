#include <sched.h>

#include <algorithm>

#include "benchmarks/integrity/events.hpp"
#include "benchmarks/integrity/supervisor.hpp"
#include "benchmarks/integrity/worker.hpp"
#include "core/base/error.hpp"
#include "core/machine/limits.hpp"

namespace strata::integrity {

int run_plainly(const Settings& settings) {
    const int pu = settings.pus.empty() ? machine::own_affinity().front() : settings.pus.front();
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(pu), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw system_error("no thread can be bound to this CPU", errno);
    std::vector<std::byte> memory(std::max<std::size_t>(settings.memory_bytes, std::size_t{1} << 16U));
    Round round;
    round.scratch = scratch_for_all();
    round.block = memory;
    const double each_s =
        settings.seconds > 0 ? settings.seconds / static_cast<double>(settings.kernels.size()) : 1;
    for (const std::uint32_t kernel : settings.kernels) {
        if (kernels()[kernel].use == Use::pair) continue;  // not without a second core
        std::uint64_t rounds = 0, work = 0;
        const std::int64_t from = own_cpu_ns();
        std::int64_t taken = 0;
        for (; settings.rounds > 0 ? rounds < settings.rounds : 1e-9 * static_cast<double>(taken) < each_s;
             ++rounds) {
            round.seed = round_seed(settings.seed, kernel, 0, static_cast<std::uint32_t>(rounds % kPool));
            Trace trace;
            kernels()[kernel].run(round, trace);
            work += trace.work();
            taken = own_cpu_ns() - from;
        }
        say("plain", [&](Json& json) {
            json.member("core", pu).member("kernel", kernels()[kernel].name).member("rounds", rounds);
            json.member("seconds", 1e-9 * static_cast<double>(taken)).member("work", work);
            json.member("unit", kernels()[kernel].unit);
        });
    }
    return kSuccess;
}

}  // namespace strata::integrity
