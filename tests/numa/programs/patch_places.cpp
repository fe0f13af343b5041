// A graph on a team: which process has each patch, and in which memories the patch's values lie, before and
// after patches have gone to other processes. A line for each patch,
//   {"when": "start", "patch": 5, "process": 1, "pages": {"1": 16}}
// "pages" counts by the memory that move_pages(2) names; a page that two patches share counts for both.
//
//   patch_places CELLS PATCH_CELLS     heat on CELLS^3, patches of PATCH_CELLS^3
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/small.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

constexpr std::uintptr_t kPage = 4096;

/// The pages that hold a box of values, in ascending order.
std::vector<void*> pages_of(const BoxCopy& box) {
    std::set<std::uintptr_t> pages;
    for (std::int64_t k = 0; k < box.extent[2]; ++k)
        for (std::int64_t j = 0; j < box.extent[1]; ++j) {
            const auto row = reinterpret_cast<std::uintptr_t>(box.from + k * box.from_strides.plane +
                                                              j * box.from_strides.row);
            const std::uintptr_t end = row + static_cast<std::uintptr_t>(box.extent[0]) * box.bytes;
            for (std::uintptr_t at = row / kPage * kPage; at < end; at += kPage) pages.insert(at);
        }
    std::vector<void*> list;
    for (const std::uintptr_t page : pages) list.push_back(reinterpret_cast<void*>(page));
    return list;
}

std::string by_memory(std::vector<void*> pages) {
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) return "{}";
    std::map<int, int> counts;
    for (const int memory : status) ++counts[memory];
    std::string text;
    for (const auto& [memory, count] : counts)
        text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", memory, count);
    return "{" + text + "}";
}

void report(team::Team& team, const Simulation& run, LabelId label, const char* when) {
    std::string lines;
    const auto& mine = run.plan().memory().patches().at(0);
    for (const Kept& kept : kept_versions(run.plan())) {
        if (kept.label != label || kept.back != 0) continue;
        for (std::size_t p = 0; p < mine.size(); ++p)
            lines += fmt::format("{{\"when\": \"{}\", \"patch\": {}, \"process\": {}, \"pages\": {}}}\n",
                                 when, mine[p], team.rank(),
                                 by_memory(pages_of(run.values_in_place(kept, static_cast<int>(p)))));
    }
    print_all(team, lines);
}

/// Each patch to the process after its own.
Assignment handed_on(Assignment assignment, int processes) {
    for (auto& owners : assignment.owner)
        for (int& owner : owners) owner = (owner + 1) % processes;
    return assignment;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("patch_places CELLS PATCH_CELLS\n", stderr);
        return 2;
    }
    const int cells = std::stoi(argv[1]), patch = std::stoi(argv[2]);
    return team::run(argc, argv, [&](team::Team& team) {
        Heat heat({.cells = {{0, 0, 0}, {cells, cells, cells}}, .patch_cells = {patch, patch, patch}});
        Simulation run(heat.graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(2);
        report(team, run, heat.u.id(), "start");
        run.reassign(handed_on(run.plan().assignment(), team.size()));
        run.advance(1);
        report(team, run, heat.u.id(), "handed on");
        return 0;
    });
}
