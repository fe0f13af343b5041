// Parts of a step that run for themselves: what they leave is what a plain loop has, bit for bit.
#include <cstring>
#include <vector>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/simulation/scoped.hpp"

using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

/// [patch] -> the values that a label has now; in a run of one process.
template <class T>
std::vector<std::vector<T>> values_now(const Simulation& run, LabelId label) {
    std::vector<std::vector<T>> all;
    for (const Kept& kept : kept_versions(run.plan())) {
        if (kept.label != label || kept.back != 0) continue;
        const LabelInfo& info = run.plan().graph().labels()[label];
        for (int p = 0; p < info.family->patches(); ++p) {
            const std::vector<std::byte> bytes = run.values(kept, p);
            all.emplace_back(bytes.size() / sizeof(T));
            if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());
        }
    }
    return all;
}

}  // namespace

TEST_CASE("particles are relocated in rounds and in conditions, over several patches, or not at all") {
    for (const int threads : {1, 3}) {
        Walk walk(kRound);
        Simulation run(walk.graph, Members::alone(),
                       {.threads = threads, .shuffle = {.seed = threads == 1 ? 0U : 11U}});
        run.start();
        for (int step = 1; step <= 14; ++step) {
            run.advance(1);
            CAPTURE(threads, step);
            const Walk::Plain plain = Walk::plainly(kRound, step);
            const auto ids = values_now<std::int64_t>(run, walk.id.id());
            const auto at = values_now<double>(run, walk.x.id()),
                       marks = values_now<double>(run, walk.mark.id());
            std::size_t count = 0;
            bool same = true;
            for (int p = 0; p < walk.grid.patches(); ++p) {
                const auto patch = static_cast<std::size_t>(p);
                const std::size_t n = ids[patch].size();
                count += n;
                for (std::size_t i = 0; i < n; ++i) {
                    const Walk::Particle& is = plain.particles[static_cast<std::size_t>(ids[patch][i])];
                    Int3 cell{};
                    for (std::size_t c = 0; c < 3; ++c) {
                        same = same && at[patch][c * n + i] == is.x[c];
                        cell[c] = static_cast<int>(is.x[c]);
                    }
                    same = same && marks[patch][i] == is.mark && walk.grid.box(p).contains(cell);
                }
                const auto met = values_now<double>(run, walk.met.id())[patch];
                std::size_t next = 0;
                for_each(walk.grid.box(p), [&](int i, int j, int k) {
                    const Int3 all = kRound.cells.hi;
                    same = same &&
                           met[next++] == plain.met[static_cast<std::size_t>(i + all[0] * (j + all[1] * k))];
                });
            }
            REQUIRE(same);
            REQUIRE(count == plain.particles.size());
            if (step >= 3) CHECK(run.value(walk.jumped) == static_cast<std::int64_t>(count));
            CHECK(run.value(walk.walked) == static_cast<std::int64_t>(count));
        }
    }
}

TEST_CASE("a repetition in a condition in a subcycle leaves what loops within loops do") {
    for (const int threads : {1, 3}) {
        Deep deep(kRound);
        Simulation run(deep.graph, Members::alone(),
                       {.threads = threads, .shuffle = {.seed = threads == 1 ? 0U : 5U}});
        run.start();
        for (int step = 1; step <= 7; ++step) {
            run.advance(1);
            CAPTURE(threads, step);
            const auto plain = Deep::plainly(kRound, step);
            const auto v = values_now<double>(run, deep.v.id()), w = values_now<double>(run, deep.w.id());
            bool same = true;
            for (int p = 0; p < deep.grid.patches(); ++p) {
                std::size_t next = 0;
                for_each(deep.grid.box(p), [&](int i, int j, int k) {
                    const Int3 all = kRound.cells.hi;
                    const auto cell = static_cast<std::size_t>(i + all[0] * (j + all[1] * k));
                    const auto patch = static_cast<std::size_t>(p);
                    same = same && v[patch][next] == plain[0][cell] && w[patch][next] == plain[1][cell];
                    ++next;
                });
            }
            REQUIRE(same);
        }
    }
}

TEST_CASE("a repetition in the start ends by its sum, as a loop does") {
    const auto [plain, rounds] = Settled::plainly(kRound, 2);
    CHECK(rounds > 3);
    CHECK(rounds < Settled::kMost);
    for (const int threads : {1, 3}) {
        Settled settled(kRound);
        Simulation run(settled.graph, Members::alone(), {.threads = threads});
        run.start();
        run.advance(2);
        const auto u = values_now<double>(run, settled.u.id());
        bool same = true;
        for (int p = 0; p < settled.grid.patches(); ++p) {
            std::size_t next = 0;
            for_each(settled.grid.box(p), [&](int i, int j, int k) {
                const Int3 all = kRound.cells.hi;
                same = same && u[static_cast<std::size_t>(p)][next++] ==
                                   plain[static_cast<std::size_t>(i + all[0] * (j + all[1] * k))];
            });
        }
        CAPTURE(threads);
        CHECK(same);
    }
}
