// Energy, virial and forces of atoms in a periodic box, by the pair kernels alone. Read are
//   LX LY LZ   none|energy|force   full|mixed   SPECIES
//   epsilon, sigma, cutoff of each pair of species   (SPECIES * SPECIES lines)
//   ATOMS
//   species x y z   (from 0)
// Printed: the energy; xx yy zz xy xz yz; a line for each force.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "solvers/md/pair/pairs.hpp"

using namespace strata::md;

int main() {
    double edge[3];
    std::string shift, precision;
    LennardJones potential;
    std::cin >> edge[0] >> edge[1] >> edge[2] >> shift >> precision >> potential.species;
    potential.shift = shift == "none" ? Shift::none : shift == "energy" ? Shift::energy : Shift::force;
    for (int pair = 0; pair < potential.species * potential.species; ++pair) {
        double epsilon, sigma, cutoff;
        std::cin >> epsilon >> sigma >> cutoff;
        potential.epsilon.push_back(epsilon), potential.sigma.push_back(sigma);
        potential.cutoff.push_back(cutoff);
    }
    std::int64_t count = 0;
    std::cin >> count;
    std::vector<double> x[3];
    std::vector<std::int32_t> species(static_cast<std::size_t>(count));
    for (auto& axis : x) axis.resize(species.size());
    for (std::size_t i = 0; i < species.size(); ++i) {
        std::cin >> species[i];
        for (int c : {0, 1, 2}) {
            std::cin >> x[c][i];
            x[c][i] -= edge[c] * std::floor(x[c][i] / edge[c]);
        }
    }
    if (!std::cin) return std::fputs("md_forces: not what is read\n", stderr), 2;
    const double reach = *std::max_element(potential.cutoff.begin(), potential.cutoff.end()) + 0.2;

    // Images within reach of the box. Those of half of all directions count, so that each pair does once.
    std::vector<std::size_t> of;
    std::vector<std::uint8_t> counts;
    for (int a = -1; a <= 1; ++a)
        for (int b = -1; b <= 1; ++b)
            for (int c = -1; c <= 1; ++c)
                for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                    const double at[] = {x[0][i] + a * edge[0], x[1][i] + b * edge[1], x[2][i] + c * edge[2]};
                    bool near = a != 0 || b != 0 || c != 0;
                    for (int d : {0, 1, 2}) near = near && at[d] > -reach && at[d] < edge[d] + reach;
                    if (!near) continue;
                    of.push_back(i);
                    counts.push_back(a > 0 || (a == 0 && (b > 0 || (b == 0 && c > 0))) ? 1 : 0);
                    for (int d : {0, 1, 2}) x[d].push_back(at[d]);
                    species.push_back(species[i]);
                }
    std::vector<double> f[3];
    for (auto& axis : f) axis.resize(species.size());
    const Sight sight{.x = {x[0].data(), x[1].data(), x[2].data()},
                      .species = species.data(),
                      .own = count,
                      .all = static_cast<std::int64_t>(species.size())};
    Pairs pairs;
    pairs.build(sight, counts, reach);
    double* const forces[] = {f[0].data(), f[1].data(), f[2].data()};
    const Sums sums = pairs.forces(sight, potential, precision == "full" ? Precision::full : Precision::mixed,
                                   true, forces);
    for (std::size_t k = 0; k < of.size(); ++k)
        for (auto& axis : f) axis[of[k]] += axis[static_cast<std::size_t>(count) + k];
    std::printf("%.17g\n", sums.energy);
    for (const double part : sums.virial) std::printf("%.17g ", part);
    std::printf("\n");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        std::printf("%.17g %.17g %.17g\n", f[0][i], f[1][i], f[2][i]);
}
