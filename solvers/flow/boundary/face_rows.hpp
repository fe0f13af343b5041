// The columns of cells that end at a face, eight at once: what kernels at boundaries read and write of them,
// and the geometry of their faces.
#pragma once

#include <algorithm>
#include <array>

#include "solvers/flow/boundary/fill.hpp"
#include "solvers/flow/boundary/invariants.hpp"
#include "solvers/flow/scheme/apart.hpp"
#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// Three numbers for each of eight columns; in two dimensions the last one is 0.
using Lanes3 = Vector<3, Lanes>;

/// Up to eight columns, side by side along x, or along y where they end at a face across x.
struct Columns {
    Int3 first;     // the cell of the first one that lies at the face
    int count = 0;  // of columns
    /// In the borders of other faces, whose columns all have the geometry of the nearest face.
    bool in_border = false;
};

/// The columns of a face. `along`: the axis along which eight lie side by side, 0 or 1.
template <int Dim, int along>
class FaceRows {
  public:
    static constexpr std::size_t kAlong = along;

    FaceRows(const PatchFace& face, const FieldView<const double>& nodes, const GridMotion<Dim>* motion)
        : face_(face), nodes_(nodes), motion_(motion) {}

    /// f(columns) for all of them.
    template <class F>
    void each(F&& f) const {
        const Box all = face_.first();
        const int from = all.lo[along], to = all.hi[along];
        const int low = face_.cells.lo[along], high = face_.cells.hi[along];
        const std::size_t other = 3 - face_.axis() - along;
        Int3 at = all.lo;
        const auto row = [&](int first, int end, bool in_border) {
            for (at[along] = first; at[along] < end; at[along] += kLanes)
                f(Columns{at, std::min(kLanes, end - at[along]), in_border});
        };
        for (at[other] = all.lo[other]; at[other] < all.hi[other]; ++at[other]) {
            row(from, std::min(low, to), true);
            row(std::max(low, from), std::min(high, to), false);
            row(std::max(high, from), to, true);
        }
    }

    [[nodiscard]] static Lanes get(const FieldView<const double>& f, const Int3& at, int c, int n) {
        if constexpr (along == 0)
            return load(f, at[0], at[1], at[2], c, n);
        else
            return load_apart(apart_pointer(f, at, c, n), f.stride(1), n);
    }
    static void put(const FieldView<double>& f, const Int3& at, int c, const Lanes& x, int n) {
        if constexpr (along == 0)
            store(f, at[0], at[1], at[2], c, x, n);
        else
            store_apart(apart_pointer(f, at, c, n), f.stride(1), x, n);
    }

    static constexpr std::size_t kCorners = Dim == 2 ? 2 : 4;
    /// The faces of columns: their area and unit normal out of the domain (0 of one that is collapsed to a
    /// line or point), centre, and where the grid moves their velocity; corners, the next axis after that
    /// across the face fastest.
    struct Faces {
        Lanes3 area{}, normal{}, centre{}, velocity{};
        std::array<Lanes3, kCorners> corner{};
        LaneInts collapsed{};
    };
    [[nodiscard]] Faces faces(const Columns& of) const {
        const Int3 at = lowest_node(of);
        Lanes longest{};
        Faces found;
        auto& corner = found.corner;
        for (std::size_t d = 0; d < Dim; ++d) {
            Lanes low{}, high{};
            for (std::size_t n = 0; n < kCorners; ++n) {
                Int3 node = at;
                node[b()] += static_cast<int>(n % 2);
                if (Dim == 3) node[c()] += static_cast<int>(n / 2);
                const Lanes x = corner[n][d] = geometry(nodes_, node, static_cast<int>(d), of);
                found.centre[d] += x / static_cast<double>(kCorners);
                low = n == 0 ? x : min(low, x), high = n == 0 ? x : max(high, x);
            }
            longest = max(longest, high - low);
        }
        const Lanes3 area = found.area = area_of(corner);
        const Lanes size = sqrt(dot(area, area)), least = Dim == 2 ? longest : longest * longest;
        // An area by rounding alone has no direction.
        found.collapsed = size <= 1e-12 * least;
        for (std::size_t d = 0; d < 3; ++d)
            found.normal[d] = select(found.collapsed, Lanes{}, area[d] / size);
        if (motion_ == nullptr) return found;
        found.velocity = motion_at(motion_->body, found.centre);
        const double outwards = face_.face.upper ? 1 : -1;
        const Lanes swept = outwards * geometry(motion_->speeds[face_.axis()], at, 0, of);
        const Lanes change =
            select(found.collapsed, Lanes{}, swept / size - dot(found.velocity, found.normal));
        for (std::size_t d = 0; d < 3; ++d) found.velocity[d] += change * found.normal[d];
        return found;
    }

    /// The node of the columns' cells, at the face, from which all have positive offsets.
    [[nodiscard]] Int3 lowest_node(const Columns& of) const {
        Int3 at = inner(of.first);
        at[face_.axis()] = face_.face.upper ? face_.cells.hi[face_.axis()] : face_.cells.lo[face_.axis()];
        return at;
    }
    /// The nearest cell within the patch.
    [[nodiscard]] Int3 inner(Int3 at) const {
        for (std::size_t d = 0; d < 3; ++d)
            at[d] = std::clamp(at[d], face_.cells.lo[d], face_.cells.hi[d] - 1);
        return at;
    }
    /// Values of nodes or faces at columns, from those of the first one.
    [[nodiscard]] static Lanes geometry(const FieldView<const double>& f, const Int3& at, int c,
                                        const Columns& of) {
        return of.in_border ? broadcast(f(at[0], at[1], at[2], c)) : get(f, at, c, of.count);
    }

  private:
    [[nodiscard]] std::size_t b() const { return (face_.axis() + 1) % Dim; }
    [[nodiscard]] std::size_t c() const { return (face_.axis() + 2) % Dim; }
    /// Out of the domain; with the formula of face_vectors().
    [[nodiscard]] Lanes3 area_of(const std::array<Lanes3, kCorners>& corner) const {
        const double outwards = face_.face.upper ? 1 : -1;
        Lanes3 area{};
        if constexpr (Dim == 2) {
            const double sign = face_.axis() == 0 ? outwards : -outwards;
            area[0] = sign * (corner[1][1] - corner[0][1]);
            area[1] = -sign * (corner[1][0] - corner[0][0]);
        } else {
            Lanes3 p, q;
            for (std::size_t d = 0; d < 3; ++d)
                p[d] = corner[3][d] - corner[0][d], q[d] = corner[2][d] - corner[1][d];
            for (std::size_t d = 0; d < 3; ++d) {
                const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
                area[d] = (0.5 * outwards) * (p[e] * q[f] - p[f] * q[e]);
            }
        }
        return area;
    }

    const PatchFace& face_;
    const FieldView<const double>& nodes_;
    const GridMotion<Dim>* motion_;
};

/// The state of the cells at `at` and beside it, in n columns.
template <int Dim, class Rows>
FlowOf<Lanes> flow_at(double gamma, const FieldView<const double>& q, const Int3& at, int n) {
    FlowOf<Lanes> state{};
    state.rho = Rows::get(q, at, 0, n);
    Lanes squares{};
    for (int d = 0; d < Dim; ++d) {
        const Lanes momentum = Rows::get(q, at, 1 + d, n);
        state.u[static_cast<std::size_t>(d)] = momentum / state.rho;
        squares += momentum * momentum;
    }
    state.p = (gamma - 1) * (Rows::get(q, at, Dim + 1, n) - 0.5 * squares / state.rho);
    return state;
}
template <int Dim, class Rows>
void put_flow(double gamma, const FieldView<double>& q, const Int3& at, const FlowOf<Lanes>& state, int n) {
    Lanes squares{};
    Rows::put(q, at, 0, state.rho, n);
    for (int d = 0; d < Dim; ++d) {
        const Lanes& u = state.u[static_cast<std::size_t>(d)];
        Rows::put(q, at, 1 + d, state.rho * u, n);
        squares += u * u;
    }
    Rows::put(q, at, Dim + 1, state.p / (gamma - 1) + 0.5 * state.rho * squares, n);
}

/// f(rows) with the FaceRows of a face.
template <int Dim, class F>
void over_face(const PatchFace& face, const FieldView<const double>& nodes, const GridMotion<Dim>* motion,
               F&& f) {
    if (face.axis() == 0)
        f(FaceRows<Dim, 1>(face, nodes, motion));
    else
        f(FaceRows<Dim, 0>(face, nodes, motion));
}

}  // namespace strata::flow
