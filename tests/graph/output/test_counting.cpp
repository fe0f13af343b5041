// Counters of tasks: what is asked for, geometries of caches, callgrind's output, sums over processes; and a
// kernel with known misses, simulated in every layout.
#include <unistd.h>

#include <bit>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "core/base/json_value.hpp"
#include "core/run/profile/cache_geometry.hpp"
#include "core/run/profile/measured.hpp"
#include "core/run/profile/profile.hpp"
#include "core/run/profile/simulated.hpp"
#include "tests/catch.hpp"
#include "tests/graph/output/known_work.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::graph;
using strata::team::testing::Done;
using strata::team::testing::layout;
using strata::team::testing::Run;

namespace {

bool said(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class F>
std::string refused(F f) {
    try {
        f();
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

Counts some(double factor) {
    Counts counts;
    counts.mode = "simulated";
    counts.from = "callgrind with caches ...";
    counts.events = {"instructions", "D1 read misses"};
    counts.rows = {{"copy of u", OpKind::copy, 2, 0, {factor, 0}},
                   {"diffuse", OpKind::task, 4, 400, {100 * factor, 10 * factor}}};
    counts.runtime = {7 * factor, factor};
    return counts;
}

}  // namespace

TEST_CASE("what is to be counted is said in one word") {
    CHECK(read_counters_wish("simulated").simulated);
    CHECK_FALSE(read_counters_wish("hardware").simulated);
    CHECK(read_counters_wish("hardware").events.empty());
    CHECK(read_counters_wish("hardware=A::B,C").events == std::vector<std::string>{"A::B", "C"});
    for (const char* word : {"", "hard", "hardware=", "hardware=,", "simulated=Ir"}) {
        CAPTURE(word);
        const std::string text = refused([&] { (void)read_counters_wish(word); });
        CHECK(said(text, "hardware, hardware=EVENT,EVENT"));
    }
}

TEST_CASE("a cache of callgrind's is the machine's, or as near as powers of two of sets allow") {
    const CacheGeometry same[] = {
        {32 << 10, 8, 64}, {48 << 10, 12, 64}, {2 << 20, 16, 64}, {32 << 20, 16, 64}};
    for (const CacheGeometry& cache : same) CHECK(nearest_allowed(cache) == cache);
    CHECK(nearest_allowed({36 << 20, 12, 64}) == CacheGeometry{36 << 20, 9, 64});   // 49152 sets -> 65536
    CHECK(nearest_allowed({33 << 20, 11, 64}) == CacheGeometry{33 << 20, 33, 64});  // 16384
    CHECK(nearest_allowed({32 << 10, -1, 64}).size == 32 << 10);
    CHECK(nearest_allowed({32 << 10, 0, 64}) == CacheGeometry{32 << 10, 8, 64});
    for (std::uint64_t kib = 1; kib <= 40000; kib = kib * 9 / 8 + 1)
        for (const int ways : {1, 2, 3, 6, 11, 12, 15, 16, 20}) {
            const CacheGeometry wanted{kib << 10U, ways, 64}, got = nearest_allowed(wanted);
            CAPTURE(kib, ways, got.size, got.ways);
            const std::uint64_t sets = got.size / static_cast<std::uint64_t>(got.ways * got.line);
            REQUIRE(got.size == sets * static_cast<std::uint64_t>(got.ways * got.line));
            REQUIRE(std::has_single_bit(sets));
            REQUIRE(std::abs(static_cast<double>(got.size) / static_cast<double>(wanted.size) - 1) <= 0.26);
        }
}

TEST_CASE("the caches are those of the core, and what is different is said") {
    machine::Machine machine;
    machine.caches = {{1, "data", 48 << 10, 64, 12, {0}},
                      {1, "data", 32 << 10, 64, 8, {1}},
                      {1, "instruction", 32 << 10, 64, 8, {0}},
                      {2, "unified", 1 << 20, 64, 16, {0}},
                      {3, "unified", 36 << 20, 64, 12, {0, 1}}};
    const SimulatedCaches first = simulated_caches(machine, 0);
    CHECK(first.data == CacheGeometry{48 << 10, 12, 64});
    CHECK(first.options() ==
          std::vector<std::string>{"--I1=32768,8,64", "--D1=49152,12,64", "--LL=37748736,9,64"});
    REQUIRE(first.changed.size() == 1);
    CHECK(said(first.changed[0], "LL: this machine has 36 MiB, 12-way"));
    const SimulatedCaches second = simulated_caches(machine, 1);
    CHECK(second.data.size == 32 << 10);
    REQUIRE(second.changed.size() == 2);
    CHECK(said(second.changed[0], "I1: this machine does not say"));
}

TEST_CASE("callgrind's output: inclusive costs of all calls of a function, zeros left out at the end") {
    const std::string text =
        "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\n\n"
        "desc: I1 cache: 32768 B, 64 B, 8-way associative\ndesc: D1 cache: 49152 B, 64 B, 12-way "
        "associative\n"
        "desc: Timerange: Basic block 0 - 10\npositions: line\nevents: Ir Dr Dw\nsummary: 9 9 9\n\n"
        "fn=a\n12 5 1\ncfn=ours<1u>(int)\ncalls=3 40 \n12 100 20\n13 1\ncfn=other\ncalls=1 2 \n13 7 7 7\n\n"
        "fn=b\ncfi=file\ncfn=ours<1u>(int)\ncalls=2 40 \n20 50 10 5\ncfn=ours<12u>(int)\ncalls=1 40 \n20 8\n";
    const CallgrindOutput output = read_callgrind(text, "ours<");
    CHECK(output.creator == "callgrind-3.19.0");
    CHECK(output.caches.size() == 2);
    REQUIRE(output.called.size() == 2);
    const auto& one = output.called.at("ours<1u>(int)");
    CHECK(one.calls == 5);
    CHECK(one.events == std::vector<double>{150, 30, 5});
    CHECK(output.called.at("ours<12u>(int)").events == std::vector<double>{8, 0, 0});
    CHECK(said(refused([] { (void)read_callgrind("", "x"); }), "callgrind left nothing"));
    CHECK(
        said(refused([] { (void)read_callgrind("creator: cachegrind\nevents: Ir\n", "x"); }), "cachegrind"));
}

TEST_CASE("counts of processes add up, by kind and name; what is not the same is not added") {
    Counts all;
    all.merge(Counts{});
    CHECK(all.mode.empty());
    all.merge(some(1));
    all.merge(some(2));
    const auto rows = all.sorted();
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "diffuse");
    CHECK(rows[0].calls == 8);
    CHECK(rows[0].values == 800);
    CHECK(rows[0].events == std::vector<double>{300, 30});
    CHECK(all.runtime == std::vector<double>{21, 3});
    Counts other = some(1);
    other.events[1] = "D1 write misses";
    CHECK(said(refused([&] { all.merge(other); }), "different events"));

    const std::string table = counts_table(all);
    INFO(table);
    CHECK(said(table, "counts simulated by callgrind with caches ..."));
    CHECK(said(table, "37.5        0.375"));  // instructions a call, a cell
    CHECK(said(table, "(copy) "));
    CHECK(said(table, "(waiting, scheduling)"));

    Profile profile;
    profile.count(all);
    std::ostringstream out;
    profile.write_json(out);
    const JsonValue v = JsonValue::parse(out.str(), "profile.json");
    CHECK(v.member("counters").string() == "simulated");
    CHECK(v.member("counters_from").string() == all.from);
    CHECK(v.member("runtime_counters").member("instructions").number() == 21);
    for (const JsonValue& row : v.member("rows").items())
        if (row.member("name").string() == "diffuse") {
            CHECK(row.member("counters").member("D1 read misses").number() == 30);
            CHECK(row.member("counted_calls").integer() == 8);
            CHECK(row.member("counted_values").number() == 800);
        }
}

namespace {

class Told : public Readings {
  public:
    void start(const std::vector<std::string>& /*events*/) override {}
    void read(long long* values) override {
        values[0] = testing::work;
        values[1] = ++testing::asked;
    }
};

Readings& of_this_thread() {
    static thread_local Told told;
    return told;
}

}  // namespace

TEST_CASE("what a task does is counted as its own, on any number of threads, and nothing else") {
    for (const int threads : {1, 2, 3}) {
        CAPTURE(threads);
        testing::check_known(
            testing::counted(threads, *make_measured_counting({"work", "asked"}, "a test", of_this_thread)));
    }
}

#ifdef STRATA_TEST_SIMULATED
namespace {

struct Simulated {
    std::string from;
    std::map<std::string, std::map<std::string, double>> events;
    std::map<std::string, double> calls, values;
};

Simulated simulated(const std::string& layout_name, int steps) {
    const Done done = Run({"simulated", std::to_string(steps)}, layout(layout_name, true)).wait();
    INFO(layout_name << ": " << done.err);
    REQUIRE(done.status == 0);
    Simulated all;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, 5, "from ") == 0) all.from = line.substr(5);
        std::vector<std::string> parts;
        for (std::size_t from = 0, bar = 0; bar != std::string::npos; from = bar + 3) {
            bar = line.find(" | ", from);
            parts.push_back(line.substr(from, bar == std::string::npos ? bar : bar - from));
        }
        if (parts.size() != 5) continue;
        all.calls[parts[0]] = std::stod(parts[1]);
        all.values[parts[0]] = std::stod(parts[2]);
        all.events[parts[0]][parts[3]] = std::stod(parts[4]);
    }
    return all;
}

}  // namespace

TEST_CASE("simulated counts of a kernel are what it does, each task's its own, in every layout") {
    NOT_WITH_SANITIZERS();
    constexpr int kSteps = 3;
    constexpr double kCells = kSteps * 4 * 65536.0;
    for (const std::string name : {"1x1", "2x1", "1x2"}) {
        const Simulated all = simulated(name, kSteps);
        CAPTURE(name, all.from);
        CHECK(said(all.from, "callgrind-"));
        CHECK(said(all.from, "D1 cache: "));
        for (const char* task : {"triad", "total"}) {
            REQUIRE(all.calls.count(task) == 1);
            CHECK(all.calls.at(task) == kSteps * 4);
            CHECK(all.values.at(task) == kCells);
        }
        CHECK(all.calls.count("fill") == 0);  // the start is not a step
        const auto triad = all.events.at("triad"), total = all.events.at("total");
        // Two arrays read and one written; nothing stays in the first level.
        CHECK(triad.at("D1 read misses") == Approx(kCells * 2 / 8).epsilon(0.02));
        CHECK(triad.at("D1 write misses") == Approx(kCells / 8).epsilon(0.02));
        CHECK(total.at("D1 read misses") == Approx(kCells / 8).epsilon(0.02));
        CHECK(total.at("D1 write misses") < kCells / 800);
        // A load, a multiplication and an addition with a load, a store, and the loop; or less, of vectors.
        CHECK(triad.at("instructions") > kCells * 0.5);
        CHECK(triad.at("instructions") < kCells * 8);
        CHECK(triad.at("data writes") > kCells * 0.1);
        CHECK(total.at("data writes") < kCells * 0.01);
        CHECK(total.at("instructions") > kCells * 0.25);
        CHECK(total.at("instructions") < kCells * 6);
        CHECK(all.events.at("between").at("D1 write misses") < kCells / 100);
    }
}

TEST_CASE("a process that does not run under callgrind has no simulated counts") {
    CHECK(said(refused([] { (void)make_simulated_counting(); }), "does not run under callgrind"));
}

TEST_CASE("without valgrind the simulated mode says what to install") {
    const std::string path = getenv("PATH");
    setenv("PATH", "/nonexistent", 1);
    const std::string text = refused([] { check_simulation(true); });
    setenv("PATH", path.c_str(), 1);
    CHECK(said(text, "apt-get install valgrind"));
    CHECK(said(refused([] { check_simulation(false); }), "instructions that valgrind does not know"));
}
#endif
