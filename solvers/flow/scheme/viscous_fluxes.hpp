// Viscous fluxes through the faces of a tile's rows, and those of the model's variables.
#pragma once

#include <type_traits>

#include "solvers/flow/scheme/convective_fluxes.hpp"
#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {

/// Lines beside a face's two cells along each other axis, up and down.
template <int Dim>
struct Around {
    const double* up[2][Dim == 2 ? 1 : 2];
    const double* down[2][Dim == 2 ? 1 : 2];
};

/// `equations`: of the turbulence model.
template <int Dim, int axis, int equations>
class ViscousFluxes : ScratchRows<Dim> {
    using Scratch = ScratchRows<Dim>;
    using Scratch::D, Scratch::kU, Scratch::kX, Scratch::kT, Scratch::kMu, Scratch::kHeat, Scratch::kNu,
        Scratch::kDiff, Scratch::put, Scratch::get, Scratch::vector;
    using W = Lanes;
    using Vec = Vector<Dim, W>;

  public:
    explicit ViscousFluxes(const Scheme& scheme) : scheme_(scheme) {}

    static constexpr int kAlong = 0, kGeometry = Dim;
    static constexpr int kModel = equations > 0 ? equations : 1;  // for arrays

    /// Adds viscous fluxes to those of a row's faces, and finds the model's.
    [[gnu::flatten, gnu::noinline]] void add(const FaceRow<Dim>& row, const Around<Dim>& around, double* work,
                                             double* to) const {
        const double *m1 = row.m1, *p0 = row.p0;
        const Gas& gas = scheme_.gas;
        const double scale = gas.viscous_scale();
        Beside place[D], velocity[D], temperature(m1, p0, around, kT), model[kModel];
        for (int d = 0; d < Dim; ++d) {
            place[d] = Beside(m1, p0, around, kX + d);
            velocity[d] = Beside(m1, p0, around, kU + d);
        }
        for (int c = 0; c < equations; ++c) model[c] = Beside(m1, p0, around, kNu + c);
        over_eights(0, row.count, [&](int x, int n) {
            const Vec s = row.areas(x, n);
            std::array<Vec, D> e;
            for (std::size_t d = 0; d < D; ++d) {
                const Vec one = place[d].differences(m1, p0, around, kX + static_cast<int>(d), x);
                for (std::size_t a = 0; a < D; ++a) e[a][d] = one[a];
            }
            const Differences<Dim, W> geometry(e);
            for (int a = 0; a < Dim; ++a) {
                const Vec& one = geometry.along[static_cast<std::size_t>(a)];
                put(work, kAlong + a, x, dot(one, s));
                for (int d = 0; d < Dim; ++d)
                    put(work, kGeometry + Dim * a + d, x, one[static_cast<std::size_t>(d)]);
            }
        });
        over_eights(0, row.count, [&](int x, int n) {
            const Vec s = row.areas(x, n);
            const auto of = [&](Beside& value, int c) { return value.differences(m1, p0, around, c, x); };
            const auto mean = [&](int c) { return 0.5 * (get(m1, c, x) + get(p0, c, x)); };
            Differences<Dim, W> geometry;
            std::array<Vec, D> du;
            const Vec along = vector(work, kAlong, x);
            Vec u;
            for (std::size_t d = 0; d < D; ++d) {
                geometry.along[d] = vector(work, kGeometry + Dim * static_cast<int>(d), x);
                du[d] = of(velocity[d], kU + static_cast<int>(d));
                u[d] = velocity[d].mean(m1, p0, kU + static_cast<int>(d), x);
            }
            W more{};
            if (Dim == 2 && scheme_.axisymmetric) more = u[1] / mean(kX + 1);
            if constexpr (equations == 2) {
                for (const int c : {kK, kOmega})
                    store(to + (Dim + 2 + c) * kWidth + x,
                          mean(kDiff + c) * dot(of(model[c], kNu + c), along));
            } else if constexpr (equations == 1) {
                const W g = dot(of(model[0], kNu), along);
                store(to + (Dim + 2) * kWidth + x, mean(kDiff) * g);
                store(to + (Dim + 3) * kWidth + x, g);
            }
            const Conserved<Dim, W> v =
                viscous_flux<Dim>(geometry, along, du, more, u, dot(of(temperature, kT), along),
                                  scale * mean(kMu), (scale / (gas.gamma - 1)) * mean(kHeat), s);
            for (int d = 0; d < Dim; ++d) more_at(to, d + 1, x, v.m[static_cast<std::size_t>(d)]);
            more_at(to, Dim + 1, x, v.E);
        });
    }

  private:
    static void more_at(double* to, int c, int x, const W& more) {
        double* at = to + c * kWidth + x;
        store(at, load(at) + more);
    }

    /// One value of the cells beside a row's faces, eight faces after the other. Loads that cross a line of
    /// the caches take twice as long as others, and with registers of eight all do that begin one cell
    /// further along x: there they are made of lanes of the eight before or behind. (Counted is this form.)
    class Beside {
        static constexpr int kOthers = Dim - 1;  // axes
        static constexpr bool kOfLanes = kRegisterLanes == kLanes || kOperationsCounted;

      public:
        Beside() = default;
        Beside(const double* m1, const double* p0, const Around<Dim>& around, int c) {
            if constexpr (kOfLanes && axis == 0) {
                seen_.before = get(p0, c, -kLanes);
                for (int t = 0; t < kOthers; ++t) {
                    seen_.up[t] = get(around.up[1][t], c, -kLanes);
                    seen_.down[t] = get(around.down[1][t], c, -kLanes);
                }
            } else if constexpr (kOfLanes) {
                seen_.before = get(m1, c, -kLanes) + get(p0, c, -kLanes);
                seen_.behind = get(m1, c, 0) + get(p0, c, 0);
            }
        }
        /// What gradients at the eight faces from x on are made of: the difference across them, and four
        /// times the mean ones along the other axes (so are those of the places, and gradients stay the
        /// same). Those of the faces before have been asked for.
        Vec differences(const double* m1, const double* p0, const Around<Dim>& around, int c, int x) {
            Vec e;
            const W here = get(p0, c, x);
            if constexpr (!kOfLanes) {
                e[axis] = here - get(m1, c, x);
                for (int t = 0; t < kOthers; ++t)
                    e[static_cast<std::size_t>(t < axis ? t : t + 1)] = mean_across(around, c, x, t);
            } else if constexpr (axis == 0) {
                const W below = one_lower(seen_.before, here);
                e[0] = here - below, seen_.sum = below + here, seen_.before = here;
                for (std::size_t t = 0; t < kOthers; ++t) {
                    const W up = get(around.up[1][t], c, x), down = get(around.down[1][t], c, x);
                    e[t + 1] = (one_lower(seen_.up[t], up) + up) - (one_lower(seen_.down[t], down) + down);
                    seen_.up[t] = up, seen_.down[t] = down;
                }
            } else {
                e[axis] = here - get(m1, c, x);
                seen_.sum = seen_.behind;
                seen_.behind = get(m1, c, x + kLanes) + get(p0, c, x + kLanes);
                e[0] = one_higher(seen_.sum, seen_.behind) - one_lower(seen_.before, seen_.sum);
                seen_.before = seen_.sum;
                if constexpr (Dim == 3) e[3 - axis] = mean_across(around, c, x, 1);
            }
            return e;
        }
        /// Of both cells, at the faces for which differences were asked last.
        [[nodiscard]] W mean(const double* m1, const double* p0, int c, int x) const {
            if constexpr (kOfLanes)
                return 0.5 * seen_.sum;
            else
                return 0.5 * (get(m1, c, x) + get(p0, c, x));
        }

      private:
        /// Along the axis number t of those beside.
        static W mean_across(const Around<Dim>& around, int c, int x, int t) {
            return (get(around.up[0][t], c, x) + get(around.up[1][t], c, x)) -
                   (get(around.down[0][t], c, x) + get(around.down[1][t], c, x));
        }
        static W one_lower(const W& before, const W& here) {
            return shuffle<7, 8, 9, 10, 11, 12, 13, 14>(before, here);
        }
        static W one_higher(const W& here, const W& behind) {
            return shuffle<1, 2, 3, 4, 5, 6, 7, 8>(here, behind);
        }
        /// Of the eight before: values (along x) or sums of both sides; the next sums; lines along the other
        /// axes.
        struct Seen {
            W sum, before, behind, up[kOthers], down[kOthers];
        };
        struct Nothing {};
        [[no_unique_address]] std::conditional_t<kOfLanes, Seen, Nothing> seen_;
    };

    const Scheme& scheme_;
};

}  // namespace strata::flow
