// A solver of a build without HDF5: it runs, and says once that it cannot write fields where it should.

#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/program_runs.hpp"

using namespace strata::tests;

namespace {

Done run(const std::string& words) { return run_line(on_layout("2x1") + TEST_MEMBER " " + words); }

}  // namespace

TEST_CASE("without HDF5 a case that asks for fields is refused with what to do, before anything starts") {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string(), file = (folder.path() / "case.toml").string();
    const std::string heat = text_of(CASES "/heat.toml");
    SECTION("by the case") {
        write_text(file, heat + "\n[output]\ninterval = 0.1\n");
        const Done done = run(file + " --out " + out);
        CHECK(done.status == 2);
        CHECK(done.said.find("strata: error") == done.said.rfind("strata: error"));
        CHECK(has(done.said, "made without HDF5"));
        CHECK(has(done.said, "[output] in " + file));
        CHECK(has(done.said, "libhdf5-dev"));
        CHECK_FALSE(std::filesystem::exists(out));
    }
    SECTION("on the command line") {
        write_text(file, heat);
        const Done done = run(file + " --out " + out + " --fields 3");
        CHECK(done.status == 2);
        CHECK(has(done.said, "--fields 3"));
    }
    SECTION("and all else goes on") {
        write_text(file, heat + "\n[output]\ninterval = 0.1\n");
        const Done done = run(file + " --out " + out + " --fields 0 --steps 3 --quiet");
        INFO(done.said);
        CHECK(done.status == 0);
        CHECK(std::filesystem::exists(folder.path() / "out" / "result.json"));
    }
}

TEST_CASE("without HDF5 a replay compares rows and checkpoints, and writes rows") {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string(), file = CASES "/heat.toml";
    const Done first = run(file + " --out " + out + " --steps 12 --checkpoint 4 --keep 0 --series 2 --quiet");
    INFO(first.said);
    REQUIRE(first.status == 0);
    const Done again =
        run(file + " --replay " + out + " --window 5:10 --every 1 --out " + out + "/window --quiet");
    INFO(again.said);
    CHECK(again.status == 0);
    CHECK(has(again.said, "bit for bit alike with the run: 3 rows of series.csv, 1 checkpoint\n"));
    CHECK(std::filesystem::exists(out + "/window/series.csv"));
    CHECK_FALSE(std::filesystem::exists(out + "/window/fields"));
}
