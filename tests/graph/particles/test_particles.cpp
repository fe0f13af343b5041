// Particles that cross patches: the same bits for any layout and order, as one array would have them.
#include <functional>
#include <set>

#include "tests/graph/particles/cloud.hpp"
#include "tests/graph/particles/particle_lines.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// A cloud in this process.
struct Alone {
    explicit Alone(const Flight& flight, int threads = 1, std::uint64_t seed = 0)
        : cloud(flight),
          resolved(resolve(cloud.graph())),
          plan(cloud.graph(), resolved, assign(cloud.graph(), 1), members, threads, 1),
          start(plan.start(), options(seed)),
          step(plan.step(), options(seed)) {
        start.run(1);
    }
    static ExecutorOptions options(std::uint64_t seed) {
        ExecutorOptions all;
        all.shuffle.seed = seed;
        return all;
    }
    [[nodiscard]] const ParticlePatch& patch(int p) const {
        return plan.memory().populations().own(cloud.set(), p);
    }
    template <class T>
    [[nodiscard]] const T* values(int p, LabelId label, int component = 0) const {
        const ParticleColumn& column = plan.memory().populations().column(storage_of(resolved, label));
        const ParticleArrays& arrays = column.arrays(patch(p));
        return reinterpret_cast<const T*>(column.at(arrays) + component * column.stride(arrays));
    }
    [[nodiscard]] std::vector<std::uint64_t> hashes() const {
        std::vector<std::uint64_t> all;
        for (int p = 0; p < cloud.grid().patches(); ++p)
            all.push_back(hash_of(cloud, resolved, plan.memory().populations(), patch(p)));
        return all;
    }

    Members members;
    Cloud cloud;
    Resolved resolved;
    Plan plan;
    Executor start, step;
};

/// Everything as the one array has it.
void check_against(Alone& run, Reference& reference, int steps) {
    const auto all = reference.sorted();
    std::size_t next = 0;
    bool same = true;
    for (int p = 0; p < run.cloud.grid().patches(); ++p) {
        const auto* ids = run.values<std::int64_t>(p, run.cloud.labels()[0]);
        const auto* ages = run.values<std::int32_t>(p, run.cloud.labels()[3]);
        const auto* marks = run.values<Bytes>(p, run.cloud.labels()[4]);
        for (std::int64_t i = 0; i < run.patch(p).count; ++i, ++next) {
            REQUIRE(next < all.size());
            const Bytes mark = Cloud::mark_of(ids[i]);
            same = same && all[next].patch == p && all[next].id == ids[i] && ages[i] == 7 + steps &&
                   std::memcmp(mark.of, marks[i].of, sizeof mark.of) == 0;
            for (int c = 0; c < 3; ++c)
                same = same && all[next].x[c] == run.values<double>(p, run.cloud.x(), c)[i] &&
                       all[next].v[c] == run.values<double>(p, run.cloud.labels()[2], c)[i];
        }
    }
    CHECK(same);
    CHECK(next == all.size());
}

/// A small graph of its own, for what must be refused.
struct Few {
    explicit Few(Beyond beyond = Beyond::refused)
        : graph("few"), grid(graph.grid("grid", shape())), set(graph.particles("dust", grid, beyond)) {}
    static GridShape shape() {
        GridShape shape;
        shape.cells = {{0, 0, 0}, {16, 1, 1}};
        shape.patch_cells = {2, 1, 1};
        return shape;
    }
    /// Particles at cell middles of their patches' first cells, moved to where `to` says in step 3.
    void build(const std::function<double(double)>& to, int hops = 1, int copies = 1) {
        const auto id = graph.particle_id(set);
        const auto x = graph.particle<float>(set, "x");
        {
            Task task = graph.start().task("sow", grid);
            const auto ids = task.make(id);
            const auto at = task.make(x);
            task.run([=, this](Here& here) {
                here.create(set, copies);
                for (int n = 0; n < copies; ++n)
                    here[ids][n] = 100 + here.patch, here[at][n] = static_cast<float>(2 * here.patch) + 0.5F;
            });
        }
        Task task = graph.step().task("push", grid);
        const auto at = task.modify(x.at(0));
        task.run([=](Here& here) {
            if (here.step == 3 && here.patch == 5 && here[at].size() > 0)
                here[at][0] = static_cast<float>(to(static_cast<double>(here[at][0])));
        });
        graph.step().relocate(set, x.last(), hops);
    }
    std::string failure(int steps = 5) {
        try {
            const Resolved resolved = resolve(graph);
            const Members members;
            Plan plan(graph, resolved, assign(graph, 1), members, 1, 1);
            Executor(plan.start()).run(1);
            Executor(plan.step()).run(static_cast<std::uint32_t>(steps));
        } catch (const Error& error) {
            return error.text();
        }
        return "";
    }
    Graph graph;
    Grid& grid;
    SetId set;
};

}  // namespace

TEST_CASE("particles are where one array has them, in order of patch, cell and number, for 500 steps") {
    const Flight flight;
    Alone run(flight);
    Reference reference(flight, run.cloud.grid());
    for (int step = 1; step <= 500; ++step) {
        run.step.run(1);
        reference.step(step);
        if (step % 50 == 0 || step < 4) check_against(run, reference, step);
    }
}

TEST_CASE("particles that are deleted are gone, the others stay") {
    Flight flight;
    flight.kind = "absorb";
    Alone run(flight, 2, 17);
    Reference reference(flight, run.cloud.grid());
    for (int step = 1; step <= 60; ++step) reference.step(step);
    run.step.run(60);
    check_against(run, reference, 60);
    std::int64_t left = 0;
    for (int p = 0; p < run.cloud.grid().patches(); ++p) left += run.patch(p).count;
    CHECK(left == 12 * 8 * 6 * 3 / 3 * 2);
}

TEST_CASE("a patch's arrays grow with its particles and then stay") {
    Flight flight;
    flight.kind = "corner";
    flight.each = 40;
    Alone run(flight, 2, 5);
    Reference reference(flight, run.cloud.grid());
    for (int step = 1; step <= 40; ++step) reference.step(step);
    run.step.run(30);
    CHECK(run.patch(0).count == 12 * 8 * 6 * 40);
    const ParticlePatch before = run.patch(0);
    const std::size_t bytes = run.plan.memory().populations().pool().bytes();
    run.step.run(10);
    check_against(run, reference, 40);
    CHECK(run.plan.memory().populations().pool().bytes() == bytes);
    CHECK(run.patch(0).now.capacity == before.now.capacity);
}

TEST_CASE("several patches in one step, as far as declared, or any number") {
    Flight flight;
    flight.fast = 4.9;
    flight.patch_cells = {3, 3, 3};
    flight.hops = 2;
    Alone two(flight, 2, 3);
    flight.hops = 0;
    Alone any(flight, 2, 4);
    Reference reference(flight, any.cloud.grid());
    for (int step = 1; step <= 100; ++step) reference.step(step);
    two.step.run(100);
    any.step.run(100);
    check_against(two, reference, 100);
    check_against(any, reference, 100);
    CHECK(two.hashes() == any.hashes());
}

TEST_CASE("who leaves its cell may be told: few particles in a step, many, and some that are deleted") {
    Flight flight;
    flight.tells = true;
    flight.kind = GENERATE("drift", "absorb", "corner");
    flight.fast = GENERATE(0.01, 0.08, 0.7);
    flight.each = 12;
    Alone run(flight, 2, 7);
    Reference reference(flight, run.cloud.grid());
    for (int step = 1; step <= 150; ++step) reference.step(step);
    run.step.run(150);
    check_against(run, reference, 150);
}

TEST_CASE("a step in which nobody is named moves nothing") {
    Flight flight;
    flight.tells = true;
    flight.fast = 0;
    Alone run(flight);
    run.step.run(1);
    const ParticlePatch before = run.patch(3);
    run.step.run(20);
    CHECK(run.patch(3).now.base == before.now.base);
    CHECK(run.patch(3).ordered);
}

TEST_CASE("one patch, periodic on itself") {
    Flight flight;
    flight.patch_cells = flight.cells;
    flight.tells = GENERATE(false, true);
    flight.fast = flight.tells ? 0.1 : 2.9;
    Alone run(flight);
    Reference reference(flight, run.cloud.grid());
    for (int step = 1; step <= 50; ++step) reference.step(step);
    run.step.run(50);
    check_against(run, reference, 50);
}

TEST_CASE("particles have the same bits for any layout, order and assignment", "[layouts][native]") {
    const auto lines = [](const std::string& where, const std::string& kind, int hops, double fast,
                          int threads, int seed, int every) {
        return lines_of(where, {kind, "500", std::to_string(hops), fmt::format("{}", fast),
                                std::to_string(threads), std::to_string(seed), std::to_string(every)});
    };
    const std::string drift = lines("1x1", "drift", 1, 2.9, 1, 0, 0);
    CHECK(has(drift, "number 1728\n"));
    CHECK(lines("1x2", "drift", 1, 2.9, 2, 1, 0) == drift);
    CHECK(lines("2x1", "drift", 1, 2.9, 1, 2, 0) == drift);
    CHECK(lines("4x1", "drift", 1, 2.9, 1, 3, 23) == drift);
    CHECK(lines("2x2", "drift", 0, 2.9, 2, 4, 31) == drift);
    const std::string slow = lines("1x1", "drift", 1, 0.05, 1, 0, 0);
    CHECK(lines("1x1", "told-drift", 1, 0.05, 1, 0, 0) == slow);
    CHECK(lines("2x2", "told-drift", 0, 0.05, 2, 6, 0) == slow);
    CHECK(lines("4x1", "told-drift", 1, 0.05, 1, 7, 23) == slow);
    const std::string far = lines("1x1", "drift", 0, 11, 1, 0, 0);
    CHECK(far != drift);
    CHECK(lines("4x1", "drift", 0, 11, 1, 5, 50) == far);
}

TEST_CASE("particles come back from a checkpoint on another layout, bit for bit", "[layouts][native]") {
    const auto lines = [](const std::string& where, const std::string& kind, int steps, int seed, int every,
                          const std::string& file = "none") {
        return lines_of(
            where,
            {kind, std::to_string(steps), "1", "2.9", "1", std::to_string(seed), std::to_string(every), file},
            true);
    };
    // corner: most patches have no particles any more; absorb: a third of the particles is gone.
    const std::string kind = GENERATE("drift", "corner", "absorb");
    const TemporaryFolder folder;
    const std::string file = folder.path().string();
    const std::string whole = lines("1x1", kind, 150, 0, 0);
    const std::string half = lines("3x1", kind, 70, 1, 31, "save=" + file);
    CHECK(half != whole);
    CHECK(lines("2x1", kind, 70, 0, 0, "restore=" + file) == half);
    CHECK(lines("1x1", kind, 150, 0, 0, "restore=" + file) == whole);
    CHECK(lines("4x1", kind, 150, 2, 23, "restore=" + file) == whole);
    if (kind == "corner") CHECK(has(whole, "count 0 "));
}

TEST_CASE("a particle that goes where it may not is named") {
    const auto failure = [](const std::function<double(double)>& to, int hops = 1) {
        Few few;
        few.build(to, hops);
        return few.failure();
    };
    CHECK(failure([](double x) { return x + 2; }).empty());
    const std::string far = failure([](double x) { return x - 6; });
    INFO(far);
    CHECK(has(far, "particle 105 of 'dust', on patch 5 of 'grid', step 3"));
    CHECK(has(far, "patch 2"));
    CHECK(failure([](double x) { return x - 6; }, 3).empty());
    CHECK(failure([](double x) { return x - 10; }, 0).empty());
    const std::string out = failure([](double) { return 16.5; }, 0);
    INFO(out);
    CHECK(has(out, "particle 105 of 'dust'"));
    CHECK(has(out, "not periodic"));
    CHECK(has(out, "a shorter time step, if it was thrown out"));
    CHECK_FALSE(has(out, "Beyond::"));
    const std::string none = failure([](double) { return -std::nan(""); });
    CHECK(has(none, "particle 105"));
    CHECK(has(none, "its position is no finite number\n  given: (nan"));
    CHECK(has(failure([](double) { return 1e300; }), "particle 105"));
}

TEST_CASE("where patches own what is beyond a border, nothing is lost there") {
    const auto failure = [](double to, int hops = 0) {
        Few few(Beyond::owned);
        few.build([to](double) { return to; }, hops);
        return few.failure();
    };
    for (const double to : {-0.5, 16.0, 16.5, -1e6, 1e9}) CHECK(failure(to).empty());
    CHECK(failure(12.5, 1).empty());
    const std::string far = failure(16.5, 1);
    CHECK(has(far, "patch 7"));  // from patch 5
    CHECK(has(far, "a shorter time step, slower first velocities, or larger patches"));
    CHECK_FALSE(has(far, "relocate("));  // who runs a case calls nothing
    CHECK(has(failure(std::nan("")), "particle 105"));
    CHECK(has(failure(2e9), "its position is not in any domain"));
}

TEST_CASE("all that change positions say who leaves its cell, or none") {
    Few few;
    few.build([](double x) { return x; });
    const auto x = few.graph.labels().back().id;
    Task task = few.graph.step().task("shake", few.grid);
    task.modify(Particles<float>(x).at(1));
    task.moves(few.set).run([](Here&) {});
    const std::string said = few.failure();
    INFO(said);
    CHECK(has(said, "task 'push' changes where the particles 'dust' are"));
    CHECK(has(said, "task 'shake'"));
}

TEST_CASE("who did not declare it cannot say who leaves its cell") {
    Few few;
    few.build([](double x) { return x; });
    Task task = few.graph.step().task("look", few.grid);
    task.run([set = few.set](Here& here) { here.moved(set).add(0); });
    CHECK(has(few.failure(), "task 'look'"));
    CHECK(has(few.failure(), "Task::moves"));
}

TEST_CASE("two particles of one number, in one cell, are refused") {
    Few few;
    few.build([](double x) { return x; }, 1, 2);
    const std::string said = few.failure();
    INFO(said);
    CHECK(has(said, "two particles of 'dust'"));
}

TEST_CASE("who may create particles, and how many") {
    const auto failure = [](std::int64_t count, bool twice, bool in_step) {
        Few few;
        few.build([](double x) { return x; });
        const auto other = few.graph.particles("other", few.grid);
        const auto id = few.graph.particle_id(other);
        Task task = (in_step ? few.graph.step() : few.graph.start()).task("more", few.grid);
        task.make(id);
        task.run([=](Here& here) {
            here.create(other, count);
            if (twice) here.create(other, count);
        });
        return few.failure();
    };
    CHECK(failure(3, false, false).empty());
    CHECK(has(failure(-1, false, false), "negative"));
    CHECK(has(failure(3, true, false), "twice"));
    CHECK(has(failure(3, false, true), "start scope"));
}

TEST_CASE("memory that is given back is used again in its own domain alone") {
    const Members alone = Members::alone();
    GrowingPool pool(alone, 0);
    std::byte* first = pool.take(5000, 1);
    pool.give(first, 5000, 1);
    CHECK(pool.take(5000, 0) != first);
    CHECK(pool.take(5000, 1) == first);
    // Never on one page.
    const auto page = [&](int domain) {
        return reinterpret_cast<std::uintptr_t>(pool.take(64, domain)) / 4096;
    };
    CHECK(page(0) != page(1));
}
