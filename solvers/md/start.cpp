#include "solvers/md/start.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/particles/random.hpp"

namespace strata::md {

using namespace particles;

namespace {

/// In units of half a cell.
constexpr int kBasis[4][3] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
constexpr int kBodyCentre[3] = {1, 1, 1};

int half(const Settings& s, int b, std::size_t a) {
    return s.lattice == "bcc" && b == 1 ? kBodyCentre[a] : kBasis[b][a];
}

Real3 velocity(const Settings& s, std::int64_t id, std::size_t kind) {
    const std::array<double, 4> all = normal(dice(id, 0, static_cast<std::uint32_t>(s.seed), 0));
    const double speed = std::sqrt(s.units->velocity2_of(s.temperature, s.kinds[kind].mass));
    return {speed * all[0], speed * all[1], speed * all[2]};
}

}  // namespace

namespace {

/// A share of the file's atoms: relocation brings them to where they are.
std::vector<Atom> atoms_of_file(const Settings& s, const graph::Grid& grid, int patch) {
    std::vector<Atom> all;
    for (const AtomRow& row : s.state->piece(patch, grid.patches()))
        all.push_back({row.id, row.x,
                       s.makes_velocities() ? velocity(s, row.id, static_cast<std::size_t>(row.kind)) : row.v,
                       row.kind});
    return all;
}

}  // namespace

std::vector<Atom> atoms_of(const Settings& s, const graph::Grid& grid, int patch) {
    if (s.state) return atoms_of_file(s, grid, patch);
    const double a = s.spacing();
    const graph::Box own = grid.box(patch);
    const Real3& h = grid.shape().spacing;
    Real3 corner{}, lo{}, hi{};  // of the lattice; of the patch
    std::int64_t first[3], last[3];
    for (std::size_t d = 0; d < 3; ++d) {
        // Larger boxes have the lattice in their middle. A quarter of a cell from the border, no atom is on
        // it.
        corner[d] = (s.length[d] - static_cast<double>(s.cells[d]) * a) / 2 + a / 4;
        if (!s.shift_by.empty()) corner[d] += s.shift_by[d];
        lo[d] = own.lo[d] * h[d], hi[d] = own.hi[d] * h[d];
        first[d] =
            std::max(std::int64_t{0}, static_cast<std::int64_t>(std::floor((lo[d] - corner[d]) / a)) - 1);
        last[d] =
            std::min(s.cells[d] - 1, static_cast<std::int64_t>(std::floor((hi[d] - corner[d]) / a)) + 1);
    }
    // The same arithmetic as in a relocation: the cell of a place within the patch, -1 outside.
    const auto cell_of = [&](const Real3& x) {
        std::int64_t key = 0;
        for (std::size_t d = 3; d-- > 0;) {
            const double cell = std::floor(x[d] * (1.0 / h[d]));
            if (cell < own.lo[d] || cell >= own.hi[d]) return std::int64_t{-1};
            key = key * own.extent(static_cast<int>(d)) + static_cast<std::int64_t>(cell) - own.lo[d];
        }
        return key;
    };
    const auto in_sphere = [&](const Real3& x) {
        double square = 0;
        for (std::size_t d = 0; d < 3; ++d)
            square += std::pow(x[d] - s.length[d] / 2 - (s.shift_by.empty() ? 0 : s.shift_by[d]), 2);
        return s.sphere == 0 || square <= s.sphere * s.sphere;
    };
    std::vector<std::pair<std::int64_t, Atom>> found;  // by cell
    for (std::int64_t k = first[2]; k <= last[2]; ++k)
        for (std::int64_t j = first[1]; j <= last[1]; ++j)
            for (std::int64_t i = first[0]; i <= last[0]; ++i)
                for (int b = 0; b < s.basis(); ++b) {
                    const std::int64_t at[3] = {i, j, k};
                    Atom atom{((k * s.cells[1] + j) * s.cells[0] + i) * s.basis() + b, {}, {}};
                    for (std::size_t d = 0; d < 3; ++d)
                        atom.x[d] = corner[d] + (static_cast<double>(at[d]) + 0.5 * half(s, b, d)) * a;
                    const std::int64_t cell = cell_of(atom.x);
                    if (cell < 0 || !in_sphere(atom.x)) continue;
                    atom.v = velocity(s, atom.id, 0);
                    found.emplace_back(cell, atom);
                }
    std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
        return std::pair(one.first, one.second.id) < std::pair(other.first, other.second.id);
    });
    std::vector<Atom> all;
    for (const auto& [cell, atom] : found) all.push_back(atom);
    return all;
}

double way_to_middle(const Settings& s) {
    double least = HUGE_VAL;
    for (int b = 0; b < s.basis(); ++b) {
        double square = 0;
        for (std::size_t d = 0; d < 3; ++d) {
            // In cells from the middle; sites are a quarter of one from the border.
            const double first = 0.25 + 0.5 * half(s, b, d), middle = 0.5 * static_cast<double>(s.cells[d]);
            const double cell =
                std::clamp(std::round(middle - first), 0.0, static_cast<double>(s.cells[d] - 1));
            square += std::pow(first + cell - middle, 2);
        }
        least = std::min(least, std::sqrt(square) * s.spacing());
    }
    return least;
}

}  // namespace strata::md
