#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::integrity {

/// A core under test: where its worker runs, and what a finding says of it.
struct Place {
    int pu = 0;  // the system's number
    int core = 0, package = 0, domain = 0;
    std::vector<int> siblings;  // all PUs of its core, itself among them
    std::string microcode;      // empty where it cannot be read
};

/// The first allowed PU of each core, of all cores or of those that `pus` names. Throws Error where one of
/// these is not there or not allowed.
[[nodiscard]] std::vector<Place> places(const machine::Machine& machine, const std::vector<int>& pus);

/// Degrees Celsius of a package as its sensor says (coretemp, k10temp), the highest of several.
[[nodiscard]] std::optional<double> temperature(int package, const std::string& root = "");

}  // namespace strata::integrity
