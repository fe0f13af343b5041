// What wall faces count where two meshes lie on one wall: in a strip that both compute, each face counts by
// one over the number of meshes, so that sums over walls have the wall once.
#include "methods/overset/parts.hpp"

namespace strata::overset {

using namespace graph;

namespace {

/// The question whether the cells around a place between centres are all computed.
using SharedWalls = Requests<Int3, std::int32_t>;

/// Cells by walls ask the meshes that share these.
void ask_shared_walls(Parts& parts, const When& when, const Connectivity& made, const SharedWalls& requests) {
    const Problem& p = parts.p;
    Task task = when.scope.task(parts.named("ask shared walls"), p.grid);
    const auto status = task.need(made.status);
    const auto work = task.modify(parts.work);
    task.run([=, &p, asked = requests.ask(task)](Here& here) {
        Work& w = here[work];
        const auto asks = here[asked];
        const Box cells = here.cells();
        const int own = p.mesh[z(p.grid.zone_of(here.patch))];
        w.asking.clear();
        for (const Face& face : p.surfaces[z(here.patch)]) {
            Box beside = cells;
            const auto a = z(face.axis);
            (face.upper ? beside.lo[a] : beside.hi[a]) = face.upper ? cells.hi[a] - 1 : cells.lo[a] + 1;
            for_each(beside, [&](int i, int j, int k) {
                if (here[status](i, j, k) != static_cast<std::int32_t>(Cell::computed)) return;
                const auto cell = static_cast<std::int32_t>(number_of(cells, {i, j, k}));
                for (std::int32_t c = w.first[z(cell)]; c < w.first[z(cell) + 1]; ++c)
                    if (p.share(own, w.candidates[z(c)].mesh) &&
                        asks.add(w.candidates[z(c)].patch, w.candidates[z(c)].base))
                        w.asking.push_back(cell);
            });
        }
    });
}

void answer_shared_walls(Parts& parts, const When& when, const Connectivity& made,
                         const SharedWalls& requests) {
    const Problem& p = parts.p;
    Task task = when.scope.task(parts.named("say shared walls"), p.grid);
    const auto status = task.need(made.status, ghosts({1, 1, p.dimensions == 3 ? 1 : 0}));
    task.run([=, corners = 1 << p.dimensions, asked = requests.answer(task)](Here& here) {
        here[asked].each([&](const Request<Int3, std::int32_t>& request) {
            bool all = true;
            for (int c = 0; c < corners; ++c) {
                const Int3 at = corner_of(request.question(), c);
                all = all && here[status](at[0], at[1], at[2]) == static_cast<std::int32_t>(Cell::computed);
            }
            request.answer() = all ? 1 : 0;
        });
    });
}

void take_shares(Parts& parts, const When& when, const Connectivity& made, const SharedWalls& requests) {
    Task task = when.scope.task(parts.named("share walls"), parts.p.grid);
    const auto work = task.modify(parts.work);
    const auto share = task.make(*made.share);
    task.run([=, answers = requests.answers(task)](Here& here) {
        Work& w = here[work];
        const Box cells = here.cells();
        for_each(cells, [&](int i, int j, int k) { here[share](i, j, k) = 1; });
        for (std::size_t n = 0; n < w.asking.size(); ++n) {
            if (here[answers][n] == 0) continue;
            const Int3 at = cell_at(cells, w.asking[n]);
            double& counts = here[share](at[0], at[1], at[2]);
            counts = 1 / (1 / counts + 1);
        }
        w = {};
    });
}

}  // namespace

void declare_shares(Parts& parts, const When& when, const Connectivity& made) {
    const SharedWalls requests(parts.graph, parts.named("shared walls"), parts.p.grid, parts.p.grid,
                               static_cast<int>(parts.patch_cells));
    ask_shared_walls(parts, when, made, requests);
    answer_shared_walls(parts, when, made, requests);
    take_shares(parts, when, made, requests);
}

}  // namespace strata::overset
