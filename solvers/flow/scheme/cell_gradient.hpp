// Gradients in a cell, of values in it and in the cells on either side along each axis.
#pragma once

#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {

/// Slopes to the cells on either side along an axis count the same, as CFL3D has it; exact for linear
/// functions. Where cells grow by half from one to the next, a difference of these cells is 4 % less in a
/// logarithmic layer. By Gauss' theorem with means at faces, drag on NASA's coarse grids is 1 to 2 % below
/// CFL3D's.
template <int Dim, class V>
class CellGradient {
    static constexpr std::size_t D = Dim;
    using Vec = Vector<Dim, V>;

  public:
    /// Of the cells below and above along each axis: their values, one after the other.
    using Beside = std::array<V, 2 * D>;

    /// `beside`: volumes. `own_place(d)` and `places(d)`: coordinate d of the centres.
    template <class Own, class Places>
    CellGradient(const V& volume, const Beside& beside, Own&& own_place, Places&& places)
        : weight_(weights(volume, beside)), geometry_([&] {
              std::array<Vec, D> e;
              for (std::size_t d = 0; d < D; ++d) {
                  const Vec along = differences(own_place(static_cast<int>(d)), places(static_cast<int>(d)));
                  for (std::size_t a = 0; a < D; ++a) e[a][d] = along[a];
              }
              return e;
          }()) {}

    [[nodiscard]] Vec of(const V& own, const Beside& beside) const {
        return geometry_.gradient(differences(own, beside));
    }

  private:
    /// A slope's weight is one over the sum of both volumes. Times the product of an axis' two sums, which
    /// values and places have in common, it is the other one's sum.
    static Beside weights(const V& volume, const Beside& beside) {
        Beside weight;
        for (std::size_t a = 0; a < D; ++a) {
            weight[2 * a] = volume + beside[2 * a + 1];
            weight[2 * a + 1] = volume + beside[2 * a];
        }
        return weight;
    }
    [[nodiscard]] Vec differences(const V& own, const Beside& beside) const {
        Vec e;
        for (std::size_t a = 0; a < D; ++a)
            e[a] = weight_[2 * a] * (own - beside[2 * a]) + weight_[2 * a + 1] * (beside[2 * a + 1] - own);
        return e;
    }

    Beside weight_;
    Differences<Dim, V> geometry_;
};

/// The square of the vorticity, of the gradients of the velocity's components.
template <int Dim, class V>
V vorticity_square(const std::array<Vector<Dim, V>, static_cast<std::size_t>(Dim)>& g) {
    const V z = g[1][0] - g[0][1];
    if constexpr (Dim == 2) {
        return z * z;
    } else {
        const V a = g[2][1] - g[1][2], b = g[0][2] - g[2][0];
        return a * a + b * b + z * z;
    }
}

}  // namespace strata::flow
