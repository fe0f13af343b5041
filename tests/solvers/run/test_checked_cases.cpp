// Cases of the repository in the checking build: no task touches what it did not declare. Large grids are
// made coarser, with as many patches; of compressible flow a few cases have what others have, for a few
// steps.

#include <algorithm>
#include <regex>

#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/program_runs.hpp"

using namespace strata::tests;
namespace fs = std::filesystem;

namespace {

/// The numbers of `key = [...]` or `key = N`.
std::vector<long> numbers(const std::string& text, const std::string& key) {
    std::smatch found;
    const std::regex line("(^|\n)" + key + R"( = \[?([0-9, ]+)\]?)");
    REQUIRE(std::regex_search(text, found, line));
    std::vector<long> all;
    const std::string list = found[2];
    const std::regex number("[0-9]+");
    for (std::sregex_iterator at(list.begin(), list.end(), number), end; at != end; ++at)
        all.push_back(std::stol(at->str()));
    return all;
}

std::string with(std::string text, const std::string& key, const std::vector<long>& values) {
    std::string list;
    for (const long value : values) list += (list.empty() ? "" : ", ") + std::to_string(value);
    return std::regex_replace(text, std::regex("(^|\n)" + key + R"( = \[[^\]]*\])"),
                              "$1" + key + " = [" + list + "]");
}

/// With cells and patches half as large until there are at most so many.
std::string smaller(std::string text) {
    constexpr long most = 80'000;
    std::vector<long> cells = numbers(text, "cells"), patch = numbers(text, "patch");
    const auto count = [&] {
        long all = 1;
        for (const long n : cells) all *= n;
        return all;
    };
    while (count() > most) {
        for (std::size_t d = 0; d < cells.size(); ++d)
            if (cells[d] > 1) cells[d] = (cells[d] + 1) / 2, patch[d] = (patch[d] + 1) / 2;
        text = with(with(text, "cells", cells), "patch", patch);
    }
    return text;
}

/// With each first text, which must be there, replaced by the second.
std::string replaced(std::string text, const std::vector<std::pair<std::string, std::string>>& changes) {
    for (const auto& [before, after] : changes) {
        const std::size_t at = text.find(before);
        INFO(before);
        REQUIRE(at != std::string::npos);
        text.replace(at, before.size(), after);
    }
    return text;
}

Done run_checked(const std::string& program, const fs::path& file, int steps, const std::string& words = "") {
    return run_line("cd '" + fs::path(CASES).parent_path().string() +
                    "' && STRATA_BIND=none STRATA_LAYOUT=1x2 " + program + " " + file.string() + " --steps " +
                    std::to_string(steps) + " --quiet " + words);
}

}  // namespace

TEST_CASE("in the checking build every case of transport, particles and material points runs", "[native]") {
    const TemporaryFolder folder;
    int count = 0;
    for (const auto& [name, program] : {std::pair<std::string, std::string>{"mpm", CHECKED_MPM},
                                        {"transport", CHECKED_TRANSPORT},
                                        {"md", CHECKED_MD}}) {
        std::vector<fs::path> files;
        for (const fs::directory_entry& each : fs::directory_iterator(fs::path(CASES) / name))
            if (each.path().extension() == ".toml") files.push_back(each.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) {
            const bool whole = name == "md";  // its files lie beside it
            const fs::path used = whole ? file : folder.path() / file.filename();
            if (!whole) write_text(used, smaller(text_of(file)));
            const Done done = run_checked(program, used, 10);
            INFO(file << ": " << done.said);
            CHECK(done.status == 0);
            CHECK(has(done.said, ", 10 steps to "));
            ++count;
        }
    }
    CHECK(count >= 23);
}

TEST_CASE("in the checking build flow runs on one grid, on meshes that overlap and move, around a rotor",
          "[native]") {
    struct Flow {
        std::string name;
        int steps = 1;
        std::vector<std::pair<std::string, std::string>> changes;
    };
    const std::string nasa = std::string(CASES) + "/../tests/solvers/flow/";
    const std::vector<Flow> flows{
        // Cycles of multigrid, lines, Spalart and Allmaras on a grid of three zones.
        {"naca0012",
         4,
         {{"\"../../tests/solvers/flow/n0012_225-65.p2dfmt.xz\"", '"' + nasa + "n0012_113-33.p2dfmt.xz\""},
          {"\"../../tests/solvers/flow/n0012_225-65.nmf\"", '"' + nasa + "n0012_113-33.nmf\""},
          {"sequence = [20, 20]", "sequence = [1, 1]"},
          {"patch = [32, 32]", "patch = [16, 16]"}}},
        {"overset-cylinder", 3, {{"cells = [96, 96]", "cells = [48, 48]"}, {"[24, 24]", "[12, 24]"}}},
        // Menter's model with meshes that move; all that is written.
        {"turning-cylinder",
         2,
         {{"cells = [80, 80]", "cells = [40, 40]"},
          {"stretch = 3.0 ", "stretch = 2.0 "},
          {"equations = \"laminar\"", "equations = \"rans\"\nmodel = \"sst\""},
          {"reynolds = 100.0", "reynolds = 1000.0"},
          {"subiterations = 15", "subiterations = 3"},
          {"steps = 20",
           "steps = 1\nslices = [\"x = 0.6\", \"Q = 0.02\"]\nvortices = 1\nplot3d = 1\nprobes = [2.0, "
           "0.1]"}}},
        {"caradonna-tung",
         2,
         {{"patch = [44, 20, 22]", "patch = [22, 10, 11]\ncoarsen = 1"},
          {"patch = [46, 30, 22]", "patch = [23, 15, 11]\ncoarsen = 1"},
          {"patch = [22, 30, 24]", "patch = [11, 15, 12]\ncoarsen = 1"},
          {"sequence = [1000]", "sequence = []"},
          {"vortices = 500", "vortices = 1"}}},
        {"caradonna-tung-rans",
         2,
         {{"patch = [44, 44, 22]", "patch = [22, 22, 11]\ncoarsen = 1"},
          {"patch = [46, 30, 22]", "patch = [23, 15, 11]\ncoarsen = 1"},
          {"patch = [22, 30, 24]", "patch = [11, 15, 12]\ncoarsen = 1"},
          {"sequence = [1000]", "sequence = []"},
          {"vortices = 500", "average = 1\nvortices = 1"}}},
    };
    const TemporaryFolder folder;
    for (const auto& [name, steps, changes] : flows) {
        const fs::path copy = folder.path() / (name + ".toml");
        // Few steps come near no figure that a case verifies.
        const std::string text = std::regex_replace(text_of(fs::path(CASES) / "flow" / (name + ".toml")),
                                                    std::regex(R"(\[verify\]\n([^\[\n][^\n]*\n)*)"), "");
        write_text(copy, replaced(text, changes));
        const Done done = run_checked(CHECKED_FLOW, copy, steps, "--out " + (folder.path() / name).string());
        if (has(done.said, "without liblzma")) continue;  // NASA's grid is packed
        INFO(name << ": " << done.said);
        CHECK(done.status == 0);
        CHECK(has(done.said, ", " + std::to_string(steps) + " steps to "));
    }
}

TEST_CASE("in the checking build a window of molecular dynamics is computed again", "[native]") {
    const TemporaryFolder folder;
    const std::string out = (folder.path() / "out").string(), file = CASES "/md/melt.toml";
    const std::string program = std::string("STRATA_BIND=none STRATA_LAYOUT=1x2 ") + CHECKED_MD + " " + file;
    const Done first = run_line(program + " --out " + out + " --steps 12 --checkpoint 4 --keep 0 --quiet");
    INFO(first.said);
    REQUIRE(first.status == 0);
    const Done again =
        run_line(program + " --replay " + out + " --window 5:12 --every 2 --out " + out + "/window --quiet");
    INFO(again.said);
    CHECK(again.status == 0);
    CHECK(has(again.said, "bit for bit alike with the run: 1 row of series.csv, 2 checkpoints\n"));
}
