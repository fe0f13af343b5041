#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "core/balance/zones.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;

namespace {

/// A table that is gone with its holder.
class Table {
  public:
    explicit Table(const std::string& text) {
        std::string pattern = (std::filesystem::temp_directory_path() / "strata-zones-XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
        std::ofstream(path()) << text;
    }
    ~Table() { std::filesystem::remove_all(folder_); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;
    [[nodiscard]] std::string path() const { return folder_ + "/t.csv"; }

  private:
    std::string folder_;
};

template <class Call>
std::string refused(Call call) {
    try {
        call();
    } catch (const strata::Error& error) {
        return error.text();
    }
    return "accepted";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("zones are read with points, dimensions or costs, and placed by centre or box") {
    const Zones zones = read_zones(Table("# made by hand\nname, i,j,k, x0,y0,z0,x1,y1,z1\r\n"
                                         "wing,10,10,10, 0,0,0,1,1,1\n\nflap, 5,4,3, 1,0,0,2,2,2\n")
                                       .path());
    CHECK(zones.names == std::vector<std::string>{"wing", "flap"});
    CHECK(zones.problem.costs == std::vector<double>{1000, 60});
    CHECK(zones.problem.centres[1] == Point{1.5, 1, 1});
    REQUIRE(zones.problem.exchanged.size() == 1);
    CHECK(read_zones(Table("name,cost\na,1.5e-3\n").path()).problem.costs == std::vector<double>{1.5e-3});
}

TEST_CASE("what is wrong in a table is said with file, line and column") {
    const auto read = [](const std::string& text) {
        const Table table(text);
        return refused([&] { (void)read_zones(table.path()); });
    };
    CHECK(has(read("name,points\na,1\nb,many\n"), "t.csv:3"));
    CHECK(has(read("name,points\na,1\nb,-1\n"), "t.csv:3"));
    CHECK(has(read("name,points\na,1\nb\n"), "t.csv:3"));
    CHECK(has(read("name,points\na,1\n\na,2\n"), "t.csv:4"));
    CHECK(has(read("name,point\na,1\n"), "did you mean points"));
    CHECK(has(read("name\na\n"), "no sizes"));
    CHECK(has(read("name,points,x,y\na,1,0,0\n"), "x,y,z"));
    CHECK(has(read("name,points\n"), "no zones"));
    CHECK(has(read(""), "empty"));
    CHECK(has(refused([] { (void)read_zones("/nonexistent.csv"); }), "/nonexistent.csv"));

    const Table zones_table("name,points\na,1\nb,2\n"), wrong("a,b,bytes\na,b,8\na,c,8\n");
    Zones zones = read_zones(zones_table.path());
    CHECK(has(refused([&] { read_exchanged(wrong.path(), zones); }), "t.csv:3"));
}

TEST_CASE(
    "a thread curve is read, interpolated, and flat where more threads were slower or nobody measured") {
    const ThreadCurve curve = ThreadCurve::read(Table("threads,seconds\n4,3\n1,8\n2,4\n8,5\n").path());
    CHECK(curve.speedup(1) == 1);
    CHECK(curve.speedup(2) == 2);
    CHECK(curve.speedup(3) == Approx(0.5 * (2 + 8.0 / 3)));
    CHECK(curve.speedup(4) == Approx(8.0 / 3));
    CHECK(curve.speedup(100) == Approx(8.0 / 3));
    CHECK(curve.most() == 4);
    CHECK(curve.threads_for(2.0) == 2);
    CHECK(curve.threads_for(2.1) == 3);
    CHECK(curve.threads_for(3) == 0);
    CHECK(ThreadCurve::ins3d().speedup(12) == Approx(1223.0 / 409.1));
    CHECK(ThreadCurve::ideal().threads_for(2.1) == 3);
    const auto read = [](const std::string& text) {
        const Table table(text);
        return refused([&] { (void)ThreadCurve::read(table.path()); });
    };
    CHECK(has(read("threads,seconds\n2,4\n"), "one thread"));
    CHECK(has(read("threads,seconds\n1,4\n1.5,3\n"), "t.csv:3"));
    CHECK(has(read("threads,seconds\n1,4\n2,0\n"), "t.csv:3"));
    CHECK(has(read("threads,seconds\n1,4\n1,5\n"), "twice"));
}

TEST_CASE("a generated set meets what was published, exactly, and says that it is generated") {
    for (const ZoneSet& set : published_sets()) {
        for (const std::uint64_t seed : {1, 2, 3}) {
            const Zones zones = generate(set, seed);
            const std::vector<double>& sizes = zones.problem.costs;
            CHECK(static_cast<int>(sizes.size()) == set.zones);
            CHECK(std::accumulate(sizes.begin(), sizes.end(), 0.0) == static_cast<double>(set.points));
            CHECK(*std::min_element(sizes.begin(), sizes.end()) == static_cast<double>(set.least));
            CHECK(*std::max_element(sizes.begin(), sizes.end()) == static_cast<double>(set.most));
            CHECK(zones.source.rfind("generated", 0) == 0);
        }
    }
    CHECK(generate(published_sets()[0], 1).problem.costs != generate(published_sets()[0], 2).problem.costs);
    CHECK(has(refused([] { (void)find_set("10:100:20:30"); }), "that can be met"));
    CHECK(has(refused([] { (void)find_set("origin"); }), "origin2000"));
    CHECK(find_set("160:35e6:11e3:1.4e6").points == 35'000'000);
}
