// Random domains, and random divisions of them into turned zones.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tests/graph/declare/grids.hpp"
#include "tests/graph/solvers/stencils.hpp"

namespace strata::tests {

using graph::Axes;

inline Axes any_axes(std::mt19937_64& random) {
    std::array<int, 3> axes{1, 2, 3};
    std::shuffle(axes.begin(), axes.end(), random);
    Axes signs{};
    for (std::size_t a = 0; a < 3; ++a)
        signs[a] = static_cast<std::int8_t>(pick(random, 0, 1) == 0 ? axes[a] : -axes[a]);
    return signs;
}

/// A domain in parts of any size, each turned anyhow and in patches of any size.
inline std::vector<ZonePart> any_parts(std::mt19937_64& random, const Box& domain, int count) {
    std::vector<ZonePart> parts;
    for (const Box& cells : cut(random, domain, count)) {
        ZonePart part{cells, any_axes(random), {}, {}};
        for (std::size_t a = 0; a < 3; ++a) {
            part.first[a] = pick(random, -9, 9);
            part.patch_cells[a] = pick(random, 1, 5);
        }
        parts.push_back(part);
    }
    return parts;
}

inline Domain any_domain(std::mt19937_64& random) {
    Domain domain;
    for (std::size_t a = 0; a < 3; ++a) {
        domain.cells.lo[a] = pick(random, -3, 3);
        domain.cells.hi[a] = domain.cells.lo[a] + pick(random, 1, 7);
        domain.periodic[a] = pick(random, 0, 2) == 0;
    }
    return domain;
}

}  // namespace strata::tests
