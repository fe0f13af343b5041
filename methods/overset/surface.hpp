// Closed surfaces of walls: is a place inside? And the nearest point of a wall.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/graph/declare/view.hpp"
#include "core/graph/declare/zones.hpp"
#include "methods/overset/box_tree.hpp"

namespace strata::overset {

using graph::Box;
using graph::Face;
using graph::FieldView;
using graph::Int3;

/// A segment (two corners, the third is the second) or a triangle.
using Facet = std::array<Real3, 3>;

/// The elements of a face of a patch of these cells. A quadrilateral is two triangles, along one diagonal of
/// its nodes. `nodes`: of the patch; in two dimensions those with k = 0.
void add_facets(int dimensions, const Box& cells, const Face& face, const FieldView<const double>& nodes,
                std::vector<Facet>& elements);

/// The walls of a patch, or of several.
class Surface {
  public:
    Surface() = default;
    Surface(int dimensions, std::vector<Facet> elements);

    /// For each ray from x along +x, -x, +y, -y (+z, -z), as bits 0 to 5, whether it goes through these walls
    /// an odd number of times. Those of parts of a surface that is closed add up (exclusive or), and most
    /// rays from inside have 1. An element counts where the ray goes through its half-open projection, so an
    /// edge that two elements share counts once.
    [[nodiscard]] unsigned rays(const Real3& x) const;
    /// The point of the walls nearest to x; x itself where there are none.
    [[nodiscard]] Real3 nearest(const Real3& x) const;

    [[nodiscard]] const Bounds& bounds() const { return tree_.bounds(); }
    [[nodiscard]] const std::vector<Facet>& elements() const { return elements_; }
    [[nodiscard]] std::size_t bytes() const { return elements_.capacity() * sizeof(Facet) + tree_.bytes(); }

  private:
    int dimensions_ = 2;
    std::vector<Facet> elements_;
    BoxTree tree_;
};

/// Whether the rays of Surface::rays, of all parts of a closed surface together, say that a place is inside:
/// more than half of them. So a hair's breadth between parts that should meet, and a side that is open (at a
/// plane of symmetry, say), change no answer.
[[nodiscard]] bool inside(unsigned rays, int dimensions);

/// A uniform map of cells around a closed surface: those that walls may touch, those that lie outside, and
/// what is left, which is inside.
class HoleMap {
  public:
    enum class Cell : std::uint8_t { outside, wall, inside };

    HoleMap() = default;
    /// Around these bounds of a surface. Three layers of cells lie around it.
    HoleMap(int dimensions, const Bounds& of_walls);
    [[nodiscard]] static std::size_t cells(int dimensions);

    /// Calls mark(cell number) for cells that the element's box meets.
    template <class Mark>
    void mark(const Facet& element, Mark&& mark) const {
        Bounds box;
        for (const Real3& x : element) box.add(x);
        Int3 lo{}, hi{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d)
            lo[d] = line(box.lo[d], d, -1e-6), hi[d] = line(box.hi[d], d, 1e-6) + 1;
        if (dimensions_ == 2) lo[2] = 0, hi[2] = 1;
        graph::for_each(Box{lo, hi}, [&](int i, int j, int k) { mark(number({i, j, k})); });
    }
    /// Fills in outside and inside, from the marks.
    void fill(const std::vector<bool>& marked);
    /// Beyond the map all is outside.
    [[nodiscard]] Cell at(const Real3& x) const;

  private:
    [[nodiscard]] int line(double x, std::size_t axis, double by) const;
    [[nodiscard]] std::size_t number(const Int3& at) const;

    int dimensions_ = 2, sides_ = 0;
    Real3 first_{}, size_{1, 1, 1};
    std::vector<Cell> cells_;
};

}  // namespace strata::overset
