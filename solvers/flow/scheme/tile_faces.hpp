// Fluxes through the faces of a tile's rows: convective and viscous, and those of the model's variables.
#pragma once

#include "solvers/flow/scheme/convective_fluxes.hpp"
#include "solvers/flow/scheme/tile_rows.hpp"
#include "solvers/flow/scheme/viscous_fluxes.hpp"

namespace strata::flow {

template <int Dim, Viscosity viscosity>
class TileFaces : public TileRows<Dim, viscosity> {
    using Rows = TileRows<Dim, viscosity>;

  protected:
    using Rows::kViscous, Rows::kTurbulent, Rows::kSst, Rows::D;
    using Rows::patch_, Rows::scheme_, Rows::lo_, Rows::n_;
    using Rows::work, Rows::line;
    using Vec = Vector<Dim, Lanes>;

  public:
    TileFaces(const Patch<Dim>& patch, const Scheme& scheme)
        : Rows(patch, scheme), convective_(scheme, patch.moves()) {}
    /// Equations of the model.
    static constexpr int kEquations = kSst ? 2 : kTurbulent ? 1 : 0;

    template <int axis>
    Vec area(int i, int j, int k, int n) const {
        Vec s;
        for (std::size_t d = 0; d < D; ++d) s[d] = load(patch_.faces[axis], i, j, k, static_cast<int>(d), n);
        return s;
    }

    /// Lines one cell up (by = 1) or down along an axis other than x; along x the same line one cell further.
    template <int axis>
    const double* at(int j, int k, int by) {
        if constexpr (axis == 0) return line(j, k) + by;
        if constexpr (axis == 1) return line(j + by, k);
        return line(j, k + by);
    }

    /// Fluxes through the lower faces along the axis of all cells of row (j, k), along x one more.
    template <int axis>
    void faces(int j, int k, double* to) {
        const FaceRow<Dim> row{at<axis>(j, k, -2),
                               at<axis>(j, k, -1),
                               at<axis>(j, k, 0),
                               at<axis>(j, k, 1),
                               patch_.faces[axis],
                               patch_.speeds[axis],
                               lo_[0],
                               j,
                               k,
                               n_ + (axis == 0 ? 1 : 0)};
        convective_.find(row, work(), to);
        if constexpr (kViscous)
            ViscousFluxes<Dim, axis, kEquations>(scheme_).add(row, lines_around<axis>(j, k), work(), to);
    }

  private:
    template <int axis>
    Around<Dim> lines_around(int j, int k) {
        Around<Dim> a{};
        int t = 0;
        for (int other = 0; other < Dim; ++other) {
            if (other == axis) continue;
            for (int side = 0; side < 2; ++side) {
                const int back = 1 - side;  // the cell below the face first
                const int jj = j - (axis == 1 ? back : 0), kk = k - (axis == 2 ? back : 0);
                const double* own = axis == 0 ? line(jj, kk) - back : line(jj, kk);
                if (other == 0) {
                    a.up[side][t] = own + 1;
                    a.down[side][t] = own - 1;
                } else {
                    const int dj = other == 1 ? 1 : 0, dk = other == 2 ? 1 : 0;
                    const int shift = axis == 0 ? back : 0;
                    a.up[side][t] = line(jj + dj, kk + dk) - shift;
                    a.down[side][t] = line(jj - dj, kk - dk) - shift;
                }
            }
            ++t;
        }
        return a;
    }

    ConvectiveFluxes<Dim> convective_;
};

}  // namespace strata::flow
