#include "core/balance/repair.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::balance {

namespace {

size_t z(int number) { return static_cast<size_t>(number); }

class Repair {
  public:
    Repair(std::span<const double> costs, std::span<const Exchanged> exchanged, Owners now, int processes,
           double per_byte, double tolerance)
        : costs_(costs),
          owner_(std::move(now)),
          seconds_with_(owner_.size()),
          stays_(owner_.size(), 0),
          of_(z(processes)),
          loads_(z(processes), 0.0) {
        double all = 0, dearest = 0;
        for (size_t i = 0; i < owner_.size(); ++i) {
            of_[z(owner_[i])].push_back(static_cast<int>(i));
            loads_[z(owner_[i])] += costs[i];
            all += costs[i];
            dearest = std::max(dearest, costs[i]);
        }
        for (int p = 0; p < processes; ++p) by_load_.emplace(loads_[z(p)], p);
        limit_ = std::max((1 + tolerance) * all / processes, dearest);
        for (const auto& [a, b, bytes] : exchanged) {
            if (a == b) continue;
            seconds_with_[z(a)].emplace_back(b, bytes * per_byte);
            seconds_with_[z(b)].emplace_back(a, bytes * per_byte);
        }
    }

    Owners done() {
        while (move_one()) {
        }
        return std::move(owner_);
    }

  private:
    struct Found {
        double gain = 0;  // in cost
        int patch = -1, to = -1;
    };

    bool move_one() {
        const auto [most, giver] = *by_load_.rbegin();
        if (most <= limit_) return false;
        const int idle = by_load_.begin()->second;
        Found best;
        for (const int patch : of_[z(giver)])
            if (stays_[z(patch)] == 0) look_at(patch, giver, idle, best);
        // What rounding leaves is no gain.
        if (best.gain <= 1e-9 * limit_) return false;
        std::erase(of_[z(giver)], best.patch);
        of_[z(best.to)].push_back(best.patch);
        add(giver, -costs_[z(best.patch)]);
        add(best.to, costs_[z(best.patch)]);
        owner_[z(best.patch)] = best.to;
        stays_[z(best.patch)] = 1;
        return true;
    }

    void add(int process, double cost) {
        by_load_.erase({loads_[z(process)], process});
        loads_[z(process)] += cost;
        by_load_.emplace(loads_[z(process)], process);
    }

    void look_at(int patch, int giver, int idle, Found& best) {
        double here = 0;
        with_.assign(1, {idle, 0.0});
        for (const auto& [other, seconds] : seconds_with_[z(patch)])
            if (owner_[z(other)] == giver)
                here += seconds;
            else
                with_.emplace_back(owner_[z(other)], seconds);
        std::sort(with_.begin(), with_.end());
        for (size_t i = 0; i < with_.size();) {
            const int to = with_[i].first;
            double there = 0;
            for (; i < with_.size() && with_[i].first == to; ++i) there += with_[i].second;
            const double less = relief(patch, giver, to);
            if (less <= 0) continue;
            const Found found{less - here + there, patch, to};
            const auto rank = [](const Found& of) { return std::tuple(-of.gain, of.patch, of.to); };
            if (rank(found) < rank(best)) best = found;
        }
    }

    /// How much less cost lies above the limit after a move; 0 where the taker would have as much as the
    /// giver had.
    [[nodiscard]] double relief(int patch, int giver, int taker) const {
        const double cost = costs_[z(patch)], from = loads_[z(giver)], to = loads_[z(taker)];
        if (to + cost >= from) return 0;
        const auto above = [&](double load) { return std::max(0.0, load - limit_); };
        return above(from) - above(from - cost) - (above(to + cost) - above(to));
    }

    std::span<const double> costs_;
    Owners owner_;
    std::vector<std::vector<std::pair<int, double>>> seconds_with_;  // [patch]: (other patch, of a step)
    std::vector<char> stays_;                                        // it has moved already
    std::vector<std::vector<int>> of_;                               // [process] -> its patches
    std::vector<double> loads_;                                      // [process]
    std::set<std::pair<double, int>> by_load_;                       // (load, process)
    std::vector<std::pair<int, double>> with_;                       // of one patch: (process, seconds)
    double limit_ = 0;
};

}  // namespace

Owners repaired(std::span<const double> costs, std::span<const Exchanged> exchanged, Owners now,
                int processes, double per_byte, double tolerance) {
    return Repair(costs, exchanged, std::move(now), processes, per_byte, tolerance).done();
}

}  // namespace strata::balance
