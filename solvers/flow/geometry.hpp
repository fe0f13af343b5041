// The geometry of a patch as one list: nodes, face vectors, with a layer of ghosts centres and volumes, and
// where the grid moves what faces sweep. A patch has all of its own nodes and faces, those at its upper sides
// included, so nothing of it comes from neighbours in a step.
#pragma once

#include <array>
#include <cstdint>

#include "core/graph/declare/graph.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// A view of `components` arrays over a box, one after the other, in a list from `first` on.
template <class T>
FieldView<T> view_in(const graph::ListView<T>& list, std::int64_t first, const Box& box, int components) {
    const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1), component = z * box.extent(2);
    T* values = graph::pointer_to(list.data() + first, component * components);
    return {values - (box.lo[0] + box.lo[1] * y + box.lo[2] * z), y, z, component, box};
}

/// A view over a box of a list whose components are arrays of their own, as those of fields that are
/// collected from another grid.
template <class T>
FieldView<T> components_in(const graph::ListView<T>& list, const Box& box, int components) {
    const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1), size = z * box.extent(2);
    const auto first_of = [&](int c) { return graph::pointer_to(list.component(c).data(), size); };
    T* values = first_of(0);
    const std::ptrdiff_t component =
        components > 1 ? (first_of(components - 1) - values) / (components - 1) : size;
    return {values - (box.lo[0] + box.lo[1] * y + box.lo[2] * z), y, z, component, box};
}

template <int Dim>
class PatchGeometry {
  public:
    explicit PatchGeometry(const Box& cells) : cells_(cells) {
        const auto axis = [](int d) { return static_cast<std::size_t>(d); };
        std::int64_t next = 0;
        const auto take = [&](const Box& box, int components) {
            const std::int64_t at = next;
            next += box.volume() * components;
            return at;
        };
        nodes_ = take(node_box(), Dim);
        for (int d = 0; d < Dim; ++d) faces_[axis(d)] = take(face_box(d), Dim);
        centres_ = take(around(), Dim);
        volumes_ = take(around(), 1);
        still_entries_ = next;
        for (int d = 0; d < Dim; ++d) speeds_[axis(d)] = take(face_box(d), 1);
        moving_entries_ = next;
    }
    [[nodiscard]] std::int64_t entries(bool moves) const { return moves ? moving_entries_ : still_entries_; }
    /// Whether a list of such a patch has speeds of faces.
    template <class T>
    [[nodiscard]] bool moves(const graph::ListView<T>& list) const {
        return list.size() == moving_entries_;
    }

    /// In two dimensions k = 0 alone.
    [[nodiscard]] Box node_box() const {
        Box box = cells_;
        for (std::size_t d = 0; d < Dim; ++d) ++box.hi[d];
        return box;
    }
    [[nodiscard]] Box face_box(int axis) const {
        Box box = cells_;
        ++box.hi[static_cast<std::size_t>(axis)];
        return box;
    }
    [[nodiscard]] Box around() const { return cells_.grown({1, 1, Dim == 3 ? 1 : 0}); }

    template <class T>
    [[nodiscard]] FieldView<T> nodes(const graph::ListView<T>& list) const {
        return view_in(list, nodes_, node_box(), Dim);
    }
    template <class T>
    [[nodiscard]] FieldView<T> faces(const graph::ListView<T>& list, int axis) const {
        return view_in(list, faces_[static_cast<std::size_t>(axis)], face_box(axis), Dim);
    }
    template <class T>
    [[nodiscard]] FieldView<T> centres(const graph::ListView<T>& list) const {
        return view_in(list, centres_, around(), Dim);
    }
    template <class T>
    [[nodiscard]] FieldView<T> volumes(const graph::ListView<T>& list) const {
        return view_in(list, volumes_, around(), 1);
    }
    /// Of a grid that moves: Patch::speeds.
    template <class T>
    [[nodiscard]] FieldView<T> speeds(const graph::ListView<T>& list, int axis) const {
        return view_in(list, speeds_[static_cast<std::size_t>(axis)], face_box(axis), 1);
    }
    [[nodiscard]] std::array<FieldView<const double>, static_cast<std::size_t>(Dim)> all_speeds(
        const graph::ListView<const double>& list) const {
        if (!moves(list)) return no_fields<Dim>();
        if constexpr (Dim == 2)
            return {speeds(list, 0), speeds(list, 1)};
        else
            return {speeds(list, 0), speeds(list, 1), speeds(list, 2)};
    }
    /// What kernels read; q, nu_tilde, wall distance and eddies are the caller's.
    [[nodiscard]] Patch<Dim> patch(const graph::ListView<const double>& list,
                                   const FieldView<const double>& q, const FieldView<const double>& nu_tilde,
                                   const FieldView<const double>& wall_distance,
                                   const FieldView<const double>& eddies = no_field()) const {
        if constexpr (Dim == 2)
            return {q,
                    nu_tilde,
                    {faces(list, 0), faces(list, 1)},
                    volumes(list),
                    centres(list),
                    wall_distance,
                    all_speeds(list),
                    eddies};
        else
            return {q,
                    nu_tilde,
                    {faces(list, 0), faces(list, 1), faces(list, 2)},
                    volumes(list),
                    centres(list),
                    wall_distance,
                    all_speeds(list),
                    eddies};
    }

  private:
    Box cells_;
    std::int64_t nodes_ = 0, centres_ = 0, volumes_ = 0, still_entries_ = 0, moving_entries_ = 0;
    std::array<std::int64_t, 3> faces_{}, speeds_{};
};

}  // namespace strata::flow
