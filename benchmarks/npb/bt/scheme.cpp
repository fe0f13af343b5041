#include "benchmarks/npb/bt/scheme.hpp"

#include "benchmarks/npb/flow/jacobian.hpp"

namespace strata::npb::bt {
namespace {

using flow::Block;
using flow::Bundle;
using flow::Cell;
using flow::load_all;
using flow::Motion;
using flow::store_all;
using flow::Tile;

constexpr int kComponents = flow::kComponents;

/// Where component m of a line along D lies in a field: the momentum along the line comes second.
constexpr int place_of(int d, int m) { return m == 1 ? 1 + d : (m == 1 + d ? 1 : m); }

/// right = matrix^-1 right for `right` of 5 x 6, by elimination without exchange of rows: the blocks of these
/// systems are dominated by their diagonals. The columns of `right` are those of the next block, then the
/// right-hand side; row 0 of the next block has but its first two entries before.
void solve_block(Block& matrix, Vec (&right)[kComponents][kComponents + 1]) {
    constexpr int kColumns = kComponents + 1;
    for (int p = 0; p < kComponents; ++p) {
        const Vec inverse = 1 / matrix[p][p];
        for (int c = p + 1; c < kComponents; ++c) matrix[p][c] *= inverse;
        for (int c = 0; c < kColumns; ++c) right[p][c] *= inverse;
        for (int r = p + 1; r < kComponents; ++r) {
            const Vec factor = matrix[r][p];
            for (int c = p + 1; c < kComponents; ++c) matrix[r][c] -= factor * matrix[p][c];
            for (int c = 0; c < kColumns; ++c) right[r][c] -= factor * right[p][c];
        }
    }
    for (int p = kComponents - 1; p > 0; --p)
        for (int r = 0; r < p; ++r)
            for (int c = 0; c < kColumns; ++c) right[r][c] -= matrix[r][p] * right[p][c];
}

}  // namespace

template <int D>
void Scheme::gather(const Cell& cell, Bundle bundle, double* values) const {
    const Tile& t = cell.tile;
    const auto place = [&](std::int64_t p) { return values + p * kValues * kLanes; };
    if constexpr (D == 0) {
        // Eight rows of eight points at a time, turned so that each row becomes a lane.
        for_eights(t, [&](std::int64_t x, std::int64_t from, std::int64_t to) {
            for (int q = 0; q < kValues; ++q) {
                const flow::Field& field = q < change ? cell.u : cell.rhs;
                Vec rows[kLanes];
                for (int lane = 0; lane < kLanes; ++lane)
                    rows[lane] = load(field.at(row_of(t, bundle, lane), bundle.second) +
                                      q % kComponents * field.row + x);
                transpose(rows);
                for (std::int64_t p = from; p < to; ++p) store(place(x + p) + q * kLanes, rows[p]);
            }
        });
    } else {
        for_points<D>(t, bundle, [&](std::int64_t p, std::int64_t y, std::int64_t z, bool within) {
            const double* u = cell.u.at(y, z) + bundle.first;
            for (int m = 0; m < kComponents; ++m)
                store(place(p) + (solution + m) * kLanes, load(u + place_of(D, m) * cell.u.row));
            if (!within) return;
            const double* r = cell.rhs.at(y, z) + bundle.first;
            for (int m = 0; m < kComponents; ++m)
                store(place(p) + (change + m) * kLanes, load(r + place_of(D, m) * cell.rhs.row));
        });
    }
}

template <int D>
void Scheme::forward(const Tile& tile, double* values, double* factors, Vec* carry) const {
    // Of the point before: the eliminated block of the next unknown, and the right-hand side.
    Vec next[kComponents][kComponents + 1];
    for (int m = 0; m < kComponents; ++m)
        for (int c = 0; c <= kComponents; ++c) next[m][c] = carry[m * (kComponents + 1) + c];
    const double first = dt_ * axes_[D].first, second = dt_ * axes_[D].second;
    const double diffusion = axes_[D].diffusion;
    const auto motion = [&](std::int64_t p) {
        Vec u[kComponents];
        load_all(values + (p * kValues + solution) * kLanes, kLanes, u);
        return Motion(u);
    };
    if (tile.first(D) >= tile.last(D)) return;
    Motion here = motion(tile.first(D)), before = motion(tile.first(D) - 1);
    for (std::int64_t p = tile.first(D); p < tile.last(D); ++p) {
        const Motion behind = motion(p + 1);
        double* r = values + (p * kValues + change) * kLanes;
        Vec right[kComponents][kComponents + 1], own[kComponents];
        load_all(r, kLanes, own);
        // The row: lower block times the point before, diagonal block, upper block times the next point. The
        // lower one is applied to what elimination left of the point before.
        Block lower, diagonal{}, upper{};
        set_jacobians(before, -first, -second, diffusion, lower);
        set_jacobians(here, 0, 2 * second, diffusion, diagonal);
        set_jacobians(behind, first, -second, diffusion, upper);
        for (int m = 0; m < kComponents; ++m) {
            diagonal[m][m] += 1;
            for (int k = 0; k < kComponents; ++k) {
                if (!flow::kShape[m][k]) continue;
                for (int c = 0; c < kComponents; ++c) diagonal[m][c] -= lower[m][k] * next[k][c];
                own[m] -= lower[m][k] * next[k][kComponents];
            }
            for (int c = 0; c < kComponents; ++c) right[m][c] = upper[m][c];
            right[m][kComponents] = own[m];
        }
        solve_block(diagonal, right);
        double* factor = factors + p * kFactors * kLanes;
        for (int m = 0; m < kComponents; ++m) {
            for (int c = 0; c <= kComponents; ++c) next[m][c] = right[m][c];
            for (int c = 0; c < kComponents; ++c) store(factor + (m * kComponents + c) * kLanes, next[m][c]);
            store(r + m * kLanes, next[m][kComponents]);
        }
        before = here;
        here = behind;
    }
    for (int m = 0; m < kComponents; ++m)
        for (int c = 0; c <= kComponents; ++c) carry[m * (kComponents + 1) + c] = next[m][c];
}

template <int D>
void Scheme::backward(const Tile& tile, double* values, const double* factors, Vec* carry) const {
    Vec next[kComponents];
    for (int m = 0; m < kComponents; ++m) next[m] = carry[m];
    for (std::int64_t p = tile.last(D) - 1; p >= tile.first(D); --p) {
        double* r = values + (p * kValues + change) * kLanes;
        const double* factor = factors + p * kFactors * kLanes;
        Vec own[kComponents];
        load_all(r, kLanes, own);
        for (int m = 0; m < kComponents; ++m)
            for (int c = 0; c < kComponents; ++c)
                own[m] -= load(factor + (m * kComponents + c) * kLanes) * next[c];
        store_all(r, kLanes, own);
        for (int m = 0; m < kComponents; ++m) next[m] = own[m];
    }
    for (int m = 0; m < kComponents; ++m) carry[m] = next[m];
}

template <int D>
void Scheme::scatter(const Cell& cell, Bundle bundle, double* values) const {
    const Tile& t = cell.tile;
    const auto changes = [&](std::int64_t p, Vec(&r)[kComponents]) {
        load_all(values + (p * kValues + change) * kLanes, kLanes, r);
    };
    if constexpr (D == 0) {
        scatter_x(cell, bundle, changes);
    } else {
        for (std::int64_t p = t.first(D); p < t.last(D); ++p) {
            const std::int64_t y = D == 1 ? p : bundle.second, z = D == 1 ? bundle.second : p;
            Vec r[kComponents];
            changes(p, r);
            for (int m = 0; m < kComponents; ++m) {
                const flow::Field& field = D == 1 ? cell.rhs : cell.u;
                double* at = field.at(y, z) + place_of(D, m) * field.row + bundle.first;
                store(at, D == 1 ? r[m] : load(at) + part_of(t, z) * r[m]);
            }
        }
    }
}

STRATA_NPB_LINES

}  // namespace strata::npb::bt
