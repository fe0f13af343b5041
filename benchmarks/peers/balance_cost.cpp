// What it takes to share out many patches: make_plan() by each method, for a generated set, for a number of
// processes that is given and for one that is searched for. Ends with status 1 where a given number takes a
// second or more.
//
//   balance-cost [PATCHES [CPUS [PROCESSES]]]      (100000 patches, 512 CPUs, 69 processes)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "core/balance/plan.hpp"
#include "core/balance/zones.hpp"
#include "core/base/error.hpp"

namespace {

using namespace strata::balance;

constexpr int kTimes = 5;
constexpr double kLimit = 1.0;  // seconds

/// The median of a few, in seconds; the plan is the last one's.
double time_of(const Problem& problem, const Request& request, Plan& plan) {
    std::vector<double> seconds;
    for (int i = 0; i < kTimes; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        plan = make_plan(problem, request);
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[kTimes / 2];
}

int compare(int patches, int cpus, int processes) {
    const Zones zones = generate(find_set(fmt::format("{}:{}:1000:1000000", patches, patches * 50'000L)), 1);
    fmt::print("{} patches, {} exchanges, {} CPUs; medians of {}\n", patches, zones.problem.exchanged.size(),
               cpus, kTimes);
    fmt::print("{:>14}  {:>18}  {:>10}  {:>18}  {:>9}  {:>10}\n", "method",
               fmt::format("{} processes, s", processes), "efficiency", "any number, s", "processes",
               "efficiency");
    bool within = true;
    for (const std::string& name : method_names()) {
        Plan given, searched;
        const Method method = parse_method(name);
        const double one =
            time_of(zones.problem, {.cpus = cpus, .processes = processes, .method = method}, given);
        const double any = time_of(zones.problem, {.cpus = cpus, .method = method}, searched);
        fmt::print("{:>14}  {:>18.3f}  {:>8.3f} %  {:>18.3f}  {:>9}  {:>8.3f} %\n", name, one,
                   100 * given.efficiency, any, searched.processes(), 100 * searched.efficiency);
        within = within && one < kLimit;
    }
    return within ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
    try {
        return compare(number(1, 100'000), number(2, 512), number(3, 69));
    } catch (const strata::Error& error) {
        fmt::print(stderr, "{}", error.text());
        return error.exit_code();
    }
}
