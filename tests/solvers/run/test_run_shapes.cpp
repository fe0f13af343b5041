// Shapes of every kind, from a run of the driver to the files that VTK opens, value by value.
#include <stdlib.h>

#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/program_runs.hpp"
#ifdef TEST_NODES
#include "tests/team/nodes_run.hpp"
#endif

using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

/// A run of three steps, with fields of each; its folder.
fs::path shown(const fs::path& folder, const std::string& name, const std::string& start,
               const std::string& more = "") {
    write_text(folder / "case.toml", "solver = \"shapes\"\n[output]\nsteps = 1\n" + more);
    const fs::path out = folder / name;
    const Done done = run_line(start + " " TEST_MEMBER " " + (folder / "case.toml").string() +
                               " --steps 3 --quiet --out " + out.string());
    INFO(done.said);
    REQUIRE(done.status == 0);
    return out / "fields";
}

std::string on(const std::string& layout) { return "STRATA_BIND=none STRATA_LAYOUT=" + layout; }

const std::vector<std::string> kNames{"blocks", "drops",      "films", "mixed", "numbers", "probes",
                                      "skin",   "tetrahedra", "wings", "wires", "zones"};

std::string environment(const char* name, const std::string& otherwise) {
    const char* value = ::getenv(name);
    return value == nullptr ? otherwise : value;
}

}  // namespace

TEST_CASE("VTK reads every shape with the values that tasks made, the same on every layout", "[native]") {
    const TemporaryFolder folder;
    const fs::path one = shown(folder.path(), "1x1", on("1x1"));
    std::vector<fs::path> others;
    for (const std::string layout : {"2x1", "1x2", "3x1"})
        others.push_back(shown(folder.path(), layout, on(layout)));
#ifdef TEST_NODES
    if (run_line("mpirun --version").status == 0) {
        std::vector<std::string> words = strata::team::testing::under_mpirun(2, TEST_MEMBER);
        words.pop_back();  // the program
        std::string mpirun;
        for (const std::string& word : words) mpirun += " " + word;
        others.push_back(shown(folder.path(), "nodes",
                               "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 STRATA_BIND=none "
                               "STRATA_RANKS_PER_NODE=1" +
                                   mpirun));
    }
#endif
    for (const fs::path& other : others)
        for (const std::string& name : kNames)
            for (const std::string step : {"-000000.vtkhdf", "-000003.vtkhdf", ".vtkhdf.series"}) {
                CAPTURE(other, name, step);
                const std::string expected = text_of(one / (name + step));
                CHECK(!expected.empty());
                CHECK(text_of(other / (name + step)) == expected);
            }
    std::size_t files = 0;
    for ([[maybe_unused]] const fs::directory_entry& each : fs::directory_iterator(one)) ++files;
    CHECK(files == kNames.size() * 5);

    for (const int step : {0, 3}) {
        const Done read =
            run_line(environment("STRATA_PYTHON", *TEST_PYTHON != '\0' ? TEST_PYTHON : "python3") +
                     " " READ_SHAPES " " + one.string() + " " + std::to_string(step) + " '" +
                     environment("STRATA_TEST_VTK", "") + "'");
        INFO(read.said);
        if (read.status == 77) CANNOT_TRY(read.said);
        CHECK(read.status == 0);
    }
}

TEST_CASE("files of a solver's own have frames at their steps, and of the last state where they ask for it",
          "[native]") {
    const TemporaryFolder folder;
    const fs::path fields = shown(folder.path(), "out", on("2x1"));
    CHECK(text_of(fields.parent_path() / "frames.txt") == "0 2 3 ");
}

TEST_CASE("a case that names fields gets the shapes that have them", "[native]") {
    const TemporaryFolder folder;
    const fs::path fields =
        shown(folder.path(), "out", on("2x1"), "fields = [\"part heat\", \"solid.blank\", \"speed\"]\n");
    for (const std::string& name : kNames) {
        CAPTURE(name);
        CHECK(fs::exists(fields / (name + "-000003.vtkhdf")) ==
              (name == "mixed" || name == "blocks" || name == "probes"));
    }
    CHECK(has(text_of(fields / "probes-000003.vtkhdf"), "speed"));
    CHECK_FALSE(has(text_of(fields / "probes-000003.vtkhdf"), "number"));
    CHECK_FALSE(has(text_of(fields / "blocks-000003.vtkhdf"), "velocity"));
}

TEST_CASE("a run that is killed goes on and has the files of one that was not", "[native]") {
    const TemporaryFolder folder;
    write_text(folder.path() / "case.toml", "solver = \"shapes\"\n[output]\nsteps = 1\n");
    write_text(folder.path() / "slow.toml", "solver = \"shapes\"\nnap = 0.02\n[output]\nsteps = 1\n");
    const std::string out = (folder.path() / "out").string(),
                      member = " " TEST_MEMBER " " + (folder.path() / "slow.toml").string() +
                               " --steps 20 --checkpoint 5 --quiet --out " + out;
    // Killed in the middle: after the files of a step between two checkpoints.
    const Done killed =
        run_line("export " + on("2x1") + "; setsid" + member + " & pid=$!; until [ -e " + out +
                 "/fields/zones-000011.vtkhdf ]; do sleep 0.01; done; kill -9 -$pid; wait $pid");
    INFO(killed.said);
    REQUIRE(fs::exists(out + "/checkpoint-000010"));
    REQUIRE_FALSE(fs::exists(out + "/fields/zones-000020.vtkhdf"));
    const Done again = run_line(on("3x1") + member + " --restart " + out);
    INFO(again.said);
    REQUIRE(again.status == 0);
    const Done through = run_line(on("1x1") + " " TEST_MEMBER " " + (folder.path() / "case.toml").string() +
                                  " --steps 20 --quiet --out " + (folder.path() / "through").string());
    REQUIRE(through.status == 0);
    std::size_t files = 0;
    for (const fs::directory_entry& each : fs::directory_iterator(folder.path() / "through" / "fields")) {
        CAPTURE(each.path().filename());
        CHECK(text_of(fs::path(out) / "fields" / each.path().filename()) == text_of(each.path()));
        ++files;
    }
    CHECK(files == kNames.size() * 22);
    for ([[maybe_unused]] const fs::directory_entry& each : fs::directory_iterator(out + "/fields")) --files;
    CHECK(files == 0);
}

TEST_CASE("a cell that names a point that is not there ends the run with patch, value and range",
          "[native]") {
    const TemporaryFolder folder;
    write_text(folder.path() / "case.toml", "solver = \"shapes\"\nwrong = true\n[output]\nsteps = 1\n");
    const fs::path out = folder.path() / "out";
    const Done done = run_line(on("2x1") + " " TEST_MEMBER " " + (folder.path() / "case.toml").string() +
                               " --steps 3 --quiet --out " + out.string());
    CHECK(done.status == 1);
    INFO(done.said);
    CHECK(done.said.find("strata: error") == done.said.rfind("strata: error"));
    CHECK(
        has(done.said, "shape 'lost': patch 1 of 'lost': 'lost ids' names a point that the patch does not"));
    CHECK(has(done.said, "given: 3"));
    CHECK(has(done.said, "allowed: 0 to 2"));
    for (const fs::directory_entry& each : fs::directory_iterator(out / "fields"))
        CHECK_FALSE(each.path().filename().string().starts_with("."));
    CHECK_FALSE(fs::exists(out / "fields" / "lost-000000.vtkhdf"));
}
