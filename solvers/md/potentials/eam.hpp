// The embedded-atom method (M. S. Daw, M. I. Baskes, Phys. Rev. B 29 (1984) 6443):
//
//   E = sum_i F_i(rho_i) + sum_{i<j} phi_ij(r_ij),   rho_i = sum_{j != i} f_j(r_ij)
//
// from tables of F, f and r phi in the form "DYNAMO setfl" (LAMMPS's pair_style eam/alloy;
// https://docs.lammps.org/pair_eam.html). Forces need F' of both atoms of a pair, so a step has two passes
// over the pairs, and something between atoms in between: eam_pass.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace strata::md {

/// A function on equidistant knots 0, step, 2 step ...: cubic pieces with given slopes at the knots. The
/// slopes are those of the polynomial through five knots (of two at the ends, of three beside them), as the
/// users of such files take them: S. M. Foiles, M. I. Baskes, M. S. Daw, Phys. Rev. B 33 (1986) 7983 and
/// their program DYNAMO. Between knots k and k + 1, with t = x / step - k:
///   y = y_k + m_k t + (3 D - 2 m_k - m_{k+1}) t^2 + (m_k + m_{k+1} - 2 D) t^3,  D = y_{k+1} - y_k
class KnotFunction {
  public:
    struct Value {
        double y, slope;
    };
    KnotFunction() = default;
    /// At least five values.
    KnotFunction(const std::vector<double>& values, double step);

    /// Beyond the last knot: the value and slope there.
    [[nodiscard]] Value operator()(double x) const {
        const Piece* piece = nullptr;
        const double t = find(x, piece);
        return {((piece->c3 * t + piece->c2) * t + piece->c1) * t + piece->c0,
                ((3 * piece->c3 * t + 2 * piece->c2) * t + piece->c1) * per_step_};
    }
    /// Adds c0 to c3 of each piece.
    void add_rows(std::vector<double>& rows) const {
        for (const Piece& p : pieces_) rows.insert(rows.end(), {p.c0, p.c1, p.c2, p.c3});
    }
    /// The last knot.
    [[nodiscard]] double end() const { return static_cast<double>(pieces_.size()) * step_; }

  private:
    struct Piece {
        double c0, c1, c2, c3;
    };
    double find(double x, const Piece*& piece) const {
        const double knots = x * per_step_;
        const auto last = static_cast<std::int64_t>(pieces_.size()) - 1;
        // As clamped; a number that no integer holds, and none, is the last.
        const std::int64_t k = !(knots < static_cast<double>(last)) ? last
                               : knots > 0                          ? static_cast<std::int64_t>(knots)
                                                                    : 0;
        piece = &pieces_[static_cast<std::size_t>(k)];
        return std::min(knots - static_cast<double>(k), 1.0);
    }
    std::vector<Piece> pieces_;
    double step_ = 1, per_step_ = 1;
};

/// The potential of the kinds of atoms of a case. Immutable.
class Eam {
  public:
    /// `elements`: of each kind, a name that the file has. Throws Error with file and line.
    static Eam read(const std::filesystem::path& setfl, const std::vector<std::string>& elements);

    [[nodiscard]] double cutoff() const { return cutoff_; }
    /// Of each kind, in g/mol.
    [[nodiscard]] const std::vector<double>& masses() const { return masses_; }
    /// F and F'; beyond the last knot by a straight line, as LAMMPS.
    [[nodiscard]] KnotFunction::Value embedding(std::int32_t kind, double rho) const;

    [[nodiscard]] std::int64_t kinds() const { return static_cast<std::int64_t>(elements_.size()); }
    /// Functions of the distance, as KnotFunction has them, by rows of four coefficients: rows() of each kind
    /// with what its atoms add to rho, and of each pair of kinds (at a * kinds() + b) with r phi.
    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] double per_step() const { return per_step_; }
    [[nodiscard]] const double* density_rows() const { return density_rows_.data(); }
    [[nodiscard]] const double* pair_rows() const { return pair_rows_.data(); }

  private:
    double cutoff_ = 0, per_step_ = 0;
    std::int64_t rows_ = 0;
    std::vector<std::size_t> elements_;  // of each kind, in the file
    std::vector<double> masses_;
    std::vector<KnotFunction> embeddings_;  // of each element
    std::vector<double> density_rows_, pair_rows_;
};

}  // namespace strata::md
