#include "tests/graph/solvers/solver.hpp"

#include "core/graph/expand/plan.hpp"
#include "tests/graph/solvers/annulus.hpp"
#include "tests/graph/solvers/charges.hpp"
#include "tests/graph/solvers/fft.hpp"
#include "tests/graph/solvers/gradients.hpp"
#include "tests/graph/solvers/overset.hpp"
#include "tests/graph/solvers/refined.hpp"
#include "tests/graph/solvers/stencils.hpp"
#include "tests/graph/solvers/swept.hpp"
#include "tests/graph/solvers/two_level.hpp"

namespace strata::tests {

std::unique_ptr<Solver> make_solver(const std::string& name) {
    if (name == "gradients") return std::make_unique<Gradients>();
    if (name == "fft") return std::make_unique<Fft>();
    if (name == "annulus") return std::make_unique<Annulus>(12, 3, 12, 4);
    if (name == "charges") return std::make_unique<Charges>();
    if (name == "two-level") return std::make_unique<TwoLevel>();
    if (name == "overset") return std::make_unique<Overset>();
    if (name == "refined") return std::make_unique<Refined>();
    if (name == "zones") return three_blocks();
    if (name == "narrow") return narrow_patches();
    if (name == "swept") return std::make_unique<Swept>();
    return nullptr;
}

const std::vector<Comparison>& comparisons() {
    static const std::vector<Comparison> all{
        {"gradients", 5}, {"fft", 10},     {"overset", 20},  {"refined", 20}, {"zones", 12},
        {"narrow", 12},   {"charges", 20}, {"two-level", 3}, {"annulus", 12}, {"swept", 8}};
    return all;
}

std::size_t patches_of(const Solver& solver) {
    std::size_t all = 0;
    for (const auto& family : solver.graph.families()) all += z(family->patches());
    return all;
}

void write_fingerprints(const Solver& solver, const graph::Simulation& run, std::span<std::uint64_t> all) {
    std::size_t first = 0;
    for (const graph::FamilyId f : solver.graph.families().ids()) {
        const graph::Family& family = *solver.graph.families()[f];
        const std::vector<std::uint64_t> hashes = run.hashes(family);
        const std::vector<int>& mine = run.plan().memory().patches()[f];
        for (std::size_t i = 0; i < hashes.size(); ++i) all[first + z(mine[i])] = hashes[i];
        first += z(family.patches());
    }
}

}  // namespace strata::tests
