#include "benchmarks/npb/mz/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/balance/plan.hpp"
#include "core/base/error.hpp"

namespace strata::npb::mz {

double cost_of(const Index& size) {
    // A third of the work is along x, where eight lines are rows; the rest takes points of a row by eights.
    const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a * b); };
    const double plane =
        product(size[0], flow::round_up(size[1] - 2)) / 3 + product(flow::round_up(size[0]), size[1]) * 2 / 3;
    return plane * static_cast<double>(size[2]);
}

std::vector<double> costs_of(const Zones& zones) {
    std::vector<double> costs;
    for (std::size_t z = 0; z < zones.count(); ++z) costs.push_back(cost_of(zones.size(z)));
    return costs;
}

Assignment assign(const Zones& zones, int processes, int threads, bool moved) {
    if (static_cast<std::size_t>(processes) > zones.count())
        throw Error("there are more processes than zones")
            .given(fmt::format("{} processes", processes))
            .allowed(fmt::format("at most {}", zones.count()))
            .remedy("give each process more threads: --layout PxT");
    const std::vector<double> costs = costs_of(zones);
    Assignment found;
    if (moved && threads > 1) {
        balance::Request request;
        request.cpus = processes * threads;
        request.processes = processes;
        const balance::Plan plan = balance::make_plan({costs, {}, {}}, request);
        found.owners = plan.owners;
        found.threads = plan.threads;
    } else {
        const std::vector<double> speeds(static_cast<std::size_t>(processes), 1.0);
        found.owners = balance::pack(costs, speeds);
        found.threads.assign(static_cast<std::size_t>(processes), threads);
    }
    const std::vector<double> loads = balance::loads_of(costs, found.owners, processes);
    double longest = 0;
    for (std::size_t p = 0; p < loads.size(); ++p) longest = std::max(longest, loads[p] / found.threads[p]);
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    found.efficiency = all / (longest * processes * threads);
    return found;
}

std::string balance_text(const std::string& name, Class size, const Zones& zones) {
    const auto count = zones.count();
    std::vector<double> costs = costs_of(zones);
    const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
    const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
    std::string text = fmt::format(
        "{} class {}: {} zones, the largest {:.3g} times the smallest. Efficiency in %, packed: threads as "
        "the "
        "layout says\n(matched: as the load of each process asks for). Without threads no more than {:.0f} "
        "processes can be busy all the time.\n\n{:>9}",
        name, letter(size), count, *most / *least, all / *most, "processes");
    constexpr int kThreads[] = {1, 2, 4, 8};
    for (const int threads : kThreads) text += fmt::format("{:>16}", fmt::format("x{}", threads));
    text += '\n';
    for (int processes = 1; processes <= 256 && static_cast<std::size_t>(processes) <= count;
         processes *= 2) {
        text += fmt::format("{:>9}", processes);
        for (const int threads : kThreads) {
            const double packed = assign(zones, processes, threads, false).efficiency;
            const double matched = assign(zones, processes, threads, true).efficiency;
            text += fmt::format("{:>16}", threads == 1
                                              ? fmt::format("{:.1f}", 100 * packed)
                                              : fmt::format("{:.1f} ({:.1f})", 100 * packed, 100 * matched));
        }
        text += '\n';
    }
    return text;
}

}  // namespace strata::npb::mz
