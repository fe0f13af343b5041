#include "solvers/flow/output/walls.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solvers/flow/boundary/states.hpp"
#include "solvers/flow/output/cells.hpp"
#include "solvers/flow/scheme/gas.hpp"

namespace strata::flow {

namespace {

double dot(const Real3& a, const Real3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Real3 cross(const Real3& a, const Real3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// Where WallSums has what.
constexpr std::size_t kPressure = 0, kFriction = 3, kPressureMoment = 6, kFrictionMoment = 9, kArea = 12,
                      kYPlus = 13;

/// Means of opposite edges of a face.
std::array<Real3, 2> edges_of(const PatchFace& face, const FieldView<const double>& nodes, Int3 at) {
    const std::size_t axis = face.axis(), b = (axis + 1) % 3, c = (axis + 2) % 3;
    at[axis] = face.face.upper ? face.cells.hi[axis] : face.cells.lo[axis];
    std::array<Real3, 2> edges{};
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v) {
            Int3 corner = at;
            corner[b] += u, corner[c] += v;
            for (std::size_t d = 0; d < 3; ++d) {
                const double half = 0.5 * nodes(corner[0], corner[1], corner[2], static_cast<int>(d));
                edges[0][d] += u == 1 ? half : -half, edges[1][d] += v == 1 ? half : -half;
            }
        }
    return edges;
}

}  // namespace

template <int Dim>
void wall_points(const Gas& gas, const Boundary& boundary, const RigidMotion& motion, const PatchFace& face,
                 const FieldView<const double>& nodes, const FieldView<const double>& q,
                 const FieldView<const double>& centres, const std::function<void(const WallPoint&)>& found) {
    Box inside = q.box();  // without what lies beyond the wall
    inside.lo[face.axis()] = face.cells.lo[face.axis()], inside.hi[face.axis()] = face.cells.hi[face.axis()];
    graph::for_each(PatchFace(face.cells, face.face).first(), [&](int i, int j, int k) {
        const FaceGeometry geometry = face_geometry<Dim>(face, nodes, {i, j, k});
        const FlowState first = state_at<Dim>(gas.gamma, q, {i, j, k});
        const FlowState image = state_at<Dim>(gas.gamma, q, face.beyond({i, j, k}, 1));
        WallPoint point;
        point.centre = geometry.centre, point.area = geometry.area, point.cell = {i, j, k};
        if constexpr (Dim == 3) point.edges = edges_of(face, nodes, {i, j, k});
        Real3 away{};  // from the first cell's centre
        for (int d = 0; d < Dim; ++d)
            away[static_cast<std::size_t>(d)] =
                geometry.centre[static_cast<std::size_t>(d)] - centres(i, j, k, d);
        const CellDifferences<Dim> differences(centres, inside, {i, j, k});
        const double p = first.p + dot(away, differences.gradient([&](const Int3& at) {
                             return state_at<Dim>(gas.gamma, q, at).p;
                         }));
        point.pressure = p > 0 ? p : first.p;
        point.temperature = 0.5 * gas.gamma * (first.p / first.rho + image.p / image.rho);
        point.density = gas.gamma * point.pressure / point.temperature;
        const double height = dot(away, geometry.normal);
        if (is_viscous_wall(boundary.condition) && height > 0) {
            Real3 wall = boundary.motion.at(geometry.centre);
            const Real3 carried = boundary.carried ? motion.at(geometry.centre) : Real3{};
            for (std::size_t d = 0; d < 3; ++d) wall[d] += carried[d];
            const Real3 inwards{-geometry.normal[0], -geometry.normal[1], -geometry.normal[2]};
            Real3 w;
            for (std::size_t d = 0; d < 3; ++d) w[d] = (first.u[d] - wall[d]) / height;
            const double through = dot(w, inwards) / 3;
            const double mu = viscosity_of(point.temperature, gas.sutherland)[0];
            for (std::size_t d = 0; d < 3; ++d)
                point.stress[d] = gas.viscous_scale() * mu * (w[d] + through * inwards[d]);
            point.viscous = true;
            const double speed = std::sqrt(std::sqrt(dot(point.stress, point.stress)) / point.density);
            point.y_plus = point.density * speed * height / (gas.viscous_scale() * mu);
        }
        found(point);
    });
}

void add_point(const WallPoint& point, double far_pressure, bool axisymmetric, WallSums& sums,
               WallExtremes& extremes) {
    const double ring = axisymmetric ? 2 * std::numbers::pi * point.centre[1] : 1;
    const double size = ring * std::sqrt(dot(point.area, point.area));
    const auto add = [&](std::size_t force, std::size_t moment, Real3 f) {
        if (axisymmetric) f = {f[0], 0, 0};
        const Real3 m = axisymmetric ? Real3{} : cross(point.centre, f);
        for (std::size_t d = 0; d < 3; ++d) sums[force + d] += f[d], sums[moment + d] += m[d];
    };
    const double p = ring * (point.pressure - far_pressure);
    add(kPressure, kPressureMoment, {p * point.area[0], p * point.area[1], p * point.area[2]});
    if (!point.viscous) return;
    add(kFriction, kFrictionMoment, {size * point.stress[0], size * point.stress[1], size * point.stress[2]});
    sums[kArea] += size;
    sums[kYPlus] += size * point.y_plus;
    extremes[0] = std::max(extremes[0], point.y_plus), extremes[1] = std::max(extremes[1], -point.y_plus);
}

Real3 force_of(const WallSums& sums) {
    Real3 f;
    for (std::size_t d = 0; d < 3; ++d) f[d] = sums[kPressure + d] + sums[kFriction + d];
    return f;
}
Real3 moment_of(const WallSums& sums) {
    Real3 m;
    for (std::size_t d = 0; d < 3; ++d) m[d] = sums[kPressureMoment + d] + sums[kFrictionMoment + d];
    return m;
}

Coefficients coefficients(const WallSums& sums, const Reference& reference) {
    const double dynamic = 0.5 * reference.mach * reference.mach * reference.area;
    const Real3 lift = reference.lift(), drag = reference.stream(), side = reference.side();
    const Real3 up = cross(Real3{1, 0, 0}, side);
    const auto part = [&](std::size_t force, std::size_t moment) {
        Real3 f, m;
        for (std::size_t d = 0; d < 3; ++d)
            f[d] = sums[force + d] / dynamic, m[d] = sums[moment + d] / dynamic;
        const Real3 shifted = cross(reference.centre, f);
        for (std::size_t d = 0; d < 3; ++d) m[d] -= shifted[d];
        Coefficients::Part all;
        all.force = f;
        all.lift = dot(f, lift), all.drag = dot(f, drag), all.side = dot(f, side);
        all.pitch = dot(m, side) / reference.length;
        all.roll = -m[0] / reference.span;
        all.yaw = -dot(m, up) / reference.span;
        return all;
    };
    Coefficients both{part(kPressure, kPressureMoment), part(kFriction, kFrictionMoment), {}};
    const auto sum = [](const Coefficients::Part& a, const Coefficients::Part& b) {
        return Coefficients::Part{
            a.lift + b.lift,   a.drag + b.drag,
            a.side + b.side,   {a.force[0] + b.force[0], a.force[1] + b.force[1], a.force[2] + b.force[2]},
            a.pitch + b.pitch, a.roll + b.roll,
            a.yaw + b.yaw};
    };
    both.all = sum(both.pressure, both.friction);
    return both;
}

YPlus y_plus(const WallSums& sums, const WallExtremes& extremes) {
    if (sums[kArea] == 0) return {};
    return {-extremes[1], sums[kYPlus] / sums[kArea], extremes[0]};
}

double pressure_coefficient(const WallPoint& point, const Reference& reference, double gamma) {
    return (point.pressure - 1 / gamma) / (0.5 * reference.mach * reference.mach);
}
Real3 friction_coefficient(const WallPoint& point, const Reference& reference) {
    const double dynamic = 0.5 * reference.mach * reference.mach;
    return {point.stress[0] / dynamic, point.stress[1] / dynamic, point.stress[2] / dynamic};
}

template void wall_points<2>(const Gas&, const Boundary&, const RigidMotion&, const PatchFace&,
                             const FieldView<const double>&, const FieldView<const double>&,
                             const FieldView<const double>&, const std::function<void(const WallPoint&)>&);
template void wall_points<3>(const Gas&, const Boundary&, const RigidMotion&, const PatchFace&,
                             const FieldView<const double>&, const FieldView<const double>&,
                             const FieldView<const double>&, const std::function<void(const WallPoint&)>&);

}  // namespace strata::flow
