// The embedded-atom method: as LAMMPS from the same files; forces as differences of energies; two patches as
// one; what is wrong with a setfl file.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "solvers/md/potentials/eam.hpp"
#include "solvers/md/potentials/eam_pass.hpp"
#include "solvers/md/units.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::md;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = FIXTURES;
constexpr double kLength = 16;  // of the box of alloy.data

struct Atoms {
    std::vector<double> x[3];
    std::vector<std::int32_t> species;
};

/// Lines of numbers after a line that begins with `title`, up to a line of words.
std::vector<std::vector<double>> numbers_after(const fs::path& file, const std::string& title) {
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line) && !line.starts_with(title)) {
    }
    std::vector<std::vector<double>> rows;
    while (std::getline(in, line)) {
        std::istringstream words(line);
        std::vector<double> row;
        for (double value = 0; words >> value;) row.push_back(value);
        if (row.empty() && !line.empty()) break;
        if (!row.empty()) rows.push_back(row);
    }
    return rows;
}

/// 256 atoms that LAMMPS wrote, in the order of their numbers.
Atoms alloy() {
    Atoms atoms;
    std::map<int, std::vector<double>> rows;
    for (const auto& row : numbers_after(kFolder / "alloy.data", "Atoms")) rows[int(row[0])] = row;
    for (const auto& [id, row] : rows) {
        for (std::size_t c = 0; c < 3; ++c) atoms.x[c].push_back(row[2 + c]);
        atoms.species.push_back(int(row[1]) - 1);
    }
    return atoms;
}

Eam potential() { return Eam::read(kFolder / "alloy.eam.alloy", {"Aa", "Bb"}); }

struct Result {
    Sums sums;  // energy: all of it
    std::vector<double> f[3];
};

/// What a patch sees: the atoms with `mine`, and images of all others within reach of these.
struct Patch {
    Atoms seen;
    std::vector<std::size_t> of;  // numbers in the whole
    std::vector<std::uint8_t> counts;
    std::int64_t own = 0;
    Pairs pairs;

    Patch(const Atoms& all, double reach, const std::function<bool(std::size_t)>& mine) {
        const auto add = [&](std::size_t n, const std::array<double, 3>& shift) {
            for (std::size_t c = 0; c < 3; ++c) seen.x[c].push_back(all.x[c][n] + shift[c]);
            seen.species.push_back(all.species[n]);
            of.push_back(n);
        };
        for (std::size_t n = 0; n < all.species.size(); ++n)
            if (mine(n)) add(n, {0, 0, 0});
        own = static_cast<std::int64_t>(of.size());
        for (std::size_t n = 0; n < all.species.size(); ++n)
            for (int image = 0; image < 27; ++image) {
                const std::array<double, 3> shift{(image % 3 - 1) * kLength, (image / 3 % 3 - 1) * kLength,
                                                  (image / 9 - 1) * kLength};
                if (image == 13 && mine(n)) continue;
                add(n, shift);
                // Each pair once: the one of the two patches in whose frame the image is higher has it.
                const auto key = std::tuple(shift[2], shift[1], shift[0]);
                counts.push_back(key > std::tuple(0.0, 0.0, 0.0) || (image == 13 && !mine(n) && mine(0)));
            }
        pairs.build(sight(), counts, reach);
    }
    [[nodiscard]] Sight sight() const {
        const bool same = std::ranges::all_of(seen.species, [](std::int32_t kind) { return kind == 0; });
        return {{seen.x[0].data(), seen.x[1].data(), seen.x[2].data()},
                same ? nullptr : seen.species.data(),
                own,
                static_cast<std::int64_t>(of.size())};
    }
};

/// The two passes on patches, with sums and halos exchanged as the graph does.
Result by_patches(const Atoms& all, const Eam& eam,
                  const std::vector<std::function<bool(std::size_t)>>& parts) {
    std::vector<Patch> patches;
    for (const auto& part : parts) patches.emplace_back(all, eam.cutoff() + 0.3, part);
    const std::size_t n = all.species.size();
    std::vector<double> rho(n), slopes(n);
    for (const Patch& patch : patches) {
        std::vector<double> seen(patch.of.size());
        add_densities(patch.pairs, patch.sight(), eam, seen.data());
        for (std::size_t k = 0; k < seen.size(); ++k) rho[patch.of[k]] += seen[k];
    }
    Result result;
    for (auto& f : result.f) f.resize(n);
    result.sums.energy =
        embed(eam, all.species.data(), rho.data(), static_cast<std::int64_t>(n), slopes.data());
    for (const Patch& patch : patches) {
        std::vector<double> f[3], near;
        for (auto& along : f) along.resize(patch.of.size());
        for (const std::size_t k : patch.of) near.push_back(slopes[k]);
        double* const to[3] = {f[0].data(), f[1].data(), f[2].data()};
        const Sums sums = add_eam_forces(patch.pairs, patch.sight(), eam, near.data(), true, to);
        result.sums.energy += sums.energy;
        for (int k = 0; k < 6; ++k) result.sums.virial[k] += sums.virial[k];
        for (std::size_t k = 0; k < patch.of.size(); ++k)
            for (int c = 0; c < 3; ++c) result.f[c][patch.of[k]] += f[c][k];
    }
    return result;
}

Result whole(const Atoms& atoms, const Eam& eam) {
    return by_patches(atoms, eam, {[](std::size_t) { return true; }});
}

double energy_of(const Atoms& atoms, const Eam& eam) { return whole(atoms, eam).sums.energy; }

double largest(const std::vector<double> (&f)[3]) {
    double most = 0;
    for (const auto& along : f)
        for (const double value : along) most = std::max(most, std::abs(value));
    return most;
}

}  // namespace

TEST_CASE("energy, virial and forces of an alloy are LAMMPS's", "[eam]") {
    // alloy.in says how these were made; pe and c_virial of LAMMPS (22 Jul 2025 - Update 4).
    const double energy = -196.87080599273213,
                 virial[] = {-20648.338260549917, -14521.18577885014,  -21348.542468093219,
                             -8833.383574204754,  -1939.6175998942913, -7067.8519879220039};
    const Result ours = whole(alloy(), potential());
    CHECK(std::abs(ours.sums.energy / energy - 1) < 1e-12);
    const double to_pressure = units("metal").energy_density / std::pow(kLength, 3);
    for (int k = 0; k < 6; ++k)
        CHECK(std::abs(ours.sums.virial[k] * to_pressure - virial[k]) < 1e-12 * std::abs(virial[2]));
    const double most = largest(ours.f);
    int atoms = 0;
    for (const auto& row : numbers_after(kFolder / "alloy.forces", "ITEM: ATOMS")) {
        for (std::size_t c = 0; c < 3; ++c)
            CHECK(std::abs(ours.f[c][std::size_t(row[0]) - 1] - row[2 + c]) < 1e-12 * most);
        ++atoms;
    }
    CHECK(atoms == 256);
}

TEST_CASE("forces are differences of the energy, and the virial is that of strained boxes", "[eam]") {
    const Eam eam = potential();
    Atoms atoms = alloy();
    const Result at = whole(atoms, eam);
    const double h = 1e-5;
    for (const std::size_t n : {0, 77, 200})
        for (std::size_t c = 0; c < 3; ++c) {
            double& x = atoms.x[c][n];
            const double before = x;
            x = before + h;
            const double up = energy_of(atoms, eam);
            x = before - h;
            const double down = energy_of(atoms, eam);
            x = before;
            CHECK(std::abs((down - up) / (2 * h) - at.f[c][n]) < 1e-6 * largest(at.f));
        }
    double sum = 0;
    for (const double f : at.f[1]) sum += f;
    CHECK(std::abs(sum) < 1e-11);
}

TEST_CASE("two patches that exchange densities and slopes have the forces of one", "[eam]") {
    const Eam eam = potential();
    const Atoms atoms = alloy();
    const auto left = [&](std::size_t n) { return (atoms.x[0][n] < 7) == (atoms.x[0][0] < 7); };
    const Result one = whole(atoms, eam),
                 two = by_patches(atoms, eam, {left, [&](std::size_t n) { return !left(n); }});
    CHECK(std::abs(two.sums.energy / one.sums.energy - 1) < 1e-13);
    for (int c = 0; c < 3; ++c)
        for (std::size_t n = 0; n < atoms.species.size(); ++n)
            REQUIRE(std::abs(one.f[c][n] - two.f[c][n]) < 1e-13 * largest(one.f));
}

/// FNV-1a of all numbers.
std::uint64_t bits(const Result& result) {
    std::uint64_t sum = 0xcbf29ce484222325U;
    const auto add = [&](double x) { sum = (sum ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001b3U; };
    for (const auto& along : result.f) std::ranges::for_each(along, add);
    std::ranges::for_each(result.sums.virial, add);
    add(result.sums.energy);
    return sum;
}

TEST_CASE("metals have the same bits with registers of 512, 256 and 128 bits", "[eam]") {
    CHECK(bits(whole(alloy(), potential())) == 0x35647b2faec2338U);
}

TEST_CASE("two kinds of the same element have the bits of one kind", "[eam]") {
    Atoms atoms = alloy();
    const Result two = whole(atoms, Eam::read(kFolder / "alloy.eam.alloy", {"Bb", "Bb"}));
    atoms.species.assign(atoms.species.size(), 0);
    CHECK(bits(two) == bits(whole(atoms, Eam::read(kFolder / "alloy.eam.alloy", {"Bb"}))));
}

TEST_CASE("a function of knots is exact for cubics, and goes on by its last slope in an embedding", "[eam]") {
    std::vector<double> values;
    const auto f = [](double x) { return 2 - x + 0.5 * x * x - 0.1 * x * x * x; };
    const auto slope = [](double x) { return -1 + x - 0.3 * x * x; };
    for (int k = 0; k < 21; ++k) values.push_back(f(0.25 * k));
    const KnotFunction knots(values, 0.25);
    for (double x = 0.5; x <= 4.5; x += 0.013) {
        CHECK(std::abs(knots(x).y - f(x)) < 1e-13);
        CHECK(std::abs(knots(x).slope - slope(x)) < 1e-12);
    }
    const Eam eam = potential();
    const double end = 59 * 0.6;
    const auto at = eam.embedding(1, end), beyond = eam.embedding(1, end + 2);
    CHECK(std::abs(beyond.y - at.y - 2 * at.slope) < 1e-12);
    CHECK(std::abs(beyond.slope - at.slope) < 1e-12);
    CHECK(eam.embedding(1, 1e300).slope == beyond.slope);  // knots beyond those that an integer counts
    CHECK(eam.masses() == std::vector<double>{30, 50});
}

TEST_CASE("what is wrong with a setfl file is said with its file and line", "[eam]") {
    const fs::path path = fs::temp_directory_path() / fmt::format("md_eam_{}.eam.alloy", ::getpid());
    const auto said = [&](const std::string& text, const std::string& what, int line,
                          const std::vector<std::string>& elements = {"Xx"}) {
        std::ofstream(path) << text;
        std::string error;
        try {
            (void)Eam::read(path, elements);
        } catch (const Error& e) {
            error = e.text();
        }
        INFO(error);
        CHECK(error.find(what) != std::string::npos);
        CHECK(error.find(fmt::format("{}:{}", path.string(), line)) != std::string::npos);
    };
    const std::string head = "a\nb\nc\n1 Xx\n", sizes = "5 0.1 5 1 4\n1 2 3 fcc\n", five = "1 2 3\n4 5\n";
    said("a\nb\n", "three lines of comments", 2);
    said("a\nb\nc\n2 Xx\n", "2 names", 4);
    said(head + sizes + five + five + five, "no such element", 4, {"Yy"});
    said(head + "5 0.1 5 1\n", "a number is expected", 5);
    said(head + "4 0.1 5 1 4\n", "whole number", 5);
    said(head + "5 0.1 5 1 5.5\n", "beyond the table", 5);
    said(head + "5 0.1 5 -1 4\n", "must be positive", 5);
    said(head + "300000 0.1 5 1 4\n", "5 to 262144", 5);
    said(head + "5 1e-310 5 1 4\n", "must be positive", 5);
    said(head + "5 0.1 5 1e-320 4\n", "must be positive", 5);
    said(head + sizes + "1 2 3\n4 x\n", "a number is expected", 8);
    said(head + sizes + "1 2 3\n4 5 6\n", "more numbers than are left", 8);
    said(head + sizes + five + five + "1 2 3\n", "ends too early", 11);
    fs::remove(path);
}
