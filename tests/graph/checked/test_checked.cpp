// The checking build: what a task does beyond its declarations ends the run, named by task, patch and label.
// (This file is compiled with STRATA_CHECKED_GRAPH, the library is not.)
#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/graph/declare/zones.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/particles/cloud.hpp"

using namespace strata::graph;
using strata::graph::testing::says;

namespace {

/// u of the step before with one layer of ghosts, v of this step, w made; four patches of 4 x 4 cells.
struct Sample {
    Graph graph{"g"};
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    Family& zones = graph.add<Family>("zones", 3);
    Field<double> u = graph.field<double>("u", grid, On::cells, {.components = 2, .history = 1});
    Field<double> v = graph.field<double>("v", grid, On::cells);
    Field<double> w = graph.field<double>("w", grid, On::nodes);
    Field<double> mass = graph.field<double>("mass", grid, On::cells);
    List<double> few = graph.list<double>("few", zones, [](int zone) { return zone + 2; });
    Scalar<double> total = graph.scalar<double>("total", Reduce::sum);

    FieldUse<const double> u_old, of_other;
    FieldUse<double> v_made, w_made, shares;
    ScalarUse<double> sum;
    ListUse<double> list_made;
    std::function<void(Here&)> on_grid = [](Here&) {}, on_zones = [](Here&) {};

    Sample() {
        Task first = graph.start().task("first", grid);
        const auto u0 = first.make(u);
        first.run([=](Here& here) {
            for (int c = 0; c < 2; ++c)
                for (int j = here.cells().lo[1]; j < here.cells().hi[1]; ++j)
                    std::fill_n(here[u0].row(j, 0, c) + here.cells().lo[0], 4, 1.0);
        });
        Task task = graph.step().task("work", grid);
        u_old = task.need(u.previous(), ghosts(1));
        v_made = task.make(v);
        w_made = task.make(w);
        shares = task.sum(mass, ghosts(1));
        sum = task.contribute(total);
        task.run([this](Here& here) { on_grid(here); });
        Task other = graph.step().task("other", grid);
        of_other = other.need(v);
        const auto u_now = other.make(u);
        other.run([=](Here& here) { here[u_now](here.cells().lo[0], here.cells().lo[1]) = 0; });
        Task zone = graph.step().task("zone", zones);
        list_made = zone.make(few);
        zone.run([this](Here& here) { on_zones(here); });
    }
    /// What two steps say, on one thread and on two.
    std::string said(int threads = 1) {
        Simulation run(graph, Members::alone(), {.threads = threads});
        run.start();
        try {
            run.advance(2);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return "nothing";
    }
    std::string on_patch(int patch, const std::function<void(Here&)>& what) {
        on_grid = [=](Here& here) {
            if (here.patch == patch && here.step == 2) what(here);
        };
        const std::string one = said();
        CHECK((said(2) == "nothing") == (one == "nothing"));
        on_grid = [](Here&) {};
        return one;
    }
};

}  // namespace

TEST_CASE("what was declared may be used, all of it") {
    Sample s;
    CHECK(s.on_patch(0, [&](Here& here) {
        const auto u = here[s.u_old];
        const Box box = u.box();
        CHECK(box == Box{{0, 0, 0}, {5, 5, 1}});
        double all = 0;
        for (int c = 0; c < 2; ++c)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                all += std::accumulate(u.row(j, 0, c) + box.lo[0], u.row(j, 0, c) + box.hi[0], u(4, 4, 0, c));
        here[s.sum] += all;
        for (const auto use : {s.v_made, s.w_made, s.shares}) {
            const auto to = here[use];
            for (int j = to.box().lo[1]; j < to.box().hi[1]; ++j)
                std::fill(to.row(j) + to.box().lo[0], to.row(j) + to.box().hi[0], 2.0);
        }
        CHECK(*pointer_to(u.row(3) + 1, 4) == u(1, 3));
        CHECK(pointer_to(u.row(3), 0) == nullptr);
    }) == "nothing");
}

TEST_CASE("a ghost beyond the declared width is refused, by index and through a row") {
    Sample s;
    const auto expect = {"task 'work', patch 3 of 'grid', step 2: reads 'u' at (2, 5, 0)",
                         "ghosts that it declared", "(1, 1, 1) layers", "from (3, ", "wider ghosts"};
    CHECK(says(s.on_patch(3, [&](Here& here) { here[s.sum] += here[s.u_old](2, 5); }), expect));
    CHECK(says(s.on_patch(3,
                          [&](Here& here) {
                              const Row<const double> row = here[s.u_old].row(5) + 3;
                              here[s.sum] += row[0] + row[-1];
                          }),
               expect));
    CHECK(says(s.on_patch(3,
                          [&](Here& here) {
                              const auto u = here[s.u_old];
                              here[s.sum] += std::accumulate(u.row(5) + 2, u.row(5) + 8, 0.0);
                          }),
               expect));
    CHECK(says(s.on_patch(3, [&](Here& here) { here[s.sum] += *pointer_to(here[s.u_old].row(5) + 2, 6); }),
               expect));
    // A row that is not there at all.
    CHECK(says(s.on_patch(3, [&](Here& here) { here[s.sum] += here[s.u_old].row(2)[5]; }),
               {"patch 3", "reads 'u' at (3, 2, 0)"}));
    CHECK(says(s.on_patch(3, [&](Here& here) { here[s.sum] += here[s.u_old](5, 5, 0, 2); }),
               {"patch 3", "reads component 2 of 'u', which has 2"}));
}

TEST_CASE("a write outside a patch's own values is refused") {
    Sample s;
    const auto expect = {"task 'work', patch 1 of 'grid', step 2: writes 'v' at (3, 2, 0)",
                         "outside its patch's own values", "from (4, "};
    CHECK(says(s.on_patch(1, [&](Here& here) { here[s.v_made](3, 2) = 1; }), expect));
    CHECK(says(s.on_patch(1, [&](Here& here) { *(here[s.v_made].row(2) + 3) = 1; }), expect));
    // The nodes at a patch's upper sides are its neighbour's.
    CHECK(says(s.on_patch(0, [&](Here& here) { here[s.w_made](4, 0) = 1; }), {"writes 'w' at (4, 0, 0)"}));
    CHECK(s.on_patch(1, [&](Here& here) { here[s.w_made](8, 0) = 1; }) == "nothing");
    CHECK(says(s.on_patch(2, [&](Here& here) { here[s.shares](5, 4) += 1; }),
               {"patch 2", "adds to 'mass' at (5, 4, 0)", "(1, 1, 1) layers"}));
}

TEST_CASE("a write to what is only needed is refused, whatever the handle says") {
    Sample s;
    CHECK(says(s.on_patch(2,
                          [&](Here& here) {
                              here[FieldUse<double>{s.u_old.index, s.u_old.task}](1, 5) = 3;
                          }),
               {"task 'work', patch 2 of 'grid', step 2: writes 'u', which it only needs"}));
    static_assert(!std::is_assignable_v<decltype(std::declval<Here&>()[s.u_old](0, 0)), double>);
    static_assert(!std::is_assignable_v<decltype(std::declval<Here&>()[s.u_old].row()[0]), double>);
}

TEST_CASE("what another task declared, or nobody, is refused") {
    Sample s;
    CHECK(says(s.on_patch(2, [&](Here& here) { here[s.sum] += here[s.of_other](1, 5); }),
               {"task 'work', patch 2 of 'grid', step 2: reads 'v', which it did not declare",
                "what task 'other' declared"}));
    CHECK(says(s.on_patch(2, [&](Here& here) { here[s.sum] += here[FieldUse<const double>{}](1, 5); }),
               {"task 'work', patch 2", "uses a label that it did not declare", "allowed: 'u', ",
                "none of the task's declarations"}));
    CHECK(says(s.on_patch(2,
                          [&](Here& here) {
                              here[s.sum] += here[ScalarUse<const double>{9, {}}];
                          }),
               {"task 'work', patch 2", "uses a label that it did not declare"}));
    CHECK(says(
        s.on_patch(2,
                   [&](Here& here) {
                       here[s.sum] += here[FieldUse<const float>{s.u_old.index, s.u_old.task}](1, 5);
                   }),
        {"patch 2", "uses 'u' as values of another type", "given: a type of 4 bytes", "8 bytes a value"}));
}

TEST_CASE("an object is used as it was declared, by the task that declared it") {
    for (const bool writes : {true, false}) {
        Graph graph("g");
        Family& parts = graph.add<Family>("parts", 3);
        const auto tree = graph.object<std::vector<int>>("tree", parts);
        Task grow = graph.step().task("grow", parts);
        const auto made = grow.make(tree);
        grow.run([=](Here& here) { here[made] = {1, 2}; });
        Task look = graph.step().task("look", parts);
        const auto seen = look.need(tree);
        static_assert(std::is_same_v<decltype(std::declval<Here&>()[seen]), const std::vector<int>&>);
        look.run([=](Here& here) {
            CHECK(here[seen].size() == 2);
            here[writes ? ObjectUse<std::vector<int>>{seen.index, seen.task} : made].clear();
        });
        Simulation run(graph, Members::alone());
        run.start();
        std::string said;
        try {
            run.advance(1);
        } catch (const strata::Error& error) {
            said = error.text();
        }
        CHECK(says(said, {"task 'look', patch 0 of 'parts', step 1: writes 'tree', which it",
                          writes ? "only needs" : "did not declare"}));
    }
}

TEST_CASE("entries of a list beyond its end are refused, in any way that it is gone through") {
    Sample s;
    const auto on_zone = [&](const std::function<void(ListView<double>)>& what) {
        s.on_zones = [&, what](Here& here) {
            if (here.patch == 1) what(here[s.list_made]);
        };
        return s.said();
    };
    const auto expect = {"task 'zone', patch 1 of 'zones', step 1: writes value 3 of 'few', which has 3"};
    CHECK(says(on_zone([](ListView<double> few) { few[3] = 0; }), expect));
    CHECK(says(on_zone([](ListView<double> few) { few.data()[3] = 0; }), expect));
    CHECK(says(on_zone([](ListView<double> few) { few.component()[3] = 0; }), expect));
    CHECK(says(on_zone([](ListView<double> few) { std::fill_n(few.component().begin(), 4, 0.0); }), expect));
    CHECK(says(on_zone([](ListView<double> few) { few[-1] = 0; }), {"writes value -1 of 'few'"}));
    CHECK(says(on_zone([](ListView<double> few) { few.component(1)[0] = 0; }),
               {"writes component 1 of 'few', which has 1"}));
    CHECK(on_zone([](ListView<double> few) {
              std::ranges::fill(few.component(), 1.0);
              std::ranges::sort(few.component());
              CHECK(std::span<double>(few.component()).size() == 3);
          }) == "nothing");
}

TEST_CASE("particles that a patch does not have are refused") {
    for (const bool reads : {true, false}) {
        Graph graph("dust");
        const Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {4, 4, 1}}, .patch_cells = {2, 4, 1}});
        const SetId set = graph.particles("dust", grid);
        const auto ids = graph.particle_id(set);
        const auto x = graph.particle<double>(set, "x", {.components = 2});
        Task sow = graph.start().task("sow", grid);
        const auto id = sow.make(ids);
        const auto at = sow.make(x);
        sow.run([=](Here& here) {
            here.create(set, 3 + here.patch);
            for (std::int64_t i = 0; i < here[id].size(); ++i) {
                here[id][i] = 10 * here.patch + i;
                for (int c = 0; c < 2; ++c) here[at].component(c)[static_cast<std::size_t>(i)] = 0.5;
            }
        });
        Task drift = graph.step().task("drift", grid);
        const auto who = drift.need(ids);
        const auto moved = drift.modify(x.at(0));
        drift.run([=](Here& here) {
            for (std::int64_t i = 0; i < 4; ++i)
                if (reads)
                    (void)here[who][i];
                else
                    here[moved].component(1)[static_cast<std::size_t>(i)] += 0.1;
        });
        std::string said = "nothing";
        Simulation run(graph, Members::alone(), {});
        run.start();
        try {
            run.advance(1);
        } catch (const strata::Error& error) {
            said = error.text();
        }
        CHECK(says(said, {"task 'drift', patch 0 of 'grid', step 1",
                          reads ? "reads value 3 of 'dust.id', which has 3"
                                : "writes value 3 of 'x', which has 3"}));
    }
}

TEST_CASE("a particle that left its cell and was not named is found") {
    const auto said = [](bool names) {
        Graph graph("g");
        Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {4, 1, 1}});
        const SetId dust = graph.particles("dust", grid);
        const auto id = graph.particle_id(dust);
        const auto x = graph.particle<double>(dust, "x");
        Task sow = graph.start().task("sow", grid);
        const auto ids = sow.make(id);
        const auto first = sow.make(x);
        sow.run([=](Here& here) {
            here.create(dust, 40);
            for (int i = 0; i < 40; ++i) {
                here[ids][i] = 100 * here.patch + i;
                here[first][i] = here.cells().lo[0] + (i + 0.5) / 10;
            }
        });
        Task push = graph.step().task("push", grid);
        const auto at = push.modify(x.at(0));
        push.moves(dust).run([=](Here& here) {
            Moved& moved = here.moved(dust);
            if (here.step != 3 || here.patch != 1) return;
            here[at][7] -= 1;
            if (names) moved.add(7);
        });
        graph.step().relocate(dust, x.last());
        Simulation run(graph, Members::alone(), {});
        run.start();
        try {
            run.advance(5);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return std::string("nothing");
    };
    CHECK(said(true) == "nothing");
    const std::string found = said(false);
    INFO(found);
    CHECK(found.find("particle 107 of 'dust', on patch 1 of 'grid', step 3") != std::string::npos);
    CHECK(found.find("no task said so") != std::string::npos);
    CHECK(found.find("Here::moved(set)") != std::string::npos);
}

namespace {

/// A sweep up along x and down along y over 2 x 2 patches of 4 x 4 cells, and one with frozen ghosts.
struct Swept {
    Graph graph{"g"};
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    Field<double> u = graph.field<double>("u", grid, On::cells),
                  w = graph.field<double>("w", grid, On::cells),
                  plain = graph.field<double>("plain", grid, On::cells),
                  table = graph.field<double>("table", grid, On::cells);
    FieldUse<double> u_now, w_now;
    FieldUse<const double> of_plain, of_table;
    std::function<void(Here&)> on_sweep = [](Here&) {}, on_frozen = [](Here&) {};

    Swept() {
        Task first = graph.start().task("first", grid);
        const auto u0 = first.make(u), w0 = first.make(w);
        first.run([=](Here& here) {
            const Box own = here.cells();
            for (int j = own.lo[1]; j < own.hi[1]; ++j)
                for (const auto& made : {u0, w0}) std::fill_n(here[made].row(j) + own.lo[0], 4, 1.0);
        });
        Task sweep = graph.step().task("sweep", grid);
        u_now = sweep.modify(u, upwind({1, -1, 0}));
        (void)sweep.make(plain), (void)sweep.make(table);
        of_plain = sweep.need(plain, upwind({1, -1, 0}));
        of_table = sweep.need(table, upwind({1, -1, 0}).with_corners());
        sweep.run([this](Here& here) {
            if (here.patch == 1) on_sweep(here);  // upwind of it: 0 on the left, 3 above, 2 between
        });
        Task frozen = graph.step().task("frozen", grid);
        w_now = frozen.modify(w, ghosts(1));
        frozen.run([this](Here& here) {
            if (here.patch == 1) on_frozen(here);
        });
    }
    std::string said() {
        std::string text;
        for (const int threads : {1, 2}) {
            Simulation run(graph, Members::alone(), {.threads = threads});
            run.start();
            std::string one = "nothing";
            try {
                run.advance(1);
            } catch (const strata::Error& error) {
                one = error.text();
            }
            CHECK((threads == 1 || one == text));
            text = one;
        }
        return text;
    }
    std::string in_sweep(const std::function<void(Here&)>& what) {
        on_sweep = what, on_frozen = [](Here&) {};
        return said();
    }
    std::string in_frozen(const std::function<void(Here&)>& what) {
        on_frozen = what, on_sweep = [](Here&) {};
        return said();
    }
};

}  // namespace

// Patch 1 has the cells 4 to 7 along x and 0 to 3 along y.
TEST_CASE("what a sweep declared may be read, and its own values written") {
    Swept s;
    double sum = 0;
    CHECK(s.in_sweep([&](Here& here) {
        for (const auto& [i, j] : {std::pair{3, 0}, {3, 3}, {4, 4}, {7, 4}, {4, 0}})
            sum += here[s.u_now](i, j) + here[s.of_plain](i, j) + here[s.of_table](i, j);
        sum += here[s.of_table](3, 4) + here[s.of_table].row(4)[3];  // upwind along both
        for (int j = 0; j < 4; ++j) std::fill_n(here[s.u_now].row(j) + 4, 4, 2.0);
        CHECK(here[s.u_now].row(4)[7] == 1);
    }) == "nothing");
    CHECK(s.in_frozen([&](Here& here) { here[s.w_now](4, 0) = here[s.w_now](3, 4); }) == "nothing");
}

TEST_CASE("corners that a sweep did not declare are refused") {
    Swept s;
    double sum = 0;
    const auto read = [&](auto use, int i, int j) {
        return s.in_sweep([&, use, i, j](Here& here) { sum += here[use](i, j); });
    };
    const auto between = {"task 'sweep', patch 1 of 'grid', step 1: reads 'plain' at (3, 4, 0)",
                          "between the axes", "with_corners()"};
    CHECK(says(read(s.of_plain, 3, 4), between));
    CHECK(says(s.in_sweep([&](Here& here) { sum += here[s.of_plain].row(4)[3]; }), between));
    CHECK(says(read(s.u_now, 3, 4), {"touches 'u' at (3, 4, 0)", "between the axes", "with_corners()"}));
    SECTION("nor what is on the other sides of a need") {
        CHECK(says(read(s.of_table, 4, -1), {"reads 'table' at (4, -1, 0)", "outside the ghosts"}));
        CHECK(says(read(s.of_plain, 5, 5), {"reads 'plain' at (5, 5, 0)", "(1, 1, 0) layers"}));
    }
}

TEST_CASE("a sweep within zones is refused what lies beyond a joined face") {
    const auto said = [](bool modifies, int i) {
        ZoneList list("ring");
        list.zone({{0, 0, 0}, {4, 2, 1}}, {2, 2, 1});
        list.join(0, {0, true}, 0, {0, false}, {1, 2, 3});
        Graph graph("g");
        const Zones& ring = graph.add<Zones>(std::move(list));
        const auto v = graph.field<double>("v", ring, On::cells);
        Task first = graph.start().task("first", ring);
        first.run([now = first.make(v)](Here& here) {
            for_each(here.cells(), [&](int x, int y, int) { here[now](x, y) = 1; });
        });
        Task sweep = graph.step().task("sweep", ring);
        const auto order = upwind(0, 1).within_zones();
        double sum = 0;
        const auto now = modifies ? sweep.modify(v, order) : sweep.modify(v);
        const auto before = sweep.need(v.at(1), order);
        sweep.run([=, &sum](Here& here) {
            if (here.patch == (i < 2 ? 0 : 1)) sum += modifies ? here[now](i, 0) : here[before](i, 0);
        });
        Simulation run(graph, Members::alone(), {});
        run.start();
        try {
            run.advance(1);
        } catch (const strata::Error& error) {
            return std::string(error.text());
        }
        return std::string("nothing");
    };
    CHECK(said(false, 0) == "nothing");
    CHECK(said(true, 3) == "nothing");
    CHECK(says(said(false, -1), {"task 'sweep', patch 0 of 'ring', step 1: reads 'v' at (-1, 0, 0)",
                                 "nothing beyond joined faces"}));
    CHECK(says(said(true, -1), {"touches 'v' at (-1, 0, 0)"}));
    CHECK(says(said(true, 4), {"touches 'v' at (4, 0, 0)"}));
}

TEST_CASE("ghosts of what is modified may be read and not written") {
    Swept s;
    const auto expect = {"task 'sweep', patch 1 of 'grid', step 1: writes 'u' at (3, 2, 0), which is a ghost",
                         "from (4, 0, 0) up to, but without, (8, 4, 1)", "other patches' values"};
    CHECK(says(s.in_sweep([&](Here& here) { here[s.u_now](3, 2) = 5; }), expect));
    CHECK(says(s.in_sweep([&](Here& here) { here[s.u_now].row(2)[3] += 1; }), expect));
    CHECK(says(s.in_frozen([&](Here& here) { here[s.w_now](3, 4) = -1; }),
               {"task 'frozen', patch 1 of 'grid', step 1: writes 'w' at (3, 4, 0), which is a ghost"}));
}

TEST_CASE("a need without corners shows what lies beyond faces, and is refused the rest") {
    Graph graph("g");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    const auto u = graph.field<double>("u", grid, On::cells, {.history = 1});
    Task first = graph.start().task("first", grid);
    const auto u0 = first.make(u);
    first.run([=](Here& here) {
        const Box own = here.cells();
        for (int j = own.lo[1]; j < own.hi[1]; ++j) std::fill_n(here[u0].row(j) + own.lo[0], 4, 1.0);
    });
    Task task = graph.step().task("star", grid);
    const auto old = task.need(u.previous(), ghosts(1).without_corners());
    const auto now = task.make(u);
    double sum = 0;
    Int3 at{};
    task.run([&, old, now](Here& here) {
        const Box own = here.cells();
        for (int j = own.lo[1]; j < own.hi[1]; ++j) std::fill_n(here[now].row(j) + own.lo[0], 4, 1.0);
        if (here.patch == 0) sum = here[old](at[0], at[1]) + here[old].row(at[1])[at[0]];
    });
    const auto reads = [&](const Int3& where) -> std::string {
        at = where;
        Simulation run(graph, Members::alone());
        run.start();
        try {
            run.advance(1);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return "nothing";
    };
    for (const Int3& where : {Int3{3, 3, 0}, Int3{4, 3, 0}, Int3{0, 4, 0}}) {
        CHECK(reads(where) == "nothing");
        CHECK(sum == 2);
    }
    CHECK(says(reads({4, 4, 0}), {"task 'star', patch 0 of 'grid', step 1: reads 'u' at (4, 4, 0)",
                                  "beyond an edge or a corner", "without_corners()"}));
}
