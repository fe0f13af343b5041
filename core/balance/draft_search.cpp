// Searches the optimum of a small plan: owners and threads together.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/balance/draft.hpp"
#include "core/balance/matching.hpp"

namespace strata::balance {
namespace {

constexpr double kRounding = 1e-12;

/// Gives away patches, largest first. A branch ends where the loads so far need more threads than there are
/// CPUs to be faster than the best known plan. Processes have no fixed threads, so those of equal load are
/// interchangeable: few branches remain.
class Search {
  public:
    Search(const std::vector<double>& costs, int cpus, const ThreadCurve& curve, Draft& best, long nodes)
        : costs_(costs),
          cpus_(cpus),
          curve_(curve),
          order_(largest_first(costs)),
          bound_(lower_bound_time(costs, cpus, static_cast<int>(best.threads.size()), curve)),
          best_(best),
          owners_(best.owners),
          loads_(best.threads.size(), 0.0),
          nodes_(nodes) {}

    bool run() {
        if (!done()) descend(0);
        return nodes_ > 0 || done();
    }

  private:
    struct Choice {
        int threads;  // additional threads in all
        double load;
        size_t process;
        bool operator<(const Choice& other) const {
            return std::pair(threads, load) < std::pair(other.threads, other.load);
        }
    };

    [[nodiscard]] bool done() const { return best_.longest <= bound_ * (1 + kRounding); }

    /// The threads for a load to end before the best time; more than there are CPUs where none suffice.
    [[nodiscard]] int need(double load) const {
        if (load <= 0) return 1;
        const int threads = curve_.threads_for(load / (best_.longest * (1 - 1e-9)));
        return threads == 0 ? cpus_ + 1 : threads;
    }

    void descend(size_t depth) {
        if (depth == order_.size()) {
            best_.owners = owners_;
            best_.threads = match_threads(loads_, cpus_, curve_);
            best_.longest = longest_of(loads_, best_.threads, curve_);
            return;
        }
        const auto patch = static_cast<size_t>(order_[depth]);
        std::vector<Choice> choices;
        for (size_t p = 0; p < loads_.size(); ++p) {
            if (std::find(loads_.begin(), loads_.begin() + static_cast<long>(p), loads_[p]) !=
                loads_.begin() + static_cast<long>(p))
                continue;
            const double load = loads_[p] + costs_[patch];
            choices.push_back({need(load) - need(loads_[p]), load, p});
        }
        std::sort(choices.begin(), choices.end());
        for (const Choice& choice : choices) {
            if (done() || --nodes_ <= 0) return;
            // Computed again for each choice: the best time may have changed below.
            const double before = loads_[choice.process];
            loads_[choice.process] = choice.load;
            long needed = 0;
            for (const double load : loads_) needed += need(load);
            if (needed <= cpus_) {
                owners_[patch] = static_cast<int>(choice.process);
                descend(depth + 1);
            }
            loads_[choice.process] = before;
        }
    }

    const std::vector<double>& costs_;
    int cpus_;
    const ThreadCurve& curve_;
    std::vector<int> order_;
    double bound_;
    Draft& best_;
    Owners owners_;
    std::vector<double> loads_;
    long nodes_;
};

}  // namespace

bool search_draft(const std::vector<double>& costs, int cpus, const ThreadCurve& curve, Draft& best,
                  long nodes) {
    return Search(costs, cpus, curve, best, nodes).run();
}

}  // namespace strata::balance
