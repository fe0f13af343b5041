#include "solvers/md/potentials/species.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace strata::md {

LennardJones mixed(const std::vector<Species>& kinds, Mixing rule, double cutoff, Shift shift,
                   const std::vector<ExplicitPair>& pairs) {
    const std::size_t n = kinds.size();
    LennardJones table{static_cast<int>(n), std::vector<double>(n * n), std::vector<double>(n * n),
                       std::vector<double>(n * n, cutoff), shift};
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
            const Species &k = kinds[a], &l = kinds[b];
            const bool same = a == b;  // sqrt(e e) may differ from e in the last bit
            const double middle =
                rule == Mixing::geometric ? std::sqrt(k.sigma * l.sigma) : (k.sigma + l.sigma) / 2;
            table.epsilon[a * n + b] = same ? k.epsilon : std::sqrt(k.epsilon * l.epsilon);
            table.sigma[a * n + b] = same ? k.sigma : middle;
        }
    std::vector<std::size_t> seen;
    for (const ExplicitPair& pair : pairs) {
        const std::string text = fmt::format("{} and {}", pair.a + 1, pair.b + 1);
        if (pair.a >= n || pair.b >= n)
            throw Error("a pair names a kind of atoms that is not there")
                .given(text)
                .allowed(fmt::format("1 to {}", n));
        const std::size_t place = std::min(pair.a, pair.b) * n + std::max(pair.a, pair.b);
        if (std::find(seen.begin(), seen.end(), place) != seen.end())
            throw Error("a pair of kinds is given twice").given(text).allowed("each pair once");
        seen.push_back(place);
        for (const std::size_t at : {pair.a * n + pair.b, pair.b * n + pair.a}) {
            table.epsilon[at] = pair.epsilon;
            table.sigma[at] = pair.sigma;
            if (pair.cutoff > 0) table.cutoff[at] = pair.cutoff;
        }
    }
    return table;
}

double largest_cutoff(const LennardJones& pairs) {
    return pairs.cutoff.empty() ? 0 : *std::max_element(pairs.cutoff.begin(), pairs.cutoff.end());
}

}  // namespace strata::md
