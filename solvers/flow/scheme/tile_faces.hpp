// Fluxes through the faces of a tile's rows: convective and viscous, and those of the model's variables.
#pragma once

#include <type_traits>

#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "solvers/flow/scheme/tile_rows.hpp"
#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {

// What works on lanes is inlined into the loops over rows (flatten): between functions lanes would pass
// through memory.

template <int Dim, Viscosity viscosity>
class TileFaces : public TileRows<Dim, viscosity> {
    using Rows = TileRows<Dim, viscosity>;

  protected:
    using Rows::kViscous, Rows::kTurbulent, Rows::kSst, Rows::D, Rows::kRho, Rows::kU, Rows::kP, Rows::kX,
        Rows::kT, Rows::kMu, Rows::kHeat, Rows::kNu, Rows::kDiff;
    using Rows::patch_, Rows::scheme_, Rows::lo_, Rows::n_;
    using Rows::work, Rows::put, Rows::next, Rows::line, Rows::get, Rows::vector;
    using W = Lanes;
    using Vec = Vector<Dim, W>;

  public:
    using Rows::Rows;
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
        if (patch_.moves())
            faces_of<axis, true>(j, k, to);
        else
            faces_of<axis, false>(j, k, to);
    }

  private:
    template <int axis, bool moves>
    [[gnu::flatten, gnu::noinline]] void faces_of(int j, int k, double* to) {
        const int count = n_ + (axis == 0 ? 1 : 0);
        sizes<axis, moves>(j, k, count);
        extrapolate<axis>(j, k, count);
        if (!kWeighsAtOnce || scheme_.muscl.first_order)
            for (int x = 0; x < count; x += kLanes)
                weigh(get(work(), kLeft + kRho, x), get(work(), kRight + kRho, x), x);
        means(count);
        for (int x = 0; x < count; x += kLanes) {
            const RoeMean<Dim, W> mean = [&] {
                RoeMean<Dim, W> m;
                m.u = vector(work(), kMean, x), m.H = get(work(), kMeanH, x);
                m.a = get(work(), kSound, x), m.half_over_a2 = get(work(), kOver, x);
                return m;
            }();
            W speed{};
            if constexpr (moves) speed = get(work(), kSpeed, x);
            const Conserved<Dim, W> f = roe_flux<Dim, W, moves>(
                beside(kLeft, x), beside(kRight, x), get(work(), kLeftH, x), get(work(), kRightH, x),
                get(work(), kRoot, x), mean, vector(work(), kNormal, x), get(work(), kHalf, x),
                scheme_.entropy_fix, scheme_.low_mach, speed);
            store(to + x, f.rho);
            for (std::size_t d = 0; d < D; ++d) store(to + (static_cast<int>(d) + 1) * kWidth + x, f.m[d]);
            store(to + (Dim + 1) * kWidth + x, f.E);
        }
        if constexpr (kViscous) add_viscous<axis>(j, k, count, to);
    }

    // What faces of a row have between one loop over them and the next (roe.hpp, viscous.hpp).
    static constexpr int kNormal = 0, kHalf = Dim, kSpeed = kHalf + 1, kLeft = kSpeed + 1,
                         kRight = kLeft + Dim + 2, kLeftH = kRight + Dim + 2, kRightH = kLeftH + 1,
                         kRoot = kRightH + 1, kWeight = kRoot + 1, kMean = kWeight + 3, kMeanH = kMean + Dim,
                         kSound = kMeanH + 1, kOver = kSound + 1, kWork = kOver + 1;
    static_assert(kWork <= Rows::kWork);
    Primitive<Dim, W> beside(int side, int x) {
        return {get(work(), side + kRho, x), vector(work(), side + kU, x), get(work(), side + kP, x)};
    }

    template <int axis, bool moves>
    void sizes(int j, int k, int count) {
        over_eights(0, count, [&](int x, int n) {
            const FaceSize<Dim, W> face([&] {
                Vec s;
                for (std::size_t d = 0; d < D; ++d)
                    s[d] = next(patch_.faces[axis], lo_[0] + x, j, k, static_cast<int>(d), n);
                return s;
            }());
            for (int d = 0; d < Dim; ++d)
                put(work(), kNormal + d, x, face.normal[static_cast<std::size_t>(d)]);
            put(work(), kHalf, x, face.half);
            if constexpr (moves)
                put(work(), kSpeed, x, face.over * load(patch_.speeds[axis], lo_[0] + x, j, k, 0, n));
        });
    }

    /// Roe's means of the states on both sides.
    void means(int count) {
        const double gamma = scheme_.gas.gamma;
        for (int x = 0; x < count; x += kLanes) {
            const Primitive<Dim, W> l = beside(kLeft, x), r = beside(kRight, x);
            const W l_H = enthalpy(l, gamma), r_H = enthalpy(r, gamma);
            const RoeWeights<W> by{get(work(), kRoot, x), get(work(), kWeight, x),
                                   get(work(), kWeight + 1, x), get(work(), kWeight + 2, x)};
            const RoeMean<Dim, W> mean(l, r, l_H, r_H, by, gamma);
            put(work(), kLeftH, x, l_H), put(work(), kRightH, x, r_H);
            for (int d = 0; d < Dim; ++d) put(work(), kMean + d, x, mean.u[static_cast<std::size_t>(d)]);
            put(work(), kMeanH, x, mean.H);
            put(work(), kSound, x, mean.a), put(work(), kOver, x, mean.half_over_a2);
        }
    }

    /// Roots and quotients of weights go on beside other work where a row's loop has registers enough.
    static constexpr bool kWeighsAtOnce = kRegisterLanes == kLanes;
    void weigh(const W& left, const W& right, int x) {
        const RoeWeights<W> by(left, right);
        put(work(), kRoot, x, by.root), put(work(), kWeight, x, by.left);
        put(work(), kWeight + 1, x, by.left_rho), put(work(), kWeight + 2, x, by.right_rho);
    }

    /// The states on both sides of the faces.
    template <int axis>
    void extrapolate(int j, int k, int count) {
        const double *m1 = at<axis>(j, k, -1), *p0 = at<axis>(j, k, 0);
        if (scheme_.muscl.first_order) {
            for (int c = 0; c < Dim + 2; ++c)
                for (int x = 0; x < count; x += kLanes)
                    put(work(), kLeft + c, x, get(m1, c, x)), put(work(), kRight + c, x, get(p0, c, x));
            return;
        }
        switch (scheme_.muscl.limiter) {
            case Limiter::none:
                return limited<axis, Limiter::none>(j, k, count);
            case Limiter::minmod:
                return limited<axis, Limiter::minmod>(j, k, count);
            case Limiter::van_albada:
                return limited<axis, Limiter::van_albada>(j, k, count);
            case Limiter::van_leer:
                break;
        }
        limited<axis, Limiter::van_leer>(j, k, count);
    }
    template <int axis, Limiter limiter>
    void limited(int j, int k, int count) {
        const double *m2 = at<axis>(j, k, -2), *m1 = at<axis>(j, k, -1), *p0 = at<axis>(j, k, 0),
                     *p1 = at<axis>(j, k, 1);
        const double kappa = scheme_.muscl.kappa;
        for (int x = 0; x < count; x += kLanes) {
            W left[Dim + 2], right[Dim + 2];
            for (int c = 0; c < Dim + 2; ++c) {
                const W a = get(m2, c, x), b = get(m1, c, x), d = get(p0, c, x), e = get(p1, c, x);
                const W middle = d - b;
                left[c] = b + to_face<limiter>(b - a, middle, kappa);
                right[c] = d - to_face<limiter>(e - d, middle, kappa);
            }
            // Where density or pressure would not be positive, the cell's own state.
            const W zero{};
            const auto keep = [&](int side, const W* state, const double* own) {
                const auto possible = min(state[kRho], state[kP]) > zero;
                for (int c = 1; c < Dim + 2; ++c)
                    put(work(), side + c, x, select(possible, state[c], get(own, c, x)));
                const W rho = select(possible, state[kRho], get(own, kRho, x));
                put(work(), side + kRho, x, rho);
                return rho;
            };
            const W rho_left = keep(kLeft, left, m1), rho_right = keep(kRight, right, p0);
            if constexpr (kWeighsAtOnce) weigh(rho_left, rho_right, x);
        }
    }

    /// Lines beside a face's two cells along each other axis, up and down.
    struct Around {
        const double* up[2][Dim == 2 ? 1 : 2];
        const double* down[2][Dim == 2 ? 1 : 2];
    };
    template <int axis>
    Around lines_around(int j, int k) {
        Around a{};
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

    /// One value of the cells beside a row's faces, eight faces after the other. Loads that cross a line of
    /// the caches take twice as long as others, and with registers of eight all do that begin one cell
    /// further along x: there they are made of lanes of the eight before or behind. (Counted is this form.)
    template <int axis>
    class Beside {
        static constexpr int kOthers = Dim - 1;  // axes
        static constexpr bool kOfLanes = kRegisterLanes == kLanes || kOperationsCounted;

      public:
        Beside() = default;
        Beside(const double* m1, const double* p0, const Around& around, int c) {
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
        Vec differences(const double* m1, const double* p0, const Around& around, int c, int x) {
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
        static W mean_across(const Around& around, int c, int x, int t) {
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

    static constexpr int kAlong = 0, kGeometry = Dim;
    static constexpr int kModel = kEquations > 0 ? kEquations : 1;  // for arrays

    /// Adds viscous fluxes to those of a row's faces, and finds the model's.
    template <int axis>
    void add_viscous(int j, int k, int count, double* to) {
        const double *m1 = at<axis>(j, k, -1), *p0 = at<axis>(j, k, 0);
        const Around around = lines_around<axis>(j, k);
        const Gas& gas = scheme_.gas;
        const double scale = gas.viscous_scale();
        Beside<axis> place[D], velocity[D], temperature(m1, p0, around, kT), model[kModel];
        for (int d = 0; d < Dim; ++d) {
            place[d] = Beside<axis>(m1, p0, around, kX + d);
            velocity[d] = Beside<axis>(m1, p0, around, kU + d);
        }
        for (int c = 0; c < kEquations; ++c) model[c] = Beside<axis>(m1, p0, around, kNu + c);
        over_eights(0, count, [&](int x, int n) {
            const Vec s = area<axis>(lo_[0] + x, j, k, n);
            std::array<Vec, D> e;
            for (std::size_t d = 0; d < D; ++d) {
                const Vec one = place[d].differences(m1, p0, around, kX + static_cast<int>(d), x);
                for (std::size_t a = 0; a < D; ++a) e[a][d] = one[a];
            }
            const Differences<Dim, W> geometry(e);
            for (int a = 0; a < Dim; ++a) {
                const Vec& row = geometry.along[static_cast<std::size_t>(a)];
                put(work(), kAlong + a, x, dot(row, s));
                for (int d = 0; d < Dim; ++d)
                    put(work(), kGeometry + Dim * a + d, x, row[static_cast<std::size_t>(d)]);
            }
        });
        over_eights(0, count, [&](int x, int n) {
            const Vec s = area<axis>(lo_[0] + x, j, k, n);
            const auto of = [&](Beside<axis>& value, int c) {
                return value.differences(m1, p0, around, c, x);
            };
            const auto mean = [&](int c) { return 0.5 * (get(m1, c, x) + get(p0, c, x)); };
            Differences<Dim, W> geometry;
            std::array<Vec, D> du;
            const Vec along = vector(work(), kAlong, x);
            Vec u;
            for (std::size_t d = 0; d < D; ++d) {
                geometry.along[d] = vector(work(), kGeometry + Dim * static_cast<int>(d), x);
                du[d] = of(velocity[d], kU + static_cast<int>(d));
                u[d] = velocity[d].mean(m1, p0, kU + static_cast<int>(d), x);
            }
            W more{};
            if (Dim == 2 && scheme_.axisymmetric) more = u[1] / mean(kX + 1);
            if constexpr (kSst) {
                for (const int c : {kK, kOmega})
                    store(to + (Dim + 2 + c) * kWidth + x,
                          mean(kDiff + c) * dot(of(model[c], kNu + c), along));
            } else if constexpr (kTurbulent) {
                const W g = dot(of(model[0], kNu), along);
                store(to + (Dim + 2) * kWidth + x, mean(kDiff) * g);
                store(to + (Dim + 3) * kWidth + x, g);
            }
            const Conserved<Dim, W> v =
                viscous_flux<Dim>(geometry, along, du, more, u, dot(of(temperature, kT), along),
                                  scale * mean(kMu), (scale / (gas.gamma - 1)) * mean(kHeat), s);
            for (int d = 0; d < Dim; ++d) {
                double* p = to + (d + 1) * kWidth + x;
                store(p, load(p) + v.m[static_cast<std::size_t>(d)]);
            }
            double* p = to + (Dim + 1) * kWidth + x;
            store(p, load(p) + v.E);
        });
    }
};

}  // namespace strata::flow
