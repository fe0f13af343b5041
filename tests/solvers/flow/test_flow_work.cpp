// What the kernels of the flow solver do for a cell, counted by their own lanes (counted_pairs.hpp), beside
// what is said of them (work.hpp).
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "benchmarks/solvers/flow/rates.hpp"
#include "solvers/flow/scheme/eddies.hpp"
#include "solvers/flow/scheme/lines.hpp"
#include "solvers/flow/scheme/work.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"

using namespace strata;
using namespace flow_test;

template <>
struct Catch::StringMaker<Operations> {
    static std::string convert(const Operations& o) {
        return fmt::format("{{{}, {}, {}, {}, {}}}", o.sums, o.products, o.quotients, o.roots, o.comparisons);
    }
};

namespace {

/// A wavy block of a flow that varies everywhere a little.
template <int Dim>
Block<Dim> flow_block(const Int3& n) {
    Block<Dim> block(n, wavy<Dim>(n, 0.02));
    block.set(block.around, [](const Real3& x) {
        Primitive<Dim, double> w;
        w.rho = 1 + 0.02 * std::sin(3 * x[0] + x[1]), w.p = (1 + 0.03 * std::cos(2 * x[1])) / 1.4;
        for (auto& u : w.u) u = 0.2 + 0.05 * std::sin(x[0] - 2 * x[1]);
        return w;
    });
    block.nu.fill(3);
    for (Values* v : {&block.mean, &block.nu_residual, &block.inverse, &block.nu_inverse, &block.viscosity})
        v->fill(1e-3);
    return block;
}

template <int Dim>
using Kernel = std::function<void(Block<Dim>&)>;

/// Operations for each cell more, along all axes: what is done once for a block, a row or at its ends falls
/// out. Kernels take 16 cells or 8 rows at once; the residual a tile of up to 8 rows.
template <int Dim>
Operations counted(int rows, const Kernel<Dim>& kernel) {
    const Int3 small{16, rows, Dim == 3 ? 4 : 1};
    std::array<double, kOperations> sum{};
    for (int corner = 0; corner < (1 << Dim); ++corner) {
        Int3 n = small;
        int sign = Dim % 2 == 0 ? 1 : -1;
        for (int d = 0; d < Dim; ++d)
            if ((corner >> d & 1) != 0) n[static_cast<std::size_t>(d)] *= 2, sign = -sign;
        Block<Dim> block = flow_block<Dim>(n);
        counted_operations = {};
        kernel(block);
        for (std::size_t o = 0; o < sum.size(); ++o)
            sum[o] += sign * static_cast<double>(counted_operations[o]);
    }
    const double cells = 1.0 * small[0] * small[1] * small[2];
    return Operations{sum[0], sum[1], sum[2], sum[3], sum[4]} * (1 / cells);
}

template <int Dim>
void check_residual(const Scheme& scheme) {
    CHECK(counted<Dim>(4, [&](Block<Dim>& b) { b.compute(scheme); }) ==
          WorkOf(Dim, scheme).residual().operations);
}

template <int Dim>
void check_lines(const Scheme& scheme) {
    const WorkOf work(Dim, scheme);
    for (const bool first : {true, false}) {
        CAPTURE(first);
        const auto pass = [&](Block<Dim>& b, bool up) {
            Values g(b.around, Dim + 2), nu(b.around, 2), factors(b.around, kLineFactors<Dim>),
                matrix(b.around, kLineMatrix<Dim>);
            g.fill(1e-3), nu.fill(1e-3), factors.fill(1e-3), matrix.fill(1);
            const LineMatrices matrices =
                first ? LineMatrices{.made = matrix.view()} : LineMatrices{.given = matrix.read()};
            const LineSet lines{b.cells, 1, first, LineEnd::ends, LineEnd::ends, false};
            const Upwind given{b.mean.read(), b.nu_residual.read()}, beside{g.read(), nu.read()};
            if (up)
                substitute_lines<Dim>(lines, scheme, beside, factors.read(), beside,
                                      {b.mean.view(), b.nu_residual.view()});
            else
                eliminate_lines<Dim>(lines, b.patch(), scheme, {},
                                     {b.inverse.read(), b.nu_inverse.read(), b.viscosity.read()}, given,
                                     beside, factors.read(), {g.view(), nu.view()}, factors.view(), matrices);
        };
        CHECK(counted<Dim>(4, [&](Block<Dim>& b) { pass(b, false); }) == work.elimination(first).operations);
        CHECK(counted<Dim>(4, [&](Block<Dim>& b) { pass(b, true); }) == work.substitution().operations);
    }
}

template <int Dim>
void check_step(const Scheme& scheme) {
    const WorkOf work(Dim, scheme);
    if (scheme.is_sst())
        CHECK(counted<Dim>(8, [&](Block<Dim>& b) {
                  eddies<Dim>(b.cells, b.patch(), scheme, b.viscosity.view());
              }) == work.eddies().operations);
    CHECK(counted<Dim>(8, [&](Block<Dim>& b) {
              diagonals<Dim>(b.cells, b.patch(), scheme, {}, b.viscosity.read(), b.inverse.view(),
                             b.nu_inverse.view());
          }) == work.diagonals().operations);
    for (const bool forward : {true, false}) {
        const Operations found = counted<Dim>(8, [&](Block<Dim>& b) {
            const Diagonals d{b.inverse.read(), b.nu_inverse.read(), b.viscosity.read()};
            (forward ? forward_sweep<Dim> : backward_sweep<Dim>)(b.cells, b.patch(), scheme, d, {},
                                                                 {b.mean.read(), b.nu_residual.read()},
                                                                 {b.mean.view(), b.nu_residual.view()});
        });
        // In three dimensions less than a thousandth depends on the block.
        const Operations less = found + work.sweep().operations * -1;
        CAPTURE(found, work.sweep().operations);
        for (const double one : {less.sums, less.products, less.quotients, less.roots, less.comparisons})
            CHECK(std::abs(one) < 1e-3 * found.all() + 0.1);
    }
    if (scheme.viscous())
        CHECK(counted<Dim>(8, [&](Block<Dim>& b) {
                  step_viscosity<Dim>(b.cells, b.patch(), scheme, b.viscosity.view());
              }) == work.viscosity().operations);
    CHECK(counted<Dim>(8, [&](Block<Dim>& b) {
              (void)update<Dim>(b.cells, scheme, 0.2, b.mean.read(), b.nu_residual.read(), b.q.view(),
                                b.nu.view());
          }) == work.update().operations);
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("operations for a cell are those that are said", "", ((int Dim), Dim), 2, 3) {
    for (const Viscosity viscosity :
         {Viscosity::none, Viscosity::laminar, Viscosity::spalart_allmaras, Viscosity::sst}) {
        CAPTURE(static_cast<int>(viscosity));
        Scheme scheme;
        scheme.viscosity = viscosity;
        check_residual<Dim>(scheme);
        check_step<Dim>(scheme);
        if (scheme.viscous()) check_lines<Dim>(scheme);
    }
}

TEMPLATE_TEST_CASE_SIG("and options of the scheme add theirs", "", ((int Dim), Dim), 2, 3) {
    Scheme scheme;
    scheme.viscosity = Viscosity::spalart_allmaras;
    for (const Limiter limiter : {Limiter::minmod, Limiter::van_albada, Limiter::van_leer}) {
        CAPTURE(static_cast<int>(limiter));
        Scheme limited = scheme;
        limited.muscl.limiter = limiter;
        check_residual<Dim>(limited);
    }
    Scheme first = scheme, low = scheme, fixed = scheme, second = scheme;
    first.muscl.first_order = true, low.low_mach = true, fixed.entropy_fix = 0.1;
    second.sa.second_order = true;
    for (const Scheme& one : {first, low, fixed, second}) check_residual<Dim>(one);
    scheme.viscosity = Viscosity::sst, scheme.sst.second_order = true;
    check_residual<Dim>(scheme);
}

TEST_CASE("the least time of operations is that of the busiest unit") {
    const Rates rates{2, 2, 4, 0.25, 0.125, 4};
    CHECK(rates.least_time({8, 8}) == 4);           // side by side
    CHECK(rates.least_time({10, 2}) == 5);          // the adders
    CHECK(rates.least_time({2, 10}) == 5);          // the multipliers
    CHECK(rates.least_time({8, 8, 1, 0, 4}) == 6);  // comparisons go through the adders
    CHECK(rates.least_time({8, 8, 1}) == 4);        // a quotient beside the others
    CHECK(rates.least_time({8, 8, 1, 1}) == 12);    // quotients and roots one after the other
    const Rates one_port{3, 3, 3, 0.25, 0.125, 6};
    CHECK(one_port.least_time({9, 9}) == 6);  // where sums and products share their units
}
