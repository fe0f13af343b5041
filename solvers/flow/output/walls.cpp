#include "solvers/flow/output/walls.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "methods/geometry/points.hpp"
#include "solvers/flow/boundary/face_rows.hpp"
#include "solvers/flow/output/cells.hpp"
#include "solvers/flow/scheme/gas.hpp"

namespace strata::flow {

namespace {

using geometry::cross;

// Where WallSums has what.
constexpr std::size_t kPressure = 0, kFriction = 3, kPressureMoment = 6, kFrictionMoment = 9, kArea = 12,
                      kYPlus = 13;

/// The gradient in eight cells of a row, as CellDifferences has it, by what each has of its neighbours within
/// limits.
template <int Dim, class Rows>
class RowGradient {
  public:
    RowGradient(const FieldView<const double>& centres, const Box& limits, const Columns& of)
        : seen_(graph::common(centres.box(), limits)), of_(of) {
        std::array<Lanes3, 3> e{};
        for (std::size_t a = 0; a < 3; ++a) e[a][a] = broadcast(1);
        for (std::size_t a = 0; a < Dim; ++a)
            for (std::size_t d = 0; d < Dim; ++d)
                e[a][d] = difference(
                    a, [&](const Int3& at, int n) { return Rows::get(centres, at, static_cast<int>(d), n); });
        (void)invert_edges<Dim>(e, inverse_);
    }
    /// Of `value(at, n)`, in n cells from `at` on along the row.
    template <class Value>
    [[nodiscard]] Lanes3 of(const Value& value) const {
        Lanes3 g{};
        for (std::size_t d = 0; d < Dim; ++d) {
            const Lanes change = difference(d, value);
            for (std::size_t a = 0; a < Dim; ++a) g[a] += inverse_[a][d] * change;
        }
        return g;
    }

  private:
    /// Between the neighbours along an axis.
    template <class Value>
    [[nodiscard]] Lanes difference(std::size_t axis, const Value& value) const {
        return beside(axis, 1, value) - beside(axis, -1, value);
    }
    /// The neighbours' values on one side; where there is none the cell's own.
    template <class Value>
    [[nodiscard]] Lanes beside(std::size_t axis, int by, const Value& value) const {
        const Int3& first = of_.first;
        Int3 at = first;
        at[axis] += by;
        const int n = of_.count;
        if (axis != Rows::kAlong)
            return value(at[axis] >= seen_.lo[axis] && at[axis] < seen_.hi[axis] ? at : first, n);
        const int last = at[axis] + n - 1;
        if (at[axis] >= seen_.lo[axis] && last < seen_.hi[axis]) return value(at, n);
        // At an end of what is seen: one by one.
        Lanes all{};
        for (int l = 0; l < n; ++l) {
            Int3 cell = first;
            cell[axis] += l;
            const int there = cell[axis] + by;
            if (there >= seen_.lo[axis] && there < seen_.hi[axis]) cell[axis] = there;
            all[l] = value(cell, 1)[0];
        }
        return all;
    }

    Box seen_;
    Columns of_;
    std::array<Lanes3, 3> inverse_{};
};

Real3 lane(const Lanes3& x, int l) { return {x[0][l], x[1][l], x[2][l]}; }

/// Eight wall faces, in lanes.
struct WallPoints {
    Lanes3 centre, area, stress{};
    std::array<Lanes3, 2> edges{};  // means of opposite ones
    Lanes pressure, density, temperature, y_plus{};
    LaneInts viscous;

    /// Face l, beside the cell.
    [[nodiscard]] WallPoint one(int l, const Int3& cell) const {
        WallPoint point;
        point.centre = lane(centre, l), point.area = lane(area, l), point.cell = cell;
        for (std::size_t e = 0; e < 2; ++e) point.edges[e] = lane(edges[e], l);
        point.pressure = pressure[l], point.density = density[l], point.temperature = temperature[l];
        point.viscous = viscous[l] != 0;
        if (point.viscous) point.stress = lane(stress, l), point.y_plus = y_plus[l];
        return point;
    }
};

template <int Dim, class Rows>
WallPoints points_of(const Gas& gas, const Boundary& boundary, const RigidMotion& motion,
                     const PatchFace& face, const Rows& rows, const FieldView<const double>& q,
                     const FieldView<const double>& centres, const Box& inside, const Columns& of) {
    const int n = of.count;
    const auto faces = rows.faces(of);
    const FlowOf<Lanes> first = flow_at<Dim, Rows>(gas.gamma, q, of.first, n),
                        image = flow_at<Dim, Rows>(gas.gamma, q, face.beyond(of.first, 1), n);
    WallPoints point;
    point.centre = faces.centre, point.area = faces.area;
    if constexpr (Dim == 3)
        for (std::size_t d = 0; d < 3; ++d) {
            const auto& c = faces.corner;
            point.edges[0][d] = 0.5 * (c[1][d] - c[0][d] + (c[3][d] - c[2][d]));
            point.edges[1][d] = 0.5 * (c[2][d] - c[0][d] + (c[3][d] - c[1][d]));
        }
    Lanes3 away{};  // from the first cell's centre
    for (std::size_t d = 0; d < Dim; ++d)
        away[d] = faces.centre[d] - Rows::get(centres, of.first, static_cast<int>(d), n);
    const Lanes3 gradient = RowGradient<Dim, Rows>(centres, inside, of).of([&](const Int3& at, int count) {
        return flow_at<Dim, Rows>(gas.gamma, q, at, count).p;
    });
    const Lanes p = first.p + dot(away, gradient), zero{};
    point.pressure = select(p > 0.0, p, first.p);
    point.temperature = 0.5 * gas.gamma * (first.p / first.rho + image.p / image.rho);
    point.density = gas.gamma * point.pressure / point.temperature;
    const Lanes height = dot(away, faces.normal);
    point.viscous = height > (is_viscous_wall(boundary.condition) ? 0.0 : 1e300);
    if (!is_viscous_wall(boundary.condition)) return point;
    Lanes3 wall = motion_at(boundary.motion, faces.centre), w;
    if (boundary.carried) {
        const Lanes3 carried = motion_at(motion, faces.centre);
        for (std::size_t d = 0; d < 3; ++d) wall[d] += carried[d];
    }
    for (std::size_t d = 0; d < 3; ++d) w[d] = (first.u[d] - wall[d]) / height;
    const Lanes inwards = dot(w, faces.normal) / 3.0;
    const Lanes mu = gas.viscous_scale() * viscosity_of(point.temperature, gas.sutherland)[0];
    for (std::size_t d = 0; d < 3; ++d) point.stress[d] = mu * (w[d] + inwards * faces.normal[d]);
    const Lanes speed = sqrt(sqrt(max(zero, dot(point.stress, point.stress))) / point.density);
    point.y_plus = point.density * speed * height / mu;
    return point;
}

}  // namespace

template <int Dim>
void wall_points(const Gas& gas, const Boundary& boundary, const RigidMotion& motion, const PatchFace& face,
                 const FieldView<const double>& nodes, const FieldView<const double>& q,
                 const FieldView<const double>& centres, const std::function<void(const WallPoint&)>& found) {
    Box inside = q.box();  // without what lies beyond the wall
    inside.lo[face.axis()] = face.cells.lo[face.axis()], inside.hi[face.axis()] = face.cells.hi[face.axis()];
    const PatchFace own(face.cells, face.face);
    over_face<Dim>(own, nodes, nullptr, [&]<class Rows>(const Rows& rows) {
        rows.each([&](const Columns& of) {
            const WallPoints points =
                points_of<Dim>(gas, boundary, motion, own, rows, q, centres, inside, of);
            Int3 cell = of.first;
            for (int l = 0; l < of.count; ++l, ++cell[Rows::kAlong]) found(points.one(l, cell));
        });
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
