// Nodes of a box, as kernels take them.
#pragma once

#include <vector>

#include "core/graph/declare/view.hpp"
#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// A box of values, planar by component.
class Piece {
  public:
    Piece(const Box& box, int components)
        : box_(box), values_(static_cast<std::size_t>(components) * static_cast<std::size_t>(box.volume())) {}

    [[nodiscard]] const graph::Box& box() const { return box_; }
    [[nodiscard]] double* data() { return values_.data(); }
    [[nodiscard]] const double* data() const { return values_.data(); }
    [[nodiscard]] graph::FieldView<const double> view() const {
        return view_of<const double>(values_.data());
    }
    [[nodiscard]] graph::FieldView<double> view() { return view_of<double>(values_.data()); }

  private:
    template <class T>
    [[nodiscard]] graph::FieldView<T> view_of(T* first) const {
        const std::ptrdiff_t y = box_.extent(0), z = y * box_.extent(1);
        return {first - box_.lo[0] - box_.lo[1] * y - box_.lo[2] * z, y, z, z * box_.extent(2), box_};
    }
    Box box_;
    std::vector<double> values_;
};

/// The nodes around some cells of a zone.
[[nodiscard]] Piece nodes_of(const GridSource& source, int zone, const Box& cells);

}  // namespace strata::flow
