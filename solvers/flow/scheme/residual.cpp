// A tile of a patch at a time: slabs of primitive values (rows in two dimensions, planes in three) pass
// through a ring of five, fluxes of faces live in rows beside them. All of it stays in the first caches, so
// memory is read once.
#include "solvers/flow/scheme/residual.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {
namespace {

/// Tiles: cells along x that fit the first cache in two dimensions, rows that fit the second in three.
constexpr int kTileX = 64, kTileY = 8;
constexpr int kBefore = kLanes;  // cells of a scratch row before its first own one: two are needed
constexpr int kWidth = kTileX + 5 * kLanes;
constexpr int kRing = 5;
// What works on lanes is inlined into the loops over rows (flatten): between functions lanes would pass
// through memory.

template <int Dim, Viscosity viscosity>
class Tile {
    static constexpr bool kViscous = viscosity != Viscosity::none;
    static constexpr bool kTurbulent = viscosity == Viscosity::spalart_allmaras;
    static constexpr bool kEddies = kTurbulent || viscosity == Viscosity::frozen;
    static constexpr std::size_t D = Dim;
    using W = Wide;
    // Values of a cell in a scratch row.
    // kMu: mu + mu_t; kHeat: mu / Pr + mu_t / Pr_t; kDiff: the viscosity of nu~'s diffusion.
    static constexpr int kRho = 0, kU = 1, kP = Dim + 1, kX = Dim + 2, kT = kX + Dim, kMu = kT + 1,
                         kHeat = kMu + 1, kNu = kHeat + 1, kChi = kNu + 1, kDiff = kChi + 1;
    static constexpr int kValues = kTurbulent ? kDiff + 1 : kViscous ? kHeat + 1 : kP + 1;
    // Fluxes of a face: those of q, that of nu~ with its diffusivity, that without.
    static constexpr int kFluxes = Dim + 2 + (kTurbulent ? 2 : 0);
    using Vec = Vector<Dim, W>;

  public:
    Tile(const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
         const FieldView<double>& nu_tilde, const FieldView<double>& slope)
        : patch_(patch), scheme_(scheme), mean_(mean), nu_(nu_tilde), slope_(slope) {}

    void run(const Box& tile) {
        lo_ = tile.lo;
        hi_ = tile.hi;
        n_ = hi_[0] - lo_[0];
        lines_ = Dim == 2 ? 1 : hi_[1] - lo_[1] + 4;
        const int slow = Dim - 1, first = lo_[slow], last = hi_[slow];
        reserve();
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
    void reserve() {
        const std::size_t line = std::size_t{kValues} * kWidth;
        values_.resize(line * static_cast<std::size_t>(kRing * lines_));
        const std::size_t faces = std::size_t{kFluxes} * kWidth;
        const int slow_rows = Dim == 2 ? 1 : hi_[1] - lo_[1];
        fluxes_.resize(faces * static_cast<std::size_t>(2 * slow_rows + 3));
    }
    /// Of line (j, k), so that [i - lo] is cell i; component c is kWidth further.
    double* line(int j, int k) {
        const int slow = Dim == 2 ? j : k;
        const int ring = (slow - lo_[Dim - 1] + kRing) % kRing, at = Dim == 2 ? 0 : j - lo_[1] + 2;
        return values_.data() + std::size_t{kValues} * kWidth * static_cast<std::size_t>(ring * lines_ + at) +
               kBefore;
    }
    /// Fluxes through the lower sides of row number `row` of slab s: kept for this slab and the next.
    double* flux(int row, int s) {
        const int rows = Dim == 2 ? 1 : hi_[1] - lo_[1];
        return flux_row((s & 1) * rows + row);
    }
    double* flux_row(int number) {
        return fluxes_.data() + std::size_t{kFluxes} * kWidth * static_cast<std::size_t>(number);
    }
    double* middle_flux(int j) { return flux_row(2 * (hi_[1] - lo_[1]) + (j & 1)); }
    double* x_flux() { return flux_row(Dim == 2 ? 2 : 2 * (hi_[1] - lo_[1]) + 2); }

    /// How many cells beyond an end of the row are there to be read, in a line `away` ghost layers from the
    /// tile.
    static constexpr int beyond(int away) { return away == 0 ? 2 : away == 1 && kViscous ? 1 : 0; }
    [[nodiscard]] int away(int axis, int at) const {
        const auto a = static_cast<std::size_t>(axis);
        return std::max({0, lo_[a] - at, at - hi_[a] + 1});
    }

    void fill_slab(int s) {
        if constexpr (Dim == 2) {
            fill(s, 0, beyond(away(1, s)));
        } else {
            const int up = away(2, s), more = up == 0 ? 2 : up == 1 && kViscous ? 1 : 0;
            for (int j = lo_[1] - more; j < hi_[1] + more; ++j) {
                const int side = away(1, j);
                fill(j, s, side > 0 && up > 0 ? 0 : beyond(side + up));
            }
        }
    }

    [[gnu::flatten, gnu::noinline]] void fill(int j, int k, int more) {
        double* to = line(j, k);
        const double gamma = scheme_.gas.gamma;
        for (int x = -more; x < n_ + more; x += kWide) {
            const int i = lo_[0] + x, n = n_ + more - x;
            Conserved<Dim, W> q;
            q.rho = load_wide(patch_.q, i, j, k, 0, n);
            for (std::size_t d = 0; d < D; ++d)
                q.m[d] = load_wide(patch_.q, i, j, k, static_cast<int>(d) + 1, n);
            q.E = load_wide(patch_.q, i, j, k, Dim + 1, n);
            const Primitive<Dim, W> w = primitive(q, gamma);
            put(to, kRho, x, w.rho);
            for (std::size_t d = 0; d < D; ++d) put(to, kU + static_cast<int>(d), x, w.u[d]);
            put(to, kP, x, w.p);
            if constexpr (kViscous) {
                for (int d = 0; d < Dim; ++d) put(to, kX + d, x, load_wide(patch_.centres, i, j, k, d, n));
                const Gas& gas = scheme_.gas;
                const W over_rho = 1.0 / w.rho, T = gamma * w.p * over_rho;
                const auto [mu, over_mu] = viscosity_of(T, gas.sutherland);
                put(to, kT, x, T);
                if constexpr (kEddies) {
                    const W nu = load_wide(patch_.nu_tilde, i, j, k, 0, n), chi = nu * w.rho * over_mu;
                    const W mu_t = mu * sa::eddy(chi);
                    put(to, kMu, x, mu + mu_t);
                    put(to, kHeat, x, mu * (1 / gas.prandtl) + mu_t * (1 / gas.turbulent_prandtl));
                    if constexpr (kTurbulent) {
                        put(to, kNu, x, nu);
                        put(to, kChi, x, chi);
                        put(to, kDiff, x, mu * over_rho * sa::diffusivity(chi, scheme_.sa.negative));
                    }
                } else {
                    put(to, kMu, x, mu);
                    put(to, kHeat, x, mu * (1 / gas.prandtl));
                }
            }
        }
    }
    static void put(double* line, int c, int x, const W& v) { store(line + c * kWidth + x, v); }
    static W get(const double* line, int c, int x) { return load_wide(line + c * kWidth + x); }
    static Vec vector(const double* line, int c, int x) {
        Vec v;
        for (int d = 0; d < Dim; ++d) v[static_cast<std::size_t>(d)] = get(line, c + d, x);
        return v;
    }
    template <int axis>
    Vec area(int i, int j, int k, int n) const {
        Vec s;
        for (std::size_t d = 0; d < D; ++d)
            s[d] = load_wide(patch_.faces[axis], i, j, k, static_cast<int>(d), n);
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
    [[gnu::flatten, gnu::noinline]] void faces(int j, int k, double* to) {
        const double *m2 = at<axis>(j, k, -2), *m1 = at<axis>(j, k, -1), *p0 = at<axis>(j, k, 0),
                     *p1 = at<axis>(j, k, 1);
        const int count = n_ + (axis == 0 ? 1 : 0);
        Around around;
        if constexpr (kViscous) around = lines_around<axis>(j, k);
        for (int x = 0; x < count; x += kWide) {
            const Vec s = area<axis>(lo_[0] + x, j, k, count - x);
            Primitive<Dim, W> l, r;
            extrapolate(m2, m1, p0, p1, x, l, r);
            Conserved<Dim, W> f = roe_flux(l, r, s, scheme_.gas.gamma, scheme_.entropy_fix);
            if constexpr (kViscous) {
                const Conserved<Dim, W> v = viscous<axis>(m1, p0, around, x, s, to);
                for (std::size_t d = 0; d < D; ++d) f.m[d] += v.m[d];
                f.E += v.E;
            }
            store(to + x, f.rho);
            for (std::size_t d = 0; d < D; ++d) store(to + (static_cast<int>(d) + 1) * kWidth + x, f.m[d]);
            store(to + (Dim + 1) * kWidth + x, f.E);
        }
    }

    void extrapolate(const double* m2, const double* m1, const double* p0, const double* p1, int x,
                     Primitive<Dim, W>& l, Primitive<Dim, W>& r) const {
        if (scheme_.muscl.first_order) {
            l = {get(m1, kRho, x), vector(m1, kU, x), get(m1, kP, x)};
            r = {get(p0, kRho, x), vector(p0, kU, x), get(p0, kP, x)};
            return;
        }
        switch (scheme_.muscl.limiter) {
            case Limiter::none:
                return limited<Limiter::none>(m2, m1, p0, p1, x, l, r);
            case Limiter::minmod:
                return limited<Limiter::minmod>(m2, m1, p0, p1, x, l, r);
            case Limiter::van_albada:
                return limited<Limiter::van_albada>(m2, m1, p0, p1, x, l, r);
            case Limiter::van_leer:
                break;
        }
        limited<Limiter::van_leer>(m2, m1, p0, p1, x, l, r);
    }
    template <Limiter limiter>
    void limited(const double* m2, const double* m1, const double* p0, const double* p1, int x,
                 Primitive<Dim, W>& l, Primitive<Dim, W>& r) const {
        const double kappa = scheme_.muscl.kappa;
        W left[Dim + 2], right[Dim + 2];
        for (int c = 0; c < Dim + 2; ++c) {
            const W a = get(m2, c, x), b = get(m1, c, x), d = get(p0, c, x), e = get(p1, c, x);
            const W middle = d - b;
            left[c] = b + to_face<limiter>(b - a, middle, kappa);
            right[c] = d - to_face<limiter>(e - d, middle, kappa);
        }
        // Where density or pressure would not be positive, the cell's own state.
        const W zero{};
        const auto keep = [&](W* state, const double* own) {
            const W worst = min(state[kRho], state[kP]);
            for (int c = 0; c < Dim + 2; ++c) state[c] = select(worst > zero, state[c], get(own, c, x));
        };
        keep(left, m1);
        keep(right, p0);
        l.rho = left[kRho], l.p = left[kP];
        r.rho = right[kRho], r.p = right[kP];
        for (std::size_t d = 0; d < D; ++d) l.u[d] = left[kU + d], r.u[d] = right[kU + d];
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

    /// The differences of value c that a face's gradients are made of: across it, and the mean ones along the
    /// others.
    template <int axis>
    static Vec differences(const double* m1, const double* p0, const Around& around, int c, int x) {
        Vec e;
        e[axis] = get(p0, c, x) - get(m1, c, x);
        int t = 0;
        for (std::size_t other = 0; other < D; ++other) {
            if (other == axis) continue;
            e[other] = 0.25 * ((get(around.up[0][t], c, x) + get(around.up[1][t], c, x)) -
                               (get(around.down[0][t], c, x) + get(around.down[1][t], c, x)));
            ++t;
        }
        return e;
    }

    template <int axis>
    Conserved<Dim, W> viscous(const double* m1, const double* p0, const Around& around, int x, const Vec& s,
                              double* to) const {
        const auto of = [&](int c) { return differences<axis>(m1, p0, around, c, x); };
        const auto mean = [&](int c) { return 0.5 * (get(m1, c, x) + get(p0, c, x)); };
        std::array<Vec, D> e;
        for (std::size_t d = 0; d < D; ++d) {
            const Vec along = of(kX + static_cast<int>(d));
            for (std::size_t a = 0; a < D; ++a) e[a][d] = along[a];
        }
        const Differences<Dim, W> geometry(e);
        std::array<Vec, D> gradient;
        Vec u;
        for (std::size_t d = 0; d < D; ++d) {
            gradient[d] = geometry.gradient(of(kU + static_cast<int>(d)));
            u[d] = mean(kU + static_cast<int>(d));
        }
        W divergence = gradient[0][0];
        for (std::size_t d = 1; d < D; ++d) divergence += gradient[d][d];
        if (scheme_.axisymmetric) divergence += u[1] / mean(kX + 1);
        const Gas& gas = scheme_.gas;
        const double scale = gas.viscous_scale();
        if constexpr (kTurbulent) {
            const W g = dot(geometry.gradient(of(kNu)), s);
            store(to + (Dim + 2) * kWidth + x, mean(kDiff) * g);
            store(to + (Dim + 3) * kWidth + x, g);
        }
        return viscous_flux<Dim>(gradient, divergence, u, geometry.gradient(of(kT)), scale * mean(kMu),
                                 (scale / (gas.gamma - 1)) * mean(kHeat), s);
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
        const double* along = x_flux();
        const int s = Dim == 2 ? j : k, row = Dim == 2 ? 0 : j - lo_[1];
        const double *below = flux(row, s), *above = flux(row, s + 1);
        const double *down = Dim == 2 ? nullptr : middle_flux(j),
                     *up = Dim == 2 ? nullptr : middle_flux(j + 1);
        const auto net = [&](int c, int x) {
            const int at = c * kWidth + x;
            W r = (load_wide(along + at + 1) - load_wide(along + at)) +
                  (load_wide(above + at) - load_wide(below + at));
            if constexpr (Dim == 3) r += load_wide(up + at) - load_wide(down + at);
            return r;
        };
        for (int x = 0; x < n_; x += kWide) {
            const int i = lo_[0] + x, n = n_ - x;
            for (int c = 0; c < Dim + 2; ++c) {
                W r = net(c, x);
                if (Dim == 2 && c == 2 && scheme_.axisymmetric) r -= hoop(j, x, n);
                store(mean_, i, j, k, c, r, n);
            }
            if constexpr (kTurbulent) turbulence(j, k, x, n, net(Dim + 2, x), net(Dim + 3, x));
        }
    }

    /// Axisymmetric flow: the pressure, less the stress around the axis, on the sides of the wedge.
    W hoop(int j, int x, int n) {
        const int i = lo_[0] + x;
        const double* own = line(j, 0);
        const W sides =
            (load_wide(patch_.faces[0], i + 1, j, 0, 1, n) - load_wide(patch_.faces[0], i, j, 0, 1, n)) +
            (load_wide(patch_.faces[1], i, j + 1, 0, 1, n) - load_wide(patch_.faces[1], i, j, 0, 1, n));
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

    [[gnu::flatten, gnu::noinline]] void turbulence(int j, int k, int x, int n, const W& diffusion,
                                                    const W& plain) {
        const int i = lo_[0] + x;
        const double* own = line(j, k);
        const Gas& gas = scheme_.gas;
        const W nu_tilde = get(own, kNu, x);
        const W volume = load_wide(patch_.volumes, i, j, k, 0, n);
        const double scale = gas.viscous_scale();
        W r = (-scale / sa::sigma) * ((1 + sa::cb2) * diffusion - sa::cb2 * get(own, kDiff, x) * plain);

        const Vec u = vector(own, kU, x);
        r += advection<0>(j, k, x, u, area<0>(i, j, k, n), area<0>(i + 1, j, k, n));
        r += advection<1>(j, k, x, u, area<1>(i, j, k, n), area<1>(i, j + 1, k, n));
        if constexpr (Dim == 3) r += advection<2>(j, k, x, u, area<2>(i, j, k, n), area<2>(i, j, k + 1, n));

        W slope{};
        if (scheme_.sa.with_source) {
            const sa::Source<W> source =
                sa::source(nu_tilde, get(own, kChi, x), vorticity(j, k, x, volume, n),
                           load_wide(patch_.wall_distance, i, j, k, 0, n), scale, scheme_.sa);
            r -= volume * source.value;
            slope = volume * source.slope;
        }
        store(nu_, i, j, k, 0, r, n);
        store(slope_, i, j, k, 0, slope, n);
    }

    /// V times u . grad nu~ along one axis, upwind by the cell's own velocity.
    template <int axis>
    W advection(int j, int k, int x, const Vec& u, const Vec& lower, const Vec& upper) {
        Vec s;
        for (std::size_t d = 0; d < D; ++d) s[d] = 0.5 * (lower[d] + upper[d]);
        const W through = dot(u, s), zero{};
        const auto value = [&](int by) { return get(at<axis>(j, k, by), kNu, x); };
        const W m1 = value(-1), own = value(0), p1 = value(1);
        W up = own - m1, down = p1 - own;
        if (scheme_.sa.second_order) {
            const W far_up = m1 - value(-2), far_down = value(2) - p1, before = up, after = down;
            up += to_face<Limiter::van_albada>(before, after, 1.0 / 3) -
                  to_face<Limiter::van_albada>(far_up, before, 1.0 / 3);
            down -= to_face<Limiter::van_albada>(far_down, after, 1.0 / 3) -
                    to_face<Limiter::van_albada>(after, before, 1.0 / 3);
        }
        return max(through, zero) * up + min(through, zero) * down;
    }

    /// Slopes to the cells on either side along an axis count the same, as CFL3D has it; exact for linear
    /// functions. Where cells grow by half from one to the next, a difference of these cells is 4 % less in a
    /// logarithmic layer. By Gauss' theorem with means at faces, drag on NASA's coarse grids is 1 to 2 %
    /// below CFL3D's.
    W vorticity(int j, int k, int x, const W& volume, int n) {
        const double* own = line(j, k);
        const int i = lo_[0] + x;
        const std::array<const double*, 6> beside{own - 1,
                                                  own + 1,
                                                  line(j - 1, k),
                                                  line(j + 1, k),
                                                  Dim == 3 ? line(j, k - 1) : own,
                                                  Dim == 3 ? line(j, k + 1) : own};
        // A slope's weight is one over the sum of both volumes. Times the product of an axis' two sums, which
        // values and places have in common, it is the other one's sum.
        std::array<W, 2 * D> weight;
        for (std::size_t a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                const int by = 1 - 2 * side;
                weight[2 * a + static_cast<std::size_t>(side)] =
                    volume + load_wide(patch_.volumes, i + (a == 0 ? by : 0), j + (a == 1 ? by : 0),
                                       k + (a == 2 ? by : 0), 0, n);
            }
        const auto differences = [&](int c) {
            const W here = get(own, c, x);
            Vec e;
            for (std::size_t a = 0; a < D; ++a)
                e[a] = weight[2 * a] * (here - get(beside[2 * a], c, x)) +
                       weight[2 * a + 1] * (get(beside[2 * a + 1], c, x) - here);
            return e;
        };
        std::array<Vec, D> places;
        for (std::size_t d = 0; d < D; ++d) {
            const Vec along = differences(kX + static_cast<int>(d));
            for (std::size_t a = 0; a < D; ++a) places[a][d] = along[a];
        }
        const Differences<Dim, W> geometry(places);
        std::array<Vec, D> g;
        for (std::size_t d = 0; d < D; ++d) g[d] = geometry.gradient(differences(kU + static_cast<int>(d)));
        const W z = g[1][0] - g[0][1];
        if constexpr (Dim == 2) return abs(z);
        if constexpr (Dim == 3) {
            const W a = g[2][1] - g[1][2], b = g[0][2] - g[2][0], square = a * a + b * b + z * z;
            return square * over_root(square);
        }
    }

    const Patch<Dim>& patch_;
    const Scheme& scheme_;
    const FieldView<double>&mean_, &nu_, &slope_;
    Int3 lo_{}, hi_{};
    int n_ = 0, lines_ = 1;
    std::vector<double> values_, fluxes_;
};

template <int Dim, Viscosity viscosity>
void tiles(const Box& cells, Tile<Dim, viscosity>&& pass) {
    const int ny = Dim == 2 ? std::max(1, cells.extent(1)) : kTileY;
    for (int j = cells.lo[1]; j < cells.hi[1]; j += ny)
        for (int i = cells.lo[0]; i < cells.hi[0]; i += kTileX)
            pass.run({{i, j, cells.lo[2]},
                      {std::min(i + kTileX, cells.hi[0]), std::min(j + ny, cells.hi[1]), cells.hi[2]}});
}

}  // namespace

template <int Dim>
void residual(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
              const FieldView<double>& nu_tilde, const FieldView<double>& slope) {
    if (cells.empty()) return;
    switch (scheme.viscosity) {
        case Viscosity::none:
            return tiles(cells, Tile<Dim, Viscosity::none>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::laminar:
            return tiles(cells, Tile<Dim, Viscosity::laminar>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::frozen:
            return tiles(cells, Tile<Dim, Viscosity::frozen>(patch, scheme, mean, nu_tilde, slope));
        case Viscosity::spalart_allmaras:
            return tiles(cells, Tile<Dim, Viscosity::spalart_allmaras>(patch, scheme, mean, nu_tilde, slope));
    }
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
            sum += mpm::sum(row);
        }
    return sum;
}

}  // namespace strata::flow
