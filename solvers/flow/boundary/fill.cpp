#include "solvers/flow/boundary/fill.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/flow/boundary/face_rows.hpp"
#include "solvers/flow/boundary/invariants.hpp"
#include "solvers/flow/scheme/sst.hpp"

namespace strata::flow {

namespace {

/// A wall's temperature is the mean of its two sides; the outer one is at least this share of it, where the
/// inner one is almost twice as hot as the wall or hotter.
constexpr double kColdest = 0.1;

/// What lies beyond a wall or a plane of symmetry, of a state inside.
template <class Faces>
FlowOf<Lanes> mirrored(double gamma, const Boundary& boundary, const Faces& faces, FlowOf<Lanes> state) {
    if (!is_viscous_wall(boundary.condition)) {
        const Lanes through = 2 * (dot(state.u, faces.normal) - dot(faces.velocity, faces.normal));
        for (std::size_t d = 0; d < 3; ++d) state.u[d] -= through * faces.normal[d];
        return state;
    }
    Lanes3 wall = motion_at(boundary.motion, faces.centre);
    for (std::size_t d = 0; d < 3; ++d) {
        if (boundary.carried) wall[d] += faces.velocity[d];
        state.u[d] = 2 * wall[d] - state.u[d];
    }
    if (boundary.temperature) {
        const Lanes T = gamma * state.p / state.rho;
        const double there = *boundary.temperature;
        state.rho = gamma * state.p / max(2 * there - T, broadcast(kColdest * there));
    }
    return state;
}

/// A state as seen by who moves with a velocity times `sign`.
FlowOf<Lanes> seen(FlowOf<Lanes> state, const Lanes3& velocity, double sign) {
    for (std::size_t d = 0; d < 3; ++d) state.u[d] -= sign * velocity[d];
    return state;
}

FlowOf<Lanes> everywhere(const FlowState& state) {
    FlowOf<Lanes> all;
    all.rho = broadcast(state.rho), all.p = broadcast(state.p);
    for (std::size_t d = 0; d < 3; ++d) all.u[d] = broadcast(state.u[d]);
    return all;
}
/// What is given beyond a far field.
template <class Faces>
FlowOf<Lanes> given(const Boundary& boundary, const Faces& faces) {
    FlowOf<Lanes> state = everywhere(boundary.state);
    if (!boundary.hover) return state;
    const Lanes3 u = hover_velocity(*boundary.hover, faces.centre);
    for (std::size_t d = 0; d < 3; ++d) state.u[d] += u[d];
    return state;
}

/// What an open boundary sees, of the first cell inside.
template <class Faces>
FlowOf<Lanes> opened(double gamma, const Boundary& boundary, const Faces& faces, const FlowOf<Lanes>& inside,
                     double outlet_pressure) {
    const auto from_face = [&](double sign, const FlowOf<Lanes>& state) {
        return seen(state, faces.velocity, sign);
    };
    switch (boundary.condition) {
        case Condition::supersonic_inflow:
            return everywhere(boundary.state);
        case Condition::far_field:
            return from_face(-1, far_field(gamma, from_face(1, inside), from_face(1, given(boundary, faces)),
                                           faces.normal));
        case Condition::total_inflow:
            return total_inflow(gamma, inside, boundary, faces.normal);
        case Condition::pressure_outflow:
        case Condition::mass_outflow:
            return from_face(
                -1, pressure_outflow(
                        gamma, from_face(1, inside),
                        boundary.condition == Condition::mass_outflow ? outlet_pressure : boundary.pressure,
                        faces.normal));
        default:
            return inside;
    }
}

/// Where an open boundary brings its own turbulence with it. `q`: filled beyond the face.
template <int Dim, class Rows>
LaneInts entering(const Boundary& boundary, const PatchFace& face, const Rows& rows,
                  const FieldView<const double>& q, const Columns& of) {
    if (boundary.condition != Condition::far_field)
        return broadcast(about(boundary.condition).brings_turbulence ? 1 : 0) > 0.5;
    const auto faces = rows.faces(of);
    const Int3 beyond = face.beyond(of.first, 1);
    Lanes through = -Rows::get(q, beyond, 0, of.count) * dot(faces.velocity, faces.normal);
    for (int d = 0; d < Dim; ++d)
        through += Rows::get(q, beyond, 1 + d, of.count) * faces.normal[static_cast<std::size_t>(d)];
    return through <= 0.0;
}

/// omega on a wall without slip, beside the first cells of columns.
template <int Dim, class Rows>
Lanes wall_omega(const Gas& gas, const PatchFace& face, const Rows& rows,
                 const FieldView<const double>& nodes, const FieldView<const double>& q, const Columns& of) {
    const auto faces = rows.faces(of);
    const Int3 cell = rows.inner(of.first);  // that of the face's geometry, also in borders of other faces
    constexpr int corners = Dim == 2 ? 4 : 8;
    Lanes3 away{};
    for (std::size_t d = 0; d < Dim; ++d) {
        for (int n = 0; n < corners; ++n)
            away[d] += Rows::geometry(nodes, {cell[0] + n % 2, cell[1] + n / 2 % 2, cell[2] + n / 4},
                                      static_cast<int>(d), of) /
                       static_cast<double>(corners);
        away[d] -= faces.centre[d];
    }
    const Lanes across = dot(away, faces.normal),
                square = select(faces.collapsed, dot(away, away), across * across);
    const FlowOf<Lanes> first = flow_at<Dim, Rows>(gas.gamma, q, of.first, of.count),
                        image = flow_at<Dim, Rows>(gas.gamma, q, face.beyond(of.first, 1), of.count);
    const Lanes T = 0.5 * gas.gamma * (first.p / first.rho + image.p / image.rho);
    const Lanes mu = T * sqrt(T) * (1 + gas.sutherland) / (T + gas.sutherland);
    return 60 * gas.viscous_scale() * mu / (first.rho * sst::beta1 * square);
}

}  // namespace

template <int Dim>
FaceGeometry face_geometry(const PatchFace& face, const FieldView<const double>& nodes, Int3 at) {
    FaceGeometry geometry;
    over_face<Dim>(face, nodes, nullptr, [&](const auto& rows) {
        const auto one = rows.faces(Columns{at, 1});
        for (std::size_t d = 0; d < 3; ++d) {
            geometry.area[d] = one.area[d][0], geometry.normal[d] = one.normal[d][0];
            geometry.centre[d] = one.centre[d][0];
        }
        if (one.collapsed[0] == 0) geometry.size = std::sqrt(dot(geometry.area, geometry.area));
    });
    return geometry;
}

PatchBoundaries::PatchBoundaries(const Box& cells, const std::array<const Boundary*, 6>& on, int dimensions) {
    for (int axis = 0; axis < dimensions; ++axis)
        for (const bool upper : {false, true})
            if (const Boundary* boundary = on[static_cast<std::size_t>(2 * axis + (upper ? 1 : 0))])
                all_.push_back({PatchFace(cells, {axis, upper}), boundary});
    std::stable_sort(all_.begin(), all_.end(), [](const One& a, const One& b) {
        return about(a.boundary->condition).side < about(b.boundary->condition).side;
    });
    for (std::size_t later = 0; later < all_.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier) {
            const std::size_t axis = all_[earlier].face.axis();
            if (axis == all_[later].face.axis()) continue;
            if (all_[earlier].face.face.upper)
                all_[later].face.columns.hi[axis] = cells.hi[axis] + kBorder;
            else
                all_[later].face.columns.lo[axis] = cells.lo[axis] - kBorder;
        }
}

template <int Dim>
void fill_border(double gamma, const Boundary& boundary, const PatchFace& face,
                 const FieldView<const double>& nodes, const FieldView<double>& q, double outlet_pressure,
                 const GridMotion<Dim>* motion) {
    const bool mirrors = about(boundary.condition).side != Side::open;
    const FieldView<const double> inside = readable(q);
    over_face<Dim>(face, nodes, motion, [&]<class Rows>(const Rows& rows) {
        rows.each([&](const Columns& of) {
            const auto faces = rows.faces(of);
            FlowOf<Lanes> state;
            if (!mirrors)
                state = opened(gamma, boundary, faces, flow_at<Dim, Rows>(gamma, inside, of.first, of.count),
                               outlet_pressure);
            for (int layer = 1; layer <= kBorder; ++layer) {
                if (mirrors)
                    state =
                        mirrored(gamma, boundary, faces,
                                 flow_at<Dim, Rows>(gamma, inside, face.inside(of.first, layer), of.count));
                put_flow<Dim, Rows>(gamma, q, face.beyond(of.first, layer), state, of.count);
            }
        });
    });
}

template <int Dim>
void fill_border_nu(const Boundary& boundary, const PatchFace& face, const FieldView<const double>& nodes,
                    const FieldView<const double>& q, const FieldView<double>& nu_tilde,
                    const GridMotion<Dim>* motion) {
    const bool mirrors = about(boundary.condition).side != Side::open;
    const double sign = is_viscous_wall(boundary.condition) ? -1 : 1;
    const FieldView<const double> inside = readable(nu_tilde);
    over_face<Dim>(face, nodes, motion, [&]<class Rows>(const Rows& rows) {
        rows.each([&](const Columns& of) {
            if (mirrors) {
                for (int layer = 1; layer <= kBorder; ++layer)
                    Rows::put(nu_tilde, face.beyond(of.first, layer), 0,
                              sign * Rows::get(inside, face.inside(of.first, layer), 0, of.count), of.count);
                return;
            }
            const Lanes there =
                select(entering<Dim>(boundary, face, rows, q, of), broadcast(boundary.state.nu_tilde),
                       Rows::get(inside, of.first, 0, of.count));
            for (int layer = 1; layer <= kBorder; ++layer)
                Rows::put(nu_tilde, face.beyond(of.first, layer), 0, there, of.count);
        });
    });
}

template <int Dim>
void fill_border_k_omega(const Gas& gas, const Boundary& boundary, const PatchFace& face,
                         const FieldView<const double>& nodes, const FieldView<const double>& q,
                         const FieldView<double>& k_omega, const GridMotion<Dim>* motion) {
    const bool is_wall = is_viscous_wall(boundary.condition),
               is_open = about(boundary.condition).side == Side::open;
    const std::array<double, 2> far{boundary.state.k, boundary.state.omega};
    const FieldView<const double> inside = readable(k_omega);
    over_face<Dim>(face, nodes, motion, [&]<class Rows>(const Rows& rows) {
        rows.each([&](const Columns& of) {
            const int n = of.count;
            std::array<Lanes, 2> wall{}, open{};
            if (is_wall) wall[1] = wall_omega<Dim>(gas, face, rows, nodes, q, of);
            if (is_open) {
                const LaneInts enters = entering<Dim>(boundary, face, rows, q, of);
                for (int c = 0; c < 2; ++c)
                    open[static_cast<std::size_t>(c)] =
                        select(enters, broadcast(far[static_cast<std::size_t>(c)]),
                               Rows::get(inside, of.first, c, n));
            }
            for (int layer = 1; layer <= kBorder; ++layer)
                for (int c = 0; c < 2; ++c) {
                    const auto m = static_cast<std::size_t>(c);
                    const Lanes image = Rows::get(inside, face.inside(of.first, layer), c, n);
                    Rows::put(k_omega, face.beyond(of.first, layer), c,
                              is_open   ? open[m]
                              : is_wall ? 2 * wall[m] - image
                                        : image,
                              n);
                }
        });
    });
}

void fill_border_eddies(const Boundary& boundary, const PatchFace& face, int first, int last,
                        const FieldView<double>& eddies) {
    const Box& seen = eddies.box();
    graph::for_each(face.first(), [&](int i, int j, int k) {
        const Int3 at{i, j, k}, beyond = face.beyond(at, 1);
        if (!seen.contains(at)) return;  // columns beyond earlier faces have two layers, these one
        for (int c = first; c <= last; ++c)
            eddies(beyond[0], beyond[1], beyond[2], c) =
                c == first && is_viscous_wall(boundary.condition) ? 0 : eddies(at[0], at[1], at[2], c);
    });
}

template <int Dim>
void fill_border_geometry(const PatchFace& face, const FieldView<const double>& nodes,
                          const FieldView<double>& centres, const FieldView<double>& volumes) {
    graph::for_each(face.first(), [&](int i, int j, int k) {
        const FaceGeometry geometry = face_geometry<Dim>(face, nodes, {i, j, k});
        for (int layer = 1; layer <= kBorder; ++layer) {
            const Int3 from = face.inside({i, j, k}, layer), to = face.beyond({i, j, k}, layer);
            volumes(to[0], to[1], to[2]) = volumes(from[0], from[1], from[2]);
            Real3 away{};  // from the face's centre
            for (std::size_t d = 0; d < Dim; ++d)
                away[d] = centres(from[0], from[1], from[2], static_cast<int>(d)) - geometry.centre[d];
            const double depth = dot(away, geometry.normal);
            for (std::size_t d = 0; d < Dim; ++d)
                centres(to[0], to[1], to[2], static_cast<int>(d)) =
                    geometry.centre[d] +
                    (geometry.size > 0 ? away[d] - 2 * depth * geometry.normal[d] : -away[d]);
        }
    });
}

template FaceGeometry face_geometry<2>(const PatchFace&, const FieldView<const double>&, Int3);
template void fill_border<2>(double, const Boundary&, const PatchFace&, const FieldView<const double>&,
                             const FieldView<double>&, double, const GridMotion<2>*);
template void fill_border_nu<2>(const Boundary&, const PatchFace&, const FieldView<const double>&,
                                const FieldView<const double>&, const FieldView<double>&,
                                const GridMotion<2>*);
template void fill_border_k_omega<2>(const Gas&, const Boundary&, const PatchFace&,
                                     const FieldView<const double>&, const FieldView<const double>&,
                                     const FieldView<double>&, const GridMotion<2>*);
template void fill_border_geometry<2>(const PatchFace&, const FieldView<const double>&,
                                      const FieldView<double>&, const FieldView<double>&);
template FaceGeometry face_geometry<3>(const PatchFace&, const FieldView<const double>&, Int3);
template void fill_border<3>(double, const Boundary&, const PatchFace&, const FieldView<const double>&,
                             const FieldView<double>&, double, const GridMotion<3>*);
template void fill_border_nu<3>(const Boundary&, const PatchFace&, const FieldView<const double>&,
                                const FieldView<const double>&, const FieldView<double>&,
                                const GridMotion<3>*);
template void fill_border_k_omega<3>(const Gas&, const Boundary&, const PatchFace&,
                                     const FieldView<const double>&, const FieldView<const double>&,
                                     const FieldView<double>&, const GridMotion<3>*);
template void fill_border_geometry<3>(const PatchFace&, const FieldView<const double>&,
                                      const FieldView<double>&, const FieldView<double>&);

}  // namespace strata::flow
