#include "solvers/flow/boundary/mass_flow.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solvers/flow/boundary/states.hpp"

namespace strata::flow {

template <int Dim>
void add_outlet(double gamma, bool axisymmetric, const PatchFace& face, const FieldView<const double>& nodes,
                const FieldView<const double>& q, std::array<double, kOutletSums>& sums,
                const std::function<bool(const Int3& cell)>& counts) {
    graph::for_each(PatchFace(face.cells, face.face).first(), [&](int i, int j, int k) {
        if (counts && !counts({i, j, k})) return;
        const FaceGeometry geometry = face_geometry<Dim>(face, nodes, {i, j, k});
        const FlowState state = state_at<Dim>(gamma, q, {i, j, k});
        const double area = geometry.size * (axisymmetric ? 2 * std::numbers::pi * geometry.centre[1] : 1);
        double u = 0;
        for (std::size_t d = 0; d < Dim; ++d) u += state.u[d] * geometry.normal[d];
        sums[0] += area;
        sums[1] += area * state.rho * u;
        sums[2] += area * state.p;
        sums[3] += area * std::sqrt(gamma * state.p / state.rho);
        sums[4] += area * u;
    });
}

double outlet_pressure(const Boundary& boundary, const std::array<double, kOutletSums>& sums) {
    const double area = sums[0], p = sums[2] / area, a = sums[3] / area;
    const double mach = std::clamp(sums[4] / sums[3], 0.0, 0.9);
    const double wanted = p + (sums[1] - boundary.mass_flow) / area * a / (1 - mach);
    return std::clamp(wanted, 0.5 * p, 2 * p);
}

template void add_outlet<2>(double, bool, const PatchFace&, const FieldView<const double>&,
                            const FieldView<const double>&, std::array<double, kOutletSums>&,
                            const std::function<bool(const Int3&)>&);
template void add_outlet<3>(double, bool, const PatchFace&, const FieldView<const double>&,
                            const FieldView<const double>&, std::array<double, kOutletSums>&,
                            const std::function<bool(const Int3&)>&);

}  // namespace strata::flow
