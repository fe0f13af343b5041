// A tile of a patch at a time (tile_rows.hpp): fluxes through the faces around each row of it, and what is
// left of them in its cells.
#include "solvers/flow/scheme/residual.hpp"

#include <algorithm>

#include "solvers/flow/scheme/cell_gradient.hpp"
#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "solvers/flow/scheme/tile_faces.hpp"
#include "solvers/flow/scheme/viscous.hpp"

namespace strata::flow {
namespace {

template <int Dim, Viscosity viscosity>
class Tile : private TileFaces<Dim, viscosity> {
    using Rows = TileRows<Dim, viscosity>;
    using Faces = TileFaces<Dim, viscosity>;
    using Faces::kEquations;
    using Rows::kViscous, Rows::kTurbulent, Rows::kSst, Rows::D, Rows::kRho, Rows::kU, Rows::kP, Rows::kX,
        Rows::kT, Rows::kMu, Rows::kHeat, Rows::kNu, Rows::kChi, Rows::kDiff;
    using Rows::patch_, Rows::scheme_, Rows::lo_, Rows::hi_, Rows::n_;
    using Rows::work, Rows::put, Rows::line, Rows::flux, Rows::middle_flux, Rows::x_flux, Rows::fill_slab,
        Rows::get, Rows::vector;
    using W = Lanes;
    using Vec = Vector<Dim, W>;

  public:
    Tile(const Patch<Dim>& patch, const Scheme& scheme, const FieldView<double>& mean,
         const FieldView<double>& nu_tilde, const FieldView<double>& slope)
        : Faces(patch, scheme), mean_(mean), nu_(nu_tilde), slope_(slope) {}

    void run(const Box& tile) {
        Rows::begin(tile);
        const int slow = Dim - 1, first = lo_[slow], last = hi_[slow];
        for (int s = first - 2; s < first + 2; ++s) fill_slab(s);
        for (int s = first; s <= last; ++s) {
            // The flux through the upper side of slab s - 1 is at hand when slab s + 1 is.
            if (s > first) fill_slab(s + 1);
            if constexpr (Dim == 2) {
                this->template faces<1>(s, 0, flux(0, s));
                if (s > first) cells(s - 1, 0);
            } else {
                for (int j = lo_[1]; j < hi_[1]; ++j) this->template faces<2>(j, s, flux(j - lo_[1], s));
                if (s > first) plane(s - 1);
            }
        }
    }

  private:
    /// Three dimensions: the rows of slab k, whose lower and upper fluxes are known.
    void plane(int k) {
        this->template faces<1>(lo_[1], k, middle_flux(lo_[1]));
        for (int j = lo_[1]; j < hi_[1]; ++j) {
            this->template faces<1>(j + 1, k, middle_flux(j + 1));
            cells(j, k);
        }
    }

    /// Residuals of row (j, k).
    [[gnu::flatten, gnu::noinline]] void cells(int j, int k) {
        this->template faces<0>(j, k, x_flux());
        const Net net{*this, j, k};
        over_eights(0, n_, [&](int x, int n) {
            const int i = lo_[0] + x;
            ask_for(i, j, k);
            for (int c = 0; c < Dim + 2; ++c) {
                W r = net(c, x);
                if (Dim == 2 && c == 2 && scheme_.axisymmetric) r -= hoop(j, x, n);
                store(mean_, i, j, k, c, r, n);
            }
            if constexpr (kSst) menter(j, k, x, n, {net(Dim + 2, x), net(Dim + 3, x)});
        });
        if constexpr (kTurbulent && !kSst) turbulence(j, k, net);
    }
    /// Asks for what only the cells of the next row read and write. In three dimensions also for the states
    /// of a slab that is filled when this one is done: in between memory has nothing to do, and then all at
    /// once.
    void ask_for(int i, int j, int k) const {
        const auto ask = [&](const auto& f, int components, int jj, int kk) {
            if (f.origin() == nullptr) return;  // a field that this scheme does without
            const auto* p = f.origin() + i + jj * f.stride(1) + kk * f.stride(2);
            for (int c = 0; c < components; ++c) __builtin_prefetch(p + c * f.component_stride());
        };
        ask(mean_, Dim + 2, j + 1, k);
        if constexpr (kTurbulent) ask(nu_, kEquations, j + 1, k), ask(slope_, kEquations, j + 1, k);
        if constexpr (kTurbulent && !kSst) {
            ask(patch_.wall_distance, 1, j + 1, k);
            // The next slab's, which are read here first.
            ask(patch_.volumes, 1, Dim == 2 ? j + 2 : j + 1, Dim == 3 ? k + 1 : k);
        }
        if constexpr (Dim == 3) {
            const int next = k + 3, above = j == hi_[1] - 1 ? 2 : 0, below = j == lo_[1] ? 2 : 0;
            for (int jj = j - below; jj <= j + above; ++jj) {
                ask(patch_.q, Dim + 2, jj, next);
                if constexpr (kViscous) ask(patch_.centres, Dim, jj, next);
                if constexpr (kTurbulent) ask(patch_.nu_tilde, kEquations, jj, next);
            }
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
        const Vec lower = this->template area<axis>(i, j, k, n),
                  upper = this->template area<axis>(ii, jj, kk, n);
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
        const auto value = [&](int by) { return get(this->template at<axis>(j, k, by), c, x); };
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
        case Viscosity::frozen:
        case Viscosity::frozen_eddies:
            return tiles(cells, Tile<Dim, Viscosity::laminar>(patch, scheme, mean, nu_tilde, slope));
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
