// Convective fluxes through the faces of a tile's rows. They are the same with all models and along all axes:
// what is left to say is which rows lie beside the faces, so there is one copy of these loops for each number
// of dimensions.
#pragma once

#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "solvers/flow/scheme/tile_rows.hpp"

namespace strata::flow {

// What works on lanes is inlined into the loops over rows (flatten): between functions lanes would pass
// through memory. Loops themselves are functions: what they leave to each other is in rows.

/// A row of faces: lines of the cells two below them, below, above and two above; the faces' areas and what
/// they sweep, at (i, j, k) and beyond along x.
template <int Dim>
struct FaceRow {
    const double *m2, *m1, *p0, *p1;
    const FieldView<const double>&area, &speed;
    int i, j, k, count;

    [[nodiscard]] Vector<Dim, Lanes> areas(int x, int n) const {
        Vector<Dim, Lanes> s;
        for (int d = 0; d < Dim; ++d) s[static_cast<std::size_t>(d)] = load(area, i + x, j, k, d, n);
        return s;
    }
};

template <int Dim>
class ConvectiveFluxes : ScratchRows<Dim> {
    using Scratch = ScratchRows<Dim>;
    using Scratch::D, Scratch::kRho, Scratch::kU, Scratch::kP, Scratch::put, Scratch::get, Scratch::vector,
        Scratch::next;
    using W = Lanes;
    using Vec = Vector<Dim, W>;
    using Row = FaceRow<Dim>;

  public:
    ConvectiveFluxes(const Scheme& scheme, bool moves) : scheme_(scheme), moves_(moves) {}

    /// `work`: rows to work in.
    void find(const Row& row, double* work, double* to) const {
        sizes(row, work);
        extrapolate(row, work);
        if (!kWeighsAtOnce || scheme_.muscl.first_order) weigh(row.count, work);
        means(row.count, work);
        if (moves_)
            fluxes<true>(row.count, work, to);
        else
            fluxes<false>(row.count, work, to);
    }

  private:
    // What faces of a row have between one loop over them and the next (roe.hpp).
    static constexpr int kNormal = 0, kHalf = Dim, kSpeed = kHalf + 1, kLeft = kSpeed + 1,
                         kRight = kLeft + Dim + 2, kLeftH = kRight + Dim + 2, kRightH = kLeftH + 1,
                         kRoot = kRightH + 1, kWeight = kRoot + 1, kMean = kWeight + 3, kMeanH = kMean + Dim,
                         kSound = kMeanH + 1, kOver = kSound + 1;
    static_assert(kOver < Scratch::kWork);
    static Primitive<Dim, W> beside(const double* work, int side, int x) {
        return {get(work, side + kRho, x), vector(work, side + kU, x), get(work, side + kP, x)};
    }

    [[gnu::flatten, gnu::noinline]] void sizes(const Row& row, double* work) const {
        over_eights(0, row.count, [&](int x, int n) {
            const FaceSize<Dim, W> face([&] {
                Vec s;
                for (std::size_t d = 0; d < D; ++d)
                    s[d] = next(row.area, row.i + x, row.j, row.k, static_cast<int>(d), n);
                return s;
            }());
            for (int d = 0; d < Dim; ++d) put(work, kNormal + d, x, face.normal[static_cast<std::size_t>(d)]);
            put(work, kHalf, x, face.half);
            if (moves_) put(work, kSpeed, x, face.over * load(row.speed, row.i + x, row.j, row.k, 0, n));
        });
    }

    /// The states on both sides of the faces.
    void extrapolate(const Row& row, double* work) const {
        if (scheme_.muscl.first_order) {
            for (int c = 0; c < Dim + 2; ++c)
                for (int x = 0; x < row.count; x += kLanes)
                    put(work, kLeft + c, x, get(row.m1, c, x)), put(work, kRight + c, x, get(row.p0, c, x));
            return;
        }
        switch (scheme_.muscl.limiter) {
            case Limiter::none:
                return limited<Limiter::none>(row, work);
            case Limiter::minmod:
                return limited<Limiter::minmod>(row, work);
            case Limiter::van_albada:
                return limited<Limiter::van_albada>(row, work);
            case Limiter::van_leer:
                break;
        }
        limited<Limiter::van_leer>(row, work);
    }
    template <Limiter limiter>
    [[gnu::flatten, gnu::noinline]] void limited(const Row& row, double* work) const {
        const double *m2 = row.m2, *m1 = row.m1, *p0 = row.p0, *p1 = row.p1;
        const double kappa = scheme_.muscl.kappa;
        for (int x = 0; x < row.count; x += kLanes) {
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
                    put(work, side + c, x, select(possible, state[c], get(own, c, x)));
                const W rho = select(possible, state[kRho], get(own, kRho, x));
                put(work, side + kRho, x, rho);
                return rho;
            };
            const W rho_left = keep(kLeft, left, m1), rho_right = keep(kRight, right, p0);
            if constexpr (kWeighsAtOnce) weigh(rho_left, rho_right, x, work);
        }
    }

    /// Roots and quotients of weights go on beside other work where a row's loop has registers enough.
    static constexpr bool kWeighsAtOnce = kRegisterLanes == kLanes;
    static void weigh(const W& left, const W& right, int x, double* work) {
        const RoeWeights<W> by(left, right);
        put(work, kRoot, x, by.root), put(work, kWeight, x, by.left);
        put(work, kWeight + 1, x, by.left_rho), put(work, kWeight + 2, x, by.right_rho);
    }
    [[gnu::flatten, gnu::noinline]] static void weigh(int count, double* work) {
        for (int x = 0; x < count; x += kLanes)
            weigh(get(work, kLeft + kRho, x), get(work, kRight + kRho, x), x, work);
    }

    /// Roe's means of the states on both sides.
    [[gnu::flatten, gnu::noinline]] void means(int count, double* work) const {
        const double gamma = scheme_.gas.gamma;
        for (int x = 0; x < count; x += kLanes) {
            const Primitive<Dim, W> l = beside(work, kLeft, x), r = beside(work, kRight, x);
            const W l_H = enthalpy(l, gamma), r_H = enthalpy(r, gamma);
            const RoeWeights<W> by{get(work, kRoot, x), get(work, kWeight, x), get(work, kWeight + 1, x),
                                   get(work, kWeight + 2, x)};
            const RoeMean<Dim, W> mean(l, r, l_H, r_H, by, gamma);
            put(work, kLeftH, x, l_H), put(work, kRightH, x, r_H);
            for (int d = 0; d < Dim; ++d) put(work, kMean + d, x, mean.u[static_cast<std::size_t>(d)]);
            put(work, kMeanH, x, mean.H);
            put(work, kSound, x, mean.a), put(work, kOver, x, mean.half_over_a2);
        }
    }

    template <bool moves>
    [[gnu::flatten, gnu::noinline]] void fluxes(int count, const double* work, double* to) const {
        for (int x = 0; x < count; x += kLanes) {
            const RoeMean<Dim, W> mean = [&] {
                RoeMean<Dim, W> m;
                m.u = vector(work, kMean, x), m.H = get(work, kMeanH, x);
                m.a = get(work, kSound, x), m.half_over_a2 = get(work, kOver, x);
                return m;
            }();
            W speed{};
            if constexpr (moves) speed = get(work, kSpeed, x);
            const Conserved<Dim, W> f = roe_flux<Dim, W, moves>(
                beside(work, kLeft, x), beside(work, kRight, x), get(work, kLeftH, x), get(work, kRightH, x),
                get(work, kRoot, x), mean, vector(work, kNormal, x), get(work, kHalf, x), scheme_.entropy_fix,
                scheme_.low_mach, speed);
            store(to + x, f.rho);
            for (std::size_t d = 0; d < D; ++d) store(to + (static_cast<int>(d) + 1) * kWidth + x, f.m[d]);
            store(to + (Dim + 1) * kWidth + x, f.E);
        }
    }

    const Scheme& scheme_;
    const bool moves_;
};

}  // namespace strata::flow
