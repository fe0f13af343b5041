// The pairs of a patch, and when they are pruned.
#pragma once

#include <cstdint>
#include <vector>

#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

/// From one rebuild to the next. Between these the list is pruned to what is near now: what is left out adds
/// nothing, so results do not depend on it, and a restart need not know of it.
class Neighbours {
  public:
    /// Keeps the kinds of atoms, where there are several.
    void build(const Sight& sight, double reach);
    /// `way`: a bound of how far any atom has moved since the rebuild, and half of what the cutoff has grown.
    /// `margin`: pairs up to cutoff + margin are kept, until two atoms may have come nearer by as much; 0: no
    /// pruning.
    Sums forces(const Sight& sight, const LennardJones& potential, Precision precision, bool sums,
                double* const f[3], double way, double margin) const;
    /// The pairs, for potentials without a kernel: pruned as for forces().
    [[nodiscard]] const Pairs& near(const Sight& sight, double cutoff, double way, double margin) const {
        if (margin > 0) prune_when_due(sight, cutoff, way, margin);
        return pairs_;
    }
    /// Of own atoms and of the halo's; none: all are of the first kind.
    [[nodiscard]] const std::int32_t* species() const { return species_.empty() ? nullptr : species_.data(); }
    [[nodiscard]] std::size_t bytes() const;

  private:
    void prune_when_due(const Sight& sight, double cutoff, double way, double margin) const;

    std::vector<std::int32_t> species_;
    mutable Pairs pairs_;
    mutable std::vector<std::uint32_t> at_[3];  // positions at the last pruning, in kUnit
    mutable double way_ = -1;                   // and `way` then; -1: not pruned since the rebuild
    mutable double cutoff_ = 0;                 // then; in a box that shrinks it grows beside it
};

}  // namespace strata::md
