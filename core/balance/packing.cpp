#include "core/balance/packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <utility>

namespace strata::balance {
namespace {

using Load = std::pair<double, int>;  // load, process
using LeastFirst = std::priority_queue<Load, std::vector<Load>, std::greater<>>;

constexpr int kPartners = 48;    // processes that the longest one tries to exchange with, shortest first
constexpr double kGain = 1e-12;  // a relative gain below this is rounding
constexpr int kRounds = 12;      // of MULTIFIT's bisection: each halves the interval
constexpr int kFewPatches = 40;  // at most so many: the search pays

/// A tree with the largest room of each range of bins, to find the first bin with room in O(log m).
class FirstFitBins {
  public:
    explicit FirstFitBins(const std::vector<double>& rooms) {
        while (leaves_ < rooms.size()) leaves_ *= 2;
        most_.assign(2 * leaves_, -1);
        std::copy(rooms.begin(), rooms.end(), most_.begin() + static_cast<long>(leaves_));
        for (size_t i = leaves_ - 1; i > 0; --i) most_[i] = std::max(most_[2 * i], most_[2 * i + 1]);
    }
    /// Takes room for `cost` in the first bin that has it, and returns the bin; -1: none.
    int take(double cost) {
        if (most_[1] < cost) return -1;
        size_t i = 1;
        while (i < leaves_) i = most_[2 * i] >= cost ? 2 * i : 2 * i + 1;
        most_[i] -= cost;
        for (size_t up = i / 2; up > 0; up /= 2) most_[up] = std::max(most_[2 * up], most_[2 * up + 1]);
        return static_cast<int>(i - leaves_);
    }

  private:
    size_t leaves_ = 1;
    std::vector<double> most_;
};

/// The outcome of an exchange between the longest process and another.
struct Exchange {
    double longest;
    int partner = -1, give = -1, take = -1;  // take -1: a move
};

/// The state of `improve`: loads, times in order, and each process's patches by cost.
class Improver {
  public:
    Improver(std::span<const double> costs, std::span<const double> speeds, Owners& owners)
        : costs_(costs), speeds_(speeds), owners_(owners), patches_(speeds.size()) {
        loads_ = loads_of(costs, owners, static_cast<int>(speeds.size()));
        for (size_t i = 0; i < owners.size(); ++i)
            patches_[static_cast<size_t>(owners[i])].insert({costs[i], static_cast<int>(i)});
        for (size_t p = 0; p < speeds.size(); ++p) times_.insert({time(p, loads_[p]), static_cast<int>(p)});
    }

    void run(double enough, long effort) {
        while (effort > 0 && times_.size() > 1) {
            const auto [now, longest] = *times_.rbegin();
            if (now <= enough) return;
            Exchange best{now * (1 - kGain)};
            int partners = 0;
            for (const auto& [other_time, other] : times_) {
                if (other == longest || ++partners > kPartners || effort <= 0) break;
                look(static_cast<size_t>(longest), static_cast<size_t>(other), best, effort);
            }
            if (best.partner < 0) return;
            apply(static_cast<size_t>(longest), best);
        }
    }

  private:
    using Patches = std::set<std::pair<double, int>>;

    [[nodiscard]] double time(size_t process, double load) const { return load / speeds_[process]; }

    void look(size_t from, size_t to, Exchange& best, long& effort) const {
        const double speed = speeds_[from], other_speed = speeds_[to];
        // The cost to be moved for both to end together.
        const double ideal = (loads_[from] * other_speed - loads_[to] * speed) / (speed + other_speed);
        const auto weigh = [&](int give, int take, double moved) {
            const double after = std::max(time(from, loads_[from] - moved), time(to, loads_[to] + moved));
            if (after < best.longest) best = {after, static_cast<int>(to), give, take};
            --effort;
        };
        double before = -1;
        for (const auto& [cost, patch] : patches_[from]) {
            if (cost == before) continue;  // an equal patch was tried
            before = cost;
            weigh(patch, -1, cost);
            if (cost <= ideal) continue;  // moving it alone is better than exchanging it
            const auto above = patches_[to].lower_bound({cost - ideal, -1});
            if (above != patches_[to].end()) weigh(patch, above->second, cost - above->first);
            if (above != patches_[to].begin()) {
                const auto below = std::prev(above);
                weigh(patch, below->second, cost - below->first);
            }
        }
    }

    void hand_over(int patch, size_t from, size_t to) {
        const double cost = costs_[static_cast<size_t>(patch)];
        patches_[from].erase({cost, patch});
        patches_[to].insert({cost, patch});
        owners_[static_cast<size_t>(patch)] = static_cast<int>(to);
    }

    void apply(size_t from, const Exchange& exchange) {
        const auto to = static_cast<size_t>(exchange.partner);
        for (const size_t p : {from, to}) times_.erase({time(p, loads_[p]), static_cast<int>(p)});
        hand_over(exchange.give, from, to);
        if (exchange.take >= 0) hand_over(exchange.take, to, from);
        for (const size_t p : {from, to}) {
            // Summed again: differences of many exchanges would accumulate rounding errors.
            loads_[p] = 0;
            for (const auto& [cost, patch] : patches_[p]) loads_[p] += cost;
            times_.insert({time(p, loads_[p]), static_cast<int>(p)});
        }
    }

    std::span<const double> costs_, speeds_;
    Owners& owners_;
    std::vector<double> loads_;
    std::vector<Patches> patches_;
    std::set<Load> times_;
};

}  // namespace

std::vector<int> largest_first(std::span<const double> costs) {
    std::vector<int> order(costs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return costs[static_cast<size_t>(a)] > costs[static_cast<size_t>(b)];
    });
    return order;
}

std::vector<double> loads_of(std::span<const double> costs, const Owners& owners, int processes) {
    std::vector<double> loads(static_cast<size_t>(processes), 0.0);
    for (size_t i = 0; i < owners.size(); ++i) loads[static_cast<size_t>(owners[i])] += costs[i];
    return loads;
}

double longest_time(std::span<const double> costs, const Owners& owners, std::span<const double> speeds) {
    const std::vector<double> loads = loads_of(costs, owners, static_cast<int>(speeds.size()));
    double longest = 0;
    for (size_t p = 0; p < speeds.size(); ++p) longest = std::max(longest, loads[p] / speeds[p]);
    return longest;
}

Owners pack_largest_first(std::span<const double> costs, std::span<const double> speeds) {
    // Among processes of one speed the least loaded one ends first, so one queue for each speed is enough.
    std::map<double, LeastFirst, std::greater<>> kinds;
    for (size_t p = 0; p < speeds.size(); ++p) kinds[speeds[p]].push({0.0, static_cast<int>(p)});
    Owners owners(costs.size(), 0);
    for (const int patch : largest_first(costs)) {
        const double cost = costs[static_cast<size_t>(patch)];
        auto best = kinds.begin();
        for (auto kind = kinds.begin(); kind != kinds.end(); ++kind)
            if ((kind->second.top().first + cost) / kind->first <
                (best->second.top().first + cost) / best->first)
                best = kind;
        auto [load, process] = best->second.top();
        best->second.pop();
        best->second.push({load + cost, process});
        owners[static_cast<size_t>(patch)] = process;
    }
    return owners;
}

Owners pack_multifit(std::span<const double> costs, std::span<const double> speeds, double ceiling) {
    std::vector<int> slowest(speeds.size());
    std::iota(slowest.begin(), slowest.end(), 0);
    std::stable_sort(slowest.begin(), slowest.end(), [&](int a, int b) {
        return speeds[static_cast<size_t>(a)] < speeds[static_cast<size_t>(b)];
    });
    const std::vector<int> order = largest_first(costs);
    double low = packing_bound(costs, speeds), high = ceiling;
    Owners found, owners(costs.size());
    for (int round = 0; round < kRounds && high > low * (1 + kGain); ++round) {
        const double limit = 0.5 * (low + high);
        std::vector<double> rooms;
        for (const int p : slowest) rooms.push_back(limit * speeds[static_cast<size_t>(p)]);
        FirstFitBins bins(rooms);
        const bool fits = std::all_of(order.begin(), order.end(), [&](int patch) {
            const int bin = bins.take(costs[static_cast<size_t>(patch)]);
            if (bin >= 0) owners[static_cast<size_t>(patch)] = slowest[static_cast<size_t>(bin)];
            return bin >= 0;
        });
        if (fits) found = owners;
        (fits ? high : low) = limit;
    }
    return found;
}

void improve(std::span<const double> costs, std::span<const double> speeds, Owners& owners, double enough,
             long effort) {
    Improver(costs, speeds, owners).run(enough, effort);
}

double packing_bound(std::span<const double> costs, std::span<const double> speeds) {
    if (costs.empty()) return 0;
    const double fastest = *std::max_element(speeds.begin(), speeds.end());
    double bound =
        std::accumulate(costs.begin(), costs.end(), 0.0) / std::accumulate(speeds.begin(), speeds.end(), 0.0);
    bound = std::max(bound, *std::max_element(costs.begin(), costs.end()) / fastest);
    const size_t m = speeds.size();
    if (costs.size() > m) {
        std::vector<double> largest(costs.begin(), costs.end());
        std::nth_element(largest.begin(), largest.begin() + static_cast<long>(m), largest.end(),
                         std::greater<>());
        const double last = largest[m];
        largest.resize(m);
        bound = std::max(bound, (*std::min_element(largest.begin(), largest.end()) + last) / fastest);
    }
    return bound;
}

Owners pack(std::span<const double> costs, std::span<const double> speeds, long effort) {
    const double bound = packing_bound(costs, speeds) * (1 + kGain);
    Owners best = pack_largest_first(costs, speeds);
    Owners other = pack_multifit(costs, speeds, longest_time(costs, best, speeds));
    improve(costs, speeds, best, bound, effort / 2);
    if (!other.empty()) {
        improve(costs, speeds, other, bound, effort / 2);
        if (longest_time(costs, other, speeds) < longest_time(costs, best, speeds)) best = other;
    }
    if (costs.size() <= kFewPatches) search_optimum(costs, speeds, best);
    return best;
}

}  // namespace strata::balance
