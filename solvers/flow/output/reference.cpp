#include "solvers/flow/output/reference.hpp"

#include <cmath>
#include <numbers>

namespace strata::flow {

namespace {

struct Angle {
    double sine, cosine;
    explicit Angle(double degrees)
        : sine(std::sin(degrees * std::numbers::pi / 180)),
          cosine(std::cos(degrees * std::numbers::pi / 180)) {}
};

/// aft x + sideways side + up.
Real3 along(int up, double aft, double sideways, double upwards) {
    return up == 2 ? Real3{aft, sideways, upwards} : Real3{aft, upwards, -sideways};
}

}  // namespace

Real3 Reference::stream() const {
    const Angle a(alpha), b(beta);
    return along(up, a.cosine * b.cosine, -b.sine, a.sine * b.cosine);
}
Real3 Reference::lift() const {
    const Angle a(alpha);
    return along(up, -a.sine, 0, a.cosine);
}
Real3 Reference::side() const { return along(up, 0, 1, 0); }

}  // namespace strata::flow
