#include "solvers/transport/module.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solvers/transport/exact.hpp"

namespace strata::transport {

namespace {

/// By how much the integral of T has changed, as a share of the first integral of |T|.
double loss(const graph::Finished& run, const Labels& labels, const Settings& s) {
    const Profile initial(s, s.shape().cells, 0);
    const auto sums = run.sums(labels.T, 3, [&](const auto& at, auto values, auto terms) {
        initial.row(at, terms[0]);
        for (std::size_t i = 0; i < values.size(); ++i)
            terms[1][i] = std::abs(terms[0][i]), terms[2][i] = values[i];
    });
    return std::abs(sums[2] - sums[0]) / sums[1];
}

/// The error against verify.error, unless the background alone would pass; where there is none, that nothing
/// was lost. Through walls a flow may carry some away: a result whose largest value has grown is refused,
/// another is compared with nothing. Further figures: both, where they are known.
graph::Findings verify(const graph::Finished& run, const Labels& labels, const Settings& s) {
    graph::Findings found;
    auto& [what, value, limit, source, absent] = static_cast<Verification&>(found);
    const bool conserved = s.heat() || s.periodic;
    if (has_exact(s)) {
        const Profile exact(s, s.shape().cells, s.end);
        value = run.error(labels.T, [&](const auto& at, std::span<double> row) { exact.row(at, row); });
        found.figures.push_back({"error", value, "K", false});
    }
    const double lost = conserved ? loss(run, labels, s) : 0;
    if (conserved) found.figures.push_back({"lost of the integral", lost, "1", false});

    if (s.error_limit > 0) {
        what = "root-mean-square error against the exact solution, in K";
        limit = s.error_limit, source = "verify.error of the case";
        if (const double left = exact_size(s); found.passed() && left <= limit)
            absent = fmt::format(
                "the exact solution is about {:.3g} K away from the background at the end (root mean "
                "square), so verify.error, {:g} K, allows the background alone",
                left, limit);
    } else if (conserved) {
        found.unasked = "the case gives no limit (verify.error)";
        what = "what was lost of the integral", value = lost;
        limit = 1e-11, source = "the scheme is conservative";
    } else {
        what = "largest value above the first largest, in K",
        value = run.value(labels.report.most) - s.background - 1;
        limit = 0.1, source = "nothing flows in but the background";
        // A field that has all flowed out would pass: this can refuse a result, and cannot verify one.
        if (found.passed()) absent = "no exact solution is known for a flow through walls";
    }
    return found;
}

}  // namespace

graph::Solver Transport::declare(const graph::ModuleGraph& part) {
    transport::declare(part, settings_, labels_);
    const Labels& l = labels_;
    graph::Solver solver{.time = l.clock.time,
                         .end = settings_.end,
                         .series = {l.clock.dt, l.report.total, l.report.least, l.report.most},
                         .fields = {l.T}};
    if (!changed_)
        solver.verify = [this, l](const graph::Finished& run) { return verify(run, l, settings_); };
    return solver;
}

}  // namespace strata::transport
