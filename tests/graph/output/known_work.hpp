// A graph whose tasks do what is known exactly, and counters that see it.
#pragma once

#include <map>
#include <string>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/profile/counting.hpp"
#include "tests/catch.hpp"

namespace strata::graph::testing {

/// What the tasks of this thread have done.
inline thread_local long long work = 0;
/// How often this thread was asked: a reading that itself is counted.
inline thread_local long long asked = 0;

/// Two tasks that do 7 and 3 a patch, and between them what is nobody's.
struct Known {
    Graph graph{"known"};
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {64, 1, 1}}, .patch_cells = {4, 1, 1}});
    Field<double> a = graph.field<double>("a", grid, On::cells),
                  b = graph.field<double>("b", grid, On::cells);

    Known() {
        Task seven = graph.step().task("seven", grid);
        const auto first = seven.make(a);
        seven.threads(2).run([=](Here& here) {
            here[first](here.cells().lo[0]) = 1;
            here.parallel_for(7, [](std::int64_t from, std::int64_t to) { work += to - from; });
        });
        Task three = graph.step().task("three", grid);
        const auto need = three.need(a);
        const auto make = three.make(b);
        three.run([=](Here& here) {
            here[make](here.cells().lo[0]) = here[need](here.cells().lo[0]);
            work += 3;
        });
    }
};

inline Counts counted(int threads, Counting& counting) {
    Known known;
    Simulation run(known.graph, Members::alone(), {.threads = threads, .meter = &counting});
    run.start();
    counting.begin();
    run.advance(5);
    run.advance(5);
    return counting.end();
}

inline std::map<std::string, Counts::Row> by_name(const Counts& counts) {
    std::map<std::string, Counts::Row> rows;
    for (const Counts::Row& row : counts.rows) rows[row.name] = row;
    return rows;
}

/// Of the events `work` and `asked`.
inline void check_known(const Counts& counts) {
    CHECK(counts.mode == "measured");
    const auto rows = by_name(counts);
    REQUIRE(rows.count("seven") == 1);
    CHECK(rows.at("seven").calls == 160);
    CHECK(rows.at("seven").values == 640);
    CHECK(rows.at("seven").events[0] == 7 * 160);
    REQUIRE(rows.count("three") == 1);
    CHECK(rows.at("three").calls == 160);
    CHECK(rows.at("three").events[0] == 3 * 160);
    CHECK(counts.runtime[0] == 0);
    // Each reading counts itself, and is subtracted.
    CHECK(rows.at("seven").events[1] == 0);
    CHECK(rows.at("three").events[1] == 0);
    CHECK(counts.runtime[1] == 0);
}

}  // namespace strata::graph::testing
