// strata-md-evaluate: energy, virial and forces of atoms that another program has, for as long as it asks.
// python/strata/md/evaluate.py starts it. Read are lines, and numbers as the machine has them behind them:
//   lj none|energy|force full|mixed SPECIES      then epsilon, sigma, cutoff of each pair of species (double)
//   eam SPECIES NAME... FILE
//   atoms N PX PY PZ                             then the cell (3 rows), positions (double), species (int32)
// P: 1 where the cell is repeated in that direction. Each `atoms` is answered by doubles: the energy; the
// virial, xx yy zz xy xz yz; N forces.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "methods/geometry/points.hpp"
#include "solvers/md/pair/pairs.hpp"
#include "solvers/md/potentials/eam_pass.hpp"
#include "solvers/md/potentials/species.hpp"

namespace strata::md {

namespace {

constexpr double kRoom = 0.01;  // of the cutoff: lists reach so much farther than forces

template <class Value>
void read(std::vector<Value>& values) {
    if (!std::cin.read(reinterpret_cast<char*>(values.data()),
                       static_cast<std::streamsize>(values.size() * sizeof(Value))))
        throw Error("the input ends before its numbers do")
            .allowed(fmt::format("{} bytes more", values.size() * sizeof(Value)));
}
template <class Value>
void write(const std::vector<Value>& values) {
    std::fwrite(values.data(), sizeof(Value), values.size(), stdout);
}

using Vector = std::array<double, 3>;
using geometry::cross;
using geometry::dot;

/// A cell by its three edges, which need not be at right angles.
struct Cell {
    std::array<Vector, 3> edges, inverse;  // dot(inverse[d], x): the coordinate of x along edge d
    std::array<bool, 3> periodic;
    explicit Cell(const std::vector<double>& rows, std::array<bool, 3> repeated) : periodic(repeated) {
        for (std::size_t d = 0; d < 3; ++d) edges[d] = {rows[3 * d], rows[3 * d + 1], rows[3 * d + 2]};
        const double volume = dot(edges[0], cross(edges[1], edges[2]));
        if (!(std::abs(volume) > 0))
            throw Error("the cell has no volume").allowed("three edges that are in no plane");
        for (std::size_t d = 0; d < 3; ++d) {
            inverse[d] = cross(edges[(d + 1) % 3], edges[(d + 2) % 3]);
            for (double& each : inverse[d]) each /= volume;
        }
    }
    /// How far apart the two faces are that edge d joins.
    [[nodiscard]] double height(std::size_t d) const { return 1 / std::sqrt(dot(inverse[d], inverse[d])); }
};

/// Atoms of the cell, brought into it, and behind them their images within reach.
struct Seen {
    std::array<std::vector<double>, 3> x;
    std::vector<std::int32_t> species;
    std::vector<std::size_t> of;       // of each image: the atom
    std::vector<std::uint8_t> counts;  // whether its pairs do: those of one half of all directions
    Seen(const Cell& cell, const std::vector<double>& at, const std::vector<std::int32_t>& kinds,
         double reach)
        : species(kinds) {
        std::vector<Vector> along(kinds.size());  // coordinates along the edges
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            const Vector place{at[3 * i], at[3 * i + 1], at[3 * i + 2]};
            Vector moved = place;
            for (std::size_t d = 0; d < 3; ++d) {
                along[i][d] = dot(cell.inverse[d], place);
                const double cells = cell.periodic[d] ? std::floor(along[i][d]) : 0;
                along[i][d] -= cells;
                for (std::size_t c = 0; c < 3; ++c) moved[c] -= cells * cell.edges[d][c];
            }
            for (std::size_t c = 0; c < 3; ++c) x[c].push_back(moved[c]);
        }
        std::array<int, 3> most{};
        Vector margin{};
        for (std::size_t d = 0; d < 3; ++d) {
            margin[d] = reach / cell.height(d);
            most[d] = cell.periodic[d] ? static_cast<int>(std::ceil(margin[d])) : 0;
        }
        for (int a = -most[0]; a <= most[0]; ++a)
            for (int b = -most[1]; b <= most[1]; ++b)
                for (int c = -most[2]; c <= most[2]; ++c)
                    if (a != 0 || b != 0 || c != 0) add_images(cell, along, {a, b, c}, margin);
    }
    [[nodiscard]] Sight sight(std::size_t own) const {
        return {.x = {x[0].data(), x[1].data(), x[2].data()},
                .species = species.data(),
                .own = static_cast<std::int64_t>(own),
                .all = static_cast<std::int64_t>(species.size())};
    }

  private:
    void add_images(const Cell& cell, const std::vector<Vector>& along, std::array<int, 3> by,
                    const Vector& margin) {
        const bool half = by > std::array<int, 3>{0, 0, 0};
        for (std::size_t i = 0; i < along.size(); ++i) {
            bool near = true;
            for (std::size_t d = 0; d < 3; ++d) {
                const double place = along[i][d] + by[d];
                near = near && (!cell.periodic[d] || (place > -margin[d] && place < 1 + margin[d]));
            }
            if (!near) continue;
            of.push_back(i);
            counts.push_back(half ? 1 : 0);
            species.push_back(species[i]);
            for (std::size_t c = 0; c < 3; ++c)
                x[c].push_back(x[c][i] + by[0] * cell.edges[0][c] + by[1] * cell.edges[1][c] +
                               by[2] * cell.edges[2][c]);
        }
    }
};

struct Potential {
    std::optional<LennardJones> pairs;
    std::optional<Eam> eam;
    Precision precision = Precision::full;
    int species = 0;

    [[nodiscard]] double cutoff() const { return eam ? eam->cutoff() : largest_cutoff(*pairs); }
};

Potential lennard_jones(std::istringstream& words) {
    std::string shift, precision;
    Potential made;
    if (!(words >> shift >> precision >> made.species) || made.species < 1)
        throw Error("not a potential").allowed("lj none|energy|force full|mixed SPECIES");
    made.precision = precision == "mixed" ? Precision::mixed : Precision::full;
    LennardJones pairs;
    pairs.species = made.species;
    pairs.shift = shift == "energy" ? Shift::energy : shift == "force" ? Shift::force : Shift::none;
    std::vector<double> rows(3 * static_cast<std::size_t>(made.species) *
                             static_cast<std::size_t>(made.species));
    read(rows);
    for (std::size_t k = 0; k < rows.size(); k += 3) {
        pairs.epsilon.push_back(rows[k]), pairs.sigma.push_back(rows[k + 1]);
        pairs.cutoff.push_back(rows[k + 2]);
    }
    made.pairs = std::move(pairs);
    return made;
}

Potential embedded_atoms(std::istringstream& words) {
    Potential made;
    words >> made.species;
    std::vector<std::string> names(static_cast<std::size_t>(std::max(made.species, 0)));
    for (std::string& name : names) words >> name;
    std::string file;
    std::getline(words >> std::ws, file);
    made.eam = Eam::read(file, names);
    return made;
}

void answer(const Potential& potential, std::istringstream& words) {
    std::int64_t number = 0;
    std::array<int, 3> flags{};
    if (!(words >> number >> flags[0] >> flags[1] >> flags[2]) || number < 0)
        throw Error("not atoms").allowed("atoms N PX PY PZ");
    const auto count = static_cast<std::size_t>(number);
    std::vector<double> rows(9), at(3 * count);
    std::vector<std::int32_t> kinds(count);
    read(rows), read(at), read(kinds);
    for (const std::int32_t kind : kinds)
        if (kind < 0 || kind >= potential.species)
            throw Error("there is no such species")
                .given(fmt::format("{}", kind))
                .allowed(fmt::format("0 to {}", potential.species - 1));
    const double reach = potential.cutoff() * (1 + kRoom);
    const Seen seen(Cell(rows, {flags[0] != 0, flags[1] != 0, flags[2] != 0}), at, kinds, reach);
    const Sight sight = seen.sight(count);
    Pairs pairs;
    pairs.build(sight, seen.counts, reach);
    std::array<std::vector<double>, 3> f;
    for (auto& axis : f) axis.resize(seen.species.size());
    double* const forces[] = {f[0].data(), f[1].data(), f[2].data()};
    const auto to_atoms = [&](std::vector<double>& values) {
        for (std::size_t k = 0; k < seen.of.size(); ++k) values[seen.of[k]] += values[count + k];
    };
    Sums sums;
    if (potential.pairs) {
        sums = pairs.forces(sight, *potential.pairs, potential.precision, true, forces);
    } else {
        std::vector<double> rho(seen.species.size()), slopes(rho.size());
        add_densities(pairs, sight, *potential.eam, rho.data());
        to_atoms(rho);
        const double embedded = embed(*potential.eam, sight.species, rho.data(), sight.own, slopes.data());
        for (std::size_t k = 0; k < seen.of.size(); ++k) slopes[count + k] = slopes[seen.of[k]];
        sums = add_eam_forces(pairs, sight, *potential.eam, slopes.data(), true, forces);
        sums.energy += embedded;
    }
    for (auto& axis : f) to_atoms(axis);
    std::vector<double> said{sums.energy};
    said.insert(said.end(), std::begin(sums.virial), std::end(sums.virial));
    for (std::size_t i = 0; i < count; ++i) said.insert(said.end(), {f[0][i], f[1][i], f[2][i]});
    write(said);
    std::fflush(stdout);
}

void serve() {
    std::optional<Potential> potential;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "lj") {
            potential = lennard_jones(words);
        } else if (what == "eam") {
            potential = embedded_atoms(words);
        } else if (what == "atoms" && potential) {
            answer(*potential, words);
        } else {
            throw Error("not a request").given(line.substr(0, 80)).allowed("lj, eam; then atoms");
        }
    }
}

}  // namespace

}  // namespace strata::md

int main() {
    std::ios::sync_with_stdio(false);
    try {
        strata::md::serve();
    } catch (const strata::Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
    return strata::kSuccess;
}
