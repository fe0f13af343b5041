// Decides when moving patches of a run pays, from measured costs. Pure functions and one class without any
// parallelism: processes that call it with the same numbers come to the same decision. Patches belong to
// families, and are numbered from 0 in each: [family][patch].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/balance/packing.hpp"

namespace strata::balance {

/// Adds the costs of a step, in any unit and always of the same patches, to the smoothed `costs`: the new
/// ones with weight `weight`, the old ones with the rest. The first ones, when `costs` is empty, have weight
/// 1.
///   Example: weight 0.5, old 8, measured 4: the cost is 6.
void smooth(std::vector<std::vector<double>>& costs, const std::vector<std::vector<double>>& measured,
            double weight);

/// [process]: the time with these owners of the patches, on `threads` threads each: the sum of its patches'
/// costs by the threads, but at least its dearest patch, whose tasks follow each other.
[[nodiscard]] std::vector<double> times_of(const std::vector<std::vector<double>>& costs,
                                           const std::vector<Owners>& owners, int processes, int threads = 1);
/// The longest process's.
[[nodiscard]] double longest_time(const std::vector<std::vector<double>>& costs,
                                  const std::vector<Owners>& owners, int processes, int threads = 1);

/// What a run has measured since the last look, the same in all processes. Times are in seconds, the longest
/// of all processes.
struct Look {
    std::vector<std::vector<double>> costs;  ///< [family][patch]: of one step
    std::int64_t steps = 0;                  ///< since the look before
    double step = 0;                         ///< of a step
    double look = 0;  ///< what looks cost: timing the step, exchanging costs, deciding; 0: unknown
    double move = 0;  ///< of planning and moving; infinite: patches cannot move
    int threads = 1;  ///< of each process
};

/// Says at which steps to look, and when patches are to move.
///
/// A look proposes new owners where these shorten the longest process's time by `least_gain`, and by twice
/// what the processes' times usually change from one look to the next. The proposal is tested on the
/// costs that the next look measures: these had no part in making it, so noise does not confirm itself. A
/// confirmed proposal is followed once the time lost for want of it reaches the time of planning and moving;
/// so a run loses about twice what the best decision in hindsight would, at most (the ski rental problem:
/// Karlin et al., "Competitive snoopy caching", 1988). Where a move has not brought half of what was
/// foretold, twice as much must be lost before the next one, and so on.
class Decider {
  public:
    struct Rule {
        double least_gain = 0.05;   ///< part of the longest process's time
        double weight = 0.5;        ///< of a new measurement in the smoothed cost
        double look_share = 0.005;  ///< looks cost at most this part of the steps between them
    };
    struct Move {
        std::vector<Owners> owners;
        double balance_before = 1, balance_after = 1;  ///< mean time of a process / longest
    };
    /// Makes owners for costs.
    using Assign = std::function<std::vector<Owners>(const std::vector<std::vector<double>>&)>;

    explicit Decider(int processes) : Decider(processes, Rule{}) {}
    Decider(int processes, const Rule& rule) : processes_(processes), rule_(rule) {}

    /// The decision after a look; empty: patches stay.
    [[nodiscard]] std::optional<Move> look(const Look& at, const std::vector<Owners>& now,
                                           const Assign& assign);
    /// The steps until the next look, the timed one included; at least 2.
    [[nodiscard]] std::int64_t steps_until_next() const { return until_next_; }
    /// [family][patch], smoothed.
    [[nodiscard]] const std::vector<std::vector<double>>& costs() const { return costs_; }

  private:
    [[nodiscard]] bool follow_changes(const Look& at, const std::vector<Owners>& now);
    [[nodiscard]] double usual_change() const;
    [[nodiscard]] std::optional<Move> move(const std::vector<Owners>& now, std::vector<Owners> next,
                                           int threads);
    void wait(double steps);

    int processes_;
    Rule rule_;
    std::vector<std::vector<double>> costs_;
    std::vector<Owners> proposed_, owners_before_;
    std::vector<double> times_before_;      // [process], of the last look
    std::vector<double> changes_;           // of the latest looks, as parts of the longest time
    double lost_ = 0;                       // seconds, for want of the proposed owners
    double moved_from_ = 0, foretold_ = 0;  // longest times before the last move, and after it as foretold
    double doubt_ = 1;                      // factor of the cost of moving
    double calm_ = 1;                       // factor of the interval
    std::int64_t until_next_ = 2;
};

}  // namespace strata::balance
