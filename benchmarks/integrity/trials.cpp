#include "benchmarks/integrity/trials.hpp"

#include <algorithm>
#include <utility>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

void Trials::add(Suspect suspect) {
    if (trials_.size() >= kMost) return;
    say_finding(suspect, crew_.places(), nullptr);
    const int worker = suspect.worker, count = crew_.size(),
              other = (worker + 1 + static_cast<int>(suspect.id) % std::max(1, count - 1)) % count;
    Trial trial;
    trial.to_do = {worker, worker};
    if (other != worker) trial.to_do = {worker, other, worker, other};
    trial.suspect = std::move(suspect);
    trials_.push_back(std::move(trial));
}

void Trials::go_on(double now_s) {
    for (auto trial = trials_.begin(); trial != trials_.end();) {
        if (trial->order == 0 && !trial->to_do.empty()) ask(*trial);
        const bool all_done = trial->order == 0 && trial->to_do.empty();
        const int asked = trial->order != 0 || trial->to_do.empty() ? trial->asked : trial->to_do.front();
        const bool waits = asked >= 0 && crew_.member(asked).stopped;
        if (waits) trial->suspect.since_s = now_s;
        if (all_done || now_s - trial->suspect.since_s > kLongestS) {
            conclude(trial->suspect);
            trial = trials_.erase(trial);
        } else {
            ++trial;
        }
    }
}

void Trials::ask(Trial& trial) {
    const int worker = trial.to_do.front();
    const Report& report = trial.suspect.report;
    if (crew_.member(worker).given_up) {
        trial.to_do.pop_front();
        return;
    }
    const Use use = kernels()[report.kernel].use;
    if (use == Use::pair) {
        const std::uint32_t id = pairs_.again(worker, report.kernel, report.seed);
        if (id == 0) return;
        trial.order = id;
    } else {
        if (!crew_.is_free(worker)) return;
        Order order;
        order.id = trial.order = pairs_.next_id();
        order.kernel = report.kernel;
        order.seed = report.seed;
        order.again = true;
        if (use == Use::memory) order.block_of = trial.suspect.worker;
        crew_.order(worker, order);
    }
    trial.asked = worker;
    trial.to_do.pop_front();
}

Trials::Trial* Trials::of_order(std::uint32_t order) {
    const auto found = std::find_if(trials_.begin(), trials_.end(),
                                    [&](const Trial& trial) { return order != 0 && trial.order == order; });
    return found == trials_.end() ? nullptr : &*found;
}

bool Trials::answered(int worker, const Report& report) {
    Trial* const trial = of_order(report.order);
    if (trial == nullptr) return false;
    if (trial->asked != worker) return true;  // the other side of a pair
    trial->suspect.retries.push_back({worker, !report.wrong, report.hash});
    trial->order = 0;
    return true;
}

void Trials::forget(std::uint32_t order) {
    Trial* const trial = of_order(order);
    if (trial == nullptr) return;
    trial->to_do.push_back(trial->asked);
    trial->order = 0;
}

bool Trials::crashed(int worker, std::uint32_t order) {
    Trial* const trial = of_order(order);
    if (trial == nullptr) return false;
    trial->suspect.retries.push_back({worker, false, 0});
    trial->order = 0;
    return true;
}

void Trials::end() {
    for (const Trial& trial : trials_)
        if (!trial.suspect.retries.empty()) conclude(trial.suspect);
    trials_.clear();
}

void Trials::conclude(const Suspect& suspect) const {
    const Judged judged = judge(suspect, kernels()[suspect.report.kernel].use);
    say_finding(suspect, crew_.places(), &judged);
}

}  // namespace strata::integrity
