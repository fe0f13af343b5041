// Which cells are computed.
//
// At first a cell is a hole; or a receptor that it must be, in two layers beside holes and outer boundaries;
// or a receptor that it may be, because another mesh is better there; or computed. A donor is valid where all
// its corners are computed. Rounds follow, in which each receptor that a computed cell sees asks for its
// donor's state:
//   - it may be a receptor, and no donor is valid: it is computed from now on
//   - it must be one, and corners of its donor may be receptors: these are computed from now on
//   - a corner is a hole, or must be a receptor itself: the next donor is tried, in another mesh; where none
//     is left, the cell is an orphan
// Cells only ever turn from receptors into computed ones, so the rounds end.
#include <algorithm>
#include <array>
#include <vector>

#include "methods/overset/parts.hpp"

namespace strata::overset {

using namespace graph;

namespace {

struct BaseQuestion {
    Int3 base;
};
enum Blocked : std::int32_t { kFree = 0, kSoft = 1, kHard = 2 };  // bits

[[nodiscard]] Ghosts layers(int dimensions, int width) {
    return ghosts({width, width, dimensions == 3 ? width : 0});
}

/// Which faces of zones are outer boundaries.
std::vector<std::array<bool, 6>> outer_of_zones(const Problem& p) {
    std::vector<std::array<bool, 6>> all(z(p.grid.zones()));
    for (std::size_t patch = 0; patch < p.outer.size(); ++patch)
        for (const Face& face : p.outer[patch])
            all[z(p.grid.zone_of(static_cast<int>(patch)))][z(2 * face.axis + (face.upper ? 1 : 0))] = true;
    return all;
}

void choose_first(Parts& parts, Scope& scope) {
    const Problem& p = parts.p;
    Task task = scope.task(parts.named("first choice"), p.grid);
    const auto holes = task.need(parts.holes, layers(p.dimensions, kFringe));
    const auto work = task.modify(parts.work);
    const auto made = task.make(parts.state);
    task.run([=, &p, around = seen_from_cell(p.dimensions), outer = outer_of_zones(p)](Here& here) {
        Work& w = here[work];
        const auto hole = here[holes];
        const auto to = here[made];
        const Box seen = hole.box();
        const int zone = p.grid.zone_of(here.patch);
        const Box& all = p.grid.cells(zone);
        std::size_t n = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            const Int3 at{i, j, k};
            const std::size_t cell = n++;
            if (w.first[cell + 1] > w.first[cell]) w.candidate[cell] = w.first[cell];
            if (hole(i, j, k) != 0) {
                to(i, j, k) = kHole;
                return;
            }
            bool must = false;
            for (std::size_t a = 0; a < z(p.dimensions); ++a)
                must = must || (outer[z(zone)][2 * a] && at[a] < all.lo[a] + p.fringe) ||
                       (outer[z(zone)][2 * a + 1] && at[a] >= all.hi[a] - p.fringe);
            for (const Int3& by : around) {
                if (must) break;
                const Int3 near{i + by[0], j + by[1], k + by[2]};
                must = seen.contains(near) && hole(near[0], near[1], near[2]) == 1;
            }
            to(i, j, k) = must ? kMandatory : w.better[cell] > 0 ? kOptional : kComputes;
        });
    });
}

struct Round {
    Parts& parts;
    Scope& scope;
    Field<std::int32_t> state;
    Requests<BaseQuestion, std::int32_t> donors;
    Requests<Int3, std::int32_t> claims;
    Scalar<std::int64_t> changes;
};

void ask(Round& r) {
    const Problem& p = r.parts.p;
    Task task = r.scope.task(r.parts.named("ask donors' state"), p.grid);
    const auto state = task.need(r.state, layers(p.dimensions, kFringe));
    const auto work = task.modify(r.parts.work);
    task.run([=, asked = r.donors.ask(task), around = seen_from_cell(p.dimensions)](Here& here) {
        Work& w = here[work];
        const auto now = here[state];
        const auto asks = here[asked];
        const Box seen = now.box();
        w.asking.clear();
        std::size_t n = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            const std::size_t cell = n++;
            const std::int32_t is = now(i, j, k);
            if ((is != kOptional && is != kMandatory) || w.candidate[cell] < 0) return;
            bool needed = false;
            for (const Int3& by : around) {
                const Int3 near{i + by[0], j + by[1], k + by[2]};
                needed = seen.contains(near) && now(near[0], near[1], near[2]) == kComputes;
                if (needed) break;
            }
            if (!needed) return;
            const Candidate& c = w.candidates[z(w.candidate[cell])];
            (void)asks.add(c.patch, {c.base});  // there is room for all cells
            w.asking.push_back(static_cast<std::int32_t>(cell));
        });
    });
}

void answer(Round& r) {
    const Problem& p = r.parts.p;
    Task task = r.scope.task(r.parts.named("say donors' state"), p.grid);
    const auto state = task.need(r.state, layers(p.dimensions, 1));
    task.run([=, corners = 1 << p.dimensions, asked = r.donors.answer(task)](Here& here) {
        const auto now = here[state];
        here[asked].each([&](const Request<BaseQuestion, std::int32_t>& request) {
            std::int32_t blocked = kFree;
            for (int c = 0; c < corners; ++c) {
                const Int3 at = corner_of(request.question().base, c);
                const std::int32_t is = now(at[0], at[1], at[2]);
                blocked |= is == kComputes ? kFree : is == kOptional ? kSoft : kHard;
            }
            request.answer() = blocked;
        });
    });
}

void take(Round& r) {
    const Problem& p = r.parts.p;
    Task task = r.scope.task(r.parts.named("choose"), p.grid);
    const auto state = task.modify(r.state);
    const auto work = task.modify(r.parts.work);
    const auto changes = task.contribute(r.changes);
    task.run([=, &grid = p.grid, corners = 1 << p.dimensions, answers = r.donors.answers(task),
              claimed = r.claims.ask(task)](Here& here) {
        Work& w = here[work];
        const auto now = here[state];
        const auto claims = here[claimed];
        std::int64_t changed = 0;
        for (std::size_t n = 0; n < w.asking.size(); ++n) {
            const std::int32_t blocked = here[answers][n];
            if (blocked == kFree) continue;
            ++changed;
            const std::size_t cell = z(w.asking[n]);
            const Int3 at = cell_at(here.cells(), w.asking[n]);
            const bool must = now(at[0], at[1], at[2]) == kMandatory;
            if ((blocked & kHard) != 0) {
                const std::int32_t next = w.candidate[cell] + 1;
                const std::int32_t end = must ? w.first[cell + 1] : w.first[cell] + w.better[cell];
                if (next < end)
                    w.candidate[cell] = next;
                else if (must)
                    w.candidate[cell] = -1;
                else
                    now(at[0], at[1], at[2]) = kComputes;
            } else if (!must) {
                now(at[0], at[1], at[2]) = kComputes;
            } else {
                const Candidate& c = w.candidates[z(w.candidate[cell])];
                for (int corner = 0; corner < corners; ++corner) {
                    const auto place = grid.find(c.zone, corner_of(c.base, corner));
                    // What finds no room is claimed in the next round.
                    if (place && !claims.add(place->patch, place->at)) break;
                }
            }
        }
        here[changes] = changed;
    });
}

void claim(Round& r) {
    Task task = r.scope.task(r.parts.named("claimed"), r.parts.p.grid);
    const auto state = task.modify(r.state);
    task.run([=, claimed = r.claims.answer(task)](Here& here) {
        const auto now = here[state];
        here[claimed].each([&](const Request<Int3, std::int32_t>& request) {
            const Int3& at = request.question();
            if (now(at[0], at[1], at[2]) == kOptional) now(at[0], at[1], at[2]) = kComputes;
            request.answer() = 1;
        });
    });
}

}  // namespace

void declare_choice(Parts& parts, const When& when, Scalar<std::int64_t> changes) {
    Graph& graph = parts.graph;
    choose_first(parts, when.scope);
    const int cells = static_cast<int>(parts.patch_cells);
    Scope& scope = when.scope.repeat<std::int64_t>(
        parts.named("choice"), changes, [](std::int64_t n) { return n == 0; }, kChoiceRounds);
    Round round{parts,
                scope,
                parts.state,
                {graph, parts.named("donors' states"), parts.p.grid, parts.p.grid, cells},
                {graph, parts.named("claims"), parts.p.grid, parts.p.grid, std::max(cells, 64)},
                changes};
    ask(round);
    answer(round);
    take(round);
    claim(round);
}

}  // namespace strata::overset
