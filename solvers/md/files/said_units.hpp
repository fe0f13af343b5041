// What a file says of its units, by the conventions of LAMMPS.
#pragma once

#include <filesystem>
#include <string>

namespace strata::md {

/// The system of units that a file says it is in, within its first three lines: "units = metal" in what
/// LAMMPS writes, "UNITS: metal" in its potentials. "" where it says none.
[[nodiscard]] std::string said_units(const std::filesystem::path& path);

}  // namespace strata::md
