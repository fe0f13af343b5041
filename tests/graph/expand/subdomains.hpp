// A small graph for tests: subdomains of an unstructured mesh, some of which take longer than others.
#pragma once

#include <ctime>
#include <utility>
#include <vector>

#include "core/graph/simulation/simulation.hpp"

namespace strata::graph::testing {

/// Subdomains of a square of 8 x 8, numbered at random: only what they exchange says who is near.
struct Subdomains {
    static constexpr int kSide = 8, kAll = kSide * kSide;
    Graph graph{"subdomains"};
    Family& family;
    /// [subdomain]: CPU time that its task takes besides. No value depends on it.
    std::vector<double> seconds = std::vector<double>(kAll, 0.0);

    Subdomains() : family(graph.add<Family>("subdomains", kAll)) {
        Gather::Table from(kAll);
        for (int y = 0; y < kSide; ++y)
            for (int x = 0; x < kSide; ++x)
                for (const auto& [dx, dy] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}})
                    for (int n = 0; n < 50 && is_inside(x + dx) && is_inside(y + dy); ++n)
                        from[static_cast<std::size_t>(number(x, y))].push_back({number(x + dx, y + dy), n});
        const auto& around = graph.add<Gather>("around", family, family, from);
        const auto u = graph.list<double>("u", family, [](int) { return 1000; }, {.history = 1});
        Task begin = graph.start().task("begin", family);
        begin.run([first = begin.make(u)](Here& here) {
            for (int n = 0; n < 1000; ++n) here[first][n] = here.patch + 1e-3 * n;
        });
        Task task = graph.step().task("step", family);
        const auto near = task.need(u.previous(), around);
        const auto old = task.need(u.previous());
        const auto now = task.make(u);
        task.work(0, 16e3);
        task.run([=, this](Here& here) {
            const double until = cpu_now() + seconds[static_cast<std::size_t>(here.patch)];
            for (int n = 0; n < 1000; ++n)
                here[now][n] = 0.7 * here[old][n] + 0.3 * here[near][n % here[near].size()];
            while (cpu_now() < until) {
            }
        });
    }

  private:
    static bool is_inside(int at) { return at >= 0 && at < kSide; }
    static int number(int x, int y) { return 37 * (x + kSide * y) % kAll; }
    static double cpu_now() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
};

}  // namespace strata::graph::testing
