#include "core/balance/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace strata::balance {
namespace {

/// [patch] -> its partners, in one array.
struct Neighbours {
    struct Partner {
        int patch;
        double bytes;
    };
    std::vector<size_t> begin;
    std::vector<Partner> partners;

    Neighbours(size_t patches, std::span<const Exchanged> exchanged) : begin(patches + 1, 0) {
        for (const Exchanged& e : exchanged) {
            ++begin[static_cast<size_t>(e.a) + 1];
            ++begin[static_cast<size_t>(e.b) + 1];
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        partners.resize(begin.back());
        std::vector<size_t> next(begin.begin(), begin.end() - 1);
        for (const Exchanged& e : exchanged) {
            partners[next[static_cast<size_t>(e.a)]++] = {e.b, e.bytes};
            partners[next[static_cast<size_t>(e.b)]++] = {e.a, e.bytes};
        }
    }
    [[nodiscard]] std::span<const Partner> of(int patch) const {
        const auto p = static_cast<size_t>(patch);
        return std::span(partners).subspan(begin[p], begin[p + 1] - begin[p]);
    }
};

/// The processes by load, one set for each speed.
class Loads {
  public:
    explicit Loads(std::span<const double> speeds) : speeds_(speeds), loads_(speeds.size(), 0.0) {
        for (size_t p = 0; p < speeds.size(); ++p) kinds_[speeds[p]].insert({0.0, static_cast<int>(p)});
    }
    [[nodiscard]] double time_with(int process, double cost) const {
        return (loads_[static_cast<size_t>(process)] + cost) / speeds_[static_cast<size_t>(process)];
    }
    [[nodiscard]] int earliest(double cost) const {
        int best = -1;
        for (const auto& [speed, kind] : kinds_) {
            const int process = kind.begin()->second;
            if (best < 0 || time_with(process, cost) < time_with(best, cost)) best = process;
        }
        return best;
    }
    void give(int process, double cost) {
        const auto p = static_cast<size_t>(process);
        auto& kind = kinds_[speeds_[p]];
        kind.erase({loads_[p], process});
        kind.insert({loads_[p] += cost, process});
    }

  private:
    std::span<const double> speeds_;
    std::vector<double> loads_;
    std::map<double, std::set<std::pair<double, int>>, std::greater<>> kinds_;
};

}  // namespace

std::vector<Exchanged> overlaps(std::span<const Box> boxes) {
    // Sweeps along the axis in which boxes are smallest relative to the whole: fewest pairs overlap there.
    size_t axis = 0;
    double most = -1;
    for (size_t d = 0; d < 3; ++d) {
        double low = INFINITY, high = -INFINITY, sides = 0;
        for (const Box& box : boxes) {
            low = std::min(low, box.low[d]);
            high = std::max(high, box.high[d]);
            sides += box.high[d] - box.low[d];
        }
        const double apart = sides > 0 ? (high - low) / sides : (high > low ? INFINITY : 0);
        if (apart > most) most = apart, axis = d;
    }
    std::vector<int> order(boxes.size());
    std::iota(order.begin(), order.end(), 0);
    const auto low_of = [&](int box) { return boxes[static_cast<size_t>(box)].low[axis]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return low_of(a) < low_of(b); });

    std::vector<Exchanged> found;
    for (size_t i = 0; i < order.size(); ++i) {
        const Box& box = boxes[static_cast<size_t>(order[i])];
        for (size_t j = i + 1; j < order.size() && low_of(order[j]) <= box.high[axis]; ++j) {
            const Box& other = boxes[static_cast<size_t>(order[j])];
            bool meet = true;
            for (size_t d = 0; d < 3; ++d)
                meet = meet && box.low[d] <= other.high[d] && other.low[d] <= box.high[d];
            if (meet) found.push_back({std::min(order[i], order[j]), std::max(order[i], order[j]), 1});
        }
    }
    std::sort(found.begin(), found.end(), [](const Exchanged& x, const Exchanged& y) {
        return std::pair(x.a, x.b) < std::pair(y.a, y.b);
    });
    return found;
}

double bytes_between(std::span<const Exchanged> exchanged, const Owners& owners) {
    double bytes = 0;
    for (const Exchanged& e : exchanged)
        if (owners[static_cast<size_t>(e.a)] != owners[static_cast<size_t>(e.b)]) bytes += e.bytes;
    return bytes;
}

Owners pack_connected(std::span<const double> costs, std::span<const double> speeds,
                      std::span<const Exchanged> exchanged, double limit, Preference preference) {
    const Neighbours neighbours(costs.size(), exchanged);
    Loads loads(speeds);
    Owners owners(costs.size(), -1);
    std::map<int, double> bytes_to;  // ordered, so ties are decided in the same way each time
    for (const int patch : largest_first(costs)) {
        const double cost = costs[static_cast<size_t>(patch)];
        bytes_to.clear();
        for (const auto& [partner, bytes] : neighbours.of(patch))
            if (const int owner = owners[static_cast<size_t>(partner)]; owner >= 0) bytes_to[owner] += bytes;
        int best = -1;
        double best_bytes = 0;
        for (const auto& [process, bytes] : bytes_to) {
            if (loads.time_with(process, cost) > limit) continue;
            const bool better = preference == Preference::bytes ? bytes > best_bytes
                                                                : best < 0 || loads.time_with(process, cost) <
                                                                                  loads.time_with(best, cost);
            if (better) best = process, best_bytes = bytes;
        }
        if (best < 0) best = loads.earliest(cost);
        loads.give(best, cost);
        owners[static_cast<size_t>(patch)] = best;
    }
    return owners;
}

}  // namespace strata::balance
