// Pair lists and Lennard-Jones kernels beside a plain loop over all pairs of atoms.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "solvers/md/pair/pairs.hpp"
#include "solvers/md/pair/skin.hpp"
#include "tests/catch.hpp"

namespace {

using namespace strata::md;
using Vector = std::array<double, 3>;

/// A periodic box as one patch: its atoms, and behind them their images closer to it than `reach`. Of two
/// opposite images one counts.
struct Box {
    std::array<std::vector<double>, 3> x;
    std::vector<std::int32_t> species;
    std::vector<std::uint8_t> counts;
    std::int64_t own = 0;
    Vector size;

    Box(const Vector& size, std::vector<Vector> atoms, double reach, int kinds) : size(size) {
        own = static_cast<std::int64_t>(atoms.size());
        for (std::size_t i = 0; i < atoms.size(); ++i) put(atoms[i], static_cast<int>(i % kinds));
        int most[3];
        for (int c = 0; c < 3; ++c) most[c] = static_cast<int>(std::ceil(reach / size[c]));
        for (int a = -most[0]; a <= most[0]; ++a)
            for (int b = -most[1]; b <= most[1]; ++b)
                for (int c = -most[2]; c <= most[2]; ++c) {
                    if (a == 0 && b == 0 && c == 0) continue;
                    const bool upper = a != 0 ? a > 0 : b != 0 ? b > 0 : c > 0;
                    for (std::size_t i = 0; i < atoms.size(); ++i) {
                        const Vector at{atoms[i][0] + a * size[0], atoms[i][1] + b * size[1],
                                        atoms[i][2] + c * size[2]};
                        if (!near(at, reach)) continue;
                        put(at, static_cast<int>(i % kinds));
                        counts.push_back(upper);
                    }
                }
    }
    [[nodiscard]] bool near(const Vector& at, double reach) const {
        double square = 0;
        for (int c = 0; c < 3; ++c) {
            const double out = std::max({0.0, -at[c], at[c] - size[c]});
            square += out * out;
        }
        return square < reach * reach;
    }
    void put(const Vector& at, std::int32_t kind) {
        for (int c = 0; c < 3; ++c) x[c].push_back(at[c]);
        species.push_back(kind);
    }
    /// Each atom by itself up to `most` along each axis.
    void move(double most, unsigned seed) {
        std::mt19937 dice(seed);
        std::uniform_real_distribution<double> way(-most, most);
        for (auto& along : x)
            for (double& at : along) at += way(dice);
    }
    [[nodiscard]] Sight sight() const {
        return {{x[0].data(), x[1].data(), x[2].data()},
                species.data(),
                own,
                static_cast<std::int64_t>(x[0].size())};
    }
    /// Calls each(i, j, square of their distance) for every pair that counts.
    template <class Each>
    void for_pairs(Each each) const {
        for (std::size_t i = 0; i < static_cast<std::size_t>(own); ++i)
            for (std::size_t j = i + 1; j < x[0].size(); ++j) {
                if (j >= static_cast<std::size_t>(own) && !counts[j - static_cast<std::size_t>(own)])
                    continue;
                double square = 0;
                for (int c = 0; c < 3; ++c) square += std::pow(x[c][j] - x[c][i], 2);
                each(i, j, square);
            }
    }
};

/// Atoms without order, none closer to another (or its image) than `least`.
std::vector<Vector> scattered(const Vector& size, int count, double least, unsigned seed) {
    std::mt19937 dice(seed);
    std::vector<Vector> atoms;
    while (static_cast<int>(atoms.size()) < count) {
        Vector at;
        for (int c = 0; c < 3; ++c) at[c] = std::uniform_real_distribution<double>(0, size[c])(dice);
        bool free = true;
        for (const Vector& other : atoms) {
            double square = 0;
            for (int c = 0; c < 3; ++c) {
                const double d = other[c] - at[c];
                square += std::pow(d - size[c] * std::nearbyint(d / size[c]), 2);
            }
            free = free && square > least * least;
        }
        if (free) atoms.push_back(at);
    }
    return atoms;
}

struct Found {
    std::array<std::vector<double>, 3> f;
    Sums sums;
    double largest = 0;  ///< of all forces

    explicit Found(std::size_t atoms) {
        for (auto& along : f) along.assign(atoms, 0);
    }
};

/// Lennard and Jones's potential and its shifts, as in the books.
Found plain(const Box& box, const LennardJones& p) {
    Found found(box.x[0].size());
    box.for_pairs([&](std::size_t i, std::size_t j, double square) {
        const auto kind = static_cast<std::size_t>(box.species[i] * p.species + box.species[j]);
        const double cut = p.cutoff[kind], r = std::sqrt(square);
        if (r >= cut) return;
        const auto energy = [&](double at) {
            return 4 * p.epsilon[kind] * (std::pow(p.sigma[kind] / at, 12) - std::pow(p.sigma[kind] / at, 6));
        };
        const auto force = [&](double at) {
            return 4 * p.epsilon[kind] / at *
                   (12 * std::pow(p.sigma[kind] / at, 12) - 6 * std::pow(p.sigma[kind] / at, 6));
        };
        double u = energy(r), pull = force(r);
        if (p.shift != Shift::none) u -= energy(cut);
        if (p.shift == Shift::force) u += (r - cut) * force(cut), pull -= force(cut);
        double along[3];
        for (int c = 0; c < 3; ++c) {
            along[c] = (box.x[c][i] - box.x[c][j]) / r;
            found.f[c][i] += pull * along[c], found.f[c][j] -= pull * along[c];
        }
        found.sums.energy += u;
        constexpr int kFirst[] = {0, 1, 2, 0, 0, 1}, kSecond[] = {0, 1, 2, 1, 2, 2};
        for (int k = 0; k < 6; ++k) found.sums.virial[k] += r * pull * along[kFirst[k]] * along[kSecond[k]];
    });
    for (const auto& along : found.f)
        for (const double f : along) found.largest = std::max(found.largest, std::abs(f));
    return found;
}

Found computed(const Pairs& pairs, const Box& box, const LennardJones& potential, Precision precision) {
    Found found(box.x[0].size());
    double* const f[] = {found.f[0].data(), found.f[1].data(), found.f[2].data()};
    found.sums = pairs.forces(box.sight(), potential, precision, true, f);
    Found without(box.x[0].size());
    double* const again[] = {without.f[0].data(), without.f[1].data(), without.f[2].data()};
    pairs.forces(box.sight(), potential, precision, false, again);
    CHECK(without.f == found.f);  // sums change no force
    return found;
}

/// Largest difference of forces, energies and virials, as a share of the largest.
double apart(const Found& a, const Found& b) {
    double most = 0;
    for (int c = 0; c < 3; ++c)
        for (std::size_t i = 0; i < a.f[c].size(); ++i)
            most = std::max(most, std::abs(a.f[c][i] - b.f[c][i]) / b.largest);
    double scale = std::abs(b.sums.energy);
    for (int k = 0; k < 6; ++k) scale = std::max(scale, std::abs(b.sums.virial[k]));
    most = std::max(most, std::abs(a.sums.energy - b.sums.energy) / scale);
    for (int k = 0; k < 6; ++k) most = std::max(most, std::abs(a.sums.virial[k] - b.sums.virial[k]) / scale);
    return most;
}

LennardJones one_species(double cutoff, Shift shift) { return {1, {1.0}, {1.0}, {cutoff}, shift}; }

/// Of unlike size, depth and cutoff; by Lorentz and Berthelot.
LennardJones mixture(int species, double cutoff, Shift shift) {
    LennardJones p{species, {}, {}, {}, shift};
    for (int a = 0; a < species; ++a)
        for (int b = 0; b < species; ++b) {
            p.epsilon.push_back(std::sqrt((1 + 0.3 * a) * (1 + 0.3 * b)));
            p.sigma.push_back((1 - 0.05 * a + 1 - 0.05 * b) / 2);
            p.cutoff.push_back(a == b ? cutoff : 0.9 * cutoff);
        }
    return p;
}

constexpr Shift kShifts[] = {Shift::none, Shift::energy, Shift::force};
constexpr double kDouble = 1e-12, kFloat = 2e-5;

}  // namespace

TEST_CASE("forces, energy and virial of a pair list are those of a plain loop") {
    const Vector size{7.1, 8.3, 6.2};
    const Box box(size, scattered(size, 240, 0.8, 1), 2.8, 1);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, 2.8);
    for (const Shift shift : kShifts) {
        const LennardJones potential = one_species(2.5, shift);
        const Found expected = plain(box, potential);
        CHECK(apart(computed(pairs, box, potential, Precision::full), expected) < kDouble);
        CHECK(apart(computed(pairs, box, potential, Precision::mixed), expected) < kFloat);
    }
}

TEST_CASE("species have their own parameters and cutoffs") {
    const Vector size{7.1, 6.3, 6.2};
    for (const int species : {2, 3, 7}) {
        const Box box(size, scattered(size, 180, 0.8, 2), 2.8, species);
        Pairs pairs;
        pairs.build(box.sight(), box.counts, 2.8);
        for (const Shift shift : kShifts) {
            const LennardJones potential = mixture(species, 2.5, shift);
            const Found expected = plain(box, potential);
            CHECK(apart(computed(pairs, box, potential, Precision::full), expected) < kDouble);
            CHECK(apart(computed(pairs, box, potential, Precision::mixed), expected) < kFloat);
        }
    }
}

TEST_CASE("a patch that is narrower than the cutoff has several images of each atom") {
    const Vector size{1.7, 4.1, 2.2};
    const Box box(size, scattered(size, 9, 0.85, 3), 2.8, 1);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, 2.8);
    const LennardJones potential = one_species(2.5, Shift::energy);
    CHECK(apart(computed(pairs, box, potential, Precision::full), plain(box, potential)) < kDouble);
}

TEST_CASE("after pruning no pair is missed while atoms move less than was allowed for") {
    const Vector size{6.4, 6.3, 6.2};
    const double cutoff = 2.5, inner = 2.6, reach = 2.9;
    Box box(size, scattered(size, 180, 0.85, 4), reach, 1);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, reach);
    const LennardJones potential = one_species(cutoff, Shift::energy);
    box.move(0.15 / std::sqrt(3.0), 5);
    pairs.prune(box.sight(), inner);
    for (const unsigned seed : {6U, 7U}) {
        CHECK(apart(computed(pairs, box, potential, Precision::full), plain(box, potential)) < kDouble);
        box.move(0.02 / std::sqrt(3.0), seed);
    }
    box.move(0.01 / std::sqrt(3.0), 8);
    pairs.prune(box.sight(), inner);  // starts again from all pairs of the rebuild
    CHECK(apart(computed(pairs, box, potential, Precision::full), plain(box, potential)) < kDouble);
}

TEST_CASE(
    "each pair within reach is visited once, and no other atoms than the patch's and those that count") {
    const Vector size{6.4, 5.3, 6.2};
    const double reach = 2.7;
    const Box box(size, scattered(size, 150, 0.8, 9), reach, 1);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, reach);
    std::size_t visited = 0;
    for (const double within : {reach, 2.3}) {
        if (within < reach) pairs.prune(box.sight(), within);
        std::set<std::pair<std::size_t, std::size_t>> seen, near, all;
        bool twice = false;
        pairs.for_each([&](std::int32_t i, std::int32_t j) {
            const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
            twice = !seen.insert(std::minmax(a, b)).second || twice;
        });
        box.for_pairs([&](std::size_t i, std::size_t j, double square) {
            all.insert({i, j});
            if (square < within * within) near.insert({i, j});
        });
        CHECK(!twice);
        CHECK(std::includes(seen.begin(), seen.end(), near.begin(), near.end()));
        CHECK(std::includes(all.begin(), all.end(), seen.begin(), seen.end()));
        if (within < reach) CHECK(seen.size() < visited * 4 / 5);
        visited = seen.size();
    }
}

TEST_CASE("forces and energy have the same bits whenever the list was pruned") {
    const Vector size{7.4, 6.3, 8.2};
    Box box(size, scattered(size, 250, 0.85, 11), 2.9, 1);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, 2.9);
    box.move(0.1 / std::sqrt(3.0), 12);
    for (const Precision precision : {Precision::full, Precision::mixed}) {
        const LennardJones potential = one_species(2.5, Shift::energy);
        const Found first = computed(pairs, box, potential, precision);
        std::size_t entries = pairs.list().entries.size();
        for (const double inner : {2.8, 2.51}) {
            pairs.prune(box.sight(), inner);
            CHECK(pairs.list().entries.size() < entries);
            entries = pairs.list().entries.size();
            const Found other = computed(pairs, box, potential, precision);
            CHECK(other.f == first.f);
            CHECK(other.sums.energy == first.sums.energy);
        }
        pairs.build(box.sight(), box.counts, 2.9);
    }
}

TEST_CASE("forces have the same bits with registers of 512, 256 and 128 bits") {
    // A lattice out of which atoms are moved by a generator of whole numbers: the same places everywhere.
    std::uint64_t dice = 1;
    std::vector<Vector> atoms;
    for (int n = 0; n < 512; ++n) {
        Vector at{n % 8 + 0.5, n / 8 % 8 + 0.5, n / 64 + 0.5};
        for (double& along : at) {
            dice = dice * 6364136223846793005U + 1442695040888963407U;
            along += (static_cast<double>(dice >> 40U) * 0x1p-24 - 0.5) / 4;
        }
        atoms.push_back(at);
    }
    const Box box({8, 8, 8}, atoms, 2.8, 2);
    Pairs pairs;
    pairs.build(box.sight(), box.counts, 2.8);
    pairs.prune(box.sight(), 2.6);
    const auto bits = [&](Precision precision) {
        std::uint64_t sum = 0xcbf29ce484222325U;  // FNV-1a
        const LennardJones potential{2, {1, 1, 1, 1}, {1, 1, 1, 1}, {2.5, 2, 2, 2.5}, Shift::force};
        const Found found = computed(pairs, box, potential, precision);
        for (const auto& along : found.f)
            for (const double f : along) sum = (sum ^ std::bit_cast<std::uint64_t>(f)) * 0x100000001b3U;
        return (sum ^ std::bit_cast<std::uint64_t>(found.sums.energy)) * 0x100000001b3U;
    };
    CHECK(bits(Precision::mixed) == 0xa01e06373fc223afU);
    CHECK(bits(Precision::full) == 0xeab28c477d43a2b2U);
}

TEST_CASE("a position that is no number ends the rebuild with one error") {
    Box box({9, 9, 9}, scattered({9, 9, 9}, 40, 0.8, 13), 2.8, 1);
    box.x[1][7] = std::nan("");
    Pairs pairs;
    CHECK_THROWS_AS(pairs.build(box.sight(), box.counts, 2.8), strata::Error);
}

TEST_CASE("a patch may be empty, or have a single atom") {
    const LennardJones potential = one_species(2.5, Shift::energy);
    for (const int count : {0, 1}) {
        const Box box({9, 9, 9}, scattered({9, 9, 9}, count, 1, 10), 2.8, 1);
        Pairs pairs;
        pairs.build(box.sight(), box.counts, 2.8);
        const Found found = computed(pairs, box, potential, Precision::mixed);
        CHECK(found.sums.energy == 0);
    }
}

namespace {

/// The missed energy by its double integral: where the other atom was, and by how much it comes nearer.
double missed_by_quadrature(const LennardJones& p, const Between& between, double skin) {
    const double s = between.time * std::sqrt(2 * between.heat), cut = p.cutoff[0];
    const auto energy = [&](double r) {
        const double six = std::pow(p.sigma[0] / r, 6);
        return 4 * p.epsilon[0] * (six * six - six);
    };
    const double shift = p.shift == Shift::none ? 0 : energy(cut);
    constexpr int kSteps = 2000;
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
        const double was = cut + skin + (i + 0.5) * 8 * s / kSteps;
        for (int k = 0; k < kSteps; ++k) {
            const double nearer = was - cut + (k + 0.5) * 8 * s / kSteps, at = was - nearer;
            if (at < 0.9 * p.sigma[0]) break;
            sum += was * was * std::exp(-nearer * nearer / (2 * s * s)) * (energy(at) - shift);
        }
    }
    const double step = 8 * s / kSteps, of = std::sqrt(2 * 3.14159265358979) * s;
    return std::abs(sum) * step * step / of * 2 * 3.14159265358979 * between.density;
}

}  // namespace

TEST_CASE("the energy that lists with a skin miss is that of its double integral") {
    for (const Shift shift : {Shift::none, Shift::energy})
        for (const double cutoff : {2.5, 5.0})
            for (const double skin : {0.1, 0.3}) {
                const LennardJones potential{1, {1}, {1}, {cutoff}, shift};
                const Between between{0.8442, 0.72, 20 * 0.005};
                const double found = missed_energy(potential, between, skin),
                             exact = missed_by_quadrature(potential, between, skin);
                CAPTURE(cutoff, skin, found, exact);
                // The shell is taken where it is largest, and the series ends: an estimate, and above.
                CHECK(found > 0.97 * exact);
                CHECK(found < 1.25 * exact);
            }
}

TEST_CASE("the skin for a drift is the least that keeps it") {
    const LennardJones potential{1, {1}, {1}, {2.5}, Shift::energy};
    const Between between{0.8442, 0.72, 20 * 0.005};
    for (const double drift : {1e-2, 1e-4, 1e-6}) {
        const double skin = skin_for(potential, between, drift);
        CHECK(missed_energy(potential, between, skin) <= drift * between.time * (1 + 1e-9));
        CHECK(missed_energy(potential, between, 0.99 * skin) > drift * between.time);
    }
    CHECK(skin_for(potential, {0.8442, 0, 0.1}, 1e-9) == 0);
    // Of several species the worst pair decides: a mixture of one with itself has the same skin.
    const LennardJones two{2, {1, 1, 1, 1}, {1, 1, 1, 1}, {2.5, 2.5, 2.5, 2.5}, Shift::energy};
    CHECK(skin_for(two, between, 1e-4) == skin_for(potential, between, 1e-4));
}
