// The pairs of atoms of one patch that are near each other, and the Lennard-Jones forces between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "solvers/md/pair/clusters.hpp"

namespace strata::md {

/// What a patch sees: its own atoms first, those in its halo behind them. An array for each direction.
struct Sight {
    const double* x[3] = {};
    const std::int32_t* species = nullptr;  ///< none: all are species 0
    std::int64_t own = 0, all = 0;
    bool scattered = false;  ///< some may be far from all others: floats are relative to the median
};

/// mixed: a pair's arithmetic and an atom's force within its patch in float, on positions relative to the
/// middle of the patch; sums over patches, energy and virial in double. full: all in double.
enum class Precision { mixed, full };

/// none: truncated. energy: the potential is shifted to 0 at the cutoff. force: the force is, too, by a
/// linear term of the potential.
enum class Shift { none, energy, force };

/// Between species a and b, at [a * species + b]: 4 epsilon ((sigma / r)^12 - (sigma / r)^6) up to the
/// cutoff.
struct LennardJones {
    int species = 1;
    std::vector<double> epsilon, sigma, cutoff;
    Shift shift = Shift::energy;
};

/// virial: the sum over pairs of r f, of xx yy zz xy xz yz.
struct Sums {
    double energy = 0;
    double virial[6] = {};
};

/// The pairs of one patch, kept from one rebuild to the next: for each eight atoms, the clusters of four that
/// are near one of them. Forces do not depend on when the list was pruned, to the last bit: what pruning
/// leaves out adds zeros.
class Pairs {
  public:
    /// All pairs closer than `reach` (largest cutoff + skin). counts[k]: whether those of own atoms with the
    /// halo's atom own + k belong to this patch; halo atoms have no pairs with each other.
    void build(const Sight& sight, std::span<const std::uint8_t> counts, double reach);
    /// Keeps, until the next pruning, to those closer than `inner` (the cutoff and what atoms move until
    /// then) at present. It starts from all pairs of the rebuild each time.
    void prune(const Sight& sight, double inner);
    /// Adds the forces of these to f, of own atoms and of the halo's. Energy and virial where `sums` says so.
    Sums forces(const Sight& sight, const LennardJones& potential, Precision precision, bool sums,
                double* const f[3]) const;
    /// Calls each(i, j) once for every pair that was closer than `inner` at the last pruning (than `reach` at
    /// the rebuild, when there was none since), and for others that lie in the same clusters: their
    /// distance is for the caller to see.
    template <class Each>
    void for_each(Each each) const;
    [[nodiscard]] std::size_t bytes() const;

    /// Clusters near each eight atoms (kWhich). Pairs within the eight are not listed.
    struct List {
        std::vector<std::uint32_t> entries;
        std::vector<std::uint32_t> begin;  ///< of each eight
        [[nodiscard]] std::span<const std::uint32_t> of(std::size_t eight) const {
            return std::span(entries).subspan(begin[eight], begin[eight + 1] - begin[eight]);
        }
    };
    [[nodiscard]] const List& list() const { return pruned_ ? inner_ : outer_; }
    [[nodiscard]] const Clusters& own() const { return own_; }
    [[nodiscard]] const Clusters& halo() const { return halo_; }
    [[nodiscard]] const std::array<double, 3>& origin() const { return origin_; }
    /// Where slots without an atom are, farther from all others than any reach.
    [[nodiscard]] double away() const { return away_; }

  private:
    [[nodiscard]] std::int32_t atom(std::uint32_t slot) const {
        const std::size_t own = own_.atoms().size();
        return slot < own ? own_.atoms()[slot] : halo_.atoms()[slot - own];
    }

    Clusters own_, halo_;
    std::array<double, 3> origin_ = {};
    double away_ = 0, rounding_ = 0;
    List outer_, inner_;
    bool pruned_ = false;
};

template <class Each>
void Pairs::for_each(Each each) const {
    for (std::uint32_t eight = 0; eight + 1 < list().begin.size(); ++eight) {
        std::int32_t of[kPair];
        for (std::uint32_t i = 0; i < kPair; ++i) of[i] = atom(kPair * eight + i);
        for (int i = 0; i < kPair; ++i)
            for (int j = i + 1; j < kPair; ++j)
                if (of[i] >= 0 && of[j] >= 0) each(of[i], of[j]);
        for (const std::uint32_t entry : list().of(eight))
            for (std::uint32_t j = 0; j < kCluster; ++j) {
                const std::int32_t other = atom(entry / kWhich * kCluster + j);
                if (other < 0) continue;
                for (int i = 0; i < kPair; ++i)
                    if ((entry >> i / 2 & 1U) != 0 && of[i] >= 0) each(of[i], other);
            }
    }
}

}  // namespace strata::md
