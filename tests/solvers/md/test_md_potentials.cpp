// Units, mixing, long-range corrections and tabulated pairs: against exact constants, integrals and the
// functions that tables were made from; what is wrong with a table.
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "solvers/md/potentials/long_range.hpp"
#include "solvers/md/potentials/species.hpp"
#include "solvers/md/potentials/table.hpp"
#include "solvers/md/units.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::md;
using strata::tests::refusal;
namespace fs = std::filesystem;

namespace {

bool close(double a, double b, double relative) {
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

/// A file that is removed again.
struct Written {
    explicit Written(const std::string& text) : path(folder.write("a.table", text)) {}
    strata::tests::TemporaryFolder folder;
    fs::path path;
};

double lj_energy(double r) { return 4 * (std::pow(r, -12) - std::pow(r, -6)); }
double lj_force(double r) { return 24 * (2 * std::pow(r, -13) - std::pow(r, -7)); }

std::string lj_table(int count, double lo, double hi) {
    std::string text = fmt::format(
        "# Lennard-Jones\n\nOTHER\nN 2\n\n1 1 0 0\n2 2 0 0\n\nLJ\nN {} R {} {}\n\n", count, lo, hi);
    for (int k = 0; k < count; ++k) {
        const double r = lo + (hi - lo) * k / (count - 1);
        text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", k + 1, r, lj_energy(r), lj_force(r));
    }
    return text;
}

PairFunction read(const Written& file, Interpolation how, std::int64_t points, double cutoff = 0) {
    return PairFunction::read(file.path, "LJ", how, points, cutoff);
}

}  // namespace

TEST_CASE("constants of the units are those of the SI of 2019, as far as LAMMPS has them", "[units]") {
    const double k = 1.380649e-23, e = 1.602176634e-19, avogadro = 6.02214076e23, kcal = 4184 / avogadro;
    const Units &metal = units("metal"), &real = units("real"), &lj = units("lj");
    CHECK(close(metal.boltzmann, k / e, 2e-6));
    CHECK(close(metal.mass_velocity2, 1e-3 / avogadro * 1e4 / e, 2e-6));
    CHECK(close(metal.energy_density, e * 1e30 / 1e5, 2e-6));
    CHECK(close(real.boltzmann, k / kcal, 2e-6));
    CHECK(close(real.mass_velocity2, 1e-3 / avogadro * 1e10 / kcal, 2e-6));
    CHECK(close(real.energy_density, kcal * 1e30 / 101325, 2e-6));
    CHECK(lj.boltzmann == 1);
    // A mole of ideal gas at 300 K in 22.4 litres, and what its atoms have of velocity.
    const double n = 1000, t = 300, volume = 22.4e27 / avogadro * n, kinetic = 1.5 * n * metal.boltzmann * t;
    CHECK(close(metal.temperature_of(kinetic, 3 * n), t, 1e-14));
    CHECK(close(metal.pressure_of(kinetic, 0, volume) * 1e5, 8.314462618 * 300 / 22.4e-3, 5e-6));
    CHECK(close(real.velocity2_of(300, 39.95) * 1e10, k * 300 / (39.95e-3 / avogadro), 5e-6));
    const std::string text = refusal([] { (void)units("si"); });
    CHECK(text.find("given: si") != std::string::npos);
    CHECK(text.find("lj, metal, real") != std::string::npos);
}

TEST_CASE("pairs of unlike kinds are mixed by the rule, unless they are given", "[potentials]") {
    const std::vector<Species> kinds{{"a", 1, 1, 1}, {"b", 1, 4, 2}, {"c", 1, 0.3, 1.1}};
    const LennardJones table =
        mixed(kinds, Mixing::lorentz_berthelot, 2.5, Shift::none, {{1, 2, 0.7, 1.3, 3.1}});
    CHECK(table.epsilon[1] == 2);
    CHECK(table.sigma[3] == 1.5);
    CHECK(table.epsilon[8] == 0.3);
    for (const int at : {5, 7}) {
        CHECK(table.epsilon[at] == 0.7);
        CHECK(table.sigma[at] == 1.3);
        CHECK(table.cutoff[at] == 3.1);
    }
    CHECK(largest_cutoff(table) == 3.1);
    CHECK(mixed(kinds, Mixing::geometric, 2.5, Shift::none).sigma[1] == std::sqrt(2.0));
    CHECK(refusal([&] {
              (void)mixed(kinds, {}, 2, {}, {{0, 3, 1, 1, 0}});
          }).find("1 to 3") != std::string::npos);
    CHECK(refusal([&] {
              (void)mixed(kinds, {}, 2, {}, {{0, 1, 1, 1, 0}, {1, 0, 1, 1, 0}});
          }).find("twice") != std::string::npos);
}

TEST_CASE("long-range corrections are the integrals beyond the cutoff", "[potentials]") {
    const double epsilon = 1.3, sigma = 0.9, cutoff = 2.2;
    // Substituted u = 1 / r, by Simpson's rule: integrands are polynomials of u.
    const auto integral = [&](auto of) {
        double sum = 0;
        const int n = 2000;
        for (int k = 0; k <= n; ++k) {
            const double u = (k + 1e-12) / n / cutoff, r = 1 / u;
            sum += (k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2) * of(r) * r * r;
        }
        return 2 * std::numbers::pi * sum / (3 * n * cutoff);
    };
    const LongRange one = long_range_of_pair(epsilon, sigma, cutoff);
    CHECK(
        close(one.energy, integral([&](double r) { return epsilon * lj_energy(r / sigma) * r * r; }), 1e-9));
    CHECK(close(one.virial,
                integral([&](double r) { return epsilon * lj_force(r / sigma) / sigma * r * r * r; }), 1e-9));
    // Of two kinds that are the same, as of one.
    const LennardJones two = mixed({{"a", 1, epsilon, sigma}, {"b", 1, epsilon, sigma}}, {}, cutoff, {});
    const std::array<std::int64_t, 2> atoms{30, 70};
    const LongRange both = long_range(two, atoms);
    CHECK(close(both.energy, 1e4 * one.energy, 1e-14));
    CHECK(close(both.virial, 1e4 * one.virial, 1e-14));
}

TEST_CASE("a table gives the function that it was made from", "[table]") {
    const Written file(lj_table(400, 0.8, 3));
    double errors[2][2] = {};
    for (const int finer : {0, 1})
        for (const Interpolation how : {Interpolation::linear, Interpolation::spline}) {
            const PairFunction u = read(file, how, finer == 0 ? 500 : 2000, 2.5);
            double& worst = errors[how == Interpolation::spline ? 1 : 0][finer];
            for (int k = 0; k < 3000; ++k) {
                const double r = 0.85 + 1.64 * k / 2999;
                const PairFunction::Value value = u(r * r);
                worst =
                    std::max({worst, std::abs(value.energy - lj_energy(r)) / (1 + std::abs(lj_energy(r))),
                              std::abs(value.force_over_r * r - lj_force(r)) / (1 + std::abs(lj_force(r)))});
            }
            CHECK(u.cutoff() == 2.5);
            CHECK(u.least() == 0.8);
        }
    CHECK(errors[0][0] < 4e-3);
    CHECK(errors[0][0] / errors[0][1] > 14);  // second order: 16
    CHECK(errors[1][1] < 3e-6);               // what the file's own spacing leaves
}

TEST_CASE("forces of a tabulated pair act on both atoms, and two that are too close are named", "[table]") {
    const Written file(lj_table(800, 0.8, 3));
    const std::vector<PairFunction> functions{read(file, Interpolation::spline, 3000)};
    double x[3][2] = {{0, 0.7}, {0, 0.8}, {0, 0.9}}, f[3][2] = {};
    const Sight sight{{x[0], x[1], x[2]}, nullptr, 2, 2};
    Pairs pairs;
    pairs.build(sight, {}, 3.2);
    double* const forces[3] = {f[0], f[1], f[2]};
    const Sums sums = add_table_forces(pairs, sight, 1, functions, forces);
    const double r = std::sqrt(0.49 + 0.64 + 0.81);
    CHECK(close(sums.energy, lj_energy(r), 1e-6));
    for (int c = 0; c < 3; ++c) {
        CHECK(close(f[c][1], lj_force(r) * x[c][1] / r, 1e-6));
        CHECK(f[c][0] == -f[c][1]);
    }
    CHECK(close(sums.virial[0] + sums.virial[1] + sums.virial[2], lj_force(r) * r, 1e-6));
    for (auto& along : x) along[1] *= 0.5;
    const std::string text = refusal([&] { add_table_forces(pairs, sight, 1, functions, forces); });
    CHECK(text.find("closer to each other") != std::string::npos);
    CHECK(text.find("0.8 and more") != std::string::npos);
}

TEST_CASE("what is wrong with a table is said with its file and line", "[table]") {
    const auto said = [](const std::string& text, const std::string& what, int line) {
        const Written file(text);
        const std::string error = refusal([&] { (void)read(file, Interpolation::linear, 10); });
        INFO(error);
        CHECK(error.find(what) != std::string::npos);
        CHECK(error.find(fmt::format("{}:{}", file.path.string(), line)) != std::string::npos);
    };
    said("X\nN 2\n1 1 0 0\n2 2 0 0\n", "no section of this name", 4);
    said("LJ\nN 3\n\n1 1 0 0\n2 2 0 0\n", "ends too early", 5);
    said("LJ\nN 2\n\n1 1 0 0\n2 1 0 0\n", "rise and are positive", 5);
    said("LJ\nN 2\n\n1 1 0 0\n2 2 x 0\n", "a number is expected", 5);
    said("LJ\nN 2\n\n1 1 0 0\n2 2 nan 0\n", "a number is expected", 5);
    said("LJ\nN 2 R 1 3\n\n1 1 0 0\n2 2 0 0\n", "another one than R", 5);
    said("LJ\nN 2 BITMAP 1 3\n", "not known", 2);
    said("LJ\nR 1 3\n", "number of lines is missing", 2);
    said("LJ\nN 2\n1 1 0\n", "not a line of a table", 3);
    const Written file(lj_table(40, 0.8, 3));
    CHECK(refusal([&] { (void)read(file, Interpolation::linear, 10, 3.1); }).find("up to 3") !=
          std::string::npos);
    CHECK(refusal([&] { (void)PairFunction::read("/nowhere", "LJ", {}, 10); }).find("/nowhere") !=
          std::string::npos);
}
