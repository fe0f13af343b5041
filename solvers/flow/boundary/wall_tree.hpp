// The nearest point of a set of wall elements: segments in two dimensions, triangles in three.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "solvers/flow/boundary/fill.hpp"

namespace strata::flow {

inline constexpr double kNoWall = std::numeric_limits<double>::infinity();

/// A segment (two corners, the third is the second) or a triangle.
using WallElement = std::array<Real3, 3>;

/// The square of the distance from a point to an element, also one that is collapsed (Ericson, Real-Time
/// Collision Detection, 2005, 5.1.5).
[[nodiscard]] double squared_distance(const Real3& x, const WallElement& element);

/// The bounds of elements; none: lo = +infinity, hi = -infinity.
struct WallBox {
    Real3 lo{kNoWall, kNoWall, kNoWall}, hi{-kNoWall, -kNoWall, -kNoWall};
    void add(const Real3& x);
    /// 0 inside.
    [[nodiscard]] double squared_distance(const Real3& x) const;
};

/// Elements in a tree of boxes: 72 bytes an element and 56 a node, with four elements or fewer in a leaf.
class WallTree {
  public:
    WallTree() = default;
    explicit WallTree(std::vector<WallElement> elements);
    /// The smaller of `bound` and the square of the distance to the nearest element.
    [[nodiscard]] double nearest(const Real3& x, double bound = kNoWall) const;
    [[nodiscard]] const WallBox& box() const { return box_; }
    [[nodiscard]] std::size_t size() const { return elements_.size(); }
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct Node {
        WallBox box;
        std::int32_t begin, end;  // elements; of an inner node: end = -1, its first child is the next node
                                  // and its second one `begin`
    };
    void build(std::int32_t begin, std::int32_t end);

    std::vector<WallElement> elements_;
    std::vector<Node> nodes_;
    WallBox box_;
};

/// The elements of a face of a patch. A quadrilateral in a plane is two triangles, along its shorter
/// diagonal; another one is four, around the mean of its corners, above which the centre of the first cell
/// lies.
template <int Dim>
void add_wall(const PatchFace& face, const FieldView<const double>& nodes,
              std::vector<WallElement>& elements);

}  // namespace strata::flow
