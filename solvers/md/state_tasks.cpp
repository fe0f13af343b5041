// The first atoms out of a file. Each patch reads a share of its lines, as particles of a set of their own;
// these go to the patches where they are; atoms are made of them there, and the set is emptied.
#include <algorithm>
#include <array>

#include "solvers/md/start.hpp"
#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

namespace {

struct Lines {
    SetId set;
    Particles<std::int64_t> id;
    Particles<double> x, v;
    Particles<std::int32_t> kind;
};

Lines read_lines(const Step& step) {
    Graph& graph = step.graph;
    Lines l;
    l.set = graph.particles("lines", step.grid, step.settings.beyond());
    l.id = graph.particle_id(l.set);
    l.x = graph.particle<double>(l.set, "place in the file", {.components = 3});
    l.v = graph.particle<double>(l.set, "velocity in the file", {.components = 3});
    l.kind = graph.particle<std::int32_t>(l.set, "kind in the file");
    Task task = graph.start().task("read lines", step.grid);
    const auto id = task.make(l.id);
    const auto x = task.make(l.x), v = task.make(l.v);
    const auto kind = task.make(l.kind);
    task.run([=, &s = step.settings, set = l.set](Here& here) {
        const std::vector<Atom> all = atoms_of(s, here.grid(), here.patch);
        here.create(set, static_cast<std::int64_t>(all.size()));
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            here[id][at] = all[i].id;
            here[kind][at] = all[i].kind;
            for (std::size_t c = 0; c < 3; ++c) {
                here[x].component(static_cast<int>(c))[i] = all[i].x[c];
                here[v].component(static_cast<int>(c))[i] = all[i].v[c];
            }
        }
    });
    return l;
}

/// A file must have as many atoms as it says, none twice, and of each one velocity or of none: numbers
/// without gaps have a sum that is known; where there are gaps, or something is wrong, one process reads the
/// file again.
void check_numbers(const Step& step, const Lines& l) {
    Graph& graph = step.graph;
    const auto sums =
        graph.scalars<std::int64_t>("number of lines, their numbers, lines of velocities", Reduce::sum, 3);
    const auto ends = graph.scalars<std::int64_t>("ends of numbers", Reduce::max, 2);
    Task add = graph.start().task("add numbers", step.grid);
    add.run([id = add.need(l.id), all = add.contribute(sums), range = add.contribute(ends),
             state = step.settings.state](Here& here) {
        here[all].resize(3), here[range].resize(2);
        here[all][2] = state->velocity_lines(here.patch, here.grid().patches());
        here[all][0] = here[id].size();
        for (std::int64_t i = 0; i < here[id].size(); ++i) {
            here[all][1] += here[id][i];
            here[range][0] = std::max(here[range][0], -here[id][i]);
            here[range][1] = std::max(here[range][1], here[id][i]);
        }
    });
    Task task = graph.start().once("check numbers");
    const auto checked = graph.scalar<std::int32_t>("checked");
    task.run([all = task.need(sums), range = task.need(ends), made = task.make(checked),
              state = step.settings.state](Here& here) {
        const std::int64_t atoms = here[all][0], first = -here[range][0], last = here[range][1];
        const bool gaps = last - first + 1 != atoms;
        const std::int64_t velocities = here[all][2];
        if (atoms != state->atoms() || gaps || 2 * here[all][1] != atoms * (first + last) ||
            (velocities != 0 && velocities != atoms))
            state->explain();
        here[made] = 1;
    });
    // Atoms go to their patches after that: what is wrong is said of the file.
    Task wait = graph.start().task("numbers are right", step.grid);
    wait.run([id = wait.modify(l.id), right = wait.need(checked)](Here&) {});
}

}  // namespace

std::function<std::vector<Atom>(Here&)> atoms_from_file(const Step& step, Task& put) {
    const Lines l = read_lines(step);
    check_numbers(step, l);
    Scope& start = step.graph.start();
    start.subcycle("distribute", 1).relocate(l.set, l.x, 0);
    const auto id = put.need(l.id);
    const auto x = put.need(l.x), v = put.need(l.v);
    const auto kind = put.need(l.kind);

    Scope& forget = start.subcycle("forget lines", 1);
    Task drop = forget.task("forget", step.grid);
    drop.run([id = drop.modify(l.id)](Here& here) {
        for (std::int64_t i = 0; i < here[id].size(); ++i) here[id][i] = -1;
    });
    forget.relocate(l.set, l.x);

    return [=](Here& here) {
        std::vector<Atom> all(static_cast<std::size_t>(here[id].size()));
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            all[i].id = here[id][at];
            all[i].kind = here[kind][at];
            for (std::size_t c = 0; c < 3; ++c) {
                all[i].x[c] = here[x].component(static_cast<int>(c))[i];
                all[i].v[c] = here[v].component(static_cast<int>(c))[i];
            }
        }
        return all;
    };
}

}  // namespace strata::md
