// Searches the optimum of a small packing.
#include <algorithm>
#include <numeric>

#include "core/balance/packing.hpp"

namespace strata::balance {
namespace {

/// Gives away patches, largest first, each to the process that would end first, then to the others. A branch
/// ends where it cannot beat the best known assignment.
class Search {
  public:
    Search(std::span<const double> costs, std::span<const double> speeds, Owners& best, long nodes)
        : costs_(costs),
          speeds_(speeds),
          order_(largest_first(costs)),
          bound_(packing_bound(costs, speeds)),
          best_(best),
          best_time_(longest_time(costs, best, speeds)),
          owners_(best),
          loads_(speeds.size(), 0.0),
          nodes_(nodes) {}

    bool run() {
        if (!done()) descend(0, 0.0);
        return nodes_ > 0 || done();
    }

  private:
    [[nodiscard]] bool done() const { return best_time_ <= bound_ * (1 + 1e-12); }

    void descend(size_t depth, double longest) {
        if (depth == order_.size()) {
            best_ = owners_;
            best_time_ = longest;
            return;
        }
        const auto patch = static_cast<size_t>(order_[depth]);
        std::vector<std::pair<double, size_t>> choices;  // end time with the patch, process
        for (size_t p = 0; p < speeds_.size(); ++p) {
            // Two processes of one speed and load lead to the same assignments, with their numbers exchanged.
            bool again = false;
            for (size_t q = 0; q < p && !again; ++q)
                again = speeds_[q] == speeds_[p] && loads_[q] == loads_[p];
            if (!again) choices.emplace_back((loads_[p] + costs_[patch]) / speeds_[p], p);
        }
        std::sort(choices.begin(), choices.end());
        for (const auto& [end, process] : choices) {
            if (end >= best_time_ * (1 - 1e-12) || done() || --nodes_ <= 0) return;
            owners_[patch] = static_cast<int>(process);
            const double before = loads_[process];
            loads_[process] += costs_[patch];
            descend(depth + 1, std::max(longest, end));
            loads_[process] = before;
        }
    }

    std::span<const double> costs_, speeds_;
    std::vector<int> order_;
    double bound_;
    Owners& best_;
    double best_time_;
    Owners owners_;
    std::vector<double> loads_;
    long nodes_;
};

}  // namespace

bool search_optimum(std::span<const double> costs, std::span<const double> speeds, Owners& owners,
                    long nodes) {
    return Search(costs, speeds, owners, nodes).run();
}

}  // namespace strata::balance
