#include "solvers/md/potentials/eam_pass.hpp"

#include "solvers/md/potentials/visit.hpp"

namespace strata::md {

void add_densities(const Pairs& pairs, const Sight& sight, const Eam& eam, double* rho) {
    visit(pairs, sight, eam.cutoff(), [&](const NearPair& pair) {
        const double r = std::sqrt(pair.square);
        rho[pair.i] += eam.density(pair.b).value(r);
        rho[pair.j] += eam.density(pair.a).value(r);
    });
}

double embed(const Eam& eam, const std::int32_t* species, const double* rho, std::int64_t count,
             double* slopes) {
    double energy = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const KnotFunction::Value f = eam.embedding(species == nullptr ? 0 : species[i], rho[i]);
        energy += f.y;
        slopes[i] = f.slope;
    }
    return energy;
}

Sums add_eam_forces(const Pairs& pairs, const Sight& sight, const Eam& eam, const double* slopes,
                    double* const f[3]) {
    Sums sums;
    visit(pairs, sight, eam.cutoff(), [&](const NearPair& pair) {
        const double r = std::sqrt(pair.square);
        const KnotFunction::Value phi = eam.pair(pair.a, pair.b, r);
        const double change = phi.slope + slopes[pair.i] * eam.density(pair.b)(r).slope +
                              slopes[pair.j] * eam.density(pair.a)(r).slope;
        sums.energy += phi.y;
        pair.pull(-change / r, f, sums);
    });
    return sums;
}

}  // namespace strata::md
