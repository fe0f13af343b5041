// A map of a closed surface: which places lie outside, which inside, and which by a wall.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "methods/geometry/facet.hpp"

namespace strata::overset {

using geometry::Bounds;
using graph::Box;
using graph::Int3;
using graph::Real3;

/// A uniform map of cells around a closed surface: those that walls may touch, those that lie outside, and
/// what is left, which is inside.
class HoleMap {
  public:
    enum class Cell : std::uint8_t { outside, wall, inside };

    HoleMap() = default;
    /// Around these bounds of a surface. Three layers of cells lie around it.
    HoleMap(int dimensions, const Bounds& of_walls);
    [[nodiscard]] static std::size_t cells(int dimensions);

    /// Calls mark(cell number) for cells that the facet's box meets.
    template <class Mark>
    void mark(const geometry::Facet& facet, Mark&& mark) const {
        const Bounds box = geometry::bounds_of(facet);
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
