// Surfaces in parts: is a place inside? And their nearest point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "methods/geometry/tree.hpp"

namespace strata::geometry {

/// A facet of a surface, and its number there.
struct NumberedFacet {
    Facet corners;
    std::int32_t number = 0;
};
[[nodiscard]] inline Bounds bounds_of(const NumberedFacet& item) { return bounds_of(item.corners); }
[[nodiscard]] inline Real3 place_of(const NumberedFacet& item) { return place_of(item.corners); }

/// A surface, or a part of one, as patches of cells have them.
class Surface {
  public:
    Surface() = default;
    Surface(int dimensions, const std::vector<Facet>& facets);

    /// For each ray from x along +x, -x, +y, -y (+z, -z), as bits 0 to 5, whether it goes through these
    /// facets an odd number of times. Those of parts of a surface that is closed add up (exclusive or), and
    /// most rays from inside have 1. A facet counts where the ray goes through its half-open projection, so
    /// an edge that two facets share counts once.
    [[nodiscard]] unsigned rays(const Real3& x) const;
    /// The point of the surface nearest to x, of several that of the first facet; x itself where there is no
    /// facet. Looks at all of them.
    [[nodiscard]] Real3 nearest(const Real3& x) const;

    [[nodiscard]] Bounds bounds() const { return tree_.bounds(); }
    [[nodiscard]] const std::vector<NumberedFacet>& facets() const { return tree_.items(); }
    [[nodiscard]] std::size_t bytes() const { return tree_.bytes(); }

  private:
    int dimensions_ = 2;
    Tree<NumberedFacet> tree_;
};

/// Whether the rays of Surface::rays, of all parts of a closed surface together, say that a place is inside:
/// more than half of them. So a hair's breadth between parts that should meet, and a side that is open (at a
/// plane of symmetry, say), change no answer.
[[nodiscard]] bool inside(unsigned rays, int dimensions);

}  // namespace strata::geometry
