// A plan that follows what is measured, and does not thrash.
#pragma once

#include <span>
#include <vector>

#include "core/balance/plan.hpp"

namespace strata::balance {

/// When a change of plan is worth it.
struct RebalanceRule {
    double least_gain = 0.05;  ///< part of the step time that a change must save, at least
    double steps_ahead = 100;  ///< for so many steps the present costs are believed to hold
    double cost_per_byte = 0;  ///< time of moving a byte of a patch to another process, in the unit of costs
    double margin = 2;         ///< the savings over steps_ahead must be so many times the cost of moving
    double weight = 0.3;       ///< of a new measurement in the smoothed cost, 0 to 1
    int steps_between = 10;    ///< at least so many measured steps between two changes
};

/// Threads can be handed over within microseconds and move no data; patches may have to be moved.
enum class Change { none, threads, patches };

struct Decision {
    Change change = Change::none;
    Plan plan;          ///< the plan from now on
    double before = 0;  ///< step time of the old plan with the costs as they are now measured
    double after = 0;   ///< of the new one
    int moved = 0;      ///< patches that change process
    double cost = 0;    ///< of moving them
};

/// Follows one run. Start it with the plan made from estimates.
class Rebalancer {
  public:
    /// `patch_bytes`: what has to be moved with each patch; empty: nothing (patches in an arena that all
    /// share). Throws Error on sizes that do not fit or a rule that makes no sense.
    Rebalancer(Problem problem, Request request, Plan plan, RebalanceRule rule,
               std::vector<double> patch_bytes = {});

    /// One step was measured: for each patch the time that it took on its process's threads. The cost on one
    /// thread is that times the speed-up of these threads; costs are smoothed exponentially, the first
    /// measurement replaces the estimate.
    void observe_patches(std::span<const double> times);
    /// The same where only the time of each process is known: its patches' costs are scaled alike.
    void observe_processes(std::span<const double> times);
    /// Whether to change the plan now. The threads alone first; then patches, by exchanges from where they
    /// are, so that few move. Adopts what it decides.
    Decision decide();

    [[nodiscard]] const Plan& plan() const { return plan_; }
    /// Smoothed, on one thread.
    [[nodiscard]] const std::vector<double>& costs() const { return problem_.costs; }

  private:
    void observe(const std::vector<double>& costs);
    [[nodiscard]] Plan with_threads(Owners owners) const;

    Problem problem_;
    Request request_;
    ThreadCurve curve_;
    Plan plan_;
    RebalanceRule rule_;
    std::vector<double> patch_bytes_;
    int steps_ = 0, since_ = 0;
};

}  // namespace strata::balance
