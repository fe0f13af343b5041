// Von Mises plasticity: exact curves of stress over strain, the flow's direction and volume, and how plastic
// points keep what they are when patches are others.
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "solvers/mpm/plastic.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

Material metal() {
    Material m = Material::elastic(Law::von_mises, 2700, 70e9, 0.33);
    m.yield = 200e6, m.hardening = 2e9;
    return m;
}

PlasticState fresh() {
    return {{broadcast(1), broadcast(1), broadcast(1), broadcast(0), broadcast(0), broadcast(0)},
            broadcast(0)};
}

Tensor tensor(const double (&at)[9]) {
    Tensor F;
    for (std::size_t c = 0; c < 9; ++c) F[c] = broadcast(at[c]);
    return F;
}

double mises(const Symmetric& s) {
    const double mean = (s[0][0] + s[1][0] + s[2][0]) / 3;
    double squares = 0;
    for (std::size_t c = 0; c < 6; ++c) {
        const double d = c < 3 ? s[c][0] - mean : s[c][0];
        squares += (c < 3 ? 1 : 2) * d * d;
    }
    return std::sqrt(1.5 * squares);
}

/// F = diag(exp(a e), exp(b e), exp(c e)) up to e in some steps; body(e, stress, state) after each.
template <class Body>
void stretch(const Material& m, std::array<double, 3> along, double most, int steps, Body body) {
    PlasticState state = fresh();
    for (int i = 1; i <= steps; ++i) {
        double f[9] = {};
        for (std::size_t a = 0; a < 3; ++a) f[4 * a] = std::exp(along[a] * most / steps);
        const PlasticStress s = flow(m, tensor(f), state);
        body(most * i / steps, s, state);
    }
}

}  // namespace

TEST_CASE("von Mises: uniaxial strain follows the exact curve, elastic and hardening, however large") {
    // q = sigma_x - sigma_y = 2 mu e - 3 mu alpha = sigma_y + H alpha; tau_x = K e + 2/3 q.
    const Material m = metal();
    const double bulk = m.lambda + 2 * m.mu / 3;
    for (const double most : {-0.004, 0.5, -0.5}) {
        double yielded = 0;
        stretch(m, {1, 0, 0}, most, 200, [&](double e, const PlasticStress& s, const PlasticState& state) {
            const double alpha = std::max(0.0, (2 * m.mu * std::abs(e) - m.yield) / (3 * m.mu + m.hardening));
            const double q = std::copysign(2 * m.mu * std::abs(e) - 3 * m.mu * alpha, e);
            CHECK(std::abs(state.alpha[3] - alpha) < 1e-12);
            CHECK(std::abs(s.kirchhoff[0][3] - (bulk * e + 2.0 / 3 * q)) < 1e-11 * m.modulus());
            CHECK(std::abs(s.kirchhoff[1][3] - (bulk * e - q / 3)) < 1e-11 * m.modulus());
            CHECK(std::abs(s.energy[3] - (0.5 * bulk * e * e + q * q / (6 * m.mu))) < 1e-11 * m.modulus());
            yielded = std::max(yielded, alpha);
        });
        CHECK(yielded > 1e-4);
    }
}

TEST_CASE("von Mises: pure shear follows the exact curve and keeps the volume") {
    // Along (1, -1, 0): |dev tau| = sqrt 2 . 2 mu (E - g / sqrt 2) = sqrt(2/3) (sigma_y + H sqrt(2/3) g).
    const Material m = metal();
    stretch(m, {1, -1, 0}, 1.2, 150, [&](double e, const PlasticStress& s, const PlasticState& state) {
        const double g = std::max(0.0, (2 * std::sqrt(2.0) * m.mu * e - std::sqrt(2.0 / 3) * m.yield) /
                                           (2 * m.mu + 2 * m.hardening / 3));
        const double tau = 2 * m.mu * (e - g / std::sqrt(2.0));
        CHECK(std::abs(s.kirchhoff[0][0] - tau) < 1e-11 * m.modulus());
        CHECK(std::abs(s.kirchhoff[1][0] + tau) < 1e-11 * m.modulus());
        CHECK(std::abs(state.b[0][0] * state.b[1][0] * state.b[2][0] - 1) < 1e-11);
        // What went in is there: elastic energy and plastic work.
        CHECK(s.energy[0] <= 2 * m.mu * e * e * (1 + 1e-12));
    });
}

TEST_CASE("von Mises: in uniaxial stress, tau = E H / (E + H) (e + sigma_y / H) beyond the yield point") {
    // Strains across are found so that no stress is across: the textbook curve in logarithmic strain.
    const Material m = metal();
    PlasticState state = fresh();
    const double young = m.young(), step = 1e-4;
    double across = -0.33 * step;
    for (int i = 1; i <= 200; ++i) {
        PlasticStress s{};
        PlasticState now{};
        for (int iteration = 0; iteration < 40; ++iteration) {
            now = state;
            s = flow(m, tensor({std::exp(step), 0, 0, 0, std::exp(across), 0, 0, 0, std::exp(across)}), now);
            across -= s.kirchhoff[1][0] / (2 * (m.lambda + m.mu));
        }
        state = now;
        const double e = i * step, yield = m.yield / young;
        const double tau =
            e < yield ? young * e : (young * m.hardening * e + young * m.yield) / (young + m.hardening);
        CHECK(std::abs(s.kirchhoff[0][0] - tau) < 1e-6 * m.yield);
    }
}

TEST_CASE("von Mises: simple shear stays on the yield surface, and a turn of the body changes nothing") {
    const Material m = metal();
    PlasticState state = fresh(), turned = fresh();
    const double c = std::cos(0.7), s = std::sin(0.7), step = 2e-3;
    // R f R^T for a turn about (z): the same history seen by another observer.
    const double f[9] = {1, step, 0, 0, 1, 0, 0, 0, 1};
    const double g[9] = {1 - c * s * step, c * c * step, 0, -s * s * step, 1 + c * s * step, 0, 0, 0, 1};
    for (int i = 0; i < 1000; ++i) {
        const PlasticStress one = flow(m, tensor(f), state), other = flow(m, tensor(g), turned);
        if (i > 10)
            CHECK(std::abs(mises(one.kirchhoff) - (m.yield + m.hardening * state.alpha[0])) < 1e-9 * m.yield);
        const auto& t = one.kirchhoff;
        const double xx = c * c * t[0][0] - 2 * c * s * t[3][0] + s * s * t[1][0];
        CHECK(std::abs(other.kirchhoff[0][0] - xx) < 1e-7 * m.yield);
        CHECK(std::abs(t[0][0] + t[1][0] + t[2][0]) < 1e-9 * m.modulus());
    }
    // After much shear all of it is plastic but for tau / mu: alpha = (gamma - tau / mu) / sqrt 3.
    const double elastic = (m.yield + m.hardening * state.alpha[0]) / std::sqrt(3.0) / m.mu;
    CHECK(std::abs(state.alpha[0] / ((1000 * step - elastic) / std::sqrt(3.0)) - 1) < 2e-3);
}

TEST_CASE("principal values and axes of any symmetric tensor make it up again") {
    for (int i = 0; i < 50; ++i) {
        Symmetric of;
        for (std::size_t c = 0; c < 6; ++c) of[c] = broadcast(std::sin(1.7 * i + 2.3 * double(c)) + (c < 3));
        Lanes value[3];
        Tensor axis;
        strata::mpm::detail::principal(of, value, axis);
        const Symmetric again = strata::mpm::detail::assembled(value, axis);
        for (std::size_t c = 0; c < 6; ++c) CHECK(std::abs(again[c][1] - of[c][1]) < 1e-14);
        const Lanes trace = value[0] + value[1] + value[2] - of[0] - of[1] - of[2];
        CHECK(std::abs(trace[0]) < 1e-14);
    }
}

TEST_CASE("the exponential of eight numbers is that of the library to two units in the last place") {
    for (double x = -690; x < 690; x += 0.37) {
        const double is = strata::exp(broadcast(x))[2], should = std::exp(x);
        CHECK(std::abs(is - should) <= 2 * std::numeric_limits<double>::epsilon() * should);
    }
    CHECK(strata::exp(broadcast(0))[7] == 1);
}

TEST_CASE(
    "plastic disks have the same bits on 1, 4 and 12 patches, and their plastic work is accounted for") {
    const auto crash = [](std::vector<std::int64_t> patch, bool fused) {
        Settings s = disks(std::move(patch), "quadratic", "flip");
        s.flip = 1;
        s.given_materials[0].law = Law::von_mises;
        s.given_materials[0].yield = 5, s.given_materials[0].hardening = 20;
        move(s, {{0.2, 0.2, 0}, {-0.2, -0.2, 0}});
        s.end = 1, s.fused = fused;
        return settled(s);
    };
    const Ended one = run(crash({24, 24, 1}, false));
    CHECK(one.plastic > 0.1 * one.strain);
    const Ended four = run(crash({12, 12, 1}, true));
    CHECK(same_bits(one, four));
    CHECK(same_bits(one, run(crash({10, 7, 1}, false))));
    CHECK(std::abs(four.kinetic + four.strain + four.plastic - four.first) < 0.1 * four.first);
}

TEST_CASE("points of different laws in one cell have each their own, whichever comes first") {
    // A plastic bar against an elastic one, their faces in the middle of a cell, and the same from right to
    // left.
    const auto crash = [](bool swapped) {
        Settings s;
        s.cells = {25, 4, 1}, s.patch_cells = {5, 4, 1}, s.size = {1.25, 0.2, 0.05};
        s.shape = "quadratic", s.transfer_name = "flip", s.flip = 1;
        s.given_materials = {elastic(Law::von_mises, 1000, 2000, 0.3),
                             elastic(Law::neo_hookean, 1000, 8000, 0.3)};
        s.given_materials[0].yield = 20, s.given_materials[0].hardening = 50;
        s.bodies = {box({0.2, 0, 0}, {0.625, 0.2, 0.05}), box({0.625, 0, 0}, {1.05, 0.2, 0.05})};
        move(s, {{0.1, 0, 0}, {-0.1, 0, 0}});
        s.bodies[swapped ? 0 : 1].material = 1;
        s.per_cell = {2, 2, 1}, s.end = 0.4;
        return settled(s);
    };
    const Settings left = crash(false);
    const Ended start = run(left, 0), one = run(left), other = run(crash(true));
    CHECK(one.plastic > 0.05 * start.kinetic);
    CHECK(other.plastic == Approx(one.plastic).epsilon(1e-8));
    CHECK(other.strain == Approx(one.strain).epsilon(1e-8));
    CHECK(other.kinetic == Approx(one.kinetic).epsilon(1e-8));
    std::size_t elastic = 0;
    for (const auto& [id, p] : start.points) {
        if (p[0] < 0.625) continue;
        ++elastic;
        CHECK(one.points.at(id)[22] == 0);  // alpha
        CHECK(one.points.at(id)[16] == 1);  // its tensor b is not used
    }
    CHECK(elastic * 2 == start.points.size());
}
