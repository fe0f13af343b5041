// The kernels of the transport solver, alone on plain arrays.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/kernels/walls.hpp"
#include "solvers/transport/kernels.hpp"
#include "tests/catch.hpp"

using namespace strata::transport;
using namespace strata::graph::kernels;
using strata::graph::Int3;

namespace {

/// A box of cells with layers around it.
struct Values {
    Box cells, all;
    std::vector<double> data;
    Values(const Box& cells_, int layers, const Int3& where = {1, 1, 1})
        : cells(cells_),
          all(cells_.grown({layers * where[0], layers * where[1], layers * where[2]})),
          data(static_cast<std::size_t>(all.volume())) {}
    template <class T = double>
    FieldView<T> view() {
        return seen<T>(all);
    }
    /// As that of a patch without walls: what lies around is not its own.
    FieldView<double> inner() { return seen<double>(cells); }
    template <class T>
    FieldView<T> seen(const Box& box) {
        const std::ptrdiff_t y = all.extent(0), z = y * all.extent(1);
        return {data.data() - all.lo[0] - all.lo[1] * y - all.lo[2] * z, y, z, 0, box};
    }
    template <class F>
    void fill(F f) {
        for (int k = all.lo[2]; k < all.hi[2]; ++k)
            for (int j = all.lo[1]; j < all.hi[1]; ++j)
                for (int i = all.lo[0]; i < all.hi[0]; ++i) view()(i, j, k) = f(i, j, k);
    }
};

const Box kCells{{3, -2, 5}, {16, 5, 9}};

}  // namespace

TEST_CASE("conduction is exact for a parabola: the second difference is twice its coefficients") {
    Values T(kCells, 1), next(kCells, 0);
    T.fill([](int i, int j, int k) { return 2.0 * i * i + 3.0 * j * j + 5.0 * k * k + i - j; });
    const Summary s = conduct(kCells, T.view<const double>(), next.view(), {0.25, 0.125, 0.0625});
    double sum = 0;
    for (int k = 5; k < 9; ++k)
        for (int j = -2; j < 5; ++j)
            for (int i = 3; i < 16; ++i) {
                const double expected = T.view()(i, j, k) + 4 * 0.25 + 6 * 0.125 + 10 * 0.0625;
                REQUIRE(next.view()(i, j, k) == expected);
                sum += expected;
            }
    CHECK(std::abs(s.sum() - sum) <= 1e-12 * std::abs(sum));
    CHECK(s.least() == next.view()(3, 0, 5));
}

TEST_CASE("values stored past the caches are the same, wherever rows begin and end") {
    for (int lo = 0; lo < 9; ++lo)
        for (const int n : {1, 7, 8, 31, 255, 256, 300}) {
            const Box cells{{lo, 0, 0}, {lo + n, 3, 2}};
            Values T(cells, 2), cached(cells, 1), past(cells, 1), v(cells, 1);
            T.fill([](int i, int j, int k) { return std::sin(i + 0.3 * j) * (k + 2); });
            v.fill([](int i, int j, int) { return std::cos(i * j); });
            const auto view = v.view<const double>();
            for (const bool heat : {true, false}) {
                const auto run = [&](Values& to, Stores stores) {
                    to.fill([](int, int, int) { return -1.0; });
                    const auto t = T.view<const double>();
                    return heat ? conduct(cells, t, to.inner(), {0.1, 0.2, 0.15}, stores)
                                : advect(cells, t, t, {view, view, view}, to.inner(), 0.5, {0.3, 0.2, 0.1}, 1,
                                         stores);
                };
                const Summary a = run(cached, Stores::cached), b = run(past, Stores::past_caches);
                REQUIRE(cached.data == past.data);
                REQUIRE(cached.view()(lo - 1, 0, 0) == -1);
                REQUIRE(cached.view()(lo + n, 2, 1) == -1);
                REQUIRE(a.sum() == b.sum());
                REQUIRE(a.most() == b.most());
            }
        }
}

TEST_CASE("each cell is written once, and what lies beyond walls along x with it, however the patch is cut") {
    for (const Box& cells :
         {Box{{-5, 2, 0}, {195, 13, 6}}, Box{{8, 0, -1}, {72, 4, 3}}, Box{{0, 0, 0}, {33, 29, 9}},
          Box{{1, 3, 0}, {600, 8, 1}}, Box{{0, 0, 0}, {3, 70, 2}}})
        for (const int layers : {1, 2}) {
            const int flat = cells.extent(2) > 1 ? 1 : 0;
            Values T(cells, 1, {1, 1, flat}), next(cells, layers, {1, 1, flat});
            T.fill([](int i, int j, int k) { return std::sin(0.1 * i + 0.3 * j) * (k + 2); });
            next.fill([](int, int, int) { return -1.0; });
            conduct(cells, T.view<const double>(), next.view(), {0.1, 0.2, 0.15 * flat});
            const auto t = T.view();
            const Box rows = cells.grown({layers, 0, 0});
            for (int k = next.all.lo[2]; k < next.all.hi[2]; ++k)
                for (int j = next.all.lo[1]; j < next.all.hi[1]; ++j)
                    for (int i = next.all.lo[0]; i < next.all.hi[0]; ++i) {
                        const int at = std::clamp(i, cells.lo[0], cells.hi[0] - 1);
                        if (!rows.contains(Int3{i, j, k})) {
                            REQUIRE(next.view()(i, j, k) == -1);
                        } else if (i != at) {
                            REQUIRE(next.view()(i, j, k) == next.view()(at, j, k));
                        } else {
                            double expected = (1 - 2 * (0.1 + 0.2 + 0.15 * flat)) * t(i, j, k) +
                                              0.1 * (t(i - 1, j, k) + t(i + 1, j, k)) +
                                              0.2 * (t(i, j - 1, k) + t(i, j + 1, k));
                            if (flat == 1) expected += 0.15 * (t(i, j, k - 1) + t(i, j, k + 1));
                            REQUIRE(std::abs(next.view()(i, j, k) - expected) < 1e-13);
                        }
                    }
        }
}

TEST_CASE("a direction that is not there is not looked at") {
    const Box flat{{0, 0, 0}, {9, 7, 1}};
    Values T(flat, 1, {1, 1, 0}), next(flat, 0);  // no layers above and below
    T.fill([](int i, int j, int) { return i * i - 2.0 * j * j; });
    const Summary s = conduct(flat, T.view<const double>(), next.view(), {0.25, 0.25, 0});
    CHECK(next.view()(4, 3, 0) == T.view()(4, 3, 0) + 0.5 - 1.0);
    CHECK(std::isfinite(s.sum()));
}

TEST_CASE("fluxes with Fromm's slopes are exact for a linear profile, with the flow in either direction") {
    std::vector<double> T(9);
    for (std::size_t i = 0; i < 9; ++i) T[i] = 3.0 + 2.0 * static_cast<double>(i);
    const double at_face = 3.0 + 2.0 * 3.5;  // lower face of cell 4
    CHECK(fromm_flux(T[2], T[3], T[4], T[5], 1.5) == 1.5 * at_face);
    CHECK(fromm_flux(T[2], T[3], T[4], T[5], -1.5) == -1.5 * at_face);
    CHECK(fromm_flux(T[2], T[3], T[4], T[5], 0.0) == 0);
}

TEST_CASE("a stage of advection moves a linear profile by v dt, and mixes in what was before") {
    Values T(kCells, 2), next(kCells, 0), vx(kCells, 1), vy(kCells, 1), vz(kCells, 1);
    T.fill([](int i, int j, int k) { return 2.0 * i + 4.0 * j - 8.0 * k; });
    vx.fill([](int, int, int) { return 1.0; });
    vy.fill([](int, int, int) { return -0.5; });
    vz.fill([](int, int, int) { return 0.25; });
    const auto t = T.view<const double>();
    advect(kCells, t, t, {vx.view<const double>(), vy.view<const double>(), vz.view<const double>()},
           next.view(), 0.5, {0.25, 0.25, 0.25});
    // By half of dt v . grad T
    CHECK(next.view()(7, 1, 6) == t(7, 1, 6) - 0.5 * 0.25 * (2.0 - 2.0 - 2.0));
    CHECK(next.view()(3, -2, 5) == t(3, -2, 5) - 0.5 * 0.25 * (2.0 - 2.0 - 2.0));
}

TEST_CASE("layers beyond the walls have the value of the nearest cell") {
    Values T(kCells, 2);
    T.fill([](int i, int j, int k) {
        return kCells.contains(Int3{i, j, k}) ? i + 100.0 * j + 1e4 * k : -1.0;
    });
    extend_to_walls(kCells, T.view());
    const auto t = T.view();
    CHECK(t(1, 0, 6) == t(3, 0, 6));
    CHECK(t(17, 0, 6) == t(15, 0, 6));
    CHECK(t(7, -4, 6) == t(7, -2, 6));
    CHECK(t(7, 6, 6) == t(7, 4, 6));
    CHECK(t(7, 0, 3) == t(7, 0, 5));
    CHECK(t(7, 0, 10) == t(7, 0, 8));
    CHECK(t(7, 0, 6) == 7 + 6e4);
}

TEST_CASE("a summary does not pass over a value that is no number") {
    for (int count = 1; count <= kLanes; ++count)
        for (int bad = 0; bad < count; ++bad) {
            std::vector<double> values(static_cast<std::size_t>(count), 1.0);
            values[static_cast<std::size_t>(bad)] = NAN;
            Summary s;
            s.add(values.data(), count);
            REQUIRE(!std::isfinite(s.sum()));
        }
    Summary s;
    s.add(Lanes{3, -1, 4, -1.5, 9, 2, 6, 5});
    s.add(std::vector<double>{3, 5, 8}, 3);
    CHECK(s.sum() == 42.5);
    CHECK(s.least() == -1.5);
    CHECK(s.most() == 9);
}
