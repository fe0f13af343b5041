// Every case of the repository in the checking build: no task touches what it did not declare. Large grids
// are made coarser, with as many patches.

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

}  // namespace

TEST_CASE("in the checking build every case of the repository runs", "[native]") {
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
            const fs::path copy = folder.path() / file.filename();
            write_text(copy, name == "md" ? text_of(file) : smaller(text_of(file)));
            const Done done = run_line("cd '" + fs::path(CASES).parent_path().string() +
                                       "' && STRATA_BIND=none STRATA_LAYOUT=1x2 " + program + " " +
                                       copy.string() + " --steps 10 --quiet");
            INFO(file << ": " << done.said);
            CHECK(done.status == 0);
            CHECK(has(done.said, ", 10 steps to "));
            ++count;
        }
    }
    CHECK(count >= 23);
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
