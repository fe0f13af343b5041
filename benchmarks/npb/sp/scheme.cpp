#include "benchmarks/npb/sp/scheme.hpp"

#include "benchmarks/npb/sp/eigenvectors.hpp"

namespace strata::npb::sp {
namespace {

using flow::Bundle;
using flow::Cell;
using flow::load_all;
using flow::store_all;
using flow::Tile;

constexpr int kComponents = flow::kComponents;
constexpr int kSystems = 3;  // v, v + c, v - c
constexpr int kSystemOf[kComponents] = {0, 0, 0, 1, 2};

}  // namespace

template <int D>
void Scheme::gather(const Cell& cell, Bundle bundle, double* values) const {
    const Tile& t = cell.tile;
    // The largest of the diffusions that the implicit operator knows, and those of viscosity and heat.
    const auto point = [&](const double* u, Vec(&v)[kValues]) {
        const Gas gas(u, cell.u.row);
        v[advection] = gas.velocity[D];
        v[diffusion] = axes_[D].diffusion + flow::kViscous * flow::kHeat * gas.inverse;
        v[sound] = gas.sound;
        return gas;
    };
    const auto place = [&](std::int64_t p) { return values + p * kValues * kLanes; };
    if constexpr (D == 0) {
        // Eight rows of eight points at a time, turned so that each row becomes a lane.
        for_eights(t, [&](std::int64_t x, std::int64_t from, std::int64_t to) {
            Vec all[kValues][kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
                const std::int64_t y = row_of(t, bundle, lane);
                Vec v[kValues], r[kComponents];
                const Gas gas = point(cell.u.at(y, bundle.second) + x, v);
                load_all(cell.rhs.at(y, bundle.second) + x, cell.rhs.row, r);
                to_x(gas, r);
                for (int m = 0; m < kComponents; ++m) v[change + m] = r[m];
                for (int q = 0; q < kValues; ++q) all[q][lane] = v[q];
            }
            for (int q = 0; q < kValues; ++q) {
                transpose(all[q]);
                for (std::int64_t p = from; p < to; ++p) store(place(x + p) + q * kLanes, all[q][p]);
            }
        });
    } else {
        for_points<D>(t, bundle, [&](std::int64_t p, std::int64_t y, std::int64_t z, bool within) {
            Vec v[kValues], r[kComponents];
            (void)point(cell.u.at(y, z) + bundle.first, v);
            for (int q = 0; q < change; ++q) store(place(p) + q * kLanes, v[q]);
            if (!within) return;
            load_all(cell.rhs.at(y, z) + bundle.first, cell.rhs.row, r);
            store_all(place(p) + change * kLanes, kLanes, r);
        });
    }
}

template <int D>
void Scheme::forward(const Tile& tile, double* values, double* factors, Vec* carry) const {
    // Of the two points before: factors of the next and the next but one unknown, right-hand sides.
    Vec next[2][kSystems], after[2][kSystems], r[2][kComponents];
    const auto pass = [&](auto&& move) {
        Vec* c = carry;
        for (int back = 0; back < 2; ++back) {
            for (int s = 0; s < kSystems; ++s) move(next[back][s], *c++);
            for (int s = 0; s < kSystems; ++s) move(after[back][s], *c++);
            for (int m = 0; m < kComponents; ++m) move(r[back][m], *c++);
        }
    };
    pass([](Vec& mine, const Vec& carried) { mine = carried; });
    const double first = dt_ * axes_[D].first, second = dt_ * axes_[D].second;
    for (std::int64_t p = tile.first(D); p < tile.last(D); ++p) {
        double* here = values + p * kValues * kLanes;
        const auto value = [&](int back, int which) {
            return load(here + (back * kValues + which) * kLanes);
        };
        const flow::Weights fourth = flow::fourth_difference(tile.begin[D] + p, tile.n[D]);
        const double damping = dt_ * flow::kDissipation;
        const double far = damping * fourth[0], further = damping * fourth[4];
        const Vec lower = damping * fourth[1] - first * value(-1, advection) - second * value(-1, diffusion);
        const Vec diagonal = 1 + damping * fourth[2] + 2 * second * value(0, diffusion);
        const Vec upper = damping * fourth[3] + first * value(1, advection) - second * value(1, diffusion);
        const Vec sound_before = first * value(-1, sound), sound_behind = first * value(1, sound);
        Vec inverse[kSystems], factor[kSystems];
        for (int s = 0; s < kSystems; ++s) {
            const double sign = s == 0 ? 0 : s == 1 ? 1 : -1;
            factor[s] = lower - sign * sound_before - far * next[1][s];
            inverse[s] = 1 / (diagonal - far * after[1][s] - factor[s] * next[0][s]);
            const Vec to_next = (upper + sign * sound_behind - factor[s] * after[0][s]) * inverse[s];
            next[1][s] = next[0][s];
            after[1][s] = after[0][s];
            next[0][s] = to_next;
            after[0][s] = further * inverse[s];
            store(factors + (p * kFactors + s) * kLanes, next[0][s]);
            store(factors + (p * kFactors + kSystems + s) * kLanes, after[0][s]);
        }
        for (int m = 0; m < kComponents; ++m) {
            const int s = kSystemOf[m];
            const Vec own = (value(0, change + m) - far * r[1][m] - factor[s] * r[0][m]) * inverse[s];
            r[1][m] = r[0][m];
            r[0][m] = own;
            store(here + (change + m) * kLanes, own);
        }
    }
    pass([](const Vec& mine, Vec& carried) { carried = mine; });
}

template <int D>
void Scheme::backward(const Tile& tile, double* values, const double* factors, Vec* carry) const {
    Vec next[kComponents], after[kComponents];
    for (int m = 0; m < kComponents; ++m) {
        next[m] = carry[m];
        after[m] = carry[kComponents + m];
    }
    for (std::int64_t p = tile.last(D) - 1; p >= tile.first(D); --p) {
        double* r = values + (p * kValues + change) * kLanes;
        const double* f = factors + p * kFactors * kLanes;
        for (int m = 0; m < kComponents; ++m) {
            const int s = kSystemOf[m];
            const Vec own = load(r + m * kLanes) - load(f + s * kLanes) * next[m] -
                            load(f + (kSystems + s) * kLanes) * after[m];
            store(r + m * kLanes, own);
            after[m] = next[m];
            next[m] = own;
        }
    }
    for (int m = 0; m < kComponents; ++m) {
        carry[m] = next[m];
        carry[kComponents + m] = after[m];
    }
}

template <int D>
void Scheme::scatter(const Cell& cell, Bundle bundle, double* values) const {
    const Tile& t = cell.tile;
    const auto changes = [&](std::int64_t p, Vec(&r)[kComponents]) {
        load_all(values + (p * kValues + change) * kLanes, kLanes, r);
    };
    if constexpr (D == 0) {
        scatter_x(cell, bundle, [&](std::int64_t p, Vec(&r)[kComponents]) {
            changes(p, r);
            x_to_y(r);
        });
    } else if constexpr (D == 1) {
        for (std::int64_t p = t.first(1); p < t.last(1); ++p) {
            Vec r[kComponents];
            changes(p, r);
            y_to_z(r);
            store_all(cell.rhs.at(p, bundle.second) + bundle.first, cell.rhs.row, r);
        }
    } else {
        for (std::int64_t p = t.first(2); p < t.last(2); ++p) {
            Vec r[kComponents], u[kComponents];
            changes(p, r);
            double* at = cell.u.at(bundle.second, p) + bundle.first;
            from_z(Gas(at, cell.u.row), r);
            load_all(at, cell.u.row, u);
            for (int m = 0; m < kComponents; ++m) u[m] += part_of(t, p) * r[m];
            store_all(at, cell.u.row, u);
        }
    }
}

STRATA_NPB_LINES

}  // namespace strata::npb::sp
