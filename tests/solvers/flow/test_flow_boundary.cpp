// Boundary conditions of the flow solver, alone on plain arrays: each against a flow that it must leave as it
// is, and against one that it must turn.
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/flow/boundary/face_rows.hpp"
#include "solvers/flow/boundary/invariants.hpp"
#include "solvers/flow/boundary/mass_flow.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/flow/flow_patch.hpp"

using namespace strata::tests;
using namespace strata::flow;

namespace {

constexpr double kGamma = 1.4;

using strata::flow::dot;
double sound(const FlowState& s) { return std::sqrt(kGamma * s.p / s.rho); }
double temperature(const FlowState& s) { return kGamma * s.p / s.rho; }
double entropy(const FlowState& s) { return s.p / std::pow(s.rho, kGamma); }
double leaving(const FlowState& s, const Real3& n) { return dot(s.u, n) + 5 * sound(s); }
double entering(const FlowState& s, const Real3& n) { return dot(s.u, n) - 5 * sound(s); }

FlowOf<double> plain(const FlowState& s) { return {s.rho, s.u, s.p}; }
FlowState whole(const FlowOf<double>& s) { return {.rho = s.rho, .u = s.u, .p = s.p}; }
FlowState far_field_state(const FlowState& inside, const FlowState& outside, const Real3& n) {
    return whole(far_field(kGamma, plain(inside), plain(outside), n));
}
FlowState total_inflow_state(const FlowState& inside, const Boundary& boundary, const Real3& n) {
    return whole(total_inflow(kGamma, plain(inside), boundary, n));
}
FlowState pressure_outflow_state(const FlowState& inside, double pressure, const Real3& n) {
    return whole(pressure_outflow(kGamma, plain(inside), pressure, n));
}

void check_same(const FlowState& a, const FlowState& b, double within = 1e-13) {
    CHECK(a.rho == Approx(b.rho).epsilon(within));
    CHECK(a.p == Approx(b.p).epsilon(within));
    for (std::size_t d = 0; d < 3; ++d) CHECK(a.u[d] == Approx(b.u[d]).margin(within));
}

/// A skewed brick: its faces are planes, their normals lie along no axis.
template <int Dim>
TestPatch<Dim> skewed() {
    return TestPatch<Dim>(
        Box{{2, -1, Dim == 3 ? 4 : 0}, {7, 3, Dim == 3 ? 8 : 1}}, [](double i, double j, double k) {
            return Real3{0.2 * i + 0.05 * j + 0.02 * k, 0.03 * i + 0.1 * j - 0.01 * k, 0.3 * k + 0.02 * j};
        });
}
/// Its sides are waves.
template <int Dim>
TestPatch<Dim> wavy() {
    return TestPatch<Dim>(Box{{2, -1, Dim == 3 ? 4 : 0}, {7, 3, Dim == 3 ? 8 : 1}},
                          [](double i, double j, double k) {
                              return Real3{0.2 * i + 0.03 * std::sin(j + k), 0.1 * j + 0.02 * std::sin(i - k),
                                           0.3 * k + 0.03 * std::cos(i)};
                          });
}

template <int Dim>
std::vector<PatchFace> faces_of(const Box& cells) {
    std::vector<PatchFace> all;
    for (int axis = 0; axis < Dim; ++axis)
        for (const bool upper : {false, true}) all.emplace_back(cells, Face{axis, upper});
    return all;
}

template <int Dim>
FlowState moving(double mach) {
    FlowState s;
    s.u = {0.8 * mach, 0.5 * mach, Dim == 3 ? -0.3 * mach : 0};
    return s;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("a uniform flow goes through open boundaries as it is", "", ((int Dim), Dim), 2, 3) {
    for (const PatchFace& face : faces_of<Dim>(wavy<Dim>().cells)) {
        for (const double mach : {0.3, 2.5}) {
            auto patch = wavy<Dim>();
            const FlowState flow = moving<Dim>(mach);
            patch.set(patch.cells, [&](const Real3&) { return flow; });
            const bool fast = mach > 1;
            for (const Condition condition : {Condition::far_field, Condition::pressure_outflow,
                                              Condition::supersonic_inflow, Condition::supersonic_outflow}) {
                if (fast && condition == Condition::pressure_outflow) continue;
                Boundary boundary{.condition = condition, .state = flow, .pressure = flow.p};
                patch.fill(boundary, face);
                each_image(face, [&](const Int3& out, const Int3&) {
                    check_same(patch.state(out), flow);
                    CHECK(patch.nu.view()(out[0], out[1], out[2]) == flow.nu_tilde);
                });
            }
        }
    }
}

TEMPLATE_TEST_CASE_SIG("total values of a uniform flow bring it in as it is", "", ((int Dim), Dim), 2, 3) {
    auto patch = skewed<Dim>();
    const FlowState flow = moving<Dim>(0.4);
    patch.set(patch.cells, [&](const Real3&) { return flow; });
    const double total = 1 + 0.2 * dot(flow.u, flow.u);
    const Boundary boundary{.condition = Condition::total_inflow,
                            .state = {.nu_tilde = 7},
                            .total_pressure = flow.p * std::pow(total, 3.5),
                            .total_temperature = total,
                            .direction = {3 * flow.u[0], 3 * flow.u[1], 3 * flow.u[2]}};
    const PatchFace face(patch.cells, {0, false});
    patch.fill(boundary, face);
    each_image(face, [&](const Int3& out, const Int3&) {
        check_same(patch.state(out), flow, 1e-12);
        CHECK(patch.nu.view()(out[0], out[1], out[2]) == 7);
    });
}

TEST_CASE("a far field lets sound out and keeps what comes in") {
    const Real3 n{0.6, 0.8, 0};
    const FlowState outside{.rho = 1, .u = {-0.2, 0.1, 0.3}, .p = 1 / kGamma};
    for (const double normal : {0.3, -0.3}) {  // out of the domain, into it
        FlowState inside{.rho = 1.1, .u = {normal * n[0] - 0.08, normal * n[1] + 0.06, 0.2}, .p = 0.8};
        FlowState there = outside;
        for (std::size_t d = 0; d < 3; ++d) there.u[d] += (normal - dot(outside.u, n)) * n[d];
        const FlowState face = far_field_state(inside, there, n);
        CHECK(leaving(face, n) == Approx(leaving(inside, n)).epsilon(1e-13));
        CHECK(entering(face, n) == Approx(entering(there, n)).epsilon(1e-13));
        const FlowState& from = normal > 0 ? inside : there;
        REQUIRE((dot(face.u, n) > 0) == (normal > 0));
        CHECK(entropy(face) == Approx(entropy(from)).epsilon(1e-13));
        CHECK(face.u[2] == from.u[2]);
        CHECK(-n[1] * face.u[0] + n[0] * face.u[1] ==
              Approx(-n[1] * from.u[0] + n[0] * from.u[1]).epsilon(1e-12));
    }
    const FlowState fast{.rho = 0.7, .u = {1.2, 1.6, 0}, .p = 0.5};
    check_same(far_field_state(fast, outside, n), fast);
    const FlowState slow{.rho = 0.7, .u = {-1.2, -1.6, 0}, .p = 0.5};
    check_same(far_field_state(outside, slow, n), slow);
}

TEST_CASE("between flows that part faster than sound a far field sees a thin gas") {
    // As in a transient: the invariants leave less than a vacuum between them.
    const Real3 n{1, 0, 0};
    const FlowState outside{.rho = 1, .u = {7, 0, 0}, .p = 1 / kGamma};
    for (const double gamma : {1.4, 5.0 / 3, 1.3})
        for (const double u : {-7.0, -4.0}) {
            const FlowState inside{.rho = 1.1, .u = {u, 0.3, 0}, .p = 0.8};
            const FlowOf<double> one = far_field(gamma, plain(inside), plain(outside), n);
            const auto lanes = [](const FlowState& s) {
                FlowOf<Lanes> all;
                all.rho = broadcast(s.rho), all.p = broadcast(s.p);
                for (std::size_t d = 0; d < 3; ++d) all.u[d] = broadcast(s.u[d]);
                return all;
            };
            const Lanes3 normal{broadcast(n[0]), broadcast(n[1]), broadcast(n[2])};
            const FlowOf<Lanes> many = far_field(gamma, lanes(inside), lanes(outside), normal);
            CAPTURE(gamma, u);
            CHECK((one.rho > 0 && one.p > 0));
            CHECK((many.rho[0] > 0 && many.p[0] > 0));
            CHECK(many.p[0] == Approx(one.p).epsilon(1e-12));
        }
}

TEST_CASE("an inflow by total values has them, its direction, and lets sound out") {
    const Real3 n{-0.8, -0.6, 0};
    Boundary boundary{.condition = Condition::total_inflow,
                      .total_pressure = 0.9,
                      .total_temperature = 1.1,
                      .direction = {4, 3, 1}};
    const FlowState inside{.rho = 1.05, .u = {0.3, 0.2, 0}, .p = 0.74};
    const FlowState face = total_inflow_state(inside, boundary, n);
    const double heat = temperature(face) + 0.2 * dot(face.u, face.u);
    CHECK(heat == Approx(1.1).epsilon(1e-13));
    CHECK(face.p * std::pow(heat / temperature(face), 3.5) == Approx(0.9).epsilon(1e-13));
    CHECK(leaving(face, n) == Approx(leaving(inside, n)).epsilon(1e-13));
    CHECK(face.u[0] / face.u[2] == Approx(4).epsilon(1e-12));
    CHECK(face.u[1] / face.u[2] == Approx(3).epsilon(1e-12));
    CHECK(face.u[0] > 0);
    SECTION("without a direction it comes along the normal") {
        boundary.direction = {};
        const FlowState straight = total_inflow_state(inside, boundary, n);
        CHECK(straight.u[0] / straight.u[1] == Approx(4.0 / 3).epsilon(1e-12));
        CHECK(dot(straight.u, n) < 0);
    }
    SECTION("pushed back, it rests at its total values; drawn, it is at most as fast as sound") {
        const FlowState rest = total_inflow_state({.rho = 1.5, .u = {}, .p = 1.6}, boundary, n);
        CHECK(dot(rest.u, rest.u) == 0);
        CHECK(rest.p == Approx(0.9).epsilon(1e-14));
        const FlowState drawn = total_inflow_state({.rho = 0.3, .u = {2, 1.5, 0}, .p = 0.1}, boundary, n);
        CHECK(std::sqrt(dot(drawn.u, drawn.u)) == Approx(sound(drawn)).epsilon(1e-12));
    }
}

TEST_CASE("an outflow has its pressure, and what comes along from inside") {
    const Real3 n{0.6, 0, 0.8};
    const FlowState inside{.rho = 1.2, .u = {0.3, 0.2, 0.1}, .p = 0.8};
    const FlowState face = pressure_outflow_state(inside, 0.7, n);
    CHECK(face.p == 0.7);
    CHECK(entropy(face) == Approx(entropy(inside)).epsilon(1e-13));
    CHECK(leaving(face, n) == Approx(leaving(inside, n)).epsilon(1e-13));
    CHECK(face.u[1] == inside.u[1]);
    CHECK(dot(face.u, n) > dot(inside.u, n));
    const FlowState fast{.rho = 1, .u = {1.2, 0, 1.6}, .p = 1 / kGamma};
    check_same(pressure_outflow_state(fast, 0.2, n), fast);
}

TEMPLATE_TEST_CASE_SIG("an outflow of a mass flow comes to it, whatever it begins with", "", ((int Dim), Dim),
                       2, 3) {
    for (const double share : {1.0, 0.9, 1.1}) {
        auto patch = wavy<Dim>();
        const PatchFace face(patch.cells, {0, true});
        patch.set(patch.cells, [](const Real3& x) {
            return FlowState{
                .rho = 1 + 0.02 * x[1], .u = {0.3 + 0.01 * x[1], 0.02, 0}, .p = 0.7 + 0.02 * x[1]};
        });
        std::array<double, kOutletSums> before{};
        add_outlet<Dim>(kGamma, false, face, patch.x.seen(), patch.q.seen(), before);
        const Boundary boundary{.condition = Condition::mass_outflow, .mass_flow = share * before[1]};
        // The first cells take what the face has, as if a wave had passed.
        double error = 1;
        for (int round = 0; round < 6; ++round) {
            std::array<double, kOutletSums> sums{};
            add_outlet<Dim>(kGamma, false, face, patch.x.seen(), patch.q.seen(), sums);
            error = std::abs(sums[1] / boundary.mass_flow - 1);
            const double p = outlet_pressure(boundary, sums);
            if (round == 0 && share == 1) CHECK(p == Approx(sums[2] / sums[0]).epsilon(1e-14));
            if (round == 0 && share < 1) CHECK(p > sums[2] / sums[0]);
            patch.fill(boundary, face, p);
            strata::graph::for_each(face.first(), [&](int i, int j, int k) {
                put_state<Dim>(kGamma, patch.q.view(), {i, j, k}, patch.state(face.beyond({i, j, k}, 1)));
            });
        }
        CAPTURE(share);
        CHECK(error < 1e-8);
    }
}

TEST_CASE("rings of an axisymmetric outlet add up to its area") {
    TestPatch<2> patch(Box{{0, 0, 0}, {3, 6, 1}}, [](double i, double j, double) {
        return Real3{0.1 * i, 0.05 * j * j, 0};
    });
    patch.set(patch.cells, [](const Real3&) { return FlowState{.rho = 2, .u = {0.5, 0, 0}}; });
    std::array<double, kOutletSums> sums{};
    add_outlet<2>(kGamma, true, PatchFace(patch.cells, {0, true}), patch.x.seen(), patch.q.seen(), sums);
    CHECK(sums[0] == Approx(3.14159265358979 * 1.8 * 1.8).epsilon(1e-13));
    CHECK(sums[1] == Approx(sums[0]).epsilon(1e-13));
}

TEMPLATE_TEST_CASE_SIG(
    "slip walls, symmetry and axis reflect: a flow along them stays, one towards them turns", "",
    ((int Dim), Dim), 2, 3) {
    for (const Condition condition : {Condition::slip_wall, Condition::symmetry, Condition::axis})
        for (const PatchFace& face : faces_of<Dim>(skewed<Dim>().cells)) {
            auto patch = skewed<Dim>();
            const FaceGeometry geometry = face_geometry<Dim>(face, patch.x.seen(), patch.cells.lo);
            FlowState along = moving<Dim>(0.5);
            const double through = dot(along.u, geometry.normal);
            for (std::size_t d = 0; d < 3; ++d) along.u[d] -= through * geometry.normal[d];
            patch.set(patch.cells, [&](const Real3&) { return along; });
            patch.fill({.condition = condition}, face);
            each_image(face, [&](const Int3& out, const Int3&) { check_same(patch.state(out), along); });

            patch.set(patch.cells, [](const Real3& x) {
                return FlowState{
                    .rho = 1 + x[0], .u = {x[1], 0.4, Dim == 3 ? x[0] : 0}, .p = 1 + x[1], .nu_tilde = x[0]};
            });
            patch.fill({.condition = condition}, face);
            each_image(face, [&](const Int3& out, const Int3& in) {
                const FlowState a = patch.state(out), b = patch.state(in);
                CHECK(a.rho == b.rho);
                CHECK(a.p == Approx(b.p).epsilon(1e-13));
                CHECK(dot(a.u, geometry.normal) ==
                      Approx(-dot(b.u, geometry.normal)).epsilon(1e-12).margin(1e-14));
                CHECK(dot(a.u, a.u) == Approx(dot(b.u, b.u)).epsilon(1e-12));
                CHECK(patch.nu.view()(out[0], out[1], out[2]) == patch.nu.view()(in[0], in[1], in[2]));
            });
        }
}

TEMPLATE_TEST_CASE_SIG("at a wall without slip the fluid has the wall's velocity and temperature", "",
                       ((int Dim), Dim), 2, 3) {
    for (const PatchFace& face : faces_of<Dim>(wavy<Dim>().cells)) {
        auto patch = wavy<Dim>();
        Boundary wall{.condition = Condition::wall};
        wall.motion = {.velocity = {0.1, -0.2, 0}, .spin = {0, 0, 0.5}, .centre = {0.3, 0.1, 0}};
        // Moves with the wall: it stays as it is where the wall is.
        patch.set(patch.cells, [](const Real3& x) {
            return FlowState{.rho = 1 + 0.1 * x[0],
                             .u = {x[1], 0.4, Dim == 3 ? x[0] : 0},
                             .p = 1 + x[1] / 9,
                             .nu_tilde = x[0]};
        });
        const auto check_mean = [&](std::optional<double> T) {
            each_image(face, [&](const Int3& out, const Int3& in) {
                const FaceGeometry geometry = face_geometry<Dim>(face, patch.x.seen(), in);
                const Real3 expected = wall.motion.at(geometry.centre);
                const FlowState a = patch.state(out), b = patch.state(in);
                for (std::size_t d = 0; d < Dim; ++d)
                    CHECK(0.5 * (a.u[d] + b.u[d]) == Approx(expected[d]).margin(1e-14));
                CHECK(a.p == Approx(b.p).epsilon(1e-12));
                CHECK(0.5 * (temperature(a) + temperature(b)) ==
                      Approx(T.value_or(temperature(b))).epsilon(1e-12));
                CHECK(patch.nu.view()(out[0], out[1], out[2]) == -patch.nu.view()(in[0], in[1], in[2]));
            });
        };
        patch.fill(wall, face);
        check_mean(std::nullopt);
        wall.temperature = 1.2;
        patch.fill(wall, face);
        check_mean(1.2);
    }
    const RigidMotion motion{.velocity = {1, 0, 0}, .spin = {0, 0, 2}, .centre = {1, 1, 0}};
    CHECK(motion.at({1, 3, 0}) == Real3{-3, 0, 0});
}

TEST_CASE("beyond a cold wall temperatures stay positive") {
    auto patch = skewed<2>();
    patch.set(patch.cells, [](const Real3&) { return FlowState{.rho = 0.2, .u = {}, .p = 1}; });  // T = 7
    Boundary wall{.condition = Condition::wall};
    wall.temperature = 1;
    const PatchFace face(patch.cells, {1, false});
    patch.fill(wall, face);
    each_image(face, [&](const Int3& out, const Int3&) {
        CHECK(temperature(patch.state(out)) == Approx(0.1).epsilon(1e-12));
        CHECK(patch.state(out).p == Approx(1).epsilon(1e-12));
    });
}

TEST_CASE("nu_tilde comes in with the far field, and leaves with the flow") {
    auto patch = skewed<2>();
    patch.set(patch.cells, [](const Real3& x) { return FlowState{.u = {0.5, 0, 0}, .nu_tilde = 10 + x[1]}; });
    const Boundary boundary{.condition = Condition::far_field, .state = {.u = {0.5, 0, 0}, .nu_tilde = 3}};
    for (const bool upper : {false, true}) {
        const PatchFace face(patch.cells, {0, upper});
        patch.fill(boundary, face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            const Int3 first = face.inside(in, 1);
            CHECK(patch.nu.view()(out[0], out[1]) == (upper ? patch.nu.view()(first[0], first[1]) : 3));
        });
    }
}

TEMPLATE_TEST_CASE_SIG("k is 0 and omega 60 nu / (beta1 d^2) on walls; both come in with the far field", "",
                       ((int Dim), Dim), 2, 3) {
    auto patch = skewed<Dim>();
    patch.set(patch.cells, [](const Real3& x) {
        return FlowState{.rho = 1.1, .u = {0.5, 0, 0}, .p = 1 + 0.1 * x[1]};
    });
    Gas gas;
    gas.mach = 0.5, gas.reynolds = 1e4;
    Stored k_omega(patch.nu.box, 2, 0), eddies(patch.cells.grown({1, 1, Dim == 3 ? 1 : 0}), 2, 3);
    strata::graph::for_each(patch.cells, [&](int i, int j, int k) {
        k_omega.view()(i, j, k, 0) = 0.01 + 0.001 * i, k_omega.view()(i, j, k, 1) = 2 + j;
    });
    const auto filled = [&](const Boundary& boundary, const PatchFace& face) {
        fill_border<Dim>(1.4, boundary, face, patch.x.seen(), patch.q.view());
        fill_border_k_omega<Dim>(gas, boundary, face, patch.x.seen(), patch.q.seen(), k_omega.view());
        fill_border_eddies(boundary, face, 0, 1, eddies.view());
    };
    const auto at = [&](const Int3& cell, int c) { return k_omega.view()(cell[0], cell[1], cell[2], c); };
    const auto eddy = [&](const Int3& cell, int c) { return eddies.view()(cell[0], cell[1], cell[2], c); };
    for (const bool upper : {false, true}) {
        const PatchFace face(patch.cells, {1, upper});
        filled({.condition = Condition::wall}, face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            const Int3 first = face.inside(in, 1), next = face.beyond(in, 1);
            const FaceGeometry geometry = face_geometry<Dim>(face, patch.x.seen(), in);
            const Real3 c = patch.centre(first);
            const double d =
                dot({c[0] - geometry.centre[0], c[1] - geometry.centre[1], c[2] - geometry.centre[2]},
                    geometry.normal);
            const double T = temperature(patch.state(first));  // of an adiabatic wall
            const double nu = 0.5e-4 * std::pow(T, 1.5) * 1.4 / (T + 0.4) / 1.1;
            CHECK(at(out, 0) + at(in, 0) == 0);
            CHECK(0.5 * (at(out, 1) + at(in, 1)) == Approx(60 * nu / (0.075 * d * d)).epsilon(1e-12));
            CHECK(eddy(next, 0) == 0);
            CHECK(eddy(next, 1) == eddy(first, 1));
        });
        filled({.condition = Condition::symmetry}, face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            for (const int c : {0, 1}) CHECK(at(out, c) == at(in, c));
        });
    }
    const Boundary far{.condition = Condition::far_field, .state = {.u = {0.5, 0, 0}, .k = 7, .omega = 8}};
    for (const bool upper : {false, true}) {
        const PatchFace face(patch.cells, {0, upper});
        filled(far, face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            const Int3 first = face.inside(in, 1);
            CHECK(at(out, 0) == (upper ? at(first, 0) : 7));
            CHECK(at(out, 1) == (upper ? at(first, 1) : 8));
            CHECK(eddy(face.beyond(in, 1), 0) == eddy(first, 0));
        });
    }
}

TEMPLATE_TEST_CASE_SIG("centres and volumes beyond a face are mirror images", "", ((int Dim), Dim), 2, 3) {
    for (const PatchFace& face : faces_of<Dim>(wavy<Dim>().cells)) {
        auto patch = wavy<Dim>();
        patch.fill_geometry(face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            const FaceGeometry geometry = face_geometry<Dim>(face, patch.x.seen(), in);
            const Real3 a = patch.centre(out), b = patch.centre(in);
            Real3 middle, across;
            for (std::size_t d = 0; d < 3; ++d) {
                middle[d] = 0.5 * (a[d] + b[d]) - geometry.centre[d];
                across[d] = a[d] - b[d];
            }
            CHECK(dot(middle, geometry.normal) == Approx(0).margin(1e-15));
            const double distance = dot(across, geometry.normal);
            CHECK(distance > 0);  // out of the domain
            CHECK(dot(across, across) == Approx(distance * distance).epsilon(1e-12));
            CHECK(patch.volumes.view()(out[0], out[1], out[2]) == patch.volumes.view()(in[0], in[1], in[2]));
        });
    }
}

TEST_CASE("a face that is collapsed to a line has no direction: its border is that of an axis") {
    TestPatch<3> patch(Box{{0, 0, 0}, {4, 4, 3}}, [](double i, double j, double k) {
        return Real3{0.1 * j * std::cos(i / 4), 0.1 * j * std::sin(i / 4), 0.2 * k};  // j = 0: the axis
    });
    const PatchFace face(patch.cells, {1, false});
    CHECK(face_geometry<3>(face, patch.x.seen(), {1, 0, 1}).size == 0);
    patch.set(patch.cells, [](const Real3& x) { return FlowState{.rho = 1 + x[1], .u = {0.1, x[0], 0.3}}; });
    patch.fill({.condition = Condition::axis}, face);
    patch.fill_geometry(face);
    each_image(face, [&](const Int3& out, const Int3& in) {
        check_same(patch.state(out), patch.state(in));
        CHECK(patch.centre(out)[0] == Approx(-patch.centre(in)[0]).margin(1e-15));
    });
}

TEST_CASE("a patch of one cell shows it twice") {
    TestPatch<3> patch(Box{{0, 0, 0}, {4, 1, 3}}, [](double i, double j, double k) {
        return Real3{i, j, k};
    });
    patch.set(patch.cells, [](const Real3& x) { return FlowState{.rho = 1 + x[0], .u = {0, 0.2, 0}}; });
    for (const bool upper : {false, true}) {
        const PatchFace face(patch.cells, {1, upper});
        patch.fill({.condition = Condition::symmetry}, face);
        each_image(face, [&](const Int3& out, const Int3& in) {
            CHECK(in[1] == 0);
            CHECK(patch.state(out).u[1] == Approx(-0.2).epsilon(1e-14));
        });
    }
}

TEMPLATE_TEST_CASE_SIG("edges and corners between boundaries are filled, by walls last", "", ((int Dim), Dim),
                       2, 3) {
    auto patch = skewed<Dim>();
    const Boundary wall{.condition = Condition::wall}, symmetry{.condition = Condition::symmetry},
        outflow{.condition = Condition::supersonic_outflow};
    // A wall below, whose axis is the first.
    std::array<const Boundary*, 6> on{&wall, &outflow, &symmetry, &outflow, nullptr, nullptr};
    if (Dim == 3) on[4] = &outflow, on[5] = &symmetry;
    const PatchBoundaries all(patch.cells, on, Dim);
    std::vector<Condition> order;
    for (const auto& one : all) order.push_back(one.boundary->condition);
    if (Dim == 2)
        CHECK(order == std::vector{Condition::supersonic_outflow, Condition::supersonic_outflow,
                                   Condition::symmetry, Condition::wall});
    CHECK(order.back() == Condition::wall);
    patch.set(patch.cells, [](const Real3& x) {
        return FlowState{
            .rho = 1 + 0.1 * x[0], .u = {0.2 + x[1], 0.1, 0}, .p = 1 + 0.1 * x[1], .nu_tilde = 1 + x[0]};
    });
    for (const auto& [face, boundary] : all) {
        patch.fill(*boundary, face);
        patch.fill_geometry(face);
    }
    int unset = 0;
    strata::graph::for_each(patch.q.box, [&](int i, int j, int k) {
        for (int c = 0; c < Dim + 2; ++c)
            unset += patch.q.view()(i, j, k, c) == TestPatch<Dim>::kUnset ? 1 : 0;
        for (int c = 0; c < Dim; ++c)
            unset += patch.centres.view()(i, j, k, c) == TestPatch<Dim>::kUnset ? 1 : 0;
        unset += patch.nu.view()(i, j, k) == TestPatch<Dim>::kUnset ? 1 : 0;
        unset += patch.volumes.view()(i, j, k) == TestPatch<Dim>::kUnset ? 1 : 0;
    });
    CHECK(unset == 0);
    // Beyond wall and symmetry: the image, in the wall, of the image in the symmetry.
    const Box& c = patch.cells;
    const Int3 edge{c.lo[0] - 1, c.lo[1] - 1, c.lo[2]}, beside{c.lo[0], c.lo[1] - 1, c.lo[2]};
    for (std::size_t d = 0; d < 3; ++d) CHECK(patch.state(edge).u[d] == -patch.state(beside).u[d]);
    CHECK(patch.nu.view()(edge[0], edge[1], edge[2]) == -patch.nu.view()(beside[0], beside[1], beside[2]));
}

TEST_CASE("conditions have names, and a wrong name is told with all of them") {
    // Also: no condition is missing in the table, and none is there twice.
    std::set<std::string_view> names;
    for (std::size_t c = 0; c < kConditions.size(); ++c) {
        const auto condition = static_cast<Condition>(c);
        CHECK(condition_of(name_of(condition)) == condition);
        names.insert(name_of(condition));
    }
    CHECK(names.size() == kConditions.size());
    const std::string said = refusal([] { (void)condition_of("farfield"); });
    CHECK(has(said, "\"farfield\""));
    CHECK(has(said, "\"far-field\", \"total-inflow\""));
}

TEMPLATE_TEST_CASE_SIG("columns side by side are filled as each alone, beyond any face and in corners", "",
                       ((int Dim), Dim), 2, 3) {
    const Box cells{{0, 0, 0}, {11, 9, Dim == 3 ? 5 : 1}};
    const auto place = [](double i, double j, double k) {
        return Real3{0.5 * i + 0.1 * j + 0.01 * i * j, 0.4 * j - 0.05 * k + 0.02 * std::sin(i),
                     0.3 * k + 0.1 * i};
    };
    const auto flow = [](const Real3& x) {
        return FlowState{.rho = 1 + 0.1 * std::sin(x[0]),
                         .u = {0.3 * std::cos(x[1]), 0.2 * std::sin(x[0] + x[1]), Dim == 3 ? 0.1 : 0.0},
                         .p = 0.7 + 0.05 * std::cos(x[0] - x[1]),
                         .nu_tilde = 2 + x[0]};
    };
    const HoverFlow hover{.axis = {0, 0, 1}, .centre = {1, 1, 0.5}, .radius = 2, .w = 0.03};
    std::vector<Boundary> conditions(6);
    conditions[0].state.u = {0.2, 0, 0};
    conditions[1].condition = Condition::wall, conditions[1].temperature = 1.2;
    conditions[1].motion.spin = {0, 0, 0.1};
    conditions[2].condition = Condition::slip_wall;
    conditions[3].condition = Condition::total_inflow, conditions[3].total_pressure = 0.8;
    conditions[4].condition = Condition::pressure_outflow, conditions[4].pressure = 0.6;
    if (Dim == 3) conditions[5].hover = hover;
    for (const Boundary& boundary : conditions)
        for (int axis = 0; axis < Dim; ++axis)
            for (const bool upper : {false, true}) {
                PatchFace face(cells, {axis, upper});
                for (std::size_t d = 0; d < Dim; ++d)  // as if the other faces were filled
                    if (d != face.axis()) face.columns.lo[d] -= 2, face.columns.hi[d] += 2;
                TestPatch<Dim> together(cells, place), alone(cells, place);
                strata::graph::for_each(together.q.box, [&](int i, int j, int k) {
                    const FlowState state = flow({0.5 * i, 0.4 * j, 0.3 * k});
                    for (auto* patch : {&together, &alone}) {
                        put_state<Dim>(1.4, patch->q.view(), {i, j, k}, state);
                        patch->nu.view()(i, j, k) = state.nu_tilde;
                    }
                });
                together.fill(boundary, face);
                strata::graph::for_each(face.first(), [&](int i, int j, int k) {
                    PatchFace one = face;
                    const Int3 at{i, j, k};
                    for (std::size_t d = 0; d < 3; ++d)
                        if (d != face.axis()) one.columns.lo[d] = at[d], one.columns.hi[d] = at[d] + 1;
                    alone.fill(boundary, one);
                });
                CAPTURE(Dim, name_of(boundary.condition), axis, upper);
                CHECK((together.q.data == alone.q.data));  // too many to be shown
                CHECK((together.nu.data == alone.nu.data));
            }
}
