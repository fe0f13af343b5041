// Menter's model: formulas, gradients and sources, and what the implicit step does with its variables.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "solvers/flow/scheme/sst.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"

using namespace flow_test;

namespace {

/// Values, and what numpy makes of the equations of Menter's paper (AIAA J. 32 (1994) 1598).
struct Known {
    double k, omega, nu, distance, cross, vorticity, rate;
    double F1, F2, nu_t, k_source, omega_source;
};
// By turns: F1 and F2 at 1, cross diffusion below 0; in between, eddies limited by the vorticity; the
// sublayer; far from walls, production of k by 20 times its destruction at most; edge of a layer.
constexpr std::array<Known, 6> kKnown{{
    {2e-3, 3.0, 1e-6, 0.05, -0.4, 2.0, 5.0, 1, 1, 0.00031, 0.00101, 2.09083333333333},
    {2e-3, 3.0, 1e-6, 0.3, 0.02, 9.0, 70.0, 0.0926557655310154, 0.839455341154131, 8.20637924516348e-05,
     0.00520446547161444, 30.828174679079},
    {1e-6, 400.0, 1e-5, 2e-3, -3.0, 300.0, 1e5, 1, 0.999999993412572, 1.03333334014034e-09,
     6.73333340140342e-05, 43316.6666666667},
    {1e-4, 2.0, 1e-6, 4.0, 1e-5, 0.1, 0.02, 3.72108862978204e-08, 0.000771604785140422, 5e-05, -1.7e-05,
     -0.322384345422049},
    {4e-3, 3.0, 1e-6, 0.2, 0.02, 2.0, 5.0, 0.954640983854705, 0.999965715145527, 0.000620021257338578,
     0.00202010628669289, 2.06258162132396},
    {1e-4, 2.0, 1e-6, 4.0, 1e-5, 0.1, 200.0, 3.72108862978204e-08, 0.000771604785140422, 5e-05, 0.000342,
     87.7397427340609},
}};

Scheme sst_scheme() {
    Scheme s;
    s.viscosity = Viscosity::sst;
    s.gas.mach = 0.5;
    s.gas.reynolds = 1e3;
    return s;
}

/// Velocities, k and omega that are linear in the place, of a gas that is everywhere the same.
template <int Dim>
struct Linear {
    static constexpr std::array<std::array<double, 3>, 3> kSlope{
        {{0.2, 1.3, -0.4}, {-0.3, 0.1, 0.5}, {0.7, -0.2, 0.15}}};
    static constexpr std::array<double, 3> kOfK{0.02, -0.01, 0.03}, kOfOmega{1.0, 2.0, -0.5};

    static Block<Dim> block(const Int3& n) {
        Block<Dim> block(n, wavy<Dim>(n, 0.03));
        block.set(block.around, [](const Real3& x) {
            Primitive<Dim, double> w{1.2, {}, 0.8};
            for (std::size_t d = 0; d < Dim; ++d)
                for (std::size_t e = 0; e < Dim; ++e) w.u[d] += kSlope[d][e] * x[e];
            return w;
        });
        strata::graph::for_each(block.around, [&](int i, int j, int k) {
            const Real3 x = block.centre_of(i, j, k);
            double energy = 0.1, omega = 5;
            for (std::size_t d = 0; d < Dim; ++d) energy += kOfK[d] * x[d], omega += kOfOmega[d] * x[d];
            block.nu.view()(i, j, k, kK) = energy, block.nu.view()(i, j, k, kOmega) = omega;
        });
        block.distance.fill(0.4);
        return block;
    }
    /// 2 S . S - 2/3 (div u)^2, or the square of the vorticity.
    static double rate(bool vorticity) {
        double sum = 0, divergence = 0;
        for (std::size_t d = 0; d < Dim; ++d) {
            divergence += kSlope[d][d];
            for (std::size_t e = 0; e < Dim; ++e)
                sum += 0.5 * std::pow(kSlope[d][e] + (vorticity ? -1 : 1) * kSlope[e][d], 2);
        }
        return vorticity ? sum : sum - 2.0 / 3 * divergence * divergence;
    }
};

}  // namespace

TEST_CASE("F1, F2, eddy viscosity and sources of Menter's model are those of the paper") {
    for (const Known& a : kKnown) {
        const auto all = [](double x) { return broadcast(x); };
        const sst::Lengths<Lanes> lengths(all(a.k), all(a.omega), all(a.nu), all(a.distance));
        const Lanes F1 = sst::inner(lengths, all(a.k), all(a.omega), all(a.distance), all(a.cross)),
                    F2 = sst::in_layer(lengths),
                    nu_t = sst::eddy(all(a.k), all(a.omega), all(a.vorticity), F2);
        CHECK(F1[3] == Approx(a.F1).epsilon(1e-12).margin(1e-15));
        CHECK(F2[3] == Approx(a.F2).epsilon(1e-12));
        CHECK(nu_t[3] == Approx(a.nu_t).epsilon(1e-12));
        const sst::Source<Lanes> s = sst::source(all(a.k), all(a.omega), nu_t, F1, all(a.rate), all(a.cross));
        CHECK(s.k[5] == Approx(a.k_source).epsilon(1e-12));
        CHECK(s.omega[5] == Approx(a.omega_source).epsilon(1e-12));
        CHECK(s.k_slope[5] == Approx(0.09 * a.omega));
        CHECK(s.omega_slope[5] >= 2 * 0.075 * a.omega);
        CHECK(s.omega_slope[5] < 2 * 0.0828 * a.omega + 1.713 * std::abs(a.cross) / (a.omega * a.omega));
    }
    // Without walls F1 and F2 are 0.
    const Lanes far = Lanes{} + std::numeric_limits<double>::infinity(), some = broadcast(0.3);
    const sst::Lengths<Lanes> lengths(some, some, some, far);
    CHECK(sst::inner(lengths, some, some, far, some)[0] == 0);
    CHECK(sst::in_layer(lengths)[0] == 0);
}

TEMPLATE_TEST_CASE_SIG("strain rate, vorticity and cross diffusion are exact for linear functions", "",
                       ((int Dim), Dim), 2, 3) {
    const Int3 n = Dim == 2 ? Int3{21, 9, 1} : Int3{11, 6, 5};
    Block<Dim> block = Linear<Dim>::block(n);
    for (const bool vorticity : {false, true}) {
        Scheme s = sst_scheme();
        s.sst.vorticity = vorticity;
        eddies<Dim>(block.beside, block.patch(), s, block.viscosity.view());
        double cross = 0, off = 0, off_cross = 0, off_eddy = 0;
        for (std::size_t d = 0; d < Dim; ++d) cross += Linear<Dim>::kOfK[d] * Linear<Dim>::kOfOmega[d];
        strata::graph::for_each(block.beside, [&](int i, int j, int k) {
            const auto v = block.viscosity.view();
            off = std::max(off, std::abs(v(i, j, k, kRate) - Linear<Dim>::rate(vorticity)));
            off_cross = std::max(off_cross, std::abs(v(i, j, k, kCross) - cross));
            // mu_t = rho a1 k / max(a1 omega, |vorticity| F2) / (Mach / Re), point by point
            const double energy = block.nu.view()(i, j, k, kK), omega = block.nu.view()(i, j, k, kOmega);
            const double T = 1.4 * 0.8 / 1.2, mu = std::pow(T, 1.5) * 1.4 / (T + 0.4);
            const double arg = std::max(2 * std::sqrt(energy) / (0.09 * omega * 0.4),
                                        500 * 5e-4 * mu / 1.2 / (0.16 * omega));
            const double mu_t =
                1.2 * 0.31 * energy /
                std::max(0.31 * omega, std::sqrt(Linear<Dim>::rate(true)) * std::tanh(arg * arg)) / 5e-4;
            off_eddy = std::max(off_eddy, std::abs(v(i, j, k, kEddy) / mu_t - 1));
        });
        CHECK(off < 1e-10);
        CHECK(off_cross < 1e-11);
        CHECK(off_eddy < 1e-11);
    }
}

TEST_CASE("k and omega are carried, made and destroyed as the equations say") {
    // Where gradients are linear and diffusivities equal, diffusion of a linear function is that of the
    // changing viscosity alone; far from walls and with a small viscosity it is nothing beside the rest.
    const Int3 n{21, 9, 1};
    Block<2> block = Linear<2>::block(n);
    Scheme s = sst_scheme();
    s.gas.reynolds = 1e12;
    block.distance.fill(1e6);
    // mu_t is large at large Reynolds numbers: k small enough
    strata::graph::for_each(block.around, [&](int i, int j, int k) { block.nu.view()(i, j, k, kK) *= 1e-9; });
    block.compute(s);
    double most = 0;
    strata::graph::for_each(block.cells, [&](int i, int j, int k) {
        const auto nu = block.nu.view();
        const auto w = block.state(i, j, k);
        const double energy = nu(i, j, k, kK), omega = nu(i, j, k, kOmega), V = block.volume.view()(i, j, k);
        // Upwind differences along the grid's lines, as the scheme of first order has them.
        std::array<double, 2> advected{};
        for (std::size_t axis = 0; axis < 2; ++axis) {
            const Int3 up{i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0), 0},
                down{i - (axis == 0 ? 1 : 0), j - (axis == 1 ? 1 : 0), 0};
            double through = 0;
            for (int d = 0; d < 2; ++d)
                through +=
                    0.5 * w.u[static_cast<std::size_t>(d)] *
                    (block.faces[axis].read()(i, j, 0, d) + block.faces[axis].read()(up[0], up[1], 0, d));
            for (int m = 0; m < 2; ++m)
                advected[static_cast<std::size_t>(m)] +=
                    through > 0 ? through * (nu(i, j, k, m) - nu(down[0], down[1], 0, m))
                                : through * (nu(up[0], up[1], 0, m) - nu(i, j, k, m));
        }
        const double rate = Linear<2>::rate(false), cross = 1e-9 * (0.02 * 1.0 - 0.01 * 2.0);
        const double k_source =
            std::min(energy / omega * rate, 20 * 0.09 * omega * energy) - 0.09 * omega * energy;
        const double gamma = 0.0828 / 0.09 - 0.856 * 0.41 * 0.41 / 0.3;
        const double omega_source = gamma * rate - 0.0828 * omega * omega + 2 * 0.856 * cross / omega;
        most = std::max(
            most,
            std::abs(block.nu_residual.view()(i, j, k, kK) / V - (advected[0] / V - k_source)) / energy);
        most = std::max(
            most, std::abs(block.nu_residual.view()(i, j, k, kOmega) / V - (advected[1] / V - omega_source)) /
                      omega);
    });
    CHECK(most < 1e-6);
}

TEST_CASE("k and omega fall to a tenth in a step at most, and stay positive") {
    const Int3 n{9, 2, 1};
    Block<2> block(n, wavy<2>(n, 0));
    block.set(block.around, [](const Real3&) { return Primitive<2, double>{1, {0.1, 0}, 1 / 1.4}; });
    block.mean.fill(0);
    block.nu.fill(2);
    block.nu_residual.fill(0);
    block.nu_residual.view()(3, 1, 0, kK) = -5;
    block.nu_residual.view()(4, 1, 0, kOmega) = -1.5;
    const UpdateCount count = update<2>(block.cells, sst_scheme(), 0.2, block.mean.read(),
                                        block.nu_residual.read(), block.q.view(), block.nu.view());
    CHECK(count.impossible == 0);
    CHECK(block.nu.view()(3, 1, 0, kK) == Approx(0.2));
    CHECK(block.nu.view()(3, 1, 0, kOmega) == 2);
    CHECK(block.nu.view()(4, 1, 0, kOmega) == 0.5);
    CHECK(block.nu.view()(4, 1, 0, kK) == 2);
}
