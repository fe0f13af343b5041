#include "solvers/md/units.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace strata::md {

namespace {

// The constants are those that LAMMPS computes with (CODATA 2002 and 2006), not today's: with others, the
// temperature of given velocities would differ in the sixth digit. How far they are from the exact ones of
// the SI of 2019 (test_md_units): less than 2e-6.
//
// metal: k_B in eV/K. 1 g/mol (A/ps)^2 = 1.0364269e-4 eV. 1 eV/A^3 = 1.6021765e6 bar.
// real: k_B = R in kcal/(mol K). 1 kcal/mol = 1 g/mol (A / 48.88821291 fs)^2: the unit of time of AKMA.
//       1 kcal/mol/A^3 = 68568.415 atm.
// Both: 1 g/mol/A^3 = 1 / 0.602214129 g/cm^3.
const std::vector<Units>& all() {
    static const std::vector<Units> systems{
        {"lj", "sigma", "tau", "epsilon", "m", "epsilon/kB", "epsilon/sigma3", "epsilon/sigma",
         "sigma/tau",  //
         1, 1, 1, 0.005, 0},
        {"metal", "A", "ps", "eV", "g/mol", "K", "bar", "eV/A", "A/ps",  //
         8.617343e-5, 1.0364269e-4, 1.6021765e6, 0.001, 1000, 1 / 0.602214129, "g/cm3"},
        {"real", "A", "fs", "kcal/mol", "g/mol", "K", "atm", "kcal/mol/A", "A/fs",  //
         0.0019872067, 48.88821291 * 48.88821291, 68568.415, 1, 1, 1 / 0.602214129, "g/cm3"}};
    return systems;
}

}  // namespace

const Units& units(std::string_view name) {
    for (const Units& system : all())
        if (system.name == name) return system;
    throw Error("there are no units of this name")
        .given(std::string(name))
        .allowed(fmt::format("{}", fmt::join(units_names(), ", ")));
}

std::vector<std::string> units_names() {
    std::vector<std::string> names;
    for (const Units& system : all()) names.push_back(system.name);
    return names;
}

}  // namespace strata::md
