// Initial profiles, flows, and the exact solutions that results are compared with.
#pragma once

#include "solvers/transport/settings.hpp"

namespace strata::transport {

/// The profile at time 0, in K.
[[nodiscard]] double initial(const Settings& settings, const Real3& x);

/// Whether exact() is known at time.end.
[[nodiscard]] bool has_exact(const Settings& settings);

/// The solution at time.end: cosines decay as exp(-kappa |k|^2 t); a uniform flow carries the profile along;
/// a rotation, and the vortex that turns back, bring it to where it was.
[[nodiscard]] double exact(const Settings& settings, const Real3& x);

/// How far exact() is from the background, root mean square over the domain, in K: of a Gaussian as if the
/// domain had no end.
[[nodiscard]] double exact_size(const Settings& settings);

/// The flow through a face: the mean of the velocity's component `axis` over the face whose centre is x. From
/// the stream function at the face's ends, so that the divergence of each cell is zero to rounding.
[[nodiscard]] double face_velocity(const Settings& settings, int axis, const Real3& x);
/// What the velocity is multiplied with at time t: cos(pi t / end) for the vortex, which so turns back.
[[nodiscard]] double flow_factor(const Settings& settings, double t);

}  // namespace strata::transport
