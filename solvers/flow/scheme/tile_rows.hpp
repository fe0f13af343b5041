// A tile's cells as rows of primitive values: slabs (rows in two dimensions, planes in three) pass through a
// ring of five, and fluxes of faces live in rows beside them. All of it stays in the first caches, so memory
// is read once.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/patch.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "solvers/flow/scheme/sst.hpp"

namespace strata::flow {

/// Tiles: cells along x that fit the first cache in two dimensions, rows that fit the second in three.
inline constexpr int kTileX = 64, kTileY = 8;
inline constexpr int kBefore = kLanes;  // cells of a scratch row before its first own one: two are needed
inline constexpr int kWidth = kTileX + 3 * kLanes;
inline constexpr int kRing = 5;

/// Scratch rows: kWidth doubles of each value.
template <int Dim>
class ScratchRows {
  public:
    static constexpr std::size_t D = Dim;
    using W = Lanes;
    using Vec = Vector<Dim, W>;
    // Values of a cell.
    // kMu: mu + mu_t; kHeat: mu / Pr + mu_t / Pr_t; kDiff: the viscosity of nu~'s diffusion. Menter's model:
    // k and omega from kNu on, and the viscosities of their diffusion from kDiff on.
    static constexpr int kRho = 0, kU = 1, kP = Dim + 1, kX = Dim + 2, kT = kX + Dim, kMu = kT + 1,
                         kHeat = kMu + 1, kNu = kHeat + 1, kChi = kNu + 1, kDiff = kNu + 2;
    /// Whatever is found of a row of faces or cells in one loop and used in the next.
    static constexpr int kWork = 4 * Dim + 16;

    static void put(double* line, int c, int x, const W& v) { store(line + c * kWidth + x, v); }
    static W get(const double* line, int c, int x) { return load(line + c * kWidth + x); }
    static Vec vector(const double* line, int c, int x) {
        Vec v;
        for (int d = 0; d < Dim; ++d) v[static_cast<std::size_t>(d)] = get(line, c + d, x);
        return v;
    }

    /// Values of a field, and a hint that those of the next row are soon read: there are more rows than the
    /// processor follows by itself, and each is short.
    static W next(const FieldView<const double>& f, int i, int j, int k, int c, int n) {
        const double* row = f.origin() + i + j * f.stride(1) + k * f.stride(2) + c * f.component_stride();
        __builtin_prefetch(row + f.stride(1) + kLanes);
        return load(f, i, j, k, c, n);
    }
};

/// The rows of one tile after the other. Its user asks for slabs in their order. `viscosity` is a kind:
/// laminar stands for all that solve no
/// equation of a model.
template <int Dim, Viscosity viscosity>
class TileRows : public ScratchRows<Dim> {
    using Scratch = ScratchRows<Dim>;

  public:
    static constexpr bool kViscous = viscosity != Viscosity::none;
    static constexpr bool kSpalart = viscosity == Viscosity::spalart_allmaras;
    static constexpr bool kSst = viscosity == Viscosity::sst;
    static constexpr bool kTurbulent = kSpalart || kSst;
    using Scratch::D, Scratch::kRho, Scratch::kU, Scratch::kP, Scratch::kX, Scratch::kT, Scratch::kMu,
        Scratch::kHeat, Scratch::kNu, Scratch::kChi, Scratch::kDiff;
    using Scratch::put, Scratch::get, Scratch::next;
    using W = Lanes;
    static constexpr int kValues = kSst ? kDiff + 2 : kSpalart ? kDiff + 1 : kViscous ? kHeat + 1 : kP + 1;
    // Fluxes of a face: those of q; that of nu~ with its diffusivity and that without, or those of k and
    // omega.
    static constexpr int kFluxes = Dim + 2 + (kTurbulent ? 2 : 0);

    TileRows(const Patch<Dim>& patch, const Scheme& scheme)
        : patch_(patch),
          scheme_(scheme),
          frozen_(scheme.viscosity == Viscosity::frozen),
          kept_(scheme.viscosity == Viscosity::frozen_eddies) {}

    /// Makes room for a tile.
    void begin(const Box& tile) {
        lo_ = tile.lo;
        hi_ = tile.hi;
        n_ = hi_[0] - lo_[0];
        lines_ = Dim == 2 ? 1 : hi_[1] - lo_[1] + 4;
        reserve();
    }
    /// Of line (j, k), so that [i - lo] is cell i; component c is kWidth further.
    double* line(int j, int k) {
        const int slow = Dim == 2 ? j : k;
        const int ring = (slow - lo_[Dim - 1] + kRing) % kRing, at = Dim == 2 ? 0 : j - lo_[1] + 2;
        return values_ + std::size_t{kValues} * kWidth * static_cast<std::size_t>(ring * lines_ + at) +
               kBefore;
    }
    /// Fluxes through the lower sides of row number `row` of slab s: kept for this slab and the next.
    double* flux(int row, int s) {
        const int rows = Dim == 2 ? 1 : hi_[1] - lo_[1];
        return flux_row((s & 1) * rows + row);
    }
    double* flux_row(int number) {
        return fluxes_ + std::size_t{kFluxes} * kWidth * static_cast<std::size_t>(number);
    }
    double* middle_flux(int j) { return flux_row(2 * (hi_[1] - lo_[1]) + (j & 1)); }
    double* x_flux() { return flux_row(Dim == 2 ? 2 : 2 * (hi_[1] - lo_[1]) + 2); }

    double* work() { return work_; }

    /// How many cells beyond an end of the row are there to be read, in a line `away` ghost layers from the
    /// tile.
    static constexpr int beyond(int away) { return away == 0 ? 2 : away == 1 && kViscous ? 1 : 0; }
    [[nodiscard]] int away(int axis, int at) const {
        const auto a = static_cast<std::size_t>(axis);
        return std::max({0, lo_[a] - at, at - hi_[a] + 1});
    }

    /// Primitive values of slab s, with the ghosts that are there to be read.
    void fill_slab(int s) {
        if constexpr (Dim == 2) {
            fill(s, 0, beyond(away(1, s)));
            if constexpr (kViscous) add_places(s, 0, away(1, s));
            if (kSst || kept_) add_eddies(s, 0, away(1, s));
        } else {
            const int up = away(2, s), more = up == 0 ? 2 : up == 1 && kViscous ? 1 : 0;
            for (int j = lo_[1] - more; j < hi_[1] + more; ++j) {
                const int side = away(1, j);
                fill(j, s, side > 0 && up > 0 ? 0 : beyond(side + up));
                if constexpr (kViscous) add_places(j, s, side + up);
                if (kSst || kept_) add_eddies(j, s, side + up);
            }
        }
    }

  protected:
    const Patch<Dim>& patch_;
    const Scheme& scheme_;
    Int3 lo_{}, hi_{};
    int n_ = 0;

  private:
    static constexpr int kWork = Scratch::kWork;

    void reserve() {
        const int slow_rows = Dim == 2 ? 1 : hi_[1] - lo_[1];
        const std::size_t values = std::size_t{kValues} * kWidth * static_cast<std::size_t>(kRing * lines_),
                          fluxes =
                              std::size_t{kFluxes} * kWidth * static_cast<std::size_t>(2 * slow_rows + 3),
                          all = values + fluxes + std::size_t{kWork} * kWidth;
        rows_.resize(all + kLanes);
        // Rows begin with lines of the caches.
        void* first = rows_.data();
        std::size_t room = rows_.size() * sizeof(double);
        values_ =
            static_cast<double*>(std::align(kLanes * sizeof(double), all * sizeof(double), first, room));
        fluxes_ = values_ + values;
        work_ = fluxes_ + fluxes;
    }

    [[gnu::flatten, gnu::noinline]] void fill(int j, int k, int more) {
        double* to = line(j, k);
        const double gamma = scheme_.gas.gamma;
        over_eights(-more, n_ + more, [&](int x, int n) {
            const int i = lo_[0] + x;
            Conserved<Dim, W> q;
            q.rho = next(patch_.q, i, j, k, 0, n);
            for (std::size_t d = 0; d < D; ++d) q.m[d] = next(patch_.q, i, j, k, static_cast<int>(d) + 1, n);
            q.E = next(patch_.q, i, j, k, Dim + 1, n);
            const Primitive<Dim, W> w = primitive(q, gamma);
            put(to, kRho, x, w.rho);
            for (std::size_t d = 0; d < D; ++d) put(to, kU + static_cast<int>(d), x, w.u[d]);
            put(to, kP, x, w.p);
            if constexpr (kViscous) {
                const W over_rho = 1.0 / w.rho;
                put(to, kT, x, gamma * w.p * over_rho);
                if constexpr (kSpalart) put(to, kMu, x, over_rho);
                for (int c = 0; c < (kSst ? 2 : kSpalart ? 1 : 0); ++c)
                    put(to, kNu + c, x, next(patch_.nu_tilde, i, j, k, c, n));
            }
        });
        if constexpr (kViscous) add_viscosity(j, k, more);
    }

    /// Centres, of one layer of ghosts alone: gradients at faces see no more.
    [[gnu::flatten, gnu::noinline]] void add_places(int j, int k, int distance) {
        if (std::max(away(1, j), Dim == 2 ? 0 : away(2, k)) > 1) return;
        double* to = line(j, k);
        const int more = std::min(1, beyond(distance));
        over_eights(-more, n_ + more, [&](int x, int n) {
            for (int d = 0; d < Dim; ++d) put(to, kX + d, x, next(patch_.centres, lo_[0] + x, j, k, d, n));
        });
    }

    /// From temperature and density, in a loop of its own (roe.hpp says why).
    void add_viscosity(int j, int k, int more) {
        double* to = line(j, k);
        const Gas& gas = scheme_.gas;
        for (int x = -more; x < n_ + more; x += kLanes) {
            const auto [mu, over_mu] = viscosity_of(get(to, kT, x), gas.sutherland);
            W mu_t{};
            if (kSpalart || frozen_) {
                const W nu =
                    kSpalart ? get(to, kNu, x) : load(patch_.nu_tilde, lo_[0] + x, j, k, 0, n_ + more - x);
                const W chi = nu * get(to, kRho, x) * over_mu;
                mu_t = mu * sa::eddy(chi);
                if constexpr (kSpalart) {
                    put(to, kChi, x, chi);
                    put(to, kDiff, x, mu * get(to, kMu, x) * sa::diffusivity(chi, scheme_.sa.negative));
                }
            }
            put(to, kMu, x, mu + mu_t);
            put(to, kHeat, x, mu * (1 / gas.prandtl) + mu_t * (1 / gas.turbulent_prandtl));
        }
    }

    /// The turbulent viscosity that is known, in the cells and beside their faces; in place of fill()'s mu.
    [[gnu::flatten, gnu::noinline]] void add_eddies(int j, int k, int away) {
        if (away > 1) return;
        double* to = line(j, k);
        const Gas& gas = scheme_.gas;
        const int more = 1 - away;
        for (int x = -more; x < n_ + more; x += kLanes) {
            const int i = lo_[0] + x, n = n_ + more - x;
            const W mu = get(to, kMu, x), mu_t = load(patch_.eddies, i, j, k, kEddy, n);
            put(to, kMu, x, mu + mu_t);
            put(to, kHeat, x, mu * (1 / gas.prandtl) + mu_t * (1 / gas.turbulent_prandtl));
            if constexpr (kSst) {
                const W F1 = load(patch_.eddies, i, j, k, kInner, n);
                put(to, kDiff + kK, x, mu + sst::blended(F1, sst::sigma_k1, sst::sigma_k2) * mu_t);
                put(to, kDiff + kOmega, x,
                    mu + sst::blended(F1, sst::sigma_omega1, sst::sigma_omega2) * mu_t);
            }
        }
    }

    const bool frozen_, kept_;
    int lines_ = 1;
    std::vector<double> rows_;
    double *values_ = nullptr, *fluxes_ = nullptr, *work_ = nullptr;
};

}  // namespace strata::flow
