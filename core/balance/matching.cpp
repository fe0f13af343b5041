#include "core/balance/matching.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "core/balance/plan.hpp"

namespace strata::balance {
namespace {

constexpr double kRounding = 1e-12;

}  // namespace

std::vector<double> speeds_of(const std::vector<int>& threads, const ThreadCurve& curve) {
    std::vector<double> speeds;
    for (const int t : threads) speeds.push_back(curve.speedup(t));
    return speeds;
}

double longest_of(const std::vector<double>& loads, const std::vector<int>& threads,
                  const ThreadCurve& curve) {
    double longest = 0;
    for (size_t p = 0; p < loads.size(); ++p)
        longest = std::max(longest, loads[p] / curve.speedup(threads[p]));
    return longest;
}

std::vector<int> threads_within(const std::vector<double>& loads, double time, int cpus,
                                const ThreadCurve& curve) {
    std::vector<int> threads;
    long total = 0;
    for (const double load : loads) {
        threads.push_back(load > 0 ? curve.threads_for(load / time) : 1);
        total += threads.back();
        if (threads.back() == 0 || total > cpus) return {};
    }
    return threads;
}

std::vector<int> match_threads(const std::vector<double>& loads, int cpus, const ThreadCurve& curve) {
    const auto processes = static_cast<int>(loads.size());
    std::vector<int> threads(loads.size(), 1);
    if (processes == 0) return threads;
    // One thread each is the slowest. Each time that is reached is the time of some process with some count.
    double high = longest_of(loads, threads, curve);
    double low = high / curve.speedup(cpus) * (1 - 1e-9);
    for (int i = 0; i < 60 && high > low * (1 + kRounding); ++i) {
        const double middle = 0.5 * (low + high);
        std::vector<int> now = threads_within(loads, middle, cpus, curve);
        if (now.empty()) {
            low = middle;
        } else {
            high = std::min(middle, longest_of(loads, now, curve));
            threads = std::move(now);
        }
    }
    int left = cpus - std::accumulate(threads.begin(), threads.end(), 0);
    std::priority_queue<std::pair<double, int>> longest;
    for (int p = 0; p < processes; ++p) {
        const auto i = static_cast<size_t>(p);
        longest.push({loads[i] / curve.speedup(threads[i]), p});
    }
    while (left > 0 && !longest.empty()) {
        const auto [time, process] = longest.top();
        longest.pop();
        const auto p = static_cast<size_t>(process);
        if (threads[p] >= curve.most() || loads[p] <= 0) continue;
        const double after = loads[p] / curve.speedup(threads[p] + 1);
        if (after < time) {
            ++threads[p];
            --left;
            longest.push({after, process});
        }
    }
    return threads;
}

double lower_bound_time(const std::vector<double>& costs, int cpus, int processes, const ThreadCurve& curve) {
    if (costs.empty()) return 0;
    const double total = std::accumulate(costs.begin(), costs.end(), 0.0),
                 largest = *std::max_element(costs.begin(), costs.end());
    const int most_threads = processes > 0 ? cpus - processes + 1 : cpus;
    const double fastest = curve.speedup(std::max(1, most_threads));
    double low = std::max(largest / fastest, total * curve.price_from(1) / cpus);
    if (processes > 0) {
        low = std::max(low, total / (processes * fastest));
        if (static_cast<size_t>(processes) < costs.size()) {
            std::vector<double> ordered = costs;
            const auto p = static_cast<long>(processes);
            std::nth_element(ordered.begin(), ordered.begin() + p, ordered.end(), std::greater<>());
            low = std::max(low, (ordered[static_cast<size_t>(p)] +
                                 *std::min_element(ordered.begin(), ordered.begin() + p)) /
                                    fastest);
        }
    }
    const auto too_short = [&](double time) {
        double needed = 0;
        for (const double cost : costs) {
            const int threads = curve.threads_for(cost / time);
            if (threads == 0 || threads > most_threads) return true;
            needed += cost * curve.price_from(threads) / time;
        }
        return needed > cpus * (1 + 1e-9);
    };
    if (low <= 0 || curve.is_ideal() || !too_short(low)) return low;
    double high = std::max(low, total);  // one thread does all
    for (int i = 0; i < 50 && high > low * (1 + 1e-9); ++i) {
        const double middle = 0.5 * (low + high);
        (too_short(middle) ? low : high) = middle;
    }
    return low;
}

}  // namespace strata::balance
