#include "solvers/mpm/materials.hpp"

#include <fmt/format.h>

namespace strata::mpm {

namespace {

/// "materials[2].young".
std::string entry_key(std::size_t i, const char* key) { return fmt::format("materials[{}].{}", i, key); }

/// Numbers of other laws' than the material's.
void check_law(const GivenMaterial& m, std::size_t i, const graph::CaseSchema& keys) {
    const bool rubber = m.law == Law::mooney_rivlin, metal = m.law == Law::von_mises;
    const auto unused = [&](const char* key, double value, bool used) {
        if (value != 0 && !used)
            keys.refuse(entry_key(i, key),
                        fmt::format("the law \"{}\" has no such number", graph::name_in(kLaws, m.law)),
                        "none");
    };
    unused("young", m.young, !rubber);
    unused("c1", m.c1, rubber), unused("c2", m.c2, rubber);
    unused("yield", m.yield, metal), unused("hardening", m.hardening, metal);
    if (rubber && m.c1 + m.c2 <= 0)
        keys.refuse(entry_key(i, "c1"), "the material has no stiffness", "c1 + c2 > 0");
    if (!rubber && m.young <= 0) keys.refuse(entry_key(i, "young"), "the material has no stiffness", "> 0");
    if (metal && m.yield <= 0) keys.refuse(entry_key(i, "yield"), "the material is a liquid", "> 0");
}

}  // namespace

void add_material_keys(graph::CaseSchema& keys, std::vector<GivenMaterial>& materials) {
    keys.arrays(
        "materials", &materials,
        [](const graph::EntryKeys& entry, GivenMaterial& m) {
            entry.key("name", &m.name, {.meaning = "for bodies; one material alone needs none"});
            entry.key("law", graph::Choice(&m.law, kLaws),
                      {.required = true,
                       .meaning = "linear: small strains and rotations; von-mises: elastic (Hencky) and "
                                  "plastic with isotropic hardening"});
            entry.key("density", &m.density,
                      {.unit = "kg/m3",
                       .least = 0,
                       .above_least = true,
                       .required = true,
                       .meaning = "undeformed"});
            entry.key("young", &m.young,
                      {.unit = "Pa", .least = 0, .meaning = "Young's modulus (not mooney-rivlin)"});
            entry.key("poisson", &m.poisson,
                      {.least = -0.99, .most = 0.499, .required = true, .meaning = "Poisson's ratio"});
            entry.key("c1", &m.c1, {.unit = "Pa", .least = 0, .meaning = "mooney-rivlin"});
            entry.key("c2", &m.c2, {.unit = "Pa", .least = 0, .meaning = "mooney-rivlin"});
            entry.key("yield", &m.yield, {.unit = "Pa", .least = 0, .meaning = "von-mises: yield stress"});
            entry.key(
                "hardening", &m.hardening,
                {.unit = "Pa",
                 .least = 0,
                 .meaning = "von-mises: growth of the yield stress with the equivalent plastic strain"});
        },
        {.entries = {1, 64}, .meaning = "what bodies are made of"});
}

std::vector<Material> materials_of(const std::vector<GivenMaterial>& given, const graph::CaseSchema& keys) {
    std::vector<Material> all;
    for (std::size_t i = 0; i < given.size(); ++i) {
        const GivenMaterial& m = given[i];
        check_law(m, i, keys);
        for (std::size_t j = 0; j < i; ++j)
            if (!m.name.empty() && m.name == given[j].name)
                keys.refuse(entry_key(i, "name"), "two materials have one name",
                            "a name of its own for each");
        if (m.law == Law::mooney_rivlin) {
            all.push_back(Material::mooney_rivlin(m.density, m.c1, m.c2, m.poisson));
            continue;
        }
        all.push_back(Material::elastic(m.law, m.density, m.young, m.poisson));
        all.back().yield = m.yield, all.back().hardening = m.hardening;
    }
    return all;
}

}  // namespace strata::mpm
