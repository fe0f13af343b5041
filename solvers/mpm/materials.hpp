// What a case may say of materials: their laws by name, the numbers of each, and the materials that follow.
#pragma once

#include <string>
#include <vector>

#include "core/run/case/case.hpp"
#include "core/run/case/choice.hpp"
#include "solvers/mpm/material.hpp"

namespace strata::mpm {

/// A material as a case gives it.
struct GivenMaterial {
    std::string name = {};  // for bodies
    Law law = Law::neo_hookean;
    double density = 0, young = 0, poisson = 0, c1 = 0, c2 = 0, yield = 0, hardening = 0;
};

/// The names that cases give to laws.
constexpr graph::Named<Law> kLaws[] = {{"neo-hookean", Law::neo_hookean},
                                       {"mooney-rivlin", Law::mooney_rivlin},
                                       {"linear", Law::linear},
                                       {"von-mises", Law::von_mises}};

/// The keys of each entry of [[materials]].
void add_material_keys(graph::CaseSchema& keys, std::vector<GivenMaterial>& materials);

/// Throws Error with the key's place for numbers that a law lacks, or does not have.
[[nodiscard]] std::vector<Material> materials_of(const std::vector<GivenMaterial>& given,
                                                 const graph::CaseSchema& keys);

}  // namespace strata::mpm
