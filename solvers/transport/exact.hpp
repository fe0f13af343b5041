// Initial profiles, flows, and the exact solutions that results are compared with.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "solvers/transport/settings.hpp"

namespace strata::transport {

/// T in the cells of a box, in K. What depends on one index alone, a cosine say, is found out once for each.
class Profile {
  public:
    /// At time t: 0, or time.end where has_exact(). Cosines decay as exp(-kappa |k|^2 t); a uniform flow
    /// carries the profile along; a rotation, and the vortex that turns back, bring it to where it was.
    Profile(const Settings& settings, const graph::Box& cells, double t);

    [[nodiscard]] double at(int i, int j, int k) const {
        const auto part = [&](std::size_t d, int at) {
            return parts_[d][static_cast<std::size_t>(at - lo_[d])];
        };
        const double a = part(0, i), b = part(1, j), c = part(2, k);
        return background_ + (cosines_ ? height_ * (a * b * c) : std::exp(-(a + b + c) / square_of_width_));
    }
    /// A row of cells, the first of them `from`.
    void row(const graph::Int3& from, std::span<double> into) const {
        for (std::size_t i = 0; i < into.size(); ++i)
            into[i] = at(from[0] + static_cast<int>(i), from[1], from[2]);
    }

  private:
    bool cosines_;
    double background_, height_, square_of_width_;
    graph::Int3 lo_;
    std::array<std::vector<double>, 3> parts_;  // of each direction: cosines, or squares of distances in m2
};

/// Whether the solution is known at time.end.
[[nodiscard]] bool has_exact(const Settings& settings);

/// How far the exact solution is from the background, root mean square over the domain, in K: of a Gaussian
/// as if the domain had no end.
[[nodiscard]] double exact_size(const Settings& settings);

/// The flow through a face: the mean of the velocity's component `axis` over the face whose centre is x. From
/// the stream function at the face's ends, so that the divergence of each cell is zero to rounding.
[[nodiscard]] double face_velocity(const Settings& settings, int axis, const Real3& x);
/// What the velocity is multiplied with at time t: cos(pi t / end) for the vortex, which so turns back.
[[nodiscard]] double flow_factor(const Settings& settings, double t);

}  // namespace strata::transport
