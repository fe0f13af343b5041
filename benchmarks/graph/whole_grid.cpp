#include "benchmarks/graph/whole_grid.hpp"

#include <algorithm>

#include "solvers/transport/exact.hpp"

namespace strata::bench::graph_layer {

namespace {

template <class What>
void for_each_cell(int n, What what) {
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) what(i, j, k);
}

}  // namespace

WholeGrid::WholeGrid(const transport::Settings& settings)
    : settings_(settings), n_(static_cast<int>(settings.cells[0])) {
    const auto n = static_cast<std::size_t>(n_);
    for (int x = -kBeyond; x < n_ + kBeyond; ++x)
        inside_.push_back(
            static_cast<std::size_t>(settings.periodic ? (x + n_) % n_ : std::clamp(x, 0, n_ - 1)));
    T_.resize(n * n * n);
    const transport::Profile profile(settings_, {{0, 0, 0}, {n_, n_, n_}}, 0);
    for_each_cell(n_, [&](int i, int j, int k) { T_[at(i, j, k)] = profile.at(i, j, k); });
}

void WholeGrid::step(double factor) {
    if (settings_.heat()) {
        conduct(factor);
        return;
    }
    const Field second = advected(advected(T_, factor), factor);
    for (std::size_t c = 0; c < T_.size(); ++c) T_[c] = 0.5 * (T_[c] + second[c]);
}

void WholeGrid::conduct(double factor) {
    const double r = factor * settings_.cfl / 6;  // the largest stable step has kappa dt / h^2 = 1/6
    Field next(T_.size());
    for_each_cell(n_, [&](int i, int j, int k) {
        next[at(i, j, k)] =
            T_[at(i, j, k)] +
            r * (T_[at(i - 1, j, k)] + T_[at(i + 1, j, k)] + T_[at(i, j - 1, k)] + T_[at(i, j + 1, k)] +
                 T_[at(i, j, k - 1)] + T_[at(i, j, k + 1)] - 6 * T_[at(i, j, k)]);
    });
    T_ = std::move(next);
}

WholeGrid::Field WholeGrid::advected(const Field& T, double factor) const {
    const auto& v = settings_.velocity;
    const double sum = v[0] + v[1] + v[2];  // the largest stable step has dt sum / h = 1
    Field next(T.size());
    for_each_cell(n_, [&](int i, int j, int k) {
        double change = 0;
        for (int d = 0; d < 3; ++d) {
            const auto along = [&](int by) {
                return T[at(i + (d == 0 ? by : 0), j + (d == 1 ? by : 0), k + (d == 2 ? by : 0))];
            };
            const double out = along(0) + 0.25 * (along(1) - along(-1));
            const double in = along(-1) + 0.25 * (along(0) - along(-2));
            change += v[static_cast<std::size_t>(d)] / sum * (out - in);
        }
        next[at(i, j, k)] = T[at(i, j, k)] - factor * settings_.cfl * change;
    });
    return next;
}

}  // namespace strata::bench::graph_layer
