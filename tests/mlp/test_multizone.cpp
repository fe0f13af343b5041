// The example: serial and team give the same bits, the answer is right, and the way from one to the other is
// short.
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

const std::string kBuilt = std::string(TEST_EXAMPLES_BUILT) + "/multizone/";

struct Language {
    const char* source;
    const char* suffix;
};
const std::vector<Language> kLanguages = {{".cpp", ""},
#ifdef TEST_FORTRAN
                                          {".f90", "_f"}
#endif
};

std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(std::string(TEST_EXAMPLES) + "/multizone/" + file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// Lines that are in one of the two alone: what `diff` marks with < or >, by the longest common subsequence.
std::size_t changed(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<std::size_t> before(b.size() + 1, 0);
    for (const std::string& line : a) {
        std::vector<std::size_t> now(1, 0);
        for (std::size_t j = 0; j < b.size(); ++j)
            now.push_back(line == b[j] ? before[j] + 1 : std::max(before[j + 1], now[j]));
        before = now;
    }
    return a.size() + b.size() - 2 * before.back();
}

double largest_error(const std::string& out) {
    const auto at = out.find("largest error");
    REQUIRE(at != std::string::npos);
    return std::stod(out.substr(at + 13));
}

}  // namespace

TEST_CASE("from the serial program to one with teams fewer than 25 lines change") {
    for (const auto& [source, suffix] : {Language{".cpp", ""}, Language{".f90", ""}}) {
        const auto serial = lines_of(std::string("multizone_serial") + source);
        const auto team = lines_of(std::string("multizone_team") + source);
        REQUIRE(serial.size() > 100);
        INFO(source);
        CHECK(changed(serial, team) > 5);
        CHECK(changed(serial, team) < 25);
    }
}

TEST_CASE("a team gives the bits of the serial program for any number of members and threads") {
    for (const auto& [source, suffix] : kLanguages) {
        const Done serial =
            Run({"1"}, {{"OMP_NUM_THREADS", "1"}}, kBuilt + "multizone_serial" + suffix).wait();
        INFO(source << "\n" << serial.out << serial.err);
        REQUIRE(serial.status == 0);
        REQUIRE(count(serial.out, "zone ") == 16);
        REQUIRE(has(serial.out, "verified"));
        for (const char* members : {"1x1", "2x2", "3x1", "5x1", "17x1"}) {
            auto settings = layout(members);
            settings.push_back({"OMP_WAIT_POLICY", "passive"});  // there may be fewer cores than threads
            const Done team = Run({"1"}, settings, kBuilt + "multizone_team" + suffix).wait();
            INFO(members << "\n" << team.out << team.err);
            CHECK(team.status == 0);
            CHECK(team.out == serial.out);
        }
    }
}

TEST_CASE("the example's error falls with the square of the distance between points") {
    for (const auto& [source, suffix] : kLanguages) {
        const std::string program = kBuilt + "multizone_team" + suffix;
        const double coarse = largest_error(Run({"1"}, layout("2x1"), program).wait().out);
        const double fine = largest_error(Run({"2"}, layout("2x1"), program).wait().out);
        CHECK(std::log2(coarse / fine) > 1.9);
        CHECK(std::log2(coarse / fine) < 2.1);
    }
}
