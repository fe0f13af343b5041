// strata-md-pairs: what building and pruning a pair list and computing forces take on one core, for a
// Lennard-Jones liquid in one periodic box whose images are its halo. Forces of some atoms are first compared
// with those of a plain loop over all atoms; nothing is printed where they differ.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/shortest.hpp"
#include "solvers/md/pair/pairs.hpp"

namespace {

using namespace strata;
using namespace strata::md;

constexpr double kDensity = 0.8442, kTemperature = 1.44, kStep = 0.005;

struct Choice {
    std::int64_t side = 20;
    double cutoff = 2.5, skin = 0.3, inner = 0.1;
    int rebuild = 20, prune = 4, steps = 100;
    Precision precision = Precision::mixed;
    double seconds = 1;
};

/// Atoms of the box, then their images; what velocity Verlet needs.
class Liquid {
  public:
    explicit Liquid(const Choice& choice) : choice_(choice) {
        const double cell = std::cbrt(4 / kDensity);
        length_ = cell * static_cast<double>(choice.side);
        constexpr double kBasis[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
        std::mt19937_64 dice(1);
        std::normal_distribution<double> normal(0, std::sqrt(kTemperature));
        for (std::int64_t a = 0; a < choice.side; ++a)
            for (std::int64_t b = 0; b < choice.side; ++b)
                for (std::int64_t c = 0; c < choice.side; ++c)
                    for (const auto& at : kBasis) {
                        const double cells[] = {static_cast<double>(a), static_cast<double>(b),
                                                static_cast<double>(c)};
                        for (std::size_t d = 0; d < 3; ++d) {
                            x_[d].push_back((cells[d] + at[d]) * cell);
                            v_[d].push_back(normal(dice));
                        }
                    }
        own_ = x_[0].size();
        for (auto& along : v_) {
            double mean = 0;
            for (const double v : along) mean += v / static_cast<double>(own_);
            for (double& v : along) v -= mean;
        }
        potential_ = {1, {1}, {1}, {choice.cutoff}, Shift::energy};
        rebuild();
        prune();
        forces(false);
    }

    [[nodiscard]] std::size_t atoms() const { return own_; }
    [[nodiscard]] std::size_t images() const { return from_.size(); }
    [[nodiscard]] const Pairs& pairs() const { return pairs_; }
    [[nodiscard]] double reach() const { return choice_.cutoff + choice_.skin; }

    /// Atoms back into the box, images anew.
    void find_images() {
        from_.clear(), shift_.clear(), counts_.clear();
        for (auto& along : x_) {
            along.resize(own_);
            for (double& at : along) at -= length_ * std::floor(at / length_);
        }
        for (int a = -1; a <= 1; ++a)
            for (int b = -1; b <= 1; ++b)
                for (int c = -1; c <= 1; ++c) {
                    const int way[] = {a, b, c};
                    // Of two opposite images one counts; the other need not be there.
                    if (!(a != 0 ? a > 0 : b != 0 ? b > 0 : c > 0)) continue;
                    for (std::size_t i = 0; i < own_; ++i) {
                        double square = 0;
                        for (std::size_t d = 0; d < 3; ++d) {
                            const double at = x_[d][i] + way[d] * length_;
                            const double out = std::max({0.0, -at, at - length_});
                            square += out * out;
                        }
                        if (square >= reach() * reach()) continue;
                        from_.push_back(i);
                        shift_.push_back({way[0] * length_, way[1] * length_, way[2] * length_});
                        counts_.push_back(1);
                    }
                }
        for (std::size_t d = 0; d < 3; ++d) x_[d].resize(own_ + from_.size()), f_[d].resize(x_[d].size());
        move_images();
    }
    void move_images() {
        for (std::size_t d = 0; d < 3; ++d)
            for (std::size_t k = 0; k < from_.size(); ++k) x_[d][own_ + k] = x_[d][from_[k]] + shift_[k][d];
    }
    void build() { pairs_.build(sight(), counts_, reach()); }
    void rebuild() { find_images(), build(); }
    void prune() { pairs_.prune(sight(), choice_.cutoff + choice_.inner); }
    Sums forces(bool sums) {
        for (auto& along : f_) std::fill(along.begin(), along.end(), 0);
        const Sums found = add_forces(sums);
        for (std::size_t d = 0; d < 3; ++d)
            for (std::size_t k = 0; k < from_.size(); ++k) f_[d][from_[k]] += f_[d][own_ + k];
        return found;
    }
    Sums add_forces(bool sums) {
        double* const f[] = {f_[0].data(), f_[1].data(), f_[2].data()};
        return pairs_.forces(sight(), potential_, choice_.precision, sums, f);
    }
    void step(std::int64_t number) {
        for (std::size_t d = 0; d < 3; ++d)
            for (std::size_t i = 0; i < own_; ++i) x_[d][i] += kStep * (v_[d][i] += kStep / 2 * f_[d][i]);
        if (number % choice_.rebuild == 0)
            rebuild();
        else
            move_images();
        if (number % choice_.rebuild % choice_.prune == 0) prune();
        forces(false);
        for (std::size_t d = 0; d < 3; ++d)
            for (std::size_t i = 0; i < own_; ++i) v_[d][i] += kStep / 2 * f_[d][i];
    }
    /// Of an atom.
    double energy() {
        double sum = forces(true).energy;
        for (std::size_t d = 0; d < 3; ++d)
            for (std::size_t i = 0; i < own_; ++i) sum += v_[d][i] * v_[d][i] / 2;
        return sum / static_cast<double>(own_);
    }
    /// Largest difference from a plain loop, of some atoms' forces, as a share of the largest force.
    double wrong() {
        forces(false);
        double most = 0, largest = 0;
        for (std::size_t i = 0; i < own_; i += std::max<std::size_t>(1, own_ / 200)) {
            double g[3] = {};
            for (std::size_t j = 0; j < own_; ++j) {
                double r[3], square = 0;
                for (std::size_t d = 0; d < 3; ++d) {
                    r[d] = x_[d][i] - x_[d][j];
                    r[d] -= length_ * std::nearbyint(r[d] / length_);
                    square += r[d] * r[d];
                }
                if (j == i || square >= choice_.cutoff * choice_.cutoff) continue;
                const double six = 1 / (square * square * square);
                for (std::size_t d = 0; d < 3; ++d) g[d] += 24 * six * (2 * six - 1) / square * r[d];
            }
            for (std::size_t d = 0; d < 3; ++d) {
                most = std::max(most, std::abs(g[d] - f_[d][i]));
                largest = std::max(largest, std::abs(g[d]));
            }
        }
        return most / largest;
    }

  private:
    [[nodiscard]] Sight sight() const {
        return {{x_[0].data(), x_[1].data(), x_[2].data()},
                nullptr,
                static_cast<std::int64_t>(own_),
                static_cast<std::int64_t>(x_[0].size())};
    }

    Choice choice_;
    LennardJones potential_;
    double length_ = 0;
    std::size_t own_ = 0;
    std::array<std::vector<double>, 3> x_, v_, f_;
    std::vector<std::size_t> from_;
    std::vector<std::array<double, 3>> shift_;
    std::vector<std::uint8_t> counts_;
    Pairs pairs_;
};

int go(const Choice& choice) {
    Liquid liquid(choice);
    for (int step = 1; step <= choice.steps; ++step) liquid.step(step);
    liquid.rebuild(), liquid.prune();
    const double wrong = liquid.wrong(), allowed = choice.precision == Precision::mixed ? 1e-4 : 1e-11;
    if (!(wrong < allowed)) {
        throw Error("forces differ from those of a plain loop", kFailure)
            .given(fmt::format("{:.1e} of the largest force", wrong))
            .allowed(fmt::format("{:.0e}", allowed));
    }
    const auto atoms = static_cast<double>(liquid.atoms());
    const double build = shortest(choice.seconds, [&] { liquid.build(); });
    const double prune = shortest(choice.seconds, [&] { liquid.prune(); });
    const double forces = shortest(choice.seconds, [&] { liquid.add_forces(false); });
    const double sums = shortest(choice.seconds, [&] { liquid.add_forces(true); });
    double rows = 0, entries = 0;
    for (const std::uint32_t entry : liquid.pairs().list().entries)
        rows += ((entry & 3U) != 0 ? 1 : 0) + ((entry & 12U) != 0 ? 1 : 0), ++entries;
    const double within = kDensity * 2.0 / 3 * 3.14159265358979 * std::pow(choice.cutoff, 3);
    liquid.rebuild(), liquid.prune(), liquid.forces(false);
    int number = 1;
    const double step = shortest(choice.seconds,
                                 [&] {
                                     for (int k = 0; k < choice.rebuild; ++k) liquid.step(number++);
                                 }) /
                        choice.rebuild;
    fmt::print(
        "{{\"atoms\": {}, \"images\": {}, \"cutoff\": {}, \"skin\": {}, \"precision\": \"{}\", \"wrong\": "
        "{:.2e}, "
        "\"build_ns\": {:.2f}, \"prune_ns\": {:.2f}, \"forces_ns\": {:.2f}, \"sums_ns\": {:.2f}, "
        "\"step_ns\": {:.2f}, \"million_forces_per_s\": {:.3f}, \"million_steps_per_s\": {:.3f}, "
        "\"rows_per_atom\": {:.3f}, \"clusters_per_atom\": {:.3f}, \"pairs_within\": {:.2f}, "
        "\"share_within\": {:.3f}, "
        "\"bytes_per_atom\": {:.1f}}}\n",
        liquid.atoms(), liquid.images(), choice.cutoff, choice.skin,
        choice.precision == Precision::mixed ? "mixed" : "full", wrong, 1e9 * build / atoms,
        1e9 * prune / atoms, 1e9 * forces / atoms, 1e9 * sums / atoms, 1e9 * step / atoms,
        1e-6 * atoms / forces, 1e-6 * atoms / step, rows / atoms, entries / atoms, within,
        within * atoms / (16 * rows), static_cast<double>(liquid.pairs().bytes()) / atoms);
    return kSuccess;
}

/// Energy of an atom over many steps: how it drifts.
int drift(const Choice& choice, std::int64_t steps) {
    Liquid liquid(choice);
    constexpr std::int64_t kSettle = 2000;
    for (std::int64_t step = 1; step <= kSettle; ++step) liquid.step(step);
    for (std::int64_t step = 0; step <= steps; ++step) {
        if (step % (steps / 20) == 0) {
            fmt::print("{} {:.9f}\n", static_cast<double>(step) * kStep, liquid.energy());
            std::fflush(stdout);
        }
        liquid.step(kSettle + 1 + step);
    }
    return kSuccess;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Options options(
            "strata-md-pairs",
            "Pair lists and Lennard-Jones forces of a liquid (density 0.8442, temperature 1.44) on one "
            "core: times of an atom, as a line of JSON.");
        options.option("--side", "N", "20", "cells of four atoms along each side of the box")
            .option("--cutoff", "R", "2.5", "of the potential, which is shifted to 0 there")
            .option("--skin", "R", "0.3", "by which the list reaches farther than the cutoff")
            .option("--inner", "R", "0.1", "by which the pruned list does")
            .option("--rebuild", "STEPS", "20", "how often the list is built")
            .option("--prune", "STEPS", "4", "how often it is pruned")
            .option("--precision", "P", "mixed", "mixed or full")
            .option("--melt", "STEPS", "200", "steps before anything is measured")
            .option("--duration", "TIME", "1s",
                    "for each of the measured parts, of which the shortest repeat counts")
            .option("--drift", "STEPS", "0",
                    "print the energy of an atom over so many steps, and nothing else")
            .example("strata-md-pairs --side 40 --cutoff 5", "256,000 atoms")
            .example("strata-md-pairs --drift 100000 --side 10", "how well energy is kept");
        const Parsed given = options.parse(argc, argv);
        if (given.help()) return kSuccess;
        const auto real = [&](const char* name) { return given.number(name, 0, 100); };
        Choice choice;
        choice.side = given.integer("--side", 1, 200);
        choice.cutoff = real("--cutoff"), choice.skin = real("--skin"), choice.inner = real("--inner");
        choice.rebuild = static_cast<int>(given.integer("--rebuild", 1, 1000));
        choice.prune = static_cast<int>(given.integer("--prune", 1, 1000));
        choice.steps = static_cast<int>(given.integer("--melt", 0, 1'000'000));
        choice.precision = given.text("--precision") == "full" ? Precision::full : Precision::mixed;
        choice.seconds = given.seconds("--duration");
        const std::int64_t steps = given.integer("--drift", 0, 100'000'000);
        return steps > 0 ? drift(choice, steps) : go(choice);
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
}
