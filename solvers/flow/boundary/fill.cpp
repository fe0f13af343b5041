#include "solvers/flow/boundary/fill.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/flow/boundary/states.hpp"
#include "solvers/flow/grid/metrics.hpp"
#include "solvers/flow/scheme/sst.hpp"

namespace strata::flow {

namespace {

int rank(Condition c) {
    if (c == Condition::wall) return 3;
    if (c == Condition::slip_wall) return 2;
    return c == Condition::symmetry || c == Condition::axis ? 1 : 0;
}

double dot(const Real3& a, const Real3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// A wall's temperature is the mean of its two sides; the outer one is at least this share of it, where the
/// inner one is almost twice as hot as the wall or hotter.
constexpr double kColdest = 0.1;

/// What lies beyond a wall or a plane of symmetry, of a state inside.
FlowState mirrored(double gamma, const Boundary& boundary, const FaceGeometry& face, FlowState state) {
    if (boundary.condition != Condition::wall) {
        const double through = 2 * (dot(state.u, face.normal) - dot(face.velocity, face.normal));
        for (std::size_t d = 0; d < 3; ++d) state.u[d] -= through * face.normal[d];
        return state;
    }
    Real3 wall = boundary.motion.at(face.centre);
    for (std::size_t d = 0; d < 3; ++d) {
        if (boundary.carried) wall[d] += face.velocity[d];
        state.u[d] = 2 * wall[d] - state.u[d];
    }
    if (boundary.temperature) {
        const double T = gamma * state.p / state.rho, there = *boundary.temperature;
        state.rho = gamma * state.p / std::max(2 * there - T, kColdest * there);
    }
    return state;
}

/// A state as seen by who moves with a velocity times `sign`.
FlowState seen(FlowState state, const Real3& velocity, double sign) {
    for (std::size_t d = 0; d < 3; ++d) state.u[d] -= sign * velocity[d];
    return state;
}

/// What is given beyond a far field.
FlowState given(const Boundary& boundary, const FaceGeometry& face) {
    FlowState state = boundary.state;
    if (!boundary.hover) return state;
    const Real3 u = boundary.hover->at(face.centre);
    for (std::size_t d = 0; d < 3; ++d) state.u[d] += u[d];
    return state;
}

/// What an open boundary sees, of the first cell inside.
FlowState opened(double gamma, const Boundary& boundary, const FaceGeometry& face, const FlowState& inside,
                 double outlet_pressure) {
    switch (boundary.condition) {
        case Condition::supersonic_inflow:
            return boundary.state;
        case Condition::far_field:
            return seen(far_field_state(gamma, seen(inside, face.velocity, 1),
                                        seen(given(boundary, face), face.velocity, 1), face.normal),
                        face.velocity, -1);
        case Condition::total_inflow:
            return total_inflow_state(gamma, inside, boundary, face.normal);
        case Condition::pressure_outflow:
            return seen(
                pressure_outflow_state(gamma, seen(inside, face.velocity, 1), boundary.pressure, face.normal),
                face.velocity, -1);
        case Condition::mass_outflow:
            return seen(
                pressure_outflow_state(gamma, seen(inside, face.velocity, 1), outlet_pressure, face.normal),
                face.velocity, -1);
        default:
            return inside;
    }
}

/// Whether an open boundary brings its own turbulence with it at the face of a cell.
template <int Dim>
bool enters(const Boundary& boundary, const PatchFace& face, const FieldView<const double>& nodes,
            const FieldView<const double>& q, const Int3& at, const GridMotion<Dim>* motion) {
    if (boundary.condition != Condition::far_field)
        return boundary.condition == Condition::total_inflow ||
               boundary.condition == Condition::supersonic_inflow;
    const FaceGeometry geometry = face_geometry<Dim>(face, nodes, at, motion);
    const Int3 beyond = face.beyond(at, 1);
    double through = -q(beyond[0], beyond[1], beyond[2], 0) * dot(geometry.velocity, geometry.normal);
    for (int d = 0; d < Dim; ++d)
        through += q(beyond[0], beyond[1], beyond[2], 1 + d) * geometry.normal[static_cast<std::size_t>(d)];
    return through <= 0;
}

/// omega on a wall without slip, beside cell `at` of the column.
template <int Dim>
double wall_omega(const Gas& gas, const PatchFace& face, const FieldView<const double>& nodes,
                  const FieldView<const double>& q, const Int3& at) {
    const FaceGeometry geometry = face_geometry<Dim>(face, nodes, at);
    Int3 cell = at;  // that of the face's geometry, also in borders of other faces
    for (std::size_t d = 0; d < 3; ++d) cell[d] = std::clamp(cell[d], face.cells.lo[d], face.cells.hi[d] - 1);
    constexpr int corners = Dim == 2 ? 4 : 8;
    Real3 away{};
    for (std::size_t d = 0; d < Dim; ++d) {
        for (int n = 0; n < corners; ++n)
            away[d] +=
                nodes(cell[0] + n % 2, cell[1] + n / 2 % 2, cell[2] + n / 4, static_cast<int>(d)) / corners;
        away[d] -= geometry.centre[d];
    }
    const double across = dot(away, geometry.normal),
                 square = geometry.size > 0 ? across * across : dot(away, away);
    const FlowState first = state_at<Dim>(gas.gamma, q, at),
                    image = state_at<Dim>(gas.gamma, q, face.beyond(at, 1));
    const double T = 0.5 * gas.gamma * (first.p / first.rho + image.p / image.rho);
    const double mu = T * std::sqrt(T) * (1 + gas.sutherland) / (T + gas.sutherland);
    return 60 * gas.viscous_scale() * mu / (first.rho * sst::beta1 * square);
}

}  // namespace

template <int Dim>
FaceGeometry face_geometry(const PatchFace& face, const FieldView<const double>& nodes, Int3 at) {
    for (std::size_t d = 0; d < 3; ++d) at[d] = std::clamp(at[d], face.cells.lo[d], face.cells.hi[d] - 1);
    const std::size_t axis = face.axis();
    at[axis] = face.face.upper ? face.cells.hi[axis] : face.cells.lo[axis];
    FaceGeometry geometry;
    const Box one{at, {at[0] + 1, at[1] + 1, at[2] + 1}};
    const FieldView<double> area(geometry.area.data() - at[0], 0, 0, 1, one);
    face_vectors<Dim>(face.face.axis, one, nodes, area);
    const double outwards = face.face.upper ? 1 : -1;
    for (double& a : geometry.area) a *= outwards;
    geometry.size = std::sqrt(dot(geometry.area, geometry.area));
    const std::size_t b = (axis + 1) % Dim, c = (axis + 2) % Dim;
    constexpr int corners = Dim == 2 ? 2 : 4;
    double longest = 0;
    for (std::size_t d = 0; d < Dim; ++d) {
        double low = 0, high = 0;
        for (int n = 0; n < corners; ++n) {
            Int3 corner = at;
            corner[b] += n % 2;
            if (Dim == 3) corner[c] += n / 2;
            const double x = nodes(corner[0], corner[1], corner[2], static_cast<int>(d));
            geometry.centre[d] += x / corners;
            low = n == 0 ? x : std::min(low, x), high = n == 0 ? x : std::max(high, x);
        }
        longest = std::max(longest, high - low);
    }
    // Collapsed: an area by rounding alone has no direction.
    if (geometry.size <= 1e-12 * (Dim == 2 ? longest : longest * longest)) geometry.size = 0;
    for (std::size_t d = 0; d < 3 && geometry.size > 0; ++d)
        geometry.normal[d] = geometry.area[d] / geometry.size;
    return geometry;
}

template <int Dim>
FaceGeometry face_geometry(const PatchFace& face, const FieldView<const double>& nodes, Int3 at,
                           const GridMotion<Dim>* motion) {
    FaceGeometry geometry = face_geometry<Dim>(face, nodes, at);
    if (motion == nullptr) return geometry;
    geometry.velocity = motion->body.at(geometry.centre);
    if (geometry.size == 0) return geometry;
    for (std::size_t d = 0; d < 3; ++d) at[d] = std::clamp(at[d], face.cells.lo[d], face.cells.hi[d] - 1);
    const std::size_t axis = face.axis();
    at[axis] = face.face.upper ? face.cells.hi[axis] : face.cells.lo[axis];
    const double swept = (face.face.upper ? 1 : -1) * motion->speeds[axis](at[0], at[1], at[2]);
    const double change = swept / geometry.size - dot(geometry.velocity, geometry.normal);
    for (std::size_t d = 0; d < 3; ++d) geometry.velocity[d] += change * geometry.normal[d];
    return geometry;
}

PatchBoundaries::PatchBoundaries(const Box& cells, const std::array<const Boundary*, 6>& on, int dimensions) {
    for (int axis = 0; axis < dimensions; ++axis)
        for (const bool upper : {false, true})
            if (const Boundary* boundary = on[static_cast<std::size_t>(2 * axis + (upper ? 1 : 0))])
                all_.push_back({PatchFace(cells, {axis, upper}), boundary});
    std::stable_sort(all_.begin(), all_.end(), [](const One& a, const One& b) {
        return rank(a.boundary->condition) < rank(b.boundary->condition);
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
    const bool mirrors = rank(boundary.condition) > 0;
    graph::for_each(face.first(), [&](int i, int j, int k) {
        const FaceGeometry geometry = face_geometry<Dim>(face, nodes, {i, j, k}, motion);
        if (mirrors) {
            for (int layer = 1; layer <= kBorder; ++layer)
                put_state<Dim>(gamma, q, face.beyond({i, j, k}, layer),
                               mirrored(gamma, boundary, geometry,
                                        state_at<Dim>(gamma, q, face.inside({i, j, k}, layer))));
            return;
        }
        const FlowState state =
            opened(gamma, boundary, geometry, state_at<Dim>(gamma, q, {i, j, k}), outlet_pressure);
        for (int layer = 1; layer <= kBorder; ++layer)
            put_state<Dim>(gamma, q, face.beyond({i, j, k}, layer), state);
    });
}

template <int Dim>
void fill_border_nu(const Boundary& boundary, const PatchFace& face, const FieldView<const double>& nodes,
                    const FieldView<const double>& q, const FieldView<double>& nu_tilde,
                    const GridMotion<Dim>* motion) {
    const auto value = [&](const Int3& at) -> double& { return nu_tilde(at[0], at[1], at[2]); };
    graph::for_each(face.first(), [&](int i, int j, int k) {
        const Int3 at{i, j, k};
        const bool given = enters<Dim>(boundary, face, nodes, q, at, motion);
        for (int layer = 1; layer <= kBorder; ++layer) {
            double& there = value(face.beyond(at, layer));
            if (rank(boundary.condition) == 0)
                there = given ? boundary.state.nu_tilde : value(at);
            else
                there = (boundary.condition == Condition::wall ? -1 : 1) * value(face.inside(at, layer));
        }
    });
}

template <int Dim>
void fill_border_k_omega(const Gas& gas, const Boundary& boundary, const PatchFace& face,
                         const FieldView<const double>& nodes, const FieldView<const double>& q,
                         const FieldView<double>& k_omega, const GridMotion<Dim>* motion) {
    const auto value = [&](const Int3& at, int c) -> double& { return k_omega(at[0], at[1], at[2], c); };
    const bool is_wall = boundary.condition == Condition::wall, is_open = rank(boundary.condition) == 0;
    const std::array<double, 2> far{boundary.state.k, boundary.state.omega};
    graph::for_each(face.first(), [&](int i, int j, int k) {
        const Int3 at{i, j, k};
        const bool given = is_open && enters<Dim>(boundary, face, nodes, q, at, motion);
        const std::array<double, 2> wall{0, is_wall ? wall_omega<Dim>(gas, face, nodes, q, at) : 0};
        for (int layer = 1; layer <= kBorder; ++layer)
            for (int c = 0; c < 2; ++c) {
                const auto n = static_cast<std::size_t>(c);
                const double image = value(face.inside(at, layer), c);
                value(face.beyond(at, layer), c) = given     ? far[n]
                                                   : is_open ? value(at, c)
                                                   : is_wall ? 2 * wall[n] - image
                                                             : image;
            }
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
                c == first && boundary.condition == Condition::wall ? 0 : eddies(at[0], at[1], at[2], c);
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
template FaceGeometry face_geometry<2>(const PatchFace&, const FieldView<const double>&, Int3,
                                       const GridMotion<2>*);
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
template FaceGeometry face_geometry<3>(const PatchFace&, const FieldView<const double>&, Int3,
                                       const GridMotion<3>*);
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
