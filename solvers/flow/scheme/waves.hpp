// The matrices of a face for an implicit step: (A . S +- |A . S|) / 2 of a cell's state, and the Jacobian of
// viscous fluxes across a thin layer. In lanes.
//
// A . S and |A . S| are sums of a multiple of the identity and of two columns times two rows:
//   s 1 + r1 (alpha p + beta f)' + r2 (beta p + delta f)',   r1 = (1, u, H),  r2 = (0, n, u . n),
// p and f being the rows that take dq to the change of the pressure and of rho u . n. So a product costs
// little more than dq itself, and the sum over the faces of a cell has one r1 and one p.
#pragma once

#include <array>
#include <cstddef>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

/// Changes of rho, rho u, rho E.
template <int Dim>
using Column = std::array<Lanes, static_cast<std::size_t>(Dim) + 2>;

/// What a cell gives to the matrices of its faces.
template <int Dim>
struct WaveCell {
    Vector<Dim, Lanes> u;
    Lanes H, E, a, half_square;
    Lanes heat, momentum;  // viscosities (Diagonals::viscosity)
};

/// |lambda| of no wave is below a hundredth of the largest.
template <int Dim>
class Waves {
    static constexpr std::size_t D = Dim, N = Dim + 2;

  public:
    /// way: 1 or -1; 0 for |A . S| / 2. `swept`: by a face that moves (Patch::speeds): A . S - swept then.
    Waves(const WaveCell<Dim>& cell, const Vector<Dim, Lanes>& s, int way, const Lanes& swept = Lanes{}) {
        square_ = dot(s, s);
        const Lanes over = over_root(max(square_, broadcast(1e-300))), half = 0.5 * square_ * over;
        half_size_ = half;
        for (std::size_t d = 0; d < D; ++d) n_[d] = s[d] * over;
        through_ = dot(cell.u, n_);
        slower_ = through_ - swept * over;
        const Lanes a = cell.a, size = abs(slower_), least = 0.01 * (size + a), over_a = 1.0 / a;
        const Lanes still = max(size, least), up = max(abs(slower_ + a), least),
                    down = max(abs(slower_ - a), least);
        const Lanes mean = 0.5 * (up + down) - still, skew = 0.5 * (up - down) * over_a;
        const double sign = way < 0 ? -1 : 1, plain = way == 0 ? 0 : 1;
        s_ = half * (plain * slower_ + sign * still);
        alpha_ = half * (sign * mean * over_a * over_a);
        beta_ = half * (plain + sign * skew);
        delta_ = half * (sign * mean);
    }

    /// ((A . S +- |A . S|) / 2) dq.
    [[nodiscard]] Column<Dim> times(const WaveCell<Dim>& cell, double g1, const Column<Dim>& dq) const {
        Lanes p = cell.half_square * dq[0] + dq[D + 1], f = -through_ * dq[0];
        for (std::size_t d = 0; d < D; ++d) p -= cell.u[d] * dq[d + 1], f += n_[d] * dq[d + 1];
        p *= g1;
        const Lanes one = alpha_ * p + beta_ * f, two = beta_ * p + delta_ * f;
        Column<Dim> sum;
        sum[0] = s_ * dq[0] + one;
        for (std::size_t d = 0; d < D; ++d) sum[d + 1] = s_ * dq[d + 1] + one * cell.u[d] + two * n_[d];
        sum[D + 1] = s_ * dq[D + 1] + one * cell.H + two * through_;
        return sum;
    }
    /// Half of |u . S| + a |S|.
    [[nodiscard]] Lanes half_radius(const WaveCell<Dim>& cell) const {
        return half_size_ * (abs(slower_) + cell.a);
    }
    /// |S|^2 and S / |S|.
    [[nodiscard]] const Lanes& square() const { return square_; }
    [[nodiscard]] const Vector<Dim, Lanes>& normal() const { return n_; }

  private:
    template <int>
    friend class WaveSum;
    Vector<Dim, Lanes> n_;
    Lanes square_, half_size_, through_, slower_, s_, alpha_, beta_, delta_;
};

/// The sum of the matrices of faces for one cell.
template <int Dim>
class WaveSum {
    static constexpr std::size_t D = Dim, N = Dim + 2;

  public:
    void add(const Waves<Dim>& w) {
        s_ += w.s_, alpha_ += w.alpha_;
        const Lanes dn = w.delta_ * w.through_;
        f_[0] -= w.beta_ * w.through_, energy_ += w.beta_ * w.through_;
        still_ += dn * w.through_;
        for (std::size_t d = 0; d < D; ++d) {
            const Lanes b = w.beta_ * w.n_[d], n = w.delta_ * w.n_[d];
            f_[d + 1] += b;
            mixed_[d] += dn * w.n_[d];
            for (std::size_t e = d; e < D; ++e) normal_[d][e] += n * w.n_[e];
        }
    }
    /// Adds the sum to M.
    void add_to(Lanes (&M)[N][N], const WaveCell<Dim>& cell, double g1) const {
        Column<Dim> p, row;
        p[0] = g1 * cell.half_square, p[D + 1] = broadcast(g1);
        for (std::size_t d = 0; d < D; ++d) p[d + 1] = -g1 * cell.u[d];
        for (std::size_t c = 0; c < N; ++c) row[c] = alpha_ * p[c] + (c <= D ? f_[c] : Lanes{});
        for (std::size_t c = 0; c < N; ++c) {
            M[0][c] += row[c];
            for (std::size_t d = 0; d < D; ++d) M[d + 1][c] += cell.u[d] * row[c] + f_[d + 1] * p[c];
            M[D + 1][c] += cell.H * row[c] + energy_ * p[c];
            M[c][c] += s_;
        }
        for (std::size_t d = 0; d < D; ++d) {
            M[d + 1][0] -= mixed_[d], M[D + 1][d + 1] += mixed_[d];
            for (std::size_t e = 0; e < D; ++e) M[d + 1][e + 1] += d <= e ? normal_[d][e] : normal_[e][d];
        }
        M[D + 1][0] -= still_;
    }

  private:
    Lanes s_{}, alpha_{}, energy_{}, still_{};
    std::array<Lanes, D + 1> f_{};  // beta f, and beta r2
    Vector<Dim, Lanes> mixed_{};    // delta (u . n) n
    Lanes normal_[D][D] = {};       // delta n n', above the diagonal
};

/// What friction and heat conduction take away of dq through a face of area 1 and out of a volume of 1.
template <int Dim>
Column<Dim> conducted(const WaveCell<Dim>& cell, const Column<Dim>& dq) {
    constexpr std::size_t D = Dim;
    Column<Dim> sum;
    Lanes work{}, heat = dq[D + 1] - cell.E * dq[0];
    sum[0] = Lanes{};
    for (std::size_t d = 0; d < D; ++d) {
        const Lanes faster = dq[d + 1] - cell.u[d] * dq[0];
        sum[d + 1] = cell.momentum * faster;
        work += cell.u[d] * sum[d + 1];
        heat -= cell.u[d] * faster;
    }
    sum[D + 1] = work + cell.heat * heat;
    return sum;
}
/// Adds `by` times that as a matrix.
template <int Dim>
void add_conduction(Lanes (&M)[Dim + 2][Dim + 2], const WaveCell<Dim>& cell, const Lanes& by) {
    constexpr std::size_t D = Dim;
    const Lanes friction = by * cell.momentum, heat = by * cell.heat, work = friction - heat;
    for (std::size_t d = 0; d < D; ++d) {
        M[d + 1][0] -= friction * cell.u[d];
        M[d + 1][d + 1] += friction;
        M[D + 1][d + 1] += work * cell.u[d];
    }
    M[D + 1][0] -= heat * cell.E + 2.0 * work * cell.half_square;
    M[D + 1][D + 1] += heat;
}

}  // namespace strata::flow
