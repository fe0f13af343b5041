#include "benchmarks/npb/mz/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/balance/plan.hpp"
#include "core/base/error.hpp"

namespace strata::npb::mz {
namespace {

// The layouts of the table: up to 256x8, with the numbers at which even zones do not share out evenly.
constexpr int kThreads[] = {1, 2, 4, 8};
constexpr int kCpus[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768, 1024, 1536, 2048};

/// "packed (matched)" of a layout, or "-" where there is none.
std::string cell(const Zones& zones, int cpus, int threads) {
    const int processes = cpus / threads;
    if (cpus % threads != 0 || static_cast<std::size_t>(processes) > zones.count()) return "-";
    const double packed = 100 * assign(zones, processes, threads, false).efficiency;
    if (threads == 1) return fmt::format("{:.1f}", packed);
    return fmt::format("{:.1f} ({:.1f})", packed, 100 * assign(zones, processes, threads, true).efficiency);
}

}  // namespace

double cost_of(const Index& size) {
    // Lines in y and z, and right-hand sides, take points of a row by eights: measured, four fifths of the
    // work in BT and more in SP. Along x eight lines are rows. Within 4 % of measured times at the median (by
    // points: 7 and 14 %).
    const auto product = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a * b); };
    const double plane = 0.2 * product(size[0] - 2, flow::round_up(size[1] - 2)) +
                         0.8 * product(flow::round_up(size[0]), size[1] - 2);
    return plane * static_cast<double>(size[2] - 2);
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
        "{} class {}: {} zones, the largest costs {:.3g} times the smallest. Without threads no more than "
        "{:.0f} "
        "processes can be busy all the time.\nEfficiency in %, as predicted, where each process has T "
        "threads; "
        "in brackets: where threads follow the load, as in a team.\n\n{:>5}",
        name, letter(size), count, *most / *least, all / *most, "CPUs");
    for (const int threads : kThreads) text += fmt::format("{:>15}", fmt::format("x{}", threads));
    text += '\n';
    for (const int cpus : kCpus) {
        // With as many zones as that no layout of the table has so many CPUs.
        if (static_cast<std::size_t>(cpus) > count * static_cast<std::size_t>(kThreads[3])) break;
        text += fmt::format("{:>5}", cpus);
        for (const int threads : kThreads) text += fmt::format("{:>15}", cell(zones, cpus, threads));
        text += '\n';
    }
    return text;
}

}  // namespace strata::npb::mz
