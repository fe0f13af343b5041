#include "core/balance/thread_curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/balance/csv.hpp"
#include "core/base/error.hpp"

namespace strata::balance {
namespace {

// For a time computed as load / speed-up the same count must be found again.
constexpr double kRounding = 1e-12;
constexpr int kMostThreads = 1 << 20;

}  // namespace

ThreadCurve ThreadCurve::ideal() { return {}; }

ThreadCurve ThreadCurve::measured(std::vector<ThreadPoint> points, std::string name) {
    std::sort(points.begin(), points.end(), [](auto a, auto b) { return a.threads < b.threads; });
    for (size_t i = 0; i < points.size(); ++i) {
        const auto [threads, seconds] = points[i];
        if (threads < 1 || threads > kMostThreads || !std::isfinite(seconds) || seconds <= 0)
            throw Error("a thread curve needs positive counts and times")
                .given(fmt::format("{} threads, {} s", threads, seconds))
                .allowed(fmt::format("1 to {} threads, a time above 0", kMostThreads));
        if (i > 0 && points[i - 1].threads == threads)
            throw Error("a thread curve has one time for each count")
                .given(fmt::format("{} threads twice", threads));
    }
    if (points.empty() || points.front().threads != 1)
        throw Error("a thread curve starts at one thread, which the others are compared with")
            .given(points.empty() ? "no points" : fmt::format("{} threads first", points.front().threads));

    ThreadCurve curve;
    curve.name_ = std::move(name);
    const double one = points.front().seconds;
    double best = 0;
    for (size_t i = 0; i < points.size(); ++i) {
        const double here = one / points[i].seconds;
        const int before = i == 0 ? 0 : points[i - 1].threads;
        const double from = i == 0 ? here : one / points[i - 1].seconds;
        for (int t = before + 1; t <= points[i].threads; ++t) {
            const double part = static_cast<double>(t - before) / (points[i].threads - before);
            best = std::max(best, from + part * (here - from));
            curve.speedup_.push_back(best);
        }
    }
    const auto reached = std::lower_bound(curve.speedup_.begin(), curve.speedup_.end(), best);
    return curve.limited_to(static_cast<int>(reached - curve.speedup_.begin()) + 1);
}

ThreadCurve ThreadCurve::limited_to(int threads) const {
    ThreadCurve curve = *this;
    curve.most_ = std::min(most_, std::max(threads, 1));
    if (is_ideal()) return curve;
    curve.speedup_.resize(static_cast<size_t>(curve.most_));
    curve.price_.resize(curve.speedup_.size());
    double best = INFINITY;
    for (size_t i = curve.speedup_.size(); i-- > 0;)
        curve.price_[i] = best = std::min(best, static_cast<double>(i + 1) / curve.speedup_[i]);
    return curve;
}

ThreadCurve ThreadCurve::ins3d() {
    return measured({{1, 1223.0}, {2, 796.0}, {4, 554.2}, {8, 454.7}, {12, 409.1}}, "ins3d");
}

ThreadCurve ThreadCurve::read(const std::string& path) {
    Csv file(path, {"threads", "seconds"});
    file.require("threads");
    file.require("seconds");
    std::vector<ThreadPoint> points;
    while (file.next()) {
        const double threads = file.number("threads", 1, kMostThreads);
        if (threads != std::floor(threads)) throw file.error("threads", "a count of threads is whole");
        points.push_back({static_cast<int>(threads), file.number("seconds", 1e-300, 1e300)});
    }
    try {
        return measured(std::move(points), path);
    } catch (Error& error) {
        throw error.at(path);
    }
}

double ThreadCurve::speedup(int threads) const {
    const int useful = std::clamp(threads, 1, most_);
    return is_ideal() ? useful : speedup_[static_cast<size_t>(useful - 1)];
}

int ThreadCurve::threads_for(double speedup) const {
    const double wanted = speedup * (1 - kRounding);
    if (is_ideal()) return wanted > most_ ? 0 : std::max(1, static_cast<int>(std::ceil(wanted)));
    const auto found = std::lower_bound(speedup_.begin(), speedup_.end(), wanted);
    return found == speedup_.end() ? 0 : static_cast<int>(found - speedup_.begin()) + 1;
}

double ThreadCurve::price_from(int threads) const {
    return is_ideal() ? 1.0 : price_[static_cast<size_t>(std::clamp(threads, 1, most_) - 1)];
}

int ThreadCurve::most() const { return most_; }

}  // namespace strata::balance
