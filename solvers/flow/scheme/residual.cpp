// A tile of a patch at a time (tile_rows.hpp): fluxes through the faces around each row of it, and what is
// left of them in its cells.
#include "solvers/flow/scheme/residual.hpp"

#include <algorithm>

#include "solvers/flow/scheme/cell_gradient.hpp"
#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "solvers/flow/scheme/tile_rows.hpp"
#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {
namespace {

// What works on lanes is inlined into the loops over rows (flatten): between functions lanes would pass
// through memory.

template <int Dim, Viscosity viscosity>
class Tile : private TileRows<Dim, viscosity> {
    using Rows = TileRows<Dim, viscosity>;
    using Rows::kViscous, Rows::kTurbulent, Rows::kSst, Rows::D, Rows::kRho, Rows::kU, Rows::kP, Rows::kX,
        Rows::kT, Rows::kMu, Rows::kHeat, Rows::kNu, Rows::kChi, Rows::kDiff;
    using Rows::patch_, Rows::scheme_, Rows::lo_, Rows::hi_, Rows::n_;
    using Rows::work, Rows::put, Rows::next, Rows::line, Rows::flux, Rows::middle_flux, Rows::x_flux,
        Rows::fill_slab, Rows::get, Rows::vector;
    using W = Lanes;
    using Vec = Vector<Dim, W>;

  public:
    Tile(const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
         const FieldView<double>& nu_tilde, const FieldView<double>& slope)
        : Rows(patch, scheme), mean_(mean), nu_(nu_tilde), slope_(slope) {}

    void run(const Box& tile) {
        Rows::begin(tile);
        const int slow = Dim - 1, first = lo_[slow], last = hi_[slow];
        for (int s = first - 2; s < first + 2; ++s) fill_slab(s);
        for (int s = first; s <= last; ++s) {
            // The flux through the upper side of slab s - 1 is at hand when slab s + 1 is.
            if (s > first) fill_slab(s + 1);
            if constexpr (Dim == 2) {
                faces<1>(s, 0, flux(0, s));
                if (s > first) cells(s - 1, 0);
            } else {
                for (int j = lo_[1]; j < hi_[1]; ++j) faces<2>(j, s, flux(j - lo_[1], s));
                if (s > first) plane(s - 1);
            }
        }
    }

  private:
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
    template <int axis, bool moves>
    [[gnu::flatten, gnu::noinline]] void faces_of(int j, int k, double* to) {
        const int count = n_ + (axis == 0 ? 1 : 0);
        sizes<axis, moves>(j, k, count);
        extrapolate<axis>(j, k, count);
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

    void weigh(const W& left, const W& right, int x) {
        const RoeWeights<W> by(left, right);
        put(work(), kRoot, x, by.root), put(work(), kWeight, x, by.left);
        put(work(), kWeight + 1, x, by.left_rho), put(work(), kWeight + 2, x, by.right_rho);
    }

    /// The states on both sides of the faces, and their weights: roots and quotients go on beside other work.
    template <int axis>
    void extrapolate(int j, int k, int count) {
        const double *m1 = at<axis>(j, k, -1), *p0 = at<axis>(j, k, 0);
        if (scheme_.muscl.first_order) {
            for (int c = 0; c < Dim + 2; ++c)
                for (int x = 0; x < count; x += kLanes)
                    put(work(), kLeft + c, x, get(m1, c, x)), put(work(), kRight + c, x, get(p0, c, x));
            for (int x = 0; x < count; x += kLanes) weigh(get(m1, kRho, x), get(p0, kRho, x), x);
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
            const auto keep = [&](int side, W* state, const double* own) {
                const W worst = min(state[kRho], state[kP]);
                for (int c = 0; c < Dim + 2; ++c)
                    put(work(), side + c, x, state[c] = select(worst > zero, state[c], get(own, c, x)));
            };
            keep(kLeft, left, m1);
            keep(kRight, right, p0);
            weigh(left[kRho], right[kRho], x);
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

    /// One value of the cells beside a row's faces, eight faces after the other. Loads that begin in the middle of
    /// a line of the caches take twice as long as others, and most of a face's would: what is one cell further
    /// along x is made of lanes of the eight before or behind.
    template <int axis>
    class Beside {
        static constexpr int kOthers = Dim - 1;  // axes

      public:
        Beside() = default;
        Beside(const double* m1, const double* p0, const Around& around, int c) {
            if constexpr (axis == 0) {
                before_ = get(p0, c, -kLanes);
                for (int t = 0; t < kOthers; ++t) {
                    up_[t] = get(around.up[1][t], c, -kLanes);
                    down_[t] = get(around.down[1][t], c, -kLanes);
                }
            } else {
                before_ = get(m1, c, -kLanes) + get(p0, c, -kLanes);
                behind_ = get(m1, c, 0) + get(p0, c, 0);
            }
        }
        /// To the eight faces from x on: those before have been there.
        void move_to(const double* m1, const double* p0, const Around& around, int c, int x) {
            const W here = get(p0, c, x);
            if constexpr (axis == 0) {
                const W below = one_lower(before_, here);
                across_[0] = here - below, sum_ = below + here, before_ = here;
                for (int t = 0; t < kOthers; ++t) {
                    const W up = get(around.up[1][t], c, x), down = get(around.down[1][t], c, x);
                    across_[t + 1] = (one_lower(up_[t], up) + up) - (one_lower(down_[t], down) + down);
                    up_[t] = up, down_[t] = down;
                }
            } else {
                across_[axis] = here - get(m1, c, x);
                sum_ = behind_, behind_ = get(m1, c, x + kLanes) + get(p0, c, x + kLanes);
                across_[0] = one_higher(sum_, behind_) - one_lower(before_, sum_);
                before_ = sum_;
                if constexpr (Dim == 3)
                    across_[3 - axis] = (get(around.up[0][1], c, x) + get(around.up[1][1], c, x)) -
                                        (get(around.down[0][1], c, x) + get(around.down[1][1], c, x));
            }
        }
        /// What a face's gradients are made of: the difference across it, and four times the mean ones along the
        /// others (so are those of the places, and gradients stay the same).
        [[nodiscard]] const Vec& differences() const { return across_; }
        [[nodiscard]] W mean() const { return 0.5 * sum_; }

      private:
        static W one_lower(const W& before, const W& here) {
            return shuffle<7, 8, 9, 10, 11, 12, 13, 14>(before, here);
        }
        static W one_higher(const W& here, const W& behind) {
            return shuffle<1, 2, 3, 4, 5, 6, 7, 8>(here, behind);
        }
        Vec across_;
        W sum_, before_, behind_, up_[kOthers], down_[kOthers];
    };

    static constexpr int kAlong = 0, kGeometry = Dim;
    static constexpr int kEquations = kSst ? 2 : kTurbulent ? 1 : 0, kModel = kEquations > 0 ? kEquations : 1;

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
                place[d].move_to(m1, p0, around, kX + static_cast<int>(d), x);
                for (std::size_t a = 0; a < D; ++a) e[a][d] = place[d].differences()[a];
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
            const auto along_face = [&](Beside<axis>& value, int c) {
                value.move_to(m1, p0, around, c, x);
                return value.differences();
            };
            const auto mean = [&](int c) { return 0.5 * (get(m1, c, x) + get(p0, c, x)); };
            Differences<Dim, W> geometry;
            std::array<Vec, D> du;
            const Vec along = vector(work(), kAlong, x);
            Vec u;
            for (std::size_t d = 0; d < D; ++d) {
                geometry.along[d] = vector(work(), kGeometry + Dim * static_cast<int>(d), x);
                du[d] = along_face(velocity[d], kU + static_cast<int>(d));
                u[d] = velocity[d].mean();
            }
            W more{};
            if (Dim == 2 && scheme_.axisymmetric) more = u[1] / mean(kX + 1);
            if constexpr (kSst) {
                for (const int c : {kK, kOmega})
                    store(to + (Dim + 2 + c) * kWidth + x, mean(kDiff + c) * dot(along_face(model[c], kNu + c), along));
            } else if constexpr (kTurbulent) {
                const W g = dot(along_face(model[0], kNu), along);
                store(to + (Dim + 2) * kWidth + x, mean(kDiff) * g);
                store(to + (Dim + 3) * kWidth + x, g);
            }
            const Conserved<Dim, W> v =
                viscous_flux<Dim>(geometry, along, du, more, u, dot(along_face(temperature, kT), along), scale * mean(kMu),
                                  (scale / (gas.gamma - 1)) * mean(kHeat), s);
            for (int d = 0; d < Dim; ++d) {
                double* p = to + (d + 1) * kWidth + x;
                store(p, load(p) + v.m[static_cast<std::size_t>(d)]);
            }
            double* p = to + (Dim + 1) * kWidth + x;
            store(p, load(p) + v.E);
        });
    }

    /// Three dimensions: the rows of slab k, whose lower and upper fluxes are known.
    void plane(int k) {
        faces<1>(lo_[1], k, middle_flux(lo_[1]));
        for (int j = lo_[1]; j < hi_[1]; ++j) {
            faces<1>(j + 1, k, middle_flux(j + 1));
            cells(j, k);
        }
    }

    /// Residuals of row (j, k).
    [[gnu::flatten, gnu::noinline]] void cells(int j, int k) {
        faces<0>(j, k, x_flux());
        const Net net{*this, j, k};
        over_eights(0, n_, [&](int x, int n) {
            const int i = lo_[0] + x;
            ask_for(i, j + 1, k);
            for (int c = 0; c < Dim + 2; ++c) {
                W r = net(c, x);
                if (Dim == 2 && c == 2 && scheme_.axisymmetric) r -= hoop(j, x, n);
                store(mean_, i, j, k, c, r, n);
            }
            if constexpr (kSst) menter(j, k, x, n, {net(Dim + 2, x), net(Dim + 3, x)});
        });
        if constexpr (kTurbulent && !kSst) turbulence(j, k, net);
    }
    /// Asks for what only the cells of a row read and write: soon it is their turn.
    void ask_for(int i, int j, int k) const {
        const auto ask = [&](const auto& f, int components, int jj, int kk) {
            const auto* p = f.origin() + i + jj * f.stride(1) + kk * f.stride(2);
            for (int c = 0; c < components; ++c) __builtin_prefetch(p + c * f.component_stride());
        };
        ask(mean_, Dim + 2, j, k);
        if constexpr (kTurbulent) {
            ask(nu_, kEquations, j, k), ask(slope_, kEquations, j, k);
            if constexpr (kSst) return ask(patch_.volumes, 1, j, k);
            ask(patch_.wall_distance, 1, j, k);
            ask(patch_.volumes, 1, Dim == 2 ? j + 1 : j, Dim == 3 ? k + 1 : k);  // those beside are read, too
        }
    }
    /// What leaves the cells of a row through their faces.
    struct Net {
        const double *along, *below, *above, *down = nullptr, *up = nullptr;
        Net(Tile& tile, int j, int k) : along(tile.x_flux()) {
            const int s = Dim == 2 ? j : k, row = Dim == 2 ? 0 : j - tile.lo_[1];
            below = tile.flux(row, s), above = tile.flux(row, s + 1);
            if constexpr (Dim == 3) down = tile.middle_flux(j), up = tile.middle_flux(j + 1);
        }
        W operator()(int c, int x) const {
            const int at = c * kWidth + x;
            W r = (load(along + at + 1) - load(along + at)) + (load(above + at) - load(below + at));
            if constexpr (Dim == 3) r += load(up + at) - load(down + at);
            return r;
        }
    };

    /// Axisymmetric flow: the pressure, less the stress around the axis, on the sides of the wedge.
    W hoop(int j, int x, int n) {
        const int i = lo_[0] + x;
        const double* own = line(j, 0);
        const W sides = (load(patch_.faces[0], i + 1, j, 0, 1, n) - load(patch_.faces[0], i, j, 0, 1, n)) +
                        (load(patch_.faces[1], i, j + 1, 0, 1, n) - load(patch_.faces[1], i, j, 0, 1, n));
        W stress = get(own, kP, x);
        if constexpr (kViscous) {
            const Differences<Dim, W> geometry(around_cell(j, 0, x));
            const W v_r = get(own, kU + 1, x) / get(own, kX + 1, x);
            const W divergence = geometry.gradient(cell_differences(j, 0, kU, x))[0] +
                                 geometry.gradient(cell_differences(j, 0, kU + 1, x))[1] + v_r;
            stress -= scheme_.gas.viscous_scale() * get(own, kMu, x) * (2.0 * v_r - (2.0 / 3) * divergence);
        }
        return stress * sides;
    }

    /// Differences of value c between the cells on either side of a cell, along each axis.
    Vec cell_differences(int j, int k, int c, int x) {
        Vec e;
        const double* own = line(j, k);
        e[0] = get(own, c, x + 1) - get(own, c, x - 1);
        e[1] = get(line(j + 1, k), c, x) - get(line(j - 1, k), c, x);
        if constexpr (Dim == 3) e[2] = get(line(j, k + 1), c, x) - get(line(j, k - 1), c, x);
        return e;
    }
    std::array<Vec, D> around_cell(int j, int k, int x) {
        std::array<Vec, D> e;
        for (std::size_t d = 0; d < D; ++d) {
            const Vec along = cell_differences(j, k, kX + static_cast<int>(d), x);
            for (std::size_t a = 0; a < D; ++a) e[a][d] = along[a];
        }
        return e;
    }

    [[gnu::flatten, gnu::noinline]] void turbulence(int j, int k, const Net& net) {
        const double* own = line(j, k);
        const double scale = scheme_.gas.viscous_scale();
        // In rows of work(), from one loop to the next.
        constexpr int kVorticity = 0, kNet = 1, kStrength = 2, kWall = 6;
        over_eights(0, n_, [&](int x, int n) {
            W r = (-scale / sa::sigma) *
                  ((1 + sa::cb2) * net(Dim + 2, x) - sa::cb2 * get(own, kDiff, x) * net(Dim + 3, x));
            add_advection(r, j, k, x, n, kNu, scheme_.sa.second_order);
            put(work(), kNet, x, r);
        });
        if (!scheme_.sa.with_source) {
            for (int x = 0; x < n_; x += kLanes) {
                store(nu_, lo_[0] + x, j, k, 0, get(work(), kNet, x), n_ - x);
                store(slope_, lo_[0] + x, j, k, 0, W{}, n_ - x);
            }
            return;
        }
        const auto distance = [&](int x, int n) {
            return load(patch_.wall_distance, lo_[0] + x, j, k, 0, n);
        };
        over_eights(0, n_, [&](int x, int n) { put(work(), kVorticity, x, vorticity(j, k, x, n)); });
        over_eights(0, n_, [&](int x, int n) {
            const sa::Strength<W> at(get(own, kNu, x), get(own, kChi, x), get(work(), kVorticity, x),
                                     distance(x, n), scale, scheme_.sa);
            put(work(), kStrength, x, at.S), put(work(), kStrength + 1, x, at.r);
            put(work(), kStrength + 2, x, at.ft2), put(work(), kStrength + 3, x, at.growing);
        });
        for (int x = 0; x < n_; x += kLanes) {
            const sa::WallFunction<W> wall(get(work(), kStrength + 1, x));
            put(work(), kWall, x, wall.g), put(work(), kWall + 1, x, wall.fw);
        }
        over_eights(0, n_, [&](int x, int n) {
            const int i = lo_[0] + x;
            sa::Strength<W> at;
            at.S = get(work(), kStrength, x), at.r = get(work(), kStrength + 1, x);
            at.ft2 = get(work(), kStrength + 2, x), at.growing = get(work(), kStrength + 3, x);
            sa::WallFunction<W> wall;
            wall.g = get(work(), kWall, x), wall.fw = get(work(), kWall + 1, x);
            const sa::Source<W> source = sa::source(at, wall, get(own, kNu, x), get(work(), kVorticity, x),
                                                    distance(x, n), scale, scheme_.sa);
            const W volume = load(patch_.volumes, i, j, k, 0, n);
            store(nu_, i, j, k, 0, get(work(), kNet, x) - volume * source.value, n);
            store(slope_, i, j, k, 0, volume * source.slope, n);
        });
    }

    /// What flows through the middle of a cell along an axis, at its own velocity u.
    template <int axis>
    W through(int i, int j, int k, int n, const Vec& u) {
        const int ii = i + (axis == 0 ? 1 : 0), jj = j + (axis == 1 ? 1 : 0), kk = k + (axis == 2 ? 1 : 0);
        const Vec lower = area<axis>(i, j, k, n), upper = area<axis>(ii, jj, kk, n);
        Vec s;
        for (std::size_t d = 0; d < D; ++d) s[d] = 0.5 * (lower[d] + upper[d]);
        const W plain = dot(u, s);
        if (!patch_.moves()) return plain;
        const FieldView<const double>& speed = patch_.speeds[axis];
        return plain - 0.5 * (load(speed, i, j, k, 0, n) + load(speed, ii, jj, kk, 0, n));
    }

    /// Menter's k and omega; `diffusion`: the net fluxes, which still have to be divided by the density.
    [[gnu::flatten, gnu::noinline]] void menter(int j, int k, int x, int n,
                                                const std::array<W, 2>& diffusion) {
        const int i = lo_[0] + x;
        const double* own = line(j, k);
        const double scale = scheme_.gas.viscous_scale();
        const W volume = load(patch_.volumes, i, j, k, 0, n), over_rho = 1.0 / get(own, kRho, x);
        std::array<W, 2> r, slope{};
        for (const int c : {kK, kOmega}) {
            W& of = r[static_cast<std::size_t>(c)];
            of = -scale * diffusion[static_cast<std::size_t>(c)] * over_rho;
            add_advection(of, j, k, x, n, kNu + c, scheme_.sst.second_order);
        }
        if (scheme_.sst.with_source) {
            const auto known = [&](int c) { return load(patch_.eddies, i, j, k, c, n); };
            const sst::Source<W> source =
                sst::source(get(own, kNu + kK, x), get(own, kNu + kOmega, x), scale * known(kEddy) * over_rho,
                            known(kInner), known(kRate), known(kCross));
            r[kK] -= volume * source.k, slope[kK] = volume * source.k_slope;
            r[kOmega] -= volume * source.omega, slope[kOmega] = volume * source.omega_slope;
        }
        for (const int c : {kK, kOmega}) {
            store(nu_, i, j, k, c, r[static_cast<std::size_t>(c)], n);
            store(slope_, i, j, k, c, slope[static_cast<std::size_t>(c)], n);
        }
    }

    /// V times u . grad of value c.
    void add_advection(W& r, int j, int k, int x, int n, int c, bool second_order) {
        const int i = lo_[0] + x;
        const Vec u = vector(line(j, k), kU, x);
        r += advection<0>(j, k, x, through<0>(i, j, k, n, u), c, second_order);
        r += advection<1>(j, k, x, through<1>(i, j, k, n, u), c, second_order);
        if constexpr (Dim == 3) r += advection<2>(j, k, x, through<2>(i, j, k, n, u), c, second_order);
    }
    /// Along one axis, upwind by `through`.
    template <int axis>
    W advection(int j, int k, int x, const W& through, int c, bool second_order) {
        const W zero{};
        const auto value = [&](int by) { return get(at<axis>(j, k, by), c, x); };
        const W m1 = value(-1), own = value(0), p1 = value(1);
        W up = own - m1, down = p1 - own;
        if (second_order) {
            const W far_up = m1 - value(-2), far_down = value(2) - p1, before = up, after = down;
            up += to_face<Limiter::van_albada>(before, after, 1.0 / 3) -
                  to_face<Limiter::van_albada>(far_up, before, 1.0 / 3);
            down -= to_face<Limiter::van_albada>(far_down, after, 1.0 / 3) -
                    to_face<Limiter::van_albada>(after, before, 1.0 / 3);
        }
        return max(through, zero) * up + min(through, zero) * down;
    }

    W vorticity(int j, int k, int x, int n) {
        const double* own = line(j, k);
        const int i = lo_[0] + x;
        const W volume = load(patch_.volumes, i, j, k, 0, n);
        const std::array<const double*, 6> rows{own - 1,
                                                own + 1,
                                                line(j - 1, k),
                                                line(j + 1, k),
                                                Dim == 3 ? line(j, k - 1) : own,
                                                Dim == 3 ? line(j, k + 1) : own};
        using Gradient = CellGradient<Dim, W>;
        const auto beside = [&](int c) {
            typename Gradient::Beside values;
            for (std::size_t b = 0; b < 2 * D; ++b) values[b] = get(rows[b], c, x);
            return values;
        };
        typename Gradient::Beside volumes;
        for (std::size_t b = 0; b < 2 * D; ++b) {
            const std::size_t a = b / 2;
            const int by = b % 2 == 0 ? -1 : 1;
            volumes[b] = load(patch_.volumes, i + (a == 0 ? by : 0), j + (a == 1 ? by : 0),
                              k + (a == 2 ? by : 0), 0, n);
        }
        const Gradient gradient(
            volume, volumes, [&](int d) { return get(own, kX + d, x); },
            [&](int d) { return beside(kX + d); });
        std::array<Vec, D> g;
        for (std::size_t d = 0; d < D; ++d) {
            const int c = kU + static_cast<int>(d);
            g[d] = gradient.of(get(own, c, x), beside(c));
        }
        if constexpr (Dim == 2) return abs(g[1][0] - g[0][1]);
        return sqrt(vorticity_square<Dim, W>(g));
    }

    const FieldView<double>&mean_, &nu_, &slope_;
};

template <int Dim, Viscosity viscosity>
void tiles(const Box& cells, Tile<Dim, viscosity>&& pass) {
    const int ny = Dim == 2 ? std::max(1, cells.extent(1)) : kTileY;
    for (int j = cells.lo[1]; j < cells.hi[1]; j += ny)
        for (int i = cells.lo[0]; i < cells.hi[0]; i += kTileX)
            pass.run({{i, j, cells.lo[2]},
                      {std::min(i + kTileX, cells.hi[0]), std::min(j + ny, cells.hi[1]), cells.hi[2]}});
}

/// Momentum turns against the frame in which it is seen: V spin x rho u (as Chen, C. L., McCroskey, W. J.
/// (1988), AIAA paper 88-0046, have it for rotors in hover).
template <int Dim>
void add_turning(const Box& cells, const Patch<Dim>& patch, const std::array<double, 3>& spin,
                 const FieldView<double>& residual) {
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            for (int i = cells.lo[0]; i < cells.hi[0]; i += kLanes) {
                const int n = cells.hi[0] - i;
                const Lanes volume = load(patch.volumes, i, j, k, 0, n);
                std::array<Lanes, 3> m{};
                for (std::size_t d = 0; d < Dim; ++d)
                    m[d] = volume * load(patch.q, i, j, k, static_cast<int>(d) + 1, n);
                for (std::size_t d = 0; d < Dim; ++d) {
                    const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
                    const int at = static_cast<int>(d) + 1;
                    store(residual, i, j, k, at,
                          load(readable(residual), i, j, k, at, n) + (spin[e] * m[f] - spin[f] * m[e]), n);
                }
            }
}

template <int Dim>
void find_fluxes(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                 const FieldView<double>& mean, const FieldView<double>& nu_tilde,
                 const FieldView<double>& slope) {
    switch (scheme.viscosity) {
        case Viscosity::none:
            return tiles(cells, Tile<Dim, Viscosity::none>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::laminar:
            return tiles(cells, Tile<Dim, Viscosity::laminar>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::frozen:
            return tiles(cells, Tile<Dim, Viscosity::frozen>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::frozen_eddies:
            return tiles(cells, Tile<Dim, Viscosity::frozen_eddies>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::sst:
            return tiles(cells, Tile<Dim, Viscosity::sst>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::spalart_allmaras:
            return tiles(cells, Tile<Dim, Viscosity::spalart_allmaras>(patch, scheme, mean, nu_tilde, slope));
    }
}

}  // namespace

template <int Dim>
void residual(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
              const FieldView<double>& nu_tilde, const FieldView<double>& slope) {
    if (cells.empty()) return;
    find_fluxes(cells, patch, scheme, mean, nu_tilde, slope);
    if (scheme.turns()) add_turning(cells, patch, scheme.spin, mean);
}

template void residual<2>(const Box&, const Patch<2>&, const Scheme&, const FieldView<double>&,
                          const FieldView<double>&, const FieldView<double>&);
template void residual<3>(const Box&, const Patch<3>&, const Scheme&, const FieldView<double>&,
                          const FieldView<double>&, const FieldView<double>&);

void add_time_difference(const Box& cells, int components, const FieldView<const double>& volumes, double a,
                         const FieldView<const double>& q, double b, const FieldView<const double>& old,
                         double c, const FieldView<const double>& older, const FieldView<double>& residual) {
    for (int at = 0; at < components; ++at)
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                for (int i = cells.lo[0]; i < cells.hi[0]; i += kLanes) {
                    const int n = cells.hi[0] - i;
                    Lanes change = a * load(q, i, j, k, at, n) + b * load(old, i, j, k, at, n);
                    if (c != 0) change += c * load(older, i, j, k, at, n);
                    const Lanes r = load(readable(residual), i, j, k, at, n);
                    store(residual, i, j, k, at, r + load(volumes, i, j, k, 0, n) * change, n);
                }
}

double square_sum(const Box& cells, const FieldView<const double>& volumes,
                  const FieldView<const double>& residual, int component) {
    double sum = 0;
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            Lanes row{};
            for (int i = cells.lo[0]; i < cells.hi[0]; i += kLanes) {
                const int n = cells.hi[0] - i;
                const Lanes V = load(volumes, i, j, k, 0, n), r = load(residual, i, j, k, component, n);
                row += select(V > Lanes{}, r * r / (V * V), Lanes{});
            }
            sum += lane_sum(row);
        }
    return sum;
}

}  // namespace strata::flow
