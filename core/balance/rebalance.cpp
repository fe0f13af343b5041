#include "core/balance/rebalance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace strata::balance {

namespace {

/// Steps until the second look, when nobody knows yet what a look costs.
constexpr double kFirst = 8;
/// The interval grows up to so many times the least one while nothing is to be done. A proposal is tested
/// after the same part of it.
constexpr double kCalm = 16, kSoon = 8;
constexpr std::size_t kChanges = 9;

}  // namespace

void smooth(std::vector<std::vector<double>>& costs, const std::vector<std::vector<double>>& measured,
            double weight) {
    if (costs.empty()) {
        costs = measured;
        return;
    }
    for (size_t f = 0; f < measured.size(); ++f)
        for (size_t p = 0; p < measured[f].size(); ++p)
            costs[f][p] = weight * measured[f][p] + (1 - weight) * costs[f][p];
}

std::vector<double> times_of(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& owners,
                             int processes, int threads) {
    std::vector<double> times(static_cast<size_t>(processes), 0.0), dearest = times;
    for (size_t f = 0; f < costs.size(); ++f)
        for (size_t p = 0; p < costs[f].size(); ++p) {
            const auto process = static_cast<size_t>(owners[f][p]);
            times[process] += costs[f][p] / threads;
            dearest[process] = std::max(dearest[process], costs[f][p]);
        }
    for (size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], dearest[i]);
    return times;
}

double longest_time(const std::vector<std::vector<double>>& costs, const std::vector<Owners>& owners,
                    int processes, int threads) {
    const std::vector<double> times = times_of(costs, owners, processes, threads);
    return *std::max_element(times.begin(), times.end());
}

/// By how much the processes' times have changed since the last look with the same owners; and whether the
/// last move has brought what was foretold. Returns whether the change is news: far above the usual one.
bool Decider::follow_changes(const Look& at, const std::vector<Owners>& now) {
    const std::vector<double> times = times_of(at.costs, now, processes_, at.threads);
    const double longest = *std::max_element(times.begin(), times.end());
    bool news = false;
    if (now == owners_before_ && longest > 0) {
        double most = 0;
        for (size_t i = 0; i < times.size(); ++i)
            most = std::max(most, std::abs(times[i] - times_before_[i]));
        most /= longest;
        news = most > std::max(rule_.least_gain, 3 * usual_change());
        if (changes_.size() == kChanges) changes_.erase(changes_.begin());
        changes_.push_back(most);
    }
    if (moved_from_ > 0) {
        doubt_ = moved_from_ - longest >= 0.5 * (moved_from_ - foretold_) ? 1 : 2 * doubt_;
        moved_from_ = 0;
    }
    owners_before_ = now;
    times_before_ = times;
    return news;
}

/// The median: one large change among small ones is news, not noise.
double Decider::usual_change() const {
    if (changes_.empty()) return 0;
    std::vector<double> sorted = changes_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

void Decider::wait(double steps) {
    until_next_ = static_cast<std::int64_t>(std::clamp(std::ceil(steps), 2.0, 1e9));
}

std::optional<Decider::Move> Decider::move(const std::vector<Owners>& now, std::vector<Owners> next,
                                           int threads) {
    const auto balance = [&](const std::vector<Owners>& owners) {
        const std::vector<double> times = times_of(costs_, owners, processes_, threads);
        return std::accumulate(times.begin(), times.end(), 0.0) / processes_ /
               *std::max_element(times.begin(), times.end());
    };
    moved_from_ = longest_time(costs_, now, processes_, threads);
    foretold_ = longest_time(costs_, next, processes_, threads);
    Move all{std::move(next), balance(now), 0};
    all.balance_after = balance(all.owners);
    proposed_.clear();
    lost_ = 0;
    calm_ = 1;
    return all;
}

std::optional<Decider::Move> Decider::look(const Look& at, const std::vector<Owners>& now,
                                           const Assign& assign) {
    const auto longest = [&](const auto& costs, const std::vector<Owners>& owners) {
        return longest_time(costs, owners, processes_, at.threads);
    };
    const bool news = follow_changes(at, now);
    smooth(costs_, at.costs, news ? 1 : rule_.weight);
    const double interval = at.look > 0 && at.step > 0 ? at.look / (rule_.look_share * at.step) : kFirst;
    wait(interval * calm_);

    const double asked = std::max(rule_.least_gain, 2 * usual_change()), before = longest(costs_, now);
    double all = 0;
    for (const auto& family : costs_) all = std::accumulate(family.begin(), family.end(), all);
    std::vector<Owners> next;
    // No owners are better than equal shares.
    if (before > 0 && before - all / (processes_ * at.threads) >= asked * before) next = assign(costs_);
    const double gain = next.empty() ? 0 : before - longest(costs_, next);
    if (next.empty() || gain < asked * before) {
        proposed_.clear();
        lost_ = 0;
        calm_ = std::min(2 * calm_, kCalm);
        return std::nullopt;
    }
    lost_ += gain * static_cast<double>(at.steps);
    const double fresh = longest(at.costs, now);
    const bool agreed = !proposed_.empty() && fresh - longest(at.costs, proposed_) >= asked * fresh;
    if (agreed && lost_ >= doubt_ * at.move) return move(now, std::move(next), at.threads);
    if (agreed)
        wait(std::clamp((doubt_ * at.move - lost_) / gain, interval / kSoon, interval));
    else if (proposed_.empty())
        wait(interval / kSoon);
    else  // the proposal before has not been confirmed
        calm_ = std::min(2 * calm_, kCalm);
    proposed_ = std::move(next);
    return std::nullopt;
}

}  // namespace strata::balance
