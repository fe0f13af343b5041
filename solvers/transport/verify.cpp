#include "solvers/transport/verify.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solvers/transport/exact.hpp"

namespace strata::transport {

namespace {

Real3 centre_of(const Settings& s, const graph::Int3& at) {
    const Real3 h = s.spacing();
    return {(at[0] + 0.5) * h[0], (at[1] + 0.5) * h[1], (at[2] + 0.5) * h[2]};
}

}  // namespace

double error(const graph::Finished& run, const Labels& labels, const Settings& s) {
    const double sum = run.sum(labels.T, [&](const graph::Int3& at, double value) {
        const double away = value - exact(s, centre_of(s, at));
        return away * away;
    });
    return std::sqrt(sum / static_cast<double>(s.shape().cells.volume()));
}

double loss(const graph::Finished& run, const Labels& labels, const Settings& s) {
    const auto first = [&](const graph::Int3& at, double) { return initial(s, centre_of(s, at)); };
    const auto size = [&](const graph::Int3& at, double) { return std::abs(initial(s, centre_of(s, at))); };
    const auto last = [](const graph::Int3&, double value) { return value; };
    return std::abs(run.sum(labels.T, last) - run.sum(labels.T, first)) / run.sum(labels.T, size);
}

graph::Verification verify(const graph::Finished& run, const Labels& labels, const Settings& s) {
    if (s.error_limit > 0) {
        graph::Verification found{"root-mean-square error against the exact solution, in K",
                                  error(run, labels, s), s.error_limit, "verify.error of the case"};
        if (const double left = exact_size(s); found.passed() && left <= s.error_limit)
            found.absent = fmt::format(
                "the exact solution is about {:.3g} K away from the background at the end (root mean "
                "square), "
                "so verify.error, {:g} K, allows the background alone",
                left, s.error_limit);
        return found;
    }
    if (s.heat() || s.periodic)
        return {"what was lost of the integral", loss(run, labels, s), 1e-11, "the scheme is conservative"};
    const double above = run.value(labels.most) - s.background - 1;
    graph::Verification found{"largest value above the first largest, in K", above, 0.1,
                              "nothing flows in but the background"};
    // A field that has all flowed out would pass: this can refuse a result, and cannot verify one.
    if (found.passed()) found.absent = "no exact solution is known for a flow through walls";
    return found;
}

std::vector<graph::Figure> figures(const graph::Finished& run, const Labels& labels, const Settings& s) {
    std::vector<graph::Figure> all;
    if (has_exact(s) && run.value(labels.time) >= s.end)
        all.push_back({"error", error(run, labels, s), "K", false});
    if (s.heat() || s.periodic) all.push_back({"lost of the integral", loss(run, labels, s), "1", false});
    return all;
}

}  // namespace strata::transport
