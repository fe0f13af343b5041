// The embedded-atom method on the graph: two passes over the pairs, with an exchange between them.
//
//   densities     rho of own atoms and of the halo's; what belongs to others goes to them
//   embed         F and F' of own atoms, when all patches' parts of rho are there
//   metal forces  with F' of both atoms of a pair: those of the halo are copied
#include "solvers/md/potentials/eam_pass.hpp"
#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

namespace {

struct Versions {
    int x, list, way;
};

/// Declares what both passes need, and calls work(here, sight, pairs).
template <class Work>
void over_pairs(const Step& step, Task& task, const Versions& at, Work work) {
    const Labels& l = step.labels;
    const auto x = task.need(l.x.at(at.x), l.near);
    const auto around = task.need(l.near);
    const auto list = task.need(l.neighbours.at(at.list));
    const auto way = task.need(l.way.at(at.way));
    const bool boxed = step.settings.changes_volume();
    const auto scale = boxed ? task.need(l.scale) : ScalarUse<const double>();
    task.run([=, &s = step.settings](Here& here) {
        const double* place[3];
        pointers(here[x], place);
        Sight sight{
            {place[0], place[1], place[2]}, here[list].species(), here[around].own(), here[around].size()};
        if (!boxed) return work(here, sight, here[list].near(sight, s.cutoff, here[way], s.margin));
        // Lists are of the first box, what is computed with them of the present one.
        const Pairs& pairs = here[list].near(sight, s.cutoff / here[scale], here[way], s.margin);
        static thread_local std::vector<double> real[3];
        for (std::size_t c = 0; c < 3; ++c) {
            real[c].resize(static_cast<std::size_t>(sight.all));
            for (std::size_t i = 0; i < real[c].size(); ++i) real[c][i] = here[scale] * place[c][i];
            sight.x[c] = real[c].data();
        }
        work(here, sight, pairs);
    });
}

void find_densities(const Step& step, Scope& scope, const Versions& at, const std::string& name) {
    Task task = scope.task(name + "densities", step.grid);
    const auto rho = task.sum(step.labels.density, step.labels.near);
    over_pairs(step, task, at, [=, &s = step.settings](Here& here, const Sight& sight, const Pairs& pairs) {
        add_densities(pairs, sight, *s.eam, pointer(here[rho]));
    });
}

void embed_atoms(const Step& step, Scope& scope, const Versions& at, const std::string& name) {
    const Labels& l = step.labels;
    Task task = scope.task(name + "embed", step.grid);
    const auto list = task.need(l.neighbours.at(at.list));
    const auto rho = task.need(l.density);
    const auto slope = task.make(l.slope);
    const auto sums = task.contribute(l.sums.at(0));
    task.run([=, &s = step.settings](Here& here) {
        const double energy =
            embed(*s.eam, here[list].species(), pointer(here[rho]), here[rho].size(), pointer(here[slope]));
        if (!s.sums_due(here.step)) return;
        here[sums].resize(kSums);
        here[sums][kPotential] = energy;
    });
}

void add_forces(const Step& step, Scope& scope, const Versions& at, const std::string& name) {
    const Labels& l = step.labels;
    Task task = scope.task(name + "metal forces", step.grid);
    const auto slope = task.need(l.slope, l.near);
    const auto force = task.sum(l.force, l.near);
    const auto sums = task.contribute(l.sums.at(0));
    over_pairs(step, task, at, [=, &s = step.settings](Here& here, const Sight& sight, const Pairs& pairs) {
        double* f[3];
        pointers(here[force], f);
        const Sums found = add_eam_forces(pairs, sight, *s.eam, pointer(here[slope]), f);
        if (!s.sums_due(here.step)) return;
        here[sums].resize(kSums);
        here[sums][kPotential] = found.energy;
        for (std::size_t c = 0; c < 6; ++c) here[sums][kVirial + c] = found.virial[c];
    });
}

}  // namespace

void find_metal_forces(const Step& step, Scope& scope, int x_version, int list_version, int way_version) {
    const Versions at{x_version, list_version, way_version};
    const std::string name = scope.id() == kStart ? "first " : "";
    find_densities(step, scope, at, name);
    embed_atoms(step, scope, at, name);
    add_forces(step, scope, at, name);
}

}  // namespace strata::md
