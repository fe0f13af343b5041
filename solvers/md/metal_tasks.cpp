// The embedded-atom method on the graph: two passes over the pairs, with an exchange between them.
//
//   densities     rho of own atoms and of the halo's; what belongs to others goes to them
//   embed         F and F' of own atoms, when all patches' parts of rho are there
//   metal forces  with F' of both atoms of a pair: those of the halo are copied
#include "solvers/md/over_pairs.hpp"
#include "solvers/md/potentials/eam_pass.hpp"

namespace strata::md {

using namespace graph;

namespace {

void find_densities(const Step& step, Scope& scope, const std::string& name) {
    Task task = scope.task(name + "densities", step.grid);
    const auto rho = task.sum(step.labels.density, step.labels.near);
    over_pairs(step, task, [=, &s = step.settings](Here& here, const Sight& sight, const Pairs& pairs) {
        add_densities(pairs, sight, *s.eam, pointer(here[rho]));
    });
}

void embed_atoms(const Step& step, Scope& scope, const std::string& name) {
    const Labels& l = step.labels;
    Task task = scope.task(name + "embed", step.grid);
    const auto list = task.need(l.neighbours);
    const auto rho = task.need(l.density);
    const auto slope = task.make(l.slope);
    const auto sums = task.contribute(l.sums);
    task.run([=, &s = step.settings](Here& here) {
        const double energy =
            embed(*s.eam, here[list].species(), pointer(here[rho]), here[rho].size(), pointer(here[slope]));
        if (!s.sums_due(here.step)) return;
        here[sums].resize(kSums);
        here[sums][kPotential] = energy;
    });
}

void add_forces(const Step& step, Scope& scope, const std::string& name) {
    const Labels& l = step.labels;
    Task task = scope.task(name + "metal forces", step.grid);
    const auto slope = task.need(l.slope, l.near);
    const auto force = task.sum(l.force, l.near);
    const auto sums = task.contribute(l.sums);
    over_pairs(step, task, [=, &s = step.settings](Here& here, const Sight& sight, const Pairs& pairs) {
        double* f[3];
        pointers(here[force], f);
        const Sums found =
            add_eam_forces(pairs, sight, *s.eam, pointer(here[slope]), s.sums_due(here.step), f);
        if (!s.sums_due(here.step)) return;
        here[sums].resize(kSums);
        here[sums][kPotential] = found.energy;
        for (std::size_t c = 0; c < 6; ++c) here[sums][kVirial + c] = found.virial[c];
    });
}

}  // namespace

void find_metal_forces(const Step& step, Scope& scope) {
    const std::string name = scope.id() == kStart ? "first " : "";
    find_densities(step, scope, name);
    embed_atoms(step, scope, name);
    add_forces(step, scope, name);
}

}  // namespace strata::md
