// What SP, BT and LU share: how grids are cut, the exact solution, the differences, SP's changes of
// variables.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "benchmarks/npb/common/openmp_group.hpp"
#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/flow/jacobian.hpp"
#include "benchmarks/npb/flow/partition.hpp"
#include "benchmarks/npb/lu/blocks.hpp"
#include "benchmarks/npb/sp/eigenvectors.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::npb;
using flow::Index;
using flow::Partition;

TEST_CASE("every process has equally many cells in each slab of a multi-partition") {
    for (const int processes : {1, 2, 4, 8, 16, 32, 64}) {
        std::map<Index, int> owner;
        Index cuts{};
        for (int rank = 0; rank < processes; ++rank) {
            const Partition part = Partition::multi({64, 64, 64}, rank, processes);
            cuts = part.cuts();
            for (const Index& cell : part.cells()) CHECK(owner.emplace(cell, rank).second);
        }
        CHECK(std::ssize(owner) == cuts[0] * cuts[1] * cuts[2]);
        for (std::size_t d = 0; d < 3; ++d)
            for (std::int64_t slab = 0; slab < cuts[d]; ++slab) {
                std::vector<int> count(static_cast<std::size_t>(processes));
                for (const auto& [cell, rank] : owner)
                    if (cell[d] == slab) ++count[static_cast<std::size_t>(rank)];
                CHECK(std::count(count.begin(), count.end(), count.front()) == processes);
                CHECK(count.front() > 0);
            }
    }
}

TEST_CASE("the neighbours of all cells of a process belong to one process") {
    for (const int processes : {2, 4, 8, 16, 32}) {
        for (const auto make : {Partition::multi, Partition::columns}) {
            std::map<Index, int> owner;
            for (int rank = 0; rank < processes; ++rank) {
                const Partition part = make({64, 64, 64}, rank, processes);
                for (const Index& cell : part.cells()) owner[cell] = rank;
            }
            for (const auto& [cell, rank] : owner) {
                const Partition part = make({64, 64, 64}, rank, processes);
                for (std::size_t d = 0; d < 3; ++d)
                    for (const std::int64_t step : {-1, 1}) {
                        Index next = cell;
                        next[d] += step;
                        if (next[d] < 0 || next[d] == part.cuts()[d]) continue;
                        CHECK(owner[next] == part.neighbour(d, step));
                    }
            }
        }
    }
}

TEST_CASE("the tiles of a partition cover the grid once") {
    std::vector<int> seen(13 * 14 * 15);
    for (int rank = 0; rank < 8; ++rank) {
        const Partition part = Partition::multi({13, 14, 15}, rank, 8);
        for (const Index& cell : part.cells()) {
            const flow::Tile t = part.tile(cell);
            for (std::int64_t z = t.begin[2]; z < t.begin[2] + t.size[2]; ++z)
                for (std::int64_t y = t.begin[1]; y < t.begin[1] + t.size[1]; ++y)
                    for (std::int64_t x = t.begin[0]; x < t.begin[0] + t.size[0]; ++x)
                        ++seen[static_cast<std::size_t>((z * 14 + y) * 13 + x)];
        }
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == std::ssize(seen));
}

TEST_CASE("a grid that is too small for its processes is refused") {
    CHECK_THROWS_AS(Partition::multi({12, 12, 12}, 0, 64).require_room(), strata::Error);
    CHECK_NOTHROW(Partition::multi({12, 12, 12}, 0, 16).require_room());
}

TEST_CASE("fourth differences vanish for cubics, and keep the sum of what they damp") {
    const std::int64_t n = 12;
    for (std::int64_t i = 3; i <= n - 4; ++i) {
        const flow::Weights w = flow::fourth_difference(i, n);
        for (int power = 0; power < 4; ++power) {
            double sum = 0;
            for (int k = 0; k < 5; ++k) sum += w[static_cast<std::size_t>(k)] * std::pow(i + k - 2, power);
            CHECK(std::abs(sum) < 1e-9);
        }
    }
    // They are symmetric: what point i takes from j, j takes from i.
    for (std::int64_t i = 1; i < n - 1; ++i)
        for (std::int64_t k = -2; k <= 2; ++k)
            if (i + k >= 1 && i + k < n - 1)
                CHECK(flow::fourth_difference(i, n)[static_cast<std::size_t>(k + 2)] ==
                      flow::fourth_difference(i + k, n)[static_cast<std::size_t>(2 - k)]);
}

TEST_CASE("the beginning is exact on the faces, and the exact solution that of the specification") {
    CHECK(flow::exact(0, 0, 0) == flow::State{2, 1, 2, 2, 5});
    const flow::State corner = flow::exact(1, 1, 1);
    CHECK(corner[0] == Approx(2 + 4 + 5 + 3 + 0.5 + 0.02 + 0.01 + 0.03 + 0.5 + 0.4 + 0.3));
    const Index n = {12, 12, 12};
    const flow::Scale scale = flow::scale_of(n);
    CHECK(flow::initial({0, 5, 7}, n, scale) == flow::exact({0, 5, 7}, scale));
    CHECK(flow::initial({4, 5, 11}, n, scale) == flow::exact({4, 5, 11}, scale));
    CHECK(flow::initial({4, 5, 6}, n, scale) != flow::exact({4, 5, 6}, scale));
    // Where a grid does not end at 1, its faces still have the values there; faces in z go before those in y.
    const flow::Scale shorter = {14, 10, 11};
    CHECK(flow::initial({11, 5, 7}, n, shorter) == flow::exact(1, 0.5, 7.0 / 11));
    CHECK(flow::initial({11, 11, 7}, n, shorter) == flow::exact(11.0 / 14, 1, 7.0 / 11));
    CHECK(flow::initial({11, 11, 0}, n, shorter) == flow::exact(11.0 / 14, 1.1, 0));
}

TEST_CASE("the exact solution is steady under its forcing, and other values are not") {
    OpenMpGroup group;
    flow::Domain domain(Partition::multi({13, 12, 11}, 0, 1), group);
    domain.force();
    domain.evaluate(1);  // u still is the exact solution
    for (const double norm : domain.rhs_norm()) CHECK(norm < 1e-10);
    for (const double norm : domain.error_norm()) CHECK(norm == 0);
    domain.begin();
    domain.evaluate(1);
    for (const double norm : domain.rhs_norm()) CHECK(norm > 1e-3);
}

TEST_CASE("SP's changes of variables lead back to where they began") {
    double u[flow::kComponents * kLanes], r[flow::kComponents * kLanes];
    for (int l = 0; l < kLanes; ++l) {
        const flow::State s = flow::exact(0.1 * l, 0.3, 0.7 - 0.05 * l);
        for (int m = 0; m < flow::kComponents; ++m) {
            u[m * kLanes + l] = s[static_cast<std::size_t>(m)];
            r[m * kLanes + l] = std::sin(1.0 + 3 * m + l);
        }
    }
    const sp::Gas gas(u, kLanes);
    Vec v[flow::kComponents];
    for (int m = 0; m < flow::kComponents; ++m) v[m] = load(r + m * kLanes);
    sp::to_x(gas, v);
    sp::x_to_y(v);
    sp::y_to_z(v);
    sp::from_z(gas, v);
    for (int m = 0; m < flow::kComponents; ++m)
        for (int l = 0; l < kLanes; ++l) CHECK(v[m][l] == Approx(r[m * kLanes + l]));
}

TEST_CASE("the Jacobians are the derivatives of the fluxes") {
    // Of the gas along x, by central differences; and of viscosity and heat, that U -> the fluxes'
    // potentials.
    const flow::State at = flow::exact(0.3, 0.6, 0.2);
    const auto flux = [](const flow::State& u) {
        const double v = u[1] / u[0];
        const double p = flow::k2 * (u[4] - 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0]);
        return flow::State{u[1], u[1] * v + p, u[2] * v, u[3] * v, (u[4] + p) * v};
    };
    const auto viscous = [](const flow::State& u) {
        const double x = u[1] / u[0], y = u[2] / u[0], z = u[3] / u[0], square = x * x + y * y + z * z;
        const double c = flow::kViscous;
        return flow::State{0, 4.0 / 3 * c * x, c * y, c * z,
                           c * (0.5 * (1 - flow::kHeat) * square + x * x / 6 + flow::kHeat * u[4] / u[0])};
    };
    Vec u[flow::kComponents];
    for (int m = 0; m < flow::kComponents; ++m) u[m] = broadcast(at[static_cast<std::size_t>(m)]);
    const flow::Motion motion(u);
    const auto differ = [&](auto&& function, const flow::Block& block, double own) {
        for (std::size_t c = 0; c < flow::kComponents; ++c) {
            constexpr double h = 1e-6;
            flow::State low = at, high = at;
            low[c] -= h;
            high[c] += h;
            const flow::State a = function(low), b = function(high);
            for (std::size_t r = 0; r < flow::kComponents; ++r) {
                const double expected = (b[r] - a[r]) / (2 * h) + (r == c ? own : 0);
                const double found = block[r][c][0];
                CHECK(std::abs(found - expected) < 1e-8);
                if (!flow::kShape[r][c]) CHECK(std::abs(expected) < 1e-12);
            }
        }
    };
    flow::Block gas{}, heat{};
    flow::set_jacobians(motion, 1, 0, 0, gas);
    differ(flux, gas, 0);
    flow::set_jacobians(motion, 0, 1, 0.75, heat);
    differ(viscous, heat, 0.75);
}

TEST_CASE("LU's products and diagonal blocks are those of the Jacobians") {
    const flow::State at = flow::exact(0.3, 0.6, 0.2);
    Vec u[flow::kComponents], v[flow::kComponents];
    for (int m = 0; m < flow::kComponents; ++m) {
        u[m] = broadcast(at[static_cast<std::size_t>(m)]);
        v[m] = broadcast(std::cos(1.0 + 2 * m));
    }
    const lu::Gas gas(u, 1 / u[0]);
    const lu::Change change(gas, v);
    // Momentum along the line comes second in a Jacobian.
    const auto by_jacobian = [&](int d, double first, double second, double diffusion) {
        Vec turned[flow::kComponents] = {u[0], u[1 + d], u[d == 1 ? 1 : 2], u[d == 2 ? 1 : 3], u[4]};
        const int place[] = {0, 1 + d, d == 1 ? 1 : 2, d == 2 ? 1 : 3, 4};
        flow::Block block{};
        flow::set_jacobians(flow::Motion(turned), first, second, diffusion, block);
        flow::State out{};
        for (int r = 0; r < flow::kComponents; ++r)
            for (int c = 0; c < flow::kComponents; ++c)
                out[static_cast<std::size_t>(place[r])] += block[r][c][0] * v[place[c]][0];
        return out;
    };
    const auto check = [&](int d, const Vec(&found)[flow::kComponents]) {
        const flow::State expected = by_jacobian(d, 3, 2, 0.75);
        for (std::size_t m = 0; m < flow::kComponents; ++m)
            CHECK(found[m][0] == Approx(expected[m]).epsilon(1e-12));
    };
    Vec out[flow::kComponents];
    lu::product<0>(gas, change, {3, 2, 1.5}, out);
    check(0, out);
    lu::product<1>(gas, change, {3, 2, 1.5}, out);
    check(1, out);
    lu::product<2>(gas, change, {3, 2, 1.5}, out);
    check(2, out);

    const std::array<flow::Axis, 3> axes = {flow::Axis(11, 0.75), flow::Axis(14, 0.75), flow::Axis(19, 1)};
    Vec solved[flow::kComponents];
    lu::Diagonal(axes, 0.5).solve(gas, v, solved);
    std::copy(std::begin(solved), std::end(solved), std::begin(v));
    flow::State back{};
    for (int d = 0; d < 3; ++d) {
        const flow::Axis& axis = axes[static_cast<std::size_t>(d)];
        const flow::State part = by_jacobian(d, 0, 2 * 0.5 * axis.second, axis.diffusion);
        for (std::size_t m = 0; m < flow::kComponents; ++m) back[m] += part[m];
    }
    for (std::size_t m = 0; m < flow::kComponents; ++m)
        CHECK(back[m] + v[m][0] == Approx(std::cos(1.0 + 2 * static_cast<double>(m))).epsilon(1e-12));
}
