#include "solvers/transport/verify.hpp"

#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "solvers/transport/exact.hpp"

namespace strata::transport {

double Comparison::error(const graph::Finished& run) {
    if (error_) return *error_;
    const graph::Box cells = settings_.shape().cells;
    const Profile exact = Profile::exact(settings_, cells);
    const double sum = run.sums(labels_.T, 1, [&](const auto& at, auto values, auto terms) {
        exact.row(at, terms[0]);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double away = values[i] - terms[0][i];
            terms[0][i] = away * away;
        }
    })[0];
    error_ = std::sqrt(sum / static_cast<double>(cells.volume()));
    return *error_;
}

double Comparison::loss(const graph::Finished& run) {
    if (loss_) return *loss_;
    const Profile initial = Profile::initial(settings_, settings_.shape().cells);
    const auto sums = run.sums(labels_.T, 3, [&](const auto& at, auto values, auto terms) {
        const auto [first, size, last] = std::tie(terms[0], terms[1], terms[2]);
        initial.row(at, first);
        for (std::size_t i = 0; i < values.size(); ++i) {
            size[i] = std::abs(first[i]);
            last[i] = values[i];
        }
    });
    loss_ = std::abs(sums[2] - sums[0]) / sums[1];
    return *loss_;
}

Verification Comparison::verify(const graph::Finished& run) {
    const Settings& s = settings_;
    if (s.error_limit > 0) {
        Verification found{"root-mean-square error against the exact solution, in K", error(run),
                           s.error_limit, "verify.error of the case"};
        if (const double left = exact_size(s); found.passed() && left <= s.error_limit)
            found.absent = fmt::format(
                "the exact solution is about {:.3g} K away from the background at the end (root mean "
                "square), so verify.error, {:g} K, allows the background alone",
                left, s.error_limit);
        return found;
    }
    if (s.heat() || s.periodic)
        return {"what was lost of the integral", loss(run), 1e-11, "the scheme is conservative"};
    const double above = run.value(labels_.most) - s.background - 1;
    Verification found{"largest value above the first largest, in K", above, 0.1,
                       "nothing flows in but the background"};
    // A field that has all flowed out would pass: this can refuse a result, and cannot verify one.
    if (found.passed()) found.absent = "no exact solution is known for a flow through walls";
    return found;
}

std::vector<Figure> Comparison::figures(const graph::Finished& run) {
    const Settings& s = settings_;
    std::vector<Figure> all;
    if (has_exact(s) && run.value(labels_.time) >= s.end) all.push_back({"error", error(run), "K", false});
    if (s.heat() || s.periodic) all.push_back({"lost of the integral", loss(run), "1", false});
    return all;
}

}  // namespace strata::transport
