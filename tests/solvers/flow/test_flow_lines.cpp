// The implicit step along lines: matrices of faces, one whole line, lines over two patches and across a join.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "solvers/flow/scheme/lines.hpp"
#include "solvers/flow/scheme/waves.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"

using namespace flow_test;

namespace {

constexpr double kGamma = 1.4;

Lanes all(double x) { return broadcast(x); }

/// A state at which no wave is slow: none is cut off.
WaveCell<3> cell() {
    WaveCell<3> c;
    c.u = {all(0.4), all(-0.3), all(0.2)};
    c.half_square = 0.5 * dot(c.u, c.u);
    c.a = all(1.1);
    c.H = c.a * c.a / (kGamma - 1) + c.half_square;
    c.E = c.H - c.a * c.a / kGamma;
    c.heat = all(0.7), c.momentum = all(0.4);
    return c;
}
const Vector<3, Lanes> kArea{all(0.5), all(0.8), all(-0.3)};

double distance(const Column<3>& a, const Column<3>& b) {
    double most = 0;
    for (std::size_t r = 0; r < 5; ++r) most = std::max(most, std::abs(a[r][0] - b[r][0]));
    return most;
}

/// Blocks of one line, cells[axis] long, uniform but for a bump of a given size; around it the far field.
Block<2> line(int axis, int length, double bump) {
    Int3 n{1, 1, 1};
    n[static_cast<std::size_t>(axis)] = length;
    Block<2> block(n, [](int i, int j, int) { return Real3{0.3 * i + 0.05 * j, 0.2 * j + 0.02 * i * j, 0}; });
    const Primitive<2, double> far{1, {0.5, 0.35}, 1 / kGamma};
    block.set(block.around, [&](const Real3&) { return far; });
    for (int m = 0; m < length; ++m) {
        const double by = bump * std::sin(1.0 + m);
        block.put(axis == 0 ? m : 0, axis == 0 ? 0 : m, 0,
                  conserved<2, double>({1 + by, {0.5 - by, 0.35 + 2 * by}, 1 / kGamma + by}, kGamma));
    }
    block.nu.fill(0);
    return block;
}

struct Solved {
    Values g, factors, dq;
    explicit Solved(const Box& box)
        : g(grown<2>(box, 1), 4), factors(grown<2>(box, 1), kLineFactors<2>), dq(grown<2>(box, 1), 4) {}
};

/// One factor of the step, over patches that divide the line at `cut` (0: not at all).
void solve(Block<2>& block, const Scheme& scheme, int axis, int cut, Solved& to) {
    const auto a = static_cast<std::size_t>(axis);
    std::vector<LineSet> parts;
    if (cut == 0) {
        parts.push_back({block.cells, axis});
    } else {
        LineSet low{block.cells, axis}, high = low;
        low.cells.hi[a] = high.cells.lo[a] = cut;
        low.above = high.below = LineEnd::goes_on;
        parts = {low, high};
    }
    StepSize step;
    step.cfl = step.cfl_across = 1e12;
    const Diagonals diagonals{no_field(), no_field(), no_field()};
    for (std::size_t p = parts.size(); p-- > 0;)
        eliminate_lines<2>(parts[p], block.patch(), scheme, step, diagonals, {block.mean.read(), no_field()},
                           {to.g.read(), no_field()}, to.factors.read(), {to.g.view(), no_result()},
                           to.factors.view());
    for (const LineSet& part : parts)
        substitute_lines<2>(part, scheme, {to.g.read(), no_field()}, to.factors.read(),
                            {to.dq.read(), no_field()}, {to.dq.view(), no_result()});
}

double largest(const Block<2>& block) {
    double most = 0;
    strata::graph::for_each(block.cells, [&](int i, int j, int k) {
        for (int c = 0; c < 4; ++c) most = std::max(most, std::abs(block.mean.read()(i, j, k, c)));
    });
    return most;
}

Scheme first_order() {
    Scheme scheme;
    scheme.muscl.first_order = true;
    return scheme;
}

}  // namespace

TEST_CASE("the matrices of a face are those of its flux, and split by the signs of its waves") {
    const WaveCell<3> c = cell();
    const Waves<3> up(c, kArea, 1), down(c, kArea, -1), half(c, kArea, 0);
    WaveSum<3> sum;
    sum.add(up), sum.add(half);
    Lanes matrix[5][5] = {}, friction[5][5] = {};
    sum.add_to(matrix, c, kGamma - 1);
    add_conduction<3>(friction, c, all(0.3));
    for (std::size_t n = 0; n < 5; ++n) {
        Column<3> dq{};
        dq[n] = all(1);
        const Column<3> u = up.times(c, kGamma - 1, dq), d = down.times(c, kGamma - 1, dq),
                        h = half.times(c, kGamma - 1, dq);
        const Conserved<3, Lanes> change{dq[0], {dq[1], dq[2], dq[3]}, dq[4]};
        const Conserved<3, Lanes> f = flux_change<3>(c.u, c.H, change, kArea, kGamma);
        Column<3> both, twice, column, conducted_column, least;
        for (std::size_t r = 0; r < 5; ++r) {
            both[r] = u[r] + d[r], twice[r] = u[r] - d[r] - 2.0 * h[r];
            column[r] = matrix[r][n] - u[r] - h[r], conducted_column[r] = friction[r][n];
            least[r] = Lanes{};
        }
        CHECK(distance(both, {f.rho, f.m[0], f.m[1], f.m[2], f.E}) < 1e-13);
        CHECK(distance(twice, least) < 1e-13);
        CHECK(distance(column, least) < 1e-13);
        Column<3> taken = conducted<3>(c, dq);
        for (Lanes& x : taken) x *= 0.3;
        CHECK(distance(conducted_column, taken) < 1e-13);
        // |A| |A| = A A
        const Column<3> again = half.times(c, kGamma - 1, h);
        const Conserved<3, Lanes> ff = flux_change<3>(
            c.u, c.H, Conserved<3, Lanes>{f.rho, {f.m[0], f.m[1], f.m[2]}, f.E}, kArea, kGamma);
        Column<3> square;
        for (std::size_t r = 0; r < 5; ++r) square[r] = 4.0 * again[r];
        CHECK(distance(square, {ff.rho, ff.m[0], ff.m[1], ff.m[2], ff.E}) < 1e-12);
    }
}

TEST_CASE("a line is Newton's step of the scheme of first order, along either axis") {
    for (const int axis : {0, 1}) {
        // The error of a step is of second order: a bump of a tenth leaves a hundredth.
        std::vector<double> left;
        for (const double bump : {1e-3, 1e-4}) {
            Block<2> block = line(axis, 21, bump);
            const Scheme scheme = first_order();
            block.compute(scheme);
            Solved solved(block.cells);
            solve(block, scheme, axis, 0, solved);
            strata::graph::for_each(block.cells, [&](int i, int j, int k) {
                for (int c = 0; c < 4; ++c) block.q.view()(i, j, k, c) += solved.dq.read()(i, j, k, c);
            });
            const double before = largest(block);
            block.compute(scheme);
            left.push_back(largest(block) / before);
        }
        CAPTURE(axis, left[0], left[1]);
        CHECK(left[0] < 2e-2);
        CHECK(left[1] < 0.2 * left[0]);
    }
}

TEST_CASE("lines over two patches have the bits of whole ones") {
    for (const int axis : {0, 1}) {
        Block<2> block = line(axis, 21, 1e-2);
        block.compute(first_order());
        Solved whole(block.cells), cut(block.cells);
        solve(block, first_order(), axis, 0, whole);
        solve(block, first_order(), axis, 8, cut);
        bool same = true;
        strata::graph::for_each(block.cells, [&](int i, int j, int k) {
            for (int c = 0; c < 4; ++c)
                same = same && whole.dq.read()(i, j, k, c) == cut.dq.read()(i, j, k, c);
        });
        CHECK(same);
    }
}

TEST_CASE("two lines that end towards each other are one line") {
    // The lower half, seen from its other end: axes run backwards, as in the wake of a C-grid.
    const int length = 20, half = 8;
    Block<2> block = line(1, length, 1e-2);
    const Scheme scheme = first_order();
    block.compute(scheme);
    Solved whole(block.cells);
    solve(block, scheme, 1, 0, whole);

    Block<2> turned({1, half, 1}, [&](int i, int j, int) {
        const int m = half - j, x = 1 - i;
        return Real3{0.3 * x + 0.05 * m, 0.2 * m + 0.02 * x * m, 0};
    });
    Block<2> upper({1, length - half, 1}, [&](int i, int j, int) {
        const int m = half + j;
        return Real3{0.3 * i + 0.05 * m, 0.2 * m + 0.02 * i * m, 0};
    });
    for (Block<2>* part : {&turned, &upper}) {
        part->nu.fill(0);
        strata::graph::for_each(part->around, [&](int i, int j, int) {
            const int m = part == &turned ? half - 1 - j : half + j, x = part == &turned ? -i : i;
            const bool there = block.around.contains(Int3{x, m, 0});
            for (int c = 0; c < 4; ++c)
                part->q.view()(i, j, 0, c) = block.q.read()(there ? x : 0, there ? m : -1, 0, c);
        });
        part->compute(scheme);
    }
    StepSize step;
    step.cfl = step.cfl_across = 1e12;
    Solved low(turned.cells), high(upper.cells);
    const Diagonals none{no_field(), no_field(), no_field()};
    const auto down = [&](Block<2>& part, Solved& to) {
        eliminate_lines<2>({part.cells, 1, true, LineEnd::joined, LineEnd::ends}, part.patch(), scheme, step,
                           none, {part.mean.read(), no_field()}, {to.g.read(), no_field()}, to.factors.read(),
                           {to.g.view(), no_result()}, to.factors.view());
    };
    down(turned, low), down(upper, high);
    for (auto [to, from] : {std::pair{&low, &high}, {&high, &low}}) {
        for (int c = 0; c < 4; ++c) to->g.view()(0, -1, 0, c) = from->g.read()(0, 0, 0, c);
        for (int c = 0; c < kLineFactors<2>; ++c)
            to->factors.view()(0, -1, 0, c) = from->factors.read()(0, 0, 0, c);
    }
    double most = 0;
    for (auto [part, to] : {std::pair{&turned, &low}, {&upper, &high}}) {
        substitute_lines<2>({part->cells, 1, true, LineEnd::joined, LineEnd::ends}, scheme,
                            {to->g.read(), no_field()}, to->factors.read(), {to->dq.read(), no_field()},
                            {to->dq.view(), no_result()});
        for (int j = 0; j < part->cells.hi[1]; ++j)
            for (int c = 0; c < 4; ++c)
                most = std::max(
                    most, std::abs(to->dq.read()(0, j, 0, c) -
                                   whole.dq.read()(0, part == &turned ? half - 1 - j : half + j, 0, c)));
    }
    CHECK(most < 1e-12);
}

TEMPLATE_TEST_CASE_SIG(
    "lines side by side have the bits of each alone, and a second pass those of given matrices", "",
    ((int Dim, Viscosity model), Dim, model), (2, Viscosity::spalart_allmaras), (2, Viscosity::sst),
    (3, Viscosity::spalart_allmaras), (3, Viscosity::sst)) {
    // Eleven lines side by side, of nineteen cells: whole eights and their rests, along any axis.
    for (int axis = 0; axis < Dim; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        const std::size_t across = axis == 0 ? 1 : 0, third = 3 - a - across;
        Int3 n{1, 1, 1};
        n[a] = 19, n[across] = 11;
        if (Dim == 3) n[third] = 2;
        Block<Dim> block(n, wavy<Dim>(n, 0.02));
        block.set(block.around, [](const Real3& x) {
            Primitive<Dim, double> w{};
            w.rho = 1 + 0.1 * std::sin(7 * x[0] + 3 * x[1]);
            w.u[0] = 0.3 + 0.1 * std::sin(4 * x[0]), w.u[1] = 0.2 * std::cos(6 * x[1]);
            if (Dim == 3) w.u[2] = 0.1 * std::sin(5 * x[2] + x[0]);
            w.p = (1 + 0.1 * std::cos(5 * x[1])) / 1.4;
            return w;
        });
        block.nu.fill(model == Viscosity::sst ? 0.1 : 3);
        block.viscosity.fill(0);
        Scheme scheme;
        scheme.viscosity = model;
        const int equations = scheme.is_sst() ? 2 : 1;
        const StepSize step{.cfl = 50, .cfl_turbulence = 20, .cfl_across = 5};
        block.compute(scheme), block.diagonal(scheme, step);
        const Diagonals d{block.inverse.read(), block.nu_inverse.read(), block.viscosity.read()};
        struct Result {
            Values g, nu, factors, matrix, dq, dnu;
            Result(const Box& box, int equations, int factors)
                : g(box, Dim + 2),
                  nu(box, equations),
                  factors(box, factors),
                  matrix(box, kLineMatrix<Dim>),
                  dq(box, Dim + 2),
                  dnu(box, equations) {}
        };
        const auto pass = [&](const Box& cells, bool is_first, const LineMatrices& matrices, Result& to) {
            const LineSet lines{cells, axis, is_first, LineEnd::wall, LineEnd::seam};
            const Upwind g{to.g.read(), to.nu.read()};
            eliminate_lines<Dim>(lines, block.patch(), scheme, step, d,
                                 {block.mean.read(), block.nu_residual.read()}, g, to.factors.read(),
                                 {to.g.view(), to.nu.view()}, to.factors.view(), matrices);
            substitute_lines<Dim>(lines, scheme, g, to.factors.read(), {to.dq.read(), to.dnu.read()},
                                  {to.dq.view(), to.dnu.view()});
        };
        // Bits, also of what nothing wrote.
        const auto same = [](const Values& x, const Values& y) {
            return std::memcmp(x.data.data(), y.data.data(), x.data.size() * sizeof(double)) == 0;
        };
        const auto all_same = [&](const Result& x, const Result& y) {
            return same(x.g, y.g) && same(x.nu, y.nu) && same(x.factors, y.factors) &&
                   same(x.matrix, y.matrix) && same(x.dq, y.dq) && same(x.dnu, y.dnu);
        };
        Result whole(block.cells, equations, line_factors<Dim>(scheme));
        Result alone = whole, given = whole, found = whole;
        pass(block.cells, true, {.made = whole.matrix.view()}, whole);
        CAPTURE(Dim, axis);
        for (const Values* values : {&whole.dq, &whole.dnu})
            CHECK(std::all_of(values->data.begin(), values->data.end(),
                              [](double x) { return std::isfinite(x); }));
        for (int row = 0; row < n[across]; ++row)
            for (int layer = 0; layer < n[third]; ++layer) {
                Box one = block.cells;
                one.lo[across] = row, one.hi[across] = row + 1;
                one.lo[third] = layer, one.hi[third] = layer + 1;
                pass(one, true, {.made = alone.matrix.view()}, alone);
            }
        CHECK(all_same(whole, alone));
        pass(block.cells, false, {.given = whole.matrix.read()}, given);
        pass(block.cells, false, {}, found);
        CHECK(all_same(given, found));
        CHECK(!same(given.dq, whole.dq));
    }
}
