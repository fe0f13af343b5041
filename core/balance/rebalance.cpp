#include "core/balance/rebalance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace strata::balance {
namespace {

constexpr int kRounds = 4;  // of exchanges and threads in turn
constexpr long kEffort = 400'000;

void check_times(std::span<const double> times, size_t expected, const char* of_what) {
    if (times.size() != expected)
        throw Error("a measured step has one time for each")
            .given(fmt::format("{} times for {} {}", times.size(), expected, of_what));
    for (const double time : times)
        if (!std::isfinite(time) || time < 0)
            throw Error("a measured time is a number of at least 0").given(fmt::format("{}", time));
}

}  // namespace

Rebalancer::Rebalancer(Problem problem, Request request, Plan plan, RebalanceRule rule,
                       std::vector<double> patch_bytes)
    : problem_(std::move(problem)),
      request_(std::move(request)),
      curve_(request_.max_threads > 0 ? request_.curve.limited_to(request_.max_threads) : request_.curve),
      plan_(std::move(plan)),
      rule_(rule),
      patch_bytes_(std::move(patch_bytes)),
      since_(rule.steps_between) {
    if (plan_.owners.size() != problem_.costs.size())
        throw Error("the plan is of other patches")
            .given(fmt::format("{} owners for {} patches", plan_.owners.size(), problem_.costs.size()));
    if (!patch_bytes_.empty() && patch_bytes_.size() != problem_.costs.size())
        throw Error("bytes are given for each patch or for none")
            .given(fmt::format("{}", patch_bytes_.size()));
    if (!(rule.weight > 0 && rule.weight <= 1) || !(rule.least_gain >= 0) || !(rule.steps_ahead > 0) ||
        !(rule.cost_per_byte >= 0) || !(rule.margin >= 0))
        throw Error("a rule for changing plans is out of range")
            .allowed("weight above 0 and at most 1, steps ahead above 0, the others at least 0");
}

void Rebalancer::observe(const std::vector<double>& costs) {
    const double weight = steps_++ == 0 ? 1.0 : rule_.weight;
    for (size_t i = 0; i < costs.size(); ++i) problem_.costs[i] += weight * (costs[i] - problem_.costs[i]);
    ++since_;
}

void Rebalancer::observe_patches(std::span<const double> times) {
    check_times(times, plan_.owners.size(), "patches");
    std::vector<double> costs;
    for (size_t i = 0; i < times.size(); ++i)
        costs.push_back(times[i] * curve_.speedup(plan_.threads[static_cast<size_t>(plan_.owners[i])]));
    observe(costs);
}

void Rebalancer::observe_processes(std::span<const double> times) {
    check_times(times, plan_.threads.size(), "processes");
    const std::vector<double> loads = loads_of(problem_.costs, plan_.owners, plan_.processes());
    std::vector<double> costs = problem_.costs;
    for (size_t i = 0; i < costs.size(); ++i) {
        const auto p = static_cast<size_t>(plan_.owners[i]);
        const double load = times[p] * curve_.speedup(plan_.threads[p]);
        if (loads[p] > 0) costs[i] *= load / loads[p];
    }
    observe(costs);
}

Plan Rebalancer::with_threads(Owners owners) const {
    Plan plan;
    plan.threads = match_threads(loads_of(problem_.costs, owners, plan_.processes()), request_.cpus, curve_);
    plan.owners = std::move(owners);
    predict(plan, problem_, request_);
    return plan;
}

Decision Rebalancer::decide() {
    Decision decision;
    Plan now = plan_;
    predict(now, problem_, request_);
    decision.before = decision.after = now.longest;
    decision.plan = now;
    plan_ = std::move(now);
    if (since_ < rule_.steps_between) return decision;
    const double wanted = decision.before * (1 - rule_.least_gain);
    // Nothing that could be done would gain enough: the usual case, found out cheaply.
    if (plan_.bound > wanted || decision.before <= 0) return decision;

    Plan threads = with_threads(plan_.owners);
    Plan patches = threads;
    for (int round = 0; round < kRounds; ++round) {
        Owners owners = patches.owners;
        std::vector<double> speeds;
        for (const int t : patches.threads) speeds.push_back(curve_.speedup(t));
        improve(problem_.costs, speeds, owners, patches.bound, kEffort);
        Plan next = with_threads(std::move(owners));
        if (next.longest >= patches.longest * (1 - 1e-9)) break;
        patches = std::move(next);
    }
    int moved = 0;
    double bytes = 0;
    for (size_t i = 0; i < patches.owners.size(); ++i) {
        if (patches.owners[i] == plan_.owners[i]) continue;
        ++moved;
        if (!patch_bytes_.empty()) bytes += patch_bytes_[i];
    }
    const double cost = bytes * rule_.cost_per_byte;
    const auto pays = [&](double from, double to, double price) {
        return to <= from * (1 - rule_.least_gain) && (from - to) * rule_.steps_ahead >= rule_.margin * price;
    };
    // What moving patches adds is judged beside what threads alone give, which costs nothing.
    const bool by_threads = pays(decision.before, threads.longest, 0);
    const double otherwise = by_threads ? threads.longest : decision.before;
    if (moved > 0 && pays(otherwise, patches.longest, cost)) {
        decision.change = Change::patches;
        decision.moved = moved;
        decision.cost = cost;
        decision.plan = std::move(patches);
    } else if (by_threads) {
        decision.change = Change::threads;
        decision.plan = std::move(threads);
    } else {
        return decision;
    }
    decision.after = decision.plan.longest;
    plan_ = decision.plan;
    since_ = 0;
    return decision;
}

}  // namespace strata::balance
