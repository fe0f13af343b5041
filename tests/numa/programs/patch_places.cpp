// A graph on a team: which process has each patch, and in which memories the patch's values lie: at the
// start, after patches have gone to other processes, and after a restart from a checkpoint. A line for each
// patch,
//   {"when": "start", "of": "u", "patch": 5, "process": 1, "domain": 1, "pages": {"1": 16}}
// "domain": of the thread that the patch's tasks prefer. "pages" counts by the memory that move_pages(2)
// names; a page that two patches share counts for both. "of": u, a field; x, the positions of particles.
//
//   patch_places CELLS PATCH_CELLS HEIGHT FOLDER     heat on CELLS^3, in patches of PATCH_CELLS x PATCH_CELLS
//   x
//                                                    HEIGHT cells; the checkpoint goes to the folder
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/expand/assign/home.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/team/team.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/simulation/small.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

constexpr std::uintptr_t kPage = 4096;

/// Adds the pages of so many bytes.
void add_pages(std::set<std::uintptr_t>& pages, const std::byte* first, std::int64_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(first);
    for (std::uintptr_t at = begin / kPage * kPage; at < begin + static_cast<std::uintptr_t>(bytes);
         at += kPage)
        pages.insert(at);
}

/// The pages that hold a box of values, in ascending order.
std::set<std::uintptr_t> pages_of(const BoxCopy& box) {
    std::set<std::uintptr_t> pages;
    for (std::int64_t k = 0; k < box.extent[2]; ++k)
        for (std::int64_t j = 0; j < box.extent[1]; ++j)
            add_pages(pages, box.from + k * box.from_strides.plane + j * box.from_strides.row,
                      std::int64_t{box.extent[0]} * box.bytes);
    return pages;
}

/// Of a label of particles.
std::set<std::uintptr_t> pages_of(const ParticlePatch& patch, const ParticleColumn& column) {
    std::set<std::uintptr_t> pages;
    for (int c = 0; c < column.components; ++c)
        add_pages(pages, column.at(patch.now) + c * column.stride(patch.now), patch.count * column.bytes);
    return pages;
}

std::string by_memory(const std::set<std::uintptr_t>& of) {
    std::vector<void*> pages;
    for (const std::uintptr_t page : of) pages.push_back(reinterpret_cast<void*>(page));
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) return "{}";
    std::map<int, int> counts;
    for (const int memory : status) ++counts[memory];
    std::string text;
    for (const auto& [memory, count] : counts)
        text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", memory, count);
    return "{" + text + "}";
}

void report(team::Team& team, const Simulation& run, const char* when) {
    std::string lines;
    const std::vector<int>& domains = run.members().domains;
    for (const Kept& kept : kept_versions(run.plan())) {
        const LabelInfo& label = run.plan().graph().labels()[kept.label];
        if ((label.name != "u" && label.name != "x") || kept.back != 0) continue;
        const auto& mine = run.plan().memory().patches()[number_of(run.plan().graph(), *label.family)];
        const std::vector<int> home = home_threads(*label.family, mine, team.crew().count());
        for (std::size_t p = 0; p < mine.size(); ++p) {
            const auto local = static_cast<int>(p);
            const Populations& all = run.plan().memory().populations();
            const auto pages = label.kind == Kind::particles
                                   ? pages_of(all.own(label.particle_set, local), all.column(kept.storage))
                                   : pages_of(run.values_in_place(kept, local));
            lines += fmt::format(
                "{{\"when\": \"{}\", \"of\": \"{}\", \"patch\": {}, \"process\": {}, "
                "\"domain\": {}, \"pages\": {}}}\n",
                when, label.name, mine[p], team.rank(),
                domains.empty() ? -1 : domains[static_cast<std::size_t>(home[p])], by_memory(pages));
        }
    }
    print_all(team, lines);
}

/// Particles that stay where they are, one in each cell.
void add_dust(Heat& heat) {
    Graph& graph = heat.graph;
    const SetId dust = graph.particles("dust", heat.grid);
    const auto id = graph.particle_id(dust);
    const auto x = graph.particle<double>(dust, "x", {.components = 3});
    {
        Task task = graph.start().task("one in each cell", heat.grid);
        const auto who = task.make(id);
        const auto at = task.make(x);
        task.run([=, cells = heat.grid.shape().cells](Here& here) {
            here.create(dust, here.cells().volume());
            std::int64_t i = 0;
            for_each(here.cells(), [&](int a, int b, int c) {
                here[who][i] = a + cells.extent(0) * (b + std::int64_t{cells.extent(1)} * c);
                here[at].component(0)[i] = a + 0.5, here[at].component(1)[i] = b + 0.5,
                here[at].component(2)[i] = c + 0.5;
                ++i;
            });
        });
    }
    Task task = graph.step().task("stay", heat.grid);
    (void)task.modify(x);
    task.run([](Here&) {});
    graph.step().relocate(dust, x.last());
}

/// Each patch to the process after its own.
Assignment handed_on(Assignment assignment, int processes) {
    for (auto& owners : assignment.owner)
        for (int& owner : owners) owner = (owner + 1) % processes;
    return assignment;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("patch_places CELLS PATCH_CELLS HEIGHT FOLDER\n", stderr);
        return 2;
    }
    const int cells = std::stoi(argv[1]), patch = std::stoi(argv[2]), height = std::stoi(argv[3]);
    const StateName name{"places", "", 0};
    return team::run(argc, argv, [&](team::Team& team) {
        Heat heat({.cells = {{0, 0, 0}, {cells, cells, cells}}, .patch_cells = {patch, patch, height}});
        add_dust(heat);
        {
            Simulation run(heat.graph, Members::of(team), {.crew = &team.crew()});
            run.start();
            run.advance(2);
            report(team, run, "start");
            run.reassign(handed_on(run.plan().assignment(), team.size()));
            report(team, run, "handed on");
            run.advance(1);
            save_state(run, heat.graph, team, argv[4], name, 1);
            team.barrier();
        }
        Simulation run(heat.graph, Members::of(team), {.crew = &team.crew()});
        restore_state(run, heat.graph, team, argv[4], name);
        report(team, run, "restored");
        run.advance(1);
        team.barrier();
        return 0;
    });
}
