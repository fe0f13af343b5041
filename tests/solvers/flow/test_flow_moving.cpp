// Grids that move: what faces sweep, and that a flow and its implicit steps look the same from every grid
// that moves along.
#include <cmath>
#include <vector>

#include "solvers/flow/scheme/lines.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"
#include "tests/solvers/flow/flow_patch.hpp"

using namespace flow_test;

namespace {

constexpr double kGamma = 1.4;

/// What the faces of a block sweep.
template <int Dim>
struct Speeds {
    std::vector<Values> all;
    Speeds(const Block<Dim>& block, const Real3& velocity, const Real3& spin, const Real3& centre) {
        for (int axis = 0; axis < Dim; ++axis) {
            const Values& faces = block.faces[static_cast<std::size_t>(axis)];
            all.emplace_back(faces.box, 1);
            swept_volumes<Dim>(axis, faces.box, block.nodes.read(), faces.read(), velocity, spin, centre,
                               all.back().view());
        }
    }
    [[nodiscard]] Patch<Dim> moved(Patch<Dim> patch) const {
        for (std::size_t axis = 0; axis < Dim; ++axis) patch.speeds[axis] = all[axis].read();
        return patch;
    }
};

/// A block of wavy cells with a flow that changes from cell to cell.
template <int Dim>
Block<Dim> block() {
    Block<Dim> made({9, 6, Dim == 3 ? 5 : 1}, wavy<Dim>({9, 6, 5}, 0.03));
    made.set(made.around, [](const Real3& x) {
        Primitive<Dim, double> w{
            1 + 0.1 * std::sin(7 * x[0] + 3 * x[1]), {}, (1 + 0.1 * std::cos(5 * x[1])) / 1.4};
        w.u[0] = 0.3 + 0.1 * std::sin(4 * x[0] - 6 * x[1]), w.u[1] = 0.2 * std::cos(6 * x[0] + x[2]);
        if constexpr (Dim == 3) w.u[2] = 0.1 + 0.1 * std::sin(5 * x[2]);
        return w;
    });
    strata::graph::for_each(made.around,
                            [&](int i, int j, int k) { made.nu.view()(i, j, k) = 3 + std::sin(i + j - k); });
    return made;
}

/// Components from rho to rho E, at each cell of a box, as seen by who moves at -v.
template <int Dim>
void shift(const Box& box, const FieldView<double>& q, const Real3& v) {
    strata::graph::for_each(box, [&](int i, int j, int k) {
        double work = 0, square = 0;
        for (int d = 0; d < Dim; ++d) {
            const double by = v[static_cast<std::size_t>(d)];
            work += by * q(i, j, k, d + 1), square += by * by;
            q(i, j, k, d + 1) += by * q(i, j, k, 0);
        }
        q(i, j, k, Dim + 1) += work + 0.5 * square * q(i, j, k, 0);
    });
}

template <int Dim>
double difference(const Box& box, int components, const Values& a, const Values& b) {
    double most = 0;
    strata::graph::for_each(box, [&](int i, int j, int k) {
        for (int c = 0; c < components; ++c)
            most = std::max(most, std::abs(a.read()(i, j, k, c) - b.read()(i, j, k, c)));
    });
    return most;
}

Scheme scheme_of(Viscosity viscosity) {
    Scheme scheme;
    scheme.viscosity = viscosity;
    scheme.gas.reynolds = 50;
    scheme.entropy_fix = 0.1;
    return scheme;
}

/// The viscosities of all cells that an implicit step sees.
template <int Dim>
void find_viscosity(Block<Dim>& b, const Scheme& scheme) {
    if (scheme.viscous()) step_viscosity<Dim>(b.beside, b.patch(), scheme, b.viscosity.view());
}

/// Residual, and what sweeps or a pass over lines make of it.
template <int Dim>
void implicit_step(Block<Dim>& b, const Patch<Dim>& patch, const Scheme& scheme, int lines_axis,
                   LineEnd end) {
    const StepSize size{.cfl = 20, .cfl_turbulence = 20};
    residual<Dim>(b.cells, patch, scheme, b.mean.view(), b.nu_residual.view(), b.nu_inverse.view());
    find_viscosity(b, scheme);
    diagonals<Dim>(b.cells, patch, scheme, size, b.viscosity.read(), b.inverse.view(), b.nu_inverse.view());
    const Diagonals d{b.inverse.read(), b.nu_inverse.read(), b.viscosity.read()};
    const Upwind upwind{b.mean.read(), b.nu_residual.read()};
    const Unknowns unknowns{b.mean.view(), b.nu_residual.view()};
    if (lines_axis < 0) {
        forward_sweep<Dim>(b.cells, patch, scheme, d, {}, upwind, unknowns);
        backward_sweep<Dim>(b.cells, patch, scheme, d, {}, upwind, unknowns);
        return;
    }
    Values factors(b.around, kLineFactors<Dim>);
    const LineSet lines{b.cells, lines_axis, true, end, end};
    eliminate_lines<Dim>(lines, patch, scheme, size, d, upwind, upwind, factors.read(), unknowns,
                         factors.view());
    substitute_lines<Dim>(lines, scheme, upwind, factors.read(), upwind, unknowns);
}

}  // namespace

TEST_CASE("faces sweep what their places' velocities make, and cells of a grid that turns nothing") {
    const Real3 velocity{0.2, -0.1, 0.3}, spin{0.4, -0.7, 1.1}, centre{0.3, -2.0, 0.6};
    const auto b = block<3>();
    const Speeds<3> speeds(b, velocity, spin, centre);
    // Gauss' rule of two points along each side is exact for what is of third degree along them.
    const double at[2] = {0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    double most = 0, curved = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const Values& swept = speeds.all[static_cast<std::size_t>(axis)];
        const auto e = static_cast<std::size_t>((axis + 1) % 3), f = static_cast<std::size_t>((axis + 2) % 3);
        strata::graph::for_each(swept.box, [&](int i, int j, int k) {
            const auto corner = [&](int m, int n) {
                Int3 c{i, j, k};
                c[e] += m, c[f] += n;
                return Real3{b.nodes.read()(c[0], c[1], c[2], 0), b.nodes.read()(c[0], c[1], c[2], 1),
                             b.nodes.read()(c[0], c[1], c[2], 2)};
            };
            const Real3 p00 = corner(0, 0), p10 = corner(1, 0), p01 = corner(0, 1), p11 = corner(1, 1);
            double sum = 0;
            for (const double s : at)
                for (const double t : at) {
                    Real3 r, ds, dt;
                    for (std::size_t d = 0; d < 3; ++d) {
                        r[d] = (1 - s) * ((1 - t) * p00[d] + t * p01[d]) +
                               s * ((1 - t) * p10[d] + t * p11[d]) - centre[d];
                        ds[d] = (1 - t) * (p10[d] - p00[d]) + t * (p11[d] - p01[d]);
                        dt[d] = (1 - s) * (p01[d] - p00[d]) + s * (p11[d] - p10[d]);
                    }
                    for (std::size_t d = 0; d < 3; ++d) {
                        const std::size_t g = (d + 1) % 3, h = (d + 2) % 3;
                        sum += 0.25 * (velocity[d] + spin[g] * r[h] - spin[h] * r[g]) *
                               (ds[g] * dt[h] - ds[h] * dt[g]);
                    }
                }
            most = std::max(most, std::abs(sum - swept.read()(i, j, k)));
            curved = std::max(curved, std::abs(sum));
        });
    }
    CHECK(most < 1e-15);
    CHECK(curved > 1e-3);
    double open = 0;
    strata::graph::for_each(b.cells, [&](int i, int j, int k) {
        double sum = 0;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto& s = speeds.all[axis].read();
            sum += s(i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0), k + (axis == 2 ? 1 : 0)) - s(i, j, k);
        }
        open = std::max(open, std::abs(sum));
    });
    CHECK(open < 1e-16);
}

TEST_CASE("the flux through a face that moves along is that at rest, seen from there") {
    const Vector<3, double> area{0.5, 0.8, -0.3}, v{0.7, -0.4, 0.9};
    const double swept = dot(v, area);
    for (const double fix : {0.0, 0.3}) {
        Primitive<3, double> l{1.2, {0.3, -0.2, 0.1}, 0.9}, r{0.8, {0.1, 0.4, -0.3}, 0.6};
        const Conserved<3, double> at_rest = roe_flux<3, double>(l, r, area, kGamma, fix);
        for (std::size_t d = 0; d < 3; ++d) l.u[d] += v[d], r.u[d] += v[d];
        const Conserved<3, double> seen = roe_flux<3, double, true>(l, r, area, kGamma, fix, false, swept);
        CHECK(std::abs(seen.rho - at_rest.rho) < 1e-14);
        for (std::size_t d = 0; d < 3; ++d)
            CHECK(std::abs(seen.m[d] - (at_rest.m[d] + v[d] * at_rest.rho)) < 1e-14);
        CHECK(std::abs(seen.E - (at_rest.E + dot(v, at_rest.m) + 0.5 * dot(v, v) * at_rest.rho)) < 1e-14);
    }
    // At low Mach numbers too a state on both sides is its own flux.
    const Primitive<3, double> w{1.2, {0.01, -0.02, 0.03}, 0.9};
    const Conserved<3, double> flux = roe_flux<3, double, true>(w, w, area, kGamma, 0.1, true, swept);
    const Conserved<3, double> plain = convective_flux<3, double>(w, area, kGamma), q = conserved(w, kGamma);
    CHECK(std::abs(flux.rho - (plain.rho - swept * q.rho)) < 1e-14);
    CHECK(std::abs(flux.E - (plain.E - swept * q.E)) < 1e-14);
}

TEMPLATE_TEST_CASE_SIG("residuals and implicit steps are the same from a grid that moves along", "",
                       ((int Dim), Dim), 2, 3) {
    const Real3 v{0.5, -0.8, Dim == 3 ? 0.6 : 0};
    struct Way {
        Viscosity viscosity;
        int axis;
        LineEnd end;
    };
    std::vector<Way> ways{{Viscosity::none, -1, LineEnd::ends},
                          {Viscosity::laminar, -1, LineEnd::ends},
                          {Viscosity::spalart_allmaras, -1, LineEnd::ends}};
    for (int axis = 0; axis < Dim; ++axis)
        for (const LineEnd end : {LineEnd::ends, LineEnd::seam, LineEnd::wall, LineEnd::mirrored})
            ways.push_back({Viscosity::spalart_allmaras, axis, end});
    for (const Way& way : ways) {
        CAPTURE(static_cast<int>(way.viscosity), way.axis, static_cast<int>(way.end));
        const Scheme scheme = scheme_of(way.viscosity);
        auto still = block<Dim>();
        if (way.end == LineEnd::wall || way.end == LineEnd::mirrored) {
            // Images at both ends of the lines.
            const auto a = static_cast<std::size_t>(way.axis);
            strata::graph::for_each(still.around, [&](int i, int j, int k) {
                Int3 in{i, j, k}, face{i, j, k};
                const int hi = still.cells.hi[a];
                if (in[a] >= 0 && in[a] < hi) return;
                if (!still.cells.contains(Int3{a == 0 ? 0 : i, a == 1 ? 0 : j, a == 2 ? 0 : k})) return;
                face[a] = in[a] < 0 ? 0 : hi;
                in[a] = in[a] < 0 ? -1 - in[a] : 2 * hi - 1 - in[a];
                Primitive<Dim, double> w = still.state(in[0], in[1], in[2]);
                Vector<Dim, double> n;
                for (std::size_t d = 0; d < Dim; ++d)
                    n[d] = still.faces[a].read()(face[0], face[1], face[2], static_cast<int>(d));
                const double through = 2 * dot(w.u, n) / dot(n, n);
                for (std::size_t d = 0; d < Dim; ++d)
                    w.u[d] = way.end == LineEnd::wall ? -w.u[d] : w.u[d] - through * n[d];
                still.put(i, j, k, conserved<Dim, double>(w, kGamma));
            });
        }
        auto moved = still;
        shift<Dim>(moved.around, moved.q.view(), v);
        const Speeds<Dim> speeds(moved, v, {}, {});
        implicit_step(still, still.patch(), scheme, way.axis, way.end);
        implicit_step(moved, speeds.moved(moved.patch()), scheme, way.axis, way.end);
        double size = 0;
        strata::graph::for_each(still.cells, [&](int i, int j, int k) {
            size = std::max(size, std::abs(still.mean.read()(i, j, k, 0)));
        });
        shift<Dim>(still.cells, still.mean.view(), v);
        CHECK(difference<Dim>(still.cells, Dim + 2, still.mean, moved.mean) < 1e-11 * size);
        CHECK(size > 1e-4);
        if (scheme.turbulent())
            CHECK(difference<Dim>(still.cells, 1, still.nu_residual, moved.nu_residual) < 1e-10);
    }
}

TEMPLATE_TEST_CASE_SIG("borders are the same from a grid that moves along", "", ((int Dim), Dim), 2, 3) {
    using strata::tests::TestPatch;
    const Real3 v{0.5, -0.3, Dim == 3 ? 0.4 : 0};
    for (const Condition condition :
         {Condition::wall, Condition::slip_wall, Condition::symmetry, Condition::far_field,
          Condition::pressure_outflow, Condition::supersonic_outflow})
        for (int axis = 0; axis < Dim; ++axis)
            for (const bool upper : {false, true}) {
                CAPTURE(static_cast<int>(condition), axis, upper);
                Boundary boundary{.condition = condition};
                boundary.state.u = {0.3, 0.1, 0};
                boundary.motion.velocity = {0.02, 0.03, 0};
                TestPatch<Dim> still(
                    Box{{0, 0, 0}, {5, 4, Dim == 3 ? 3 : 1}}, [](double i, double j, double k) {
                        return Real3{0.2 * i + 0.03 * std::sin(j + k), 0.1 * j + 0.02 * std::sin(i - k),
                                     0.3 * k + 0.03 * std::cos(i)};
                    });
                still.set(still.cells, [](const Real3& x) {
                    return FlowState{.rho = 1 + 0.1 * x[0],
                                     .u = {0.3 * x[1], 0.2, Dim == 3 ? x[0] : 0},
                                     .p = 1,
                                     .nu_tilde = x[1]};
                });
                TestPatch<Dim> moved = still;
                shift<Dim>(moved.cells, moved.q.view(), v);
                const PatchFace face(still.cells, {axis, upper});
                still.fill(boundary, face);
                for (std::size_t d = 0; d < 3; ++d) boundary.state.u[d] += v[d];
                std::vector<Values> speeds;
                GridMotion<Dim> motion{{.velocity = v, .spin = {}, .centre = {}}, no_fields<Dim>()};
                for (int a = 0; a < Dim; ++a) {
                    Int3 more{};
                    more[static_cast<std::size_t>(a)] = 1;
                    const Box faces = Block<Dim>::upper(still.cells, more);
                    Values areas(faces, Dim);
                    face_vectors<Dim>(a, faces, moved.x.seen(), areas.view());
                    speeds.emplace_back(faces, 1);
                    swept_volumes<Dim>(a, faces, moved.x.seen(), areas.read(), v, {}, {},
                                       speeds.back().view());
                }
                for (std::size_t a = 0; a < Dim; ++a) motion.speeds[a] = speeds[a].read();
                fill_border<Dim>(kGamma, boundary, face, moved.x.seen(), moved.q.view(), 0, &motion);
                fill_border_nu<Dim>(boundary, face, moved.x.seen(), moved.q.seen(), moved.nu.view(), &motion);
                double most = 0, turbulence = 0;
                strata::tests::each_image(face, [&](const Int3& out, const Int3&) {
                    const Box one{out, {out[0] + 1, out[1] + 1, out[2] + 1}};
                    shift<Dim>(one, still.q.view(), v);
                    for (int c = 0; c < Dim + 2; ++c)
                        most = std::max(most, std::abs(still.q.view()(out[0], out[1], out[2], c) -
                                                       moved.q.view()(out[0], out[1], out[2], c)));
                    turbulence = std::max(turbulence, std::abs(still.nu.view()(out[0], out[1], out[2]) -
                                                               moved.nu.view()(out[0], out[1], out[2])));
                });
                CHECK(most < 1e-13);
                CHECK(turbulence == 0);
            }
}

TEMPLATE_TEST_CASE_SIG("in a frame that turns a fluid at rest and one that flows along the axis stay", "",
                       ((int Dim), Dim), 2, 3) {
    auto b = block<Dim>();
    const Real3 spin{0, 0, 0.8}, centre{-1.0, 2.0, 0};
    const Speeds<Dim> speeds(b, {}, spin, centre);
    for (const double along : {0.0, Dim == 3 ? 0.6 : 0.0}) {
        Primitive<Dim, double> w{1, {}, 1 / kGamma};
        w.u[Dim - 1] = along;
        b.set(b.around, [&](const Real3&) { return w; });
        b.nu.fill(3);
        for (const Viscosity viscosity : {Viscosity::none, Viscosity::laminar}) {
            Scheme scheme = scheme_of(viscosity);
            scheme.spin = spin;
            residual<Dim>(b.cells, speeds.moved(b.patch()), scheme, b.mean.view());
            double most = 0;
            strata::graph::for_each(b.cells, [&](int i, int j, int k) {
                for (int c = 0; c < Dim + 2; ++c)
                    most = std::max(most, std::abs(b.mean.read()(i, j, k, c)) / b.volume.read()(i, j, k));
            });
            CHECK(most < 1e-12);
        }
    }
}

TEMPLATE_TEST_CASE_SIG("a fluid that turns with the frame stands still, with second order", "",
                       ((int Dim), Dim), 2, 3) {
    // Of one entropy: a^2 = 1 + (gamma - 1) omega^2 r^2 / 2 balances p' = rho omega^2 r.
    const double omega = 0.6;
    const Real3 spin{0, 0, omega}, centre{0.2, -0.3, 0};
    std::vector<double> errors;
    for (const int n : {8, 16}) {
        Block<Dim> b({n, n, Dim == 3 ? n : 1}, wavy<Dim>({n, n, n}, 0.03));
        b.set(b.around, [&](const Real3& x) {
            const double dx = x[0] - centre[0], dy = x[1] - centre[1];
            const double T = 1 + 0.5 * (kGamma - 1) * omega * omega * (dx * dx + dy * dy);
            Primitive<Dim, double> w{
                std::pow(T, 1 / (kGamma - 1)), {}, std::pow(T, kGamma / (kGamma - 1)) / kGamma};
            w.u[0] = -omega * dy, w.u[1] = omega * dx;
            return w;
        });
        const Speeds<Dim> speeds(b, {}, spin, centre);
        Scheme scheme;
        scheme.spin = spin;
        residual<Dim>(b.cells, speeds.moved(b.patch()), scheme, b.mean.view());
        double sum = 0, all = 0;
        strata::graph::for_each(b.cells, [&](int i, int j, int k) {
            const double volume = b.volume.read()(i, j, k);
            for (int c = 0; c < Dim + 2; ++c) sum += std::abs(b.mean.read()(i, j, k, c));
            all += volume;
        });
        errors.push_back(sum / all);
    }
    CAPTURE(errors[0], errors[1]);
    CHECK(errors[0] < 0.05);
    CHECK(std::log2(errors[0] / errors[1]) > 1.9);
}
