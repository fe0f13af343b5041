// Boundary conditions as kernels: they write the two border layers beyond one face of a patch.
//
// Layer 1 and 2 beyond a face are the mirror images of the first and second cell inside. A patch that is one
// cell wide there shows that cell twice. So who fills borders reads the patch's own cells alone, and no
// ghosts.
//
// Faces are filled in a fixed order (PatchBoundaries): open ones, then symmetry and axis, then walls; of one
// kind along x, y, z. A later face also fills the columns in the borders of earlier ones, as if these were
// cells. So edges and corners between boundaries hold values: the mirror image, in the later face, of the
// earlier one's border. Ghosts beyond one boundary and one neighbour are cells of the neighbour's border.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/graph/declare/view.hpp"
#include "core/graph/declare/zones.hpp"
#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

using graph::Box;
using graph::Face;
using graph::FieldView;
using graph::Int3;

inline constexpr int kBorder = 2;  // layers

/// A face of a patch that is a boundary, and the columns of cells that end at it.
struct PatchFace {
    Box cells;    // of the patch
    Face face;    // of the zone, and of this patch
    Box columns;  // along the face: cells, and borders that are filled already; across it: all cells

    /// All of the face, without borders.
    PatchFace(const Box& cells, const Face& face) : cells(cells), face(face), columns(cells) {}

    [[nodiscard]] std::size_t axis() const { return static_cast<std::size_t>(face.axis); }
    /// The cell in layer 1, 2 (beyond), or its mirror image inside, of the column through `at`.
    [[nodiscard]] Int3 beyond(Int3 at, int layer) const {
        at[axis()] = face.upper ? cells.hi[axis()] - 1 + layer : cells.lo[axis()] - layer;
        return at;
    }
    [[nodiscard]] Int3 inside(Int3 at, int layer) const {
        if (cells.extent(face.axis) < layer) layer = cells.extent(face.axis);
        at[axis()] = face.upper ? cells.hi[axis()] - layer : cells.lo[axis()] + layer - 1;
        return at;
    }
    /// One cell of each column: those beside the face.
    [[nodiscard]] Box first() const {
        Box box = columns;
        box.lo[axis()] = face.upper ? cells.hi[axis()] - 1 : cells.lo[axis()];
        box.hi[axis()] = box.lo[axis()] + 1;
        return box;
    }
};

/// The face of a column: its area vector out of the domain (2D: length vector) and the mean of its corners.
/// In the borders of other faces that of the nearest cell.
struct FaceGeometry {
    Real3 area{}, normal{}, centre{};
    double size = 0;  // |area|; 0: collapsed to a line or point, then the normal is 0 too
};
template <int Dim>
[[nodiscard]] FaceGeometry face_geometry(const PatchFace& face, const FieldView<const double>& nodes,
                                         Int3 at);

/// How a grid moves: the velocity of its places, and what faces sweep along each axis (Patch::speeds). The
/// velocity across a face is the swept volume over its area, so that nothing flows through a slip wall.
template <int Dim>
struct GridMotion {
    RigidMotion body;
    std::array<FieldView<const double>, static_cast<std::size_t>(Dim)> speeds;
};

/// The boundaries of a patch in the order in which they are filled.
class PatchBoundaries {
  public:
    struct One {
        PatchFace face;
        const Boundary* boundary;
    };
    /// `on[2 axis + upper]`: null where the face is joined or within the zone. Boundaries must outlive it.
    PatchBoundaries(const Box& cells, const std::array<const Boundary*, 6>& on, int dimensions);
    [[nodiscard]] auto begin() const { return all_.begin(); }
    [[nodiscard]] auto end() const { return all_.end(); }
    [[nodiscard]] bool empty() const { return all_.empty(); }

  private:
    std::vector<One> all_;
};

/// Writes q (rho, rho u, rho E) beyond one face. `nodes`: of the patch. `outlet_pressure`: of mass_outflow
/// alone (mass_flow.hpp). `motion` null: the grid stands still. Where it moves, walls without slip move with
/// it (unless the boundary is not carried), nothing flows through slip walls and symmetries as they move, and
/// invariants of a far field and of outflows are those seen from the face; the boundary's values stay those
/// seen at rest.
template <int Dim>
void fill_border(double gamma, const Boundary& boundary, const PatchFace& face,
                 const FieldView<const double>& nodes, const FieldView<double>& q, double outlet_pressure = 0,
                 const GridMotion<Dim>* motion = nullptr);
/// The same of nu_tilde, after q beyond this face has been written: 0 on walls, the boundary's value where
/// fluid comes in, that of the first cell where it leaves, mirrored at symmetry, axis and slip walls.
template <int Dim>
void fill_border_nu(const Boundary& boundary, const PatchFace& face, const FieldView<const double>& nodes,
                    const FieldView<const double>& q, const FieldView<double>& nu_tilde,
                    const GridMotion<Dim>* motion = nullptr);
/// The same of Menter's k and omega: k is 0 at walls, and omega there 10 times what it is in the viscous
/// sublayer at the centre of the first cell, 60 nu / (beta1 d^2) (Menter, AIAA J. 32 (1994) 1598).
template <int Dim>
void fill_border_k_omega(const Gas& gas, const Boundary& boundary, const PatchFace& face,
                         const FieldView<const double>& nodes, const FieldView<const double>& q,
                         const FieldView<double>& k_omega, const GridMotion<Dim>* motion = nullptr);
/// One layer of components `first` to `last` of a field: those of the first cell. On walls the first one, the
/// turbulent viscosity, is 0.
void fill_border_eddies(const Boundary& boundary, const PatchFace& face, int first, int last,
                        const FieldView<double>& eddies);
/// Mirror images of centres (Dim components) and volumes in the plane of each column's face; beyond a face
/// without size, in its point.
template <int Dim>
void fill_border_geometry(const PatchFace& face, const FieldView<const double>& nodes,
                          const FieldView<double>& centres, const FieldView<double>& volumes);

}  // namespace strata::flow
