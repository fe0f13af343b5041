// Particles and fields of every kind, from a run of the driver to the files for ParaView, value by value.

#include "core/base/json_value.hpp"
#include "core/run/driver/showing.hpp"
#include "tests/catch.hpp"
#include "tests/graph/output/field_reading.hpp"
#include "tests/graph/particles/cloud.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/program_runs.hpp"
#include "tests/solvers/programs/cloud_values.hpp"

using namespace strata;
using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

/// What a run says, on both; it must end well.
std::string run(const std::string& layout, const std::string& words, bool quiet = true) {
    return said_on(layout, TEST_MEMBER " " + words + (quiet ? " --quiet" : ""));
}

}  // namespace

TEST_CASE("particles and fields are shown value by value, the same on every layout") {
    const TemporaryFolder folder;
    const std::string kind = GENERATE("drift", "absorb");
    const fs::path file = folder.path() / "cloud.toml";
    write_text(file, "solver = \"cloud\"\nkind = \"" + kind + "\"\n[output]\nsteps = 20\n");
    const auto shown = [&](const std::string& layout) {
        const fs::path out = folder.path() / layout;
        run(layout, file.string() + " --steps 50 --out " + out.string());
        return out / "fields";
    };
    const fs::path one = shown("1x1");
    for (const std::string layout : {"3x1", "2x2"}) {
        const fs::path other = shown(layout);
        for (const std::string name : {"dust-000040.vtkhdf", "grid-000050.vtkhdf", "dust.vtkhdf.series"})
            CHECK(text_of(other / name) == text_of(one / name));
    }
    CHECK(JsonValue::parse(text_of(one / "dust.vtkhdf.series"), "").member("files").items().size() == 4);

    const Flight flight = [&] {
        Flight made;
        made.kind = kind;
        return made;
    }();
    const Cloud cloud(flight);
    Reference reference(flight, cloud.grid());
    for (int step = 1; step <= 40; ++step) reference.step(step);
    const auto expected = reference.sorted();
    const auto n = static_cast<hsize_t>(expected.size());
    const Read dust(one / "dust-000040.vtkhdf");
    const auto points = dust.array<double>("Points", H5T_NATIVE_DOUBLE, {n, 3}, 8);
    const auto v = dust.array<double>("PointData/v", H5T_NATIVE_DOUBLE, {n, 3}, 8);
    const auto ids = dust.array<std::int64_t>("PointData/id", H5T_NATIVE_INT64, {n}, 8);
    const auto ages = dust.array<std::int32_t>("PointData/age", H5T_NATIVE_INT32, {n}, 4);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
        wrong += ids[i] != expected[i].id || ages[i] != 47;
        for (std::size_t c = 0; c < 3; ++c)
            wrong += points[3 * i + c] != expected[i].x[c] || v[3 * i + c] != expected[i].v[c];
    }
    CHECK(wrong == 0);

    const Read grid(one / "grid-000050.vtkhdf");
    const auto w = grid.array<float>("PointData/w", H5T_NATIVE_FLOAT, {7, 9, 13, 3}, 4);
    const auto numbers = grid.array<std::uint8_t>("CellData/n", H5T_NATIVE_UINT8, {6, 8, 12}, 1);
    std::size_t at = 0;
    for (int k = 0; k < 7; ++k)
        for (int j = 0; j < 9; ++j)
            for (int i = 0; i < 13; ++i)
                for (int c = 0; c < 3; ++c) wrong += w[at++] != node_value(i, j, k, c);
    CHECK(wrong == 0);
    at = 0;
    for (int k = 0; k < 6; ++k)
        for (int j = 0; j < 8; ++j)
            for (int i = 0; i < 12; ++i) wrong += numbers[at++] != cell_value(i, j, k);
    CHECK(wrong == 0);
    CHECK(grid.text("/VTKHDF/PointData/w", "Unit") == "m/s");
}

TEST_CASE("patches move by measured cost, which is said, and changes no value in any file, nor in a replay") {
    const TemporaryFolder folder;
    const std::string case_text = "solver = \"cloud\"\ndear = 1.5\n";
    const auto ran = [&](const std::string& name, const std::string& layout, const std::string& words,
                         const std::string& more = "") {
        const fs::path file = folder.path() / (name + ".toml");
        write_text(file, case_text + more);
        const fs::path out = folder.path() / name;
        const std::string said =
            run(layout, file.string() + " --fields 45 --out " + out.string() + " " + words, false);
        const JsonValue result = JsonValue::parse(text_of(out / "result.json"), "");
        const auto moves = result.member("balance").member("moves").items();
        std::size_t lines = 0;
        for (std::size_t at = 0; (at = said.find("by measured costs", at)) != std::string::npos; ++at)
            ++lines;
        INFO(said);
        CHECK(lines == moves.size());
        CHECK(has(said, "balance: costs of patches looked at") == (more.empty() && layout != "1x1"));
        return moves.size();
    };
    const auto same = [&](const std::string& name) {
        for (const std::string file : {"dust-000135.vtkhdf", "grid-000135.vtkhdf", "fine-000150.vtkhdf"}) {
            CAPTURE(name, file);
            CHECK(text_of(folder.path() / name / "fields" / file) ==
                  text_of(folder.path() / "one" / "fields" / file));
        }
    };
    CHECK(ran("one", "1x1", "--steps 150") == 0);
    CHECK(ran("off", "2x1", "--steps 150", "[run]\nbalance = false\n") == 0);
    same("off");
    CHECK(ran("two", "2x1", "--steps 150 --checkpoint 50 --profile --timeline") >= 1);
    same("two");
    CHECK(has(text_of(folder.path() / "two" / "profile.json"), "keep fields"));
    CHECK(has(text_of(folder.path() / "two" / "trace.json"), "keep fields"));
    const fs::path again = folder.path() / "again";
    const std::string replayed =
        run("2x1", (folder.path() / "two.toml").string() + " --replay " + (folder.path() / "two").string() +
                       " --window 0:150 --every 15 --out " + again.string());
    CHECK(has(replayed, "bit for bit alike with the run: "));
    CHECK(has(replayed, " field files, 2 checkpoints"));
    CHECK(JsonValue::parse(text_of(again / "replay.json"), "").member("moves").integer() >= 1);
    same("again");
    CHECK(ran("part", "2x1", "--steps 120 --checkpoint 110") >= 1);
    (void)ran("part", "3x2", "--steps 150 --restart " + (folder.path() / "part").string());
    same("part");
}

TEST_CASE("cells that no patch covers are hidden") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "cloud.toml";
    write_text(file, "solver = \"cloud\"\n[output]\nsteps = 5\nfields = [\"level\"]\n");
    run("2x1", file.string() + " --steps 5 --out " + (folder.path() / "out").string());
    const Read fine(folder.path() / "out" / "fields" / "fine-000005.vtkhdf");
    const auto level = fine.array<std::int32_t>("CellData/level", H5T_NATIVE_INT32, {4, 6, 8}, 4);
    const auto ghosts = fine.array<std::uint8_t>("CellData/vtkGhostType", H5T_NATIVE_UINT8, {4, 6, 8}, 1);
    const Box one{{1, 1, 1}, {3, 4, 3}}, other{{3, 0, 0}, {8, 2, 4}};
    std::size_t at = 0, wrong = 0;
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 6; ++j)
            for (int i = 0; i < 8; ++i, ++at) {
                const bool there = one.contains(Int3{i, j, k}) || other.contains(Int3{i, j, k});
                wrong += level[at] != (there ? 5 : 0) || ghosts[at] != (there ? 0 : 32);
            }
    CHECK(wrong == 0);
}

TEST_CASE("fields are due at each multiple of the interval, and at each step where it is tiny") {
    const double interval = GENERATE(0.1, 0.3, 1e-3);
    ShownTimes times({0, interval, {}}, 0);
    for (int k = 1; k < 5000; ++k) {
        const double expected = k * interval;
        REQUIRE(times.next() == expected);
        REQUIRE_FALSE(times.due(k, expected * (1 - 1e-9)));
        REQUIRE(times.due(k, expected));
        const double summed = expected * (1 - 1e-14);  // by steps that rounding made a little short
        REQUIRE(times.due(k, summed));
        times.pass(summed);
    }
    ShownTimes tiny({0, 1e-300, {}}, 1);
    CHECK(tiny.next() == std::nextafter(1.0, 2.0));
    ShownTimes least({0, 5e-324, {}}, 1e10);
    CHECK(least.due(1, std::nextafter(1e10, 2e10)));
    ShownTimes steps({7, 0, {}}, 0);
    CHECK(steps.due(14, 1e300));
    CHECK_FALSE(steps.due(15, 1e300));
}

TEST_CASE("a case shows what it names, and nothing else") {
    const TemporaryFolder folder;
    const fs::path file = folder.path() / "cloud.toml";
    write_text(file, "solver = \"cloud\"\n[output]\nsteps = 5\nfields = [\"age\"]\n");
    run("2x1", file.string() + " --steps 5 --out " + (folder.path() / "out").string());
    const fs::path shown = folder.path() / "out" / "fields";
    CHECK_FALSE(fs::exists(shown / "grid-000005.vtkhdf"));
    const std::string content = text_of(shown / "dust-000005.vtkhdf");
    CHECK(has(content, "age"));
    CHECK(has(content, "Points"));
    CHECK_FALSE(has(content, "mark"));
}
