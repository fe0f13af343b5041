// Two atoms that begin in one place, where the first energy is no number: which they are, and where.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

namespace {

/// Atoms that are as near as this share of the cutoff have an energy beyond floats, or none.
constexpr double kTooNear = 1e-3;

struct Nearest {
    std::size_t a = 0, b = 0;
    double distance = std::numeric_limits<double>::infinity();
};

/// Of all pairs; along x no further than the nearest so far.
Nearest nearest_pair(const double* const x[3], std::int64_t count) {
    std::vector<std::size_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[0][a] < x[0][b]; });
    Nearest nearest;
    for (std::size_t n = 0; n < order.size(); ++n)
        for (std::size_t m = n + 1; m < order.size(); ++m) {
            const std::size_t a = order[n], b = order[m];
            if (x[0][b] - x[0][a] >= nearest.distance) break;
            const double d = std::hypot(x[0][b] - x[0][a], x[1][b] - x[1][a], x[2][b] - x[2][a]);
            if (d < nearest.distance) nearest = {std::min(a, b), std::max(a, b), d};
        }
    return nearest;
}

}  // namespace

void look_at_first_pairs(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.start().task("look at first pairs", step.grid);
    const auto sums = task.need(l.sums);
    const auto x = task.need(l.x, l.near);
    const auto id = task.need(l.id, l.near);
    task.run([=, &s = step.settings](Here& here) {
        if (std::isfinite(here[sums][kPotential])) return;
        const double* at[3];
        pointers(here[x], at);
        const Nearest found = nearest_pair(at, here[x].size());
        if (!(found.distance < kTooNear * s.cutoff)) return;  // it is another patch's pair
        const auto number = [&](std::size_t i) { return here[id][static_cast<std::int64_t>(i)]; };
        const std::int64_t a = number(found.a), b = number(found.b);
        const std::string how = found.distance == 0
                                    ? "lie at one place"
                                    : fmt::format("lie {:.3g} {} apart", found.distance, s.units->length);
        here.fail(
            fmt::format("atoms {} and {} {}, ({:.6g}, {:.6g}, {:.6g}): their energy is no number. Remove one "
                        "of them from "
                        "{}, or move it; time.method = \"fire\" cannot part atoms at one place",
                        std::min(a, b), std::max(a, b), how, at[0][found.a], at[1][found.a], at[2][found.a],
                        s.file.empty() ? "the lattice" : s.file));
    });
}

}  // namespace strata::md
