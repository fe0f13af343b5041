// A patch of curvilinear cells for tests of the flow solver's boundary and output kernels, on plain arrays.
#pragma once

#include <functional>
#include <vector>

#include "methods/curvilinear/metrics.hpp"
#include "solvers/flow/boundary/fill.hpp"
#include "solvers/flow/boundary/states.hpp"

namespace strata::tests {

using flow::Boundary;
using flow::Condition;
using flow::FlowState;
using flow::PatchFace;
using graph::Box;
using graph::FieldView;
using graph::Int3;
using graph::Real3;

/// Values in a box, component after component.
struct Stored {
    Box box;
    int components;
    std::vector<double> data;
    Stored(const Box& box, int components, double first)
        : box(box),
          components(components),
          data(static_cast<std::size_t>(box.volume()) * static_cast<std::size_t>(components), first) {}
    template <class T = double>
    [[nodiscard]] FieldView<T> view() {
        const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1);
        return {data.data() - box.lo[0] - box.lo[1] * y - box.lo[2] * z, y, z, box.volume(), box};
    }
    [[nodiscard]] FieldView<const double> seen() { return view<const double>(); }
};

template <int Dim>
struct TestPatch {
    static constexpr double kUnset = -1e300;
    Box cells;
    Stored x, q, nu, centres, volumes;

    TestPatch(const Box& cells, const std::function<Real3(double, double, double)>& place)
        : cells(cells),
          x({cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + (Dim == 3 ? 1 : 0)}}, Dim, 0),
          q(around(cells), Dim + 2, kUnset),
          nu(around(cells), 1, kUnset),
          centres(around(cells), Dim, kUnset),
          volumes(around(cells), 1, kUnset) {
        graph::for_each(x.box, [&](int i, int j, int k) {
            const Real3 at = place(i, j, k);
            for (int d = 0; d < Dim; ++d) x.view()(i, j, k, d) = at[static_cast<std::size_t>(d)];
        });
        flow::centres<Dim>(cells, x.seen(), centres.view());
        flow::volumes<Dim>(cells, x.seen(), volumes.view());
    }
    static Box around(const Box& cells) { return cells.grown({2, 2, Dim == 3 ? 2 : 0}); }

    [[nodiscard]] Real3 centre(const Int3& at) {
        Real3 c{};
        for (int d = 0; d < Dim; ++d) c[static_cast<std::size_t>(d)] = centres.view()(at[0], at[1], at[2], d);
        return c;
    }
    [[nodiscard]] FlowState state(const Int3& at) { return flow::state_at<Dim>(1.4, q.view(), at); }
    /// q where a task without corners sees it: the own cells, and what lies beyond a face.
    [[nodiscard]] FieldView<const double> flow_seen(const PatchFace& face) {
        Box box = cells;
        --box.lo[face.axis()], ++box.hi[face.axis()];
        const auto view = q.seen();
        return {view.origin(), view.stride(1), view.stride(2), view.component_stride(), box};
    }
    /// In `box`, by the place of centres.
    void set(const Box& box, const std::function<FlowState(const Real3&)>& value) {
        graph::for_each(box, [&](int i, int j, int k) {
            const FlowState state = value(centre({i, j, k}));
            flow::put_state<Dim>(1.4, q.view(), {i, j, k}, state);
            nu.view()(i, j, k) = state.nu_tilde;
        });
    }
    /// Fills q and nu_tilde beyond a face.
    void fill(const Boundary& boundary, const PatchFace& face, double outlet_pressure = 0) {
        flow::fill_border<Dim>(1.4, boundary, face, x.seen(), q.view(), outlet_pressure);
        flow::fill_border_nu<Dim>(boundary, face, x.seen(), q.seen(), nu.view());
    }
    void fill_geometry(const PatchFace& face) {
        flow::fill_border_geometry<Dim>(face, x.seen(), centres.view(), volumes.view());
    }
};

/// Both layers beyond a face, and the cells inside of which they are images.
inline void each_image(const PatchFace& face,
                       const std::function<void(const Int3& out, const Int3& in)>& call) {
    graph::for_each(face.first(), [&](int i, int j, int k) {
        for (int layer = 1; layer <= flow::kBorder; ++layer)
            call(face.beyond({i, j, k}, layer), face.inside({i, j, k}, layer));
    });
}

}  // namespace strata::tests
