// Closed surfaces of triangles, and what is inside of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "methods/geometry/facet.hpp"

namespace strata::geometry {

/// A closed surface as a whole. Immutable; may be asked by many threads.
class Solid {
  public:
    /// Throws Error with `name`, that of a file, and the triangle, from 1: for coordinates that are no
    /// numbers or beyond 1e100, and for a surface that is not closed.
    Solid(std::vector<Facet> triangles, const std::string& name);

    /// Whether a point is inside: a ray from it along x crosses the surface an odd number of times. A ray
    /// that meets an edge or corner crosses as if it were a little above it, so each of the triangles there
    /// decides in the same way. Takes time proportional to the triangles of a column of a grid over the (y,
    /// z) plane.
    [[nodiscard]] bool contains(const Real3& x) const;
    [[nodiscard]] const Bounds& bounds() const { return bounds_; }
    [[nodiscard]] const std::vector<Facet>& triangles() const { return triangles_; }

  private:
    void check_closed(const std::string& name) const;
    /// The columns over which a triangle lies, the last ones included.
    struct Columns {
        int low[2], high[2];
    };
    [[nodiscard]] Columns columns_of(const Facet& t) const;
    void make_columns();
    [[nodiscard]] int column(double x, int axis) const;

    std::vector<Facet> triangles_;
    Bounds bounds_;
    int counts_[2] = {1, 1};  // of columns along y and z
    std::vector<std::int32_t> first_,
        members_;  // of column c: members_[first_[c]] .. members_[first_[c + 1]]
};

}  // namespace strata::geometry
