// Volumes that faces of moving cells sweep.
//
// Between two levels of time the nodes of a face move along straight lines. What the face sweeps is then a
// trilinear hexahedron (in two dimensions a quadrilateral), with the old face below and the new one above:
// its volume by the same formula as that of cells is exact, so the volumes that the faces of a cell sweep
// outwards add up to what the cell has gained, but for rounding, and a uniform flow is kept (Thomas, P. D.,
// Lombard, C. K. (1979), AIAA J. 17(10) 1030; for three levels of time Mavriplis, D. J., Yang, Z. (2006),
// J. Comput. Phys. 213, 557).
#pragma once

#include <array>
#include <cstddef>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/view.hpp"
#include "methods/curvilinear/metrics.hpp"

namespace strata::flow {

/// Adds `weight` times what each of these faces across an axis sweeps up the index, from where nodes were
/// `before` to where they are `now`.
template <int Dim>
void add_swept(int axis, const graph::Box& faces, const Nodes& before, const Nodes& now, double weight,
               const Metric& swept) {
    constexpr std::size_t kCorners = std::size_t{1} << Dim;
    const auto a = static_cast<std::size_t>(axis);
    graph::for_each(faces, [&](int i, int j, int k) {
        // Corners of a cell that is thick along the axis by the motion alone.
        std::array<std::array<double, 3>, kCorners> x{};
        for (std::size_t n = 0; n < kCorners; ++n) {
            std::array<int, 3> at{i, j, k};
            for (std::size_t d = 0; d < Dim; ++d)
                if (d != a) at[d] += static_cast<int>(n >> d & 1);
            const Nodes& from = (n >> a & 1) != 0 ? now : before;
            for (int d = 0; d < Dim; ++d) x[n][static_cast<std::size_t>(d)] = from(at[0], at[1], at[2], d);
        }
        swept(i, j, k) += weight * metrics::cell_volume<Dim>(x);
    });
}

}  // namespace strata::flow
