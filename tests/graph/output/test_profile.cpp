#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/json_value.hpp"
#include "core/run/profile/profile.hpp"
#include "core/run/profile/timeline.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::tests;

namespace {

/// Two threads over 1000 ns: "diffuse" runs for 900 of the 2000, a copy for 100.
ProcessRecords some(int process, std::int64_t from) {
    ProcessRecords records;
    records.process = process;
    records.threads = 2;
    records.begin_ns = from;
    records.end_ns = from + 1000;
    records.names = {"diffuse", "temperature \"u\""};
    records.records = {{0, 3, OpKind::task, 0, from, from + 600},
                       {0, 4, OpKind::task, 1, from + 100, from + 400},
                       {1, 4, OpKind::copy, 1, from + 400, from + 500}};
    return records;
}

Work work(const TimedOp& record) { return record.kind == OpKind::task ? Work{900, 1800} : Work{0, 50}; }

}  // namespace

TEST_CASE("a profile adds up time, declared work and the runtime's share") {
    Profile profile;
    profile.add(some(0, 5000), work);
    profile.add(some(1, 9000), work);
    const auto rows = profile.rows();
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "diffuse");
    CHECK(rows[0].calls == 4);
    CHECK(rows[0].ns == 1800);
    CHECK(rows[0].shortest_ns == 300);
    CHECK(rows[0].longest_ns == 600);
    CHECK(rows[0].flops == 3600);
    CHECK(rows[1].kind == OpKind::copy);
    CHECK(rows[1].bytes == 100);
    CHECK(profile.thread_seconds() == Approx(4e-6));
    CHECK(profile.runtime_share() == Approx(0.55));

    const std::string table = profile.table();
    INFO(table);
    CHECK(has(table, "(copy) temperature \"u\""));
    CHECK(has(table, "45.00"));          // share of diffuse
    CHECK(has(table, "50.00"));          // waiting: 4000 - 1800 - 200 ns
    CHECK(has(table, "4.00     2.00"));  // 7200 B and 3600 flop in 1800 ns
    CHECK(has(table, "runtime share 55.00 %"));
    CHECK_FALSE(has(table, "counters"));
}

TEST_CASE("a profile's document says the same, and how its counters were got") {
    Profile profile, other;
    profile.add(some(0, 0), work);
    other.add(some(1, 0), work);
    other.counted_by("simulated");
    other.count("diffuse", "instructions", 500);
    profile.merge(other);
    profile.count("diffuse", "instructions", 100);
    std::ostringstream out;
    profile.write_json(out);
    const JsonValue v = JsonValue::parse(out.str(), "profile.json");
    CHECK(v.member("format").string() == "strata.profile/1");
    CHECK(v.member("processes").integer() == 2);
    CHECK(v.member("threads").integer() == 4);
    CHECK(v.member("counters").string() == "simulated");
    CHECK(v.member("wall_seconds").number() == Approx(1e-6));
    const JsonValue& row = v.member("rows").items().at(0);
    CHECK(row.member("counters").member("instructions").number() == 600);
    CHECK(row.member("declared_bytes").number() == 7200);
    CHECK(has(profile.table(), "counters: simulated"));
}

TEST_CASE("beside a measured roof, a row has its share of what the roofline allows one thread") {
    Profile profile;
    profile.add(some(0, 0), work);  // "diffuse": 1800 flops and 3600 bytes in 900 ns: 2 Gflop/s, 4 GB/s
    CHECK_FALSE(profile.roofline_share(profile.rows()[0]));
    CHECK(has(profile.table(), "strata characterize --quick measures them"));
    CHECK_FALSE(has(profile.table(), "roof %"));
    const auto share = [&](double gflops, double gbs) {
        profile.under({2, gflops, gbs, "here"});
        return profile.roofline_share(profile.rows()[0]).value();
    };
    CHECK(share(100, 16) == Approx(4 / 8.));  // half a flop a byte: by memory, of which a thread has 8 GB/s
    CHECK(share(5, 160) == Approx(2 / 2.5));  // by arithmetic
    CHECK(profile.roofline_share(profile.rows()[1]).value() == Approx(0.5 / 80));  // a copy: bytes alone
    const std::string table = profile.table();
    INFO(table);
    CHECK(has(table, "roof %"));
    CHECK(has(table, "4.00     2.00    80.0"));
    CHECK(has(table,
              "min(2.5 Gflop/s, flop/byte x 80.0 GB/s), one thread's part of peak and triad of 2 (here)"));
    std::ostringstream out;
    profile.write_json(out);
    const JsonValue v = JsonValue::parse(out.str(), "profile.json");
    CHECK(v.member("roofline").member("peak_gflop_per_second").number() == 5);
    const JsonValue& row = v.member("rows").items().at(0);
    CHECK(row.member("gflop_per_second").number() == Approx(2));
    CHECK(row.member("gb_per_second").number() == Approx(4));
    CHECK(row.member("roofline_share").number() == Approx(0.8));
}

namespace {

std::string first_processor() {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

/// What `strata characterize` leaves behind, as far as it matters here.
void characterized(const std::filesystem::path& folder, const std::string& host, const std::string& processor,
                   const std::string& kind, double triad) {
    std::filesystem::create_directories(folder);
    const auto task = [](const char* benchmark, const char* layout, const char* name, const char* unit,
                         const std::string& median) {
        return std::string(R"({"benchmark": ")") + benchmark + R"(", "layout": ")" + layout +
               R"(", "figures": [{"name": ")" + name + R"(", "unit": ")" + unit + R"(", "median": )" +
               median + "}]}";
    };
    std::ofstream(folder / "summary.json")
        << R"({"kind": ")" << kind << R"(", "machine": {"hostname": ")" << host << R"(", "cpu_model": ")"
        << processor << R"("}, "tasks": [)" << task("peak", "1x1", "peak", "GF/s", "100") << ","
        << task("peak", "1x2", "peak", "GF/s", "180") << "," << task("stream", "1x1", "triad", "GB/s", "20")
        << "," << task("stream", "2x1", "triad", "GB/s", std::to_string(triad)) << ","
        << task("stream", "1x4", "triad", "GB/s", "90") << ","
        << task("stream", "1x2", "triad", "GB/s", "null") << "]}";
}

}  // namespace

TEST_CASE("the roof is that of the newest characterization of this machine, for as many cores") {
    const TemporaryFolder folder;
    CHECK_FALSE(measured_roof(folder.path() / "none", 1));
    CHECK_FALSE(measured_roof(folder.path(), 1));
    char host[256] = {};
    REQUIRE(gethostname(host, sizeof host - 1) == 0);
    const std::string here = first_processor();
    characterized(folder.path() / "first", host, here, "characterize", 30);
    const auto one = measured_roof(folder.path(), 1), two = measured_roof(folder.path(), 2),
               three = measured_roof(folder.path(), 3);
    REQUIRE((one && two && three));
    CHECK(one->gflops == 100);
    CHECK(one->gbs == 20);
    CHECK(two->gflops == 180);
    CHECK(two->gbs == 30);
    CHECK(two->gflops_of_thread() == 90);
    CHECK(three->gflops == 300);  // three times one core's
    CHECK(three->gbs == 30);
    CHECK(two->source == (folder.path() / "first").string());
    // Passed over: another machine's, a study's, and what is no summary.
    characterized(folder.path() / "other", "another host", here, "characterize", 40);
    characterized(folder.path() / "study", host, here, "study", 41);
    std::filesystem::create_directories(folder.path() / "broken");
    std::ofstream(folder.path() / "broken" / "summary.json") << "{\"kind\": ";
    CHECK(measured_roof(folder.path(), 2)->gbs == 30);
    if (here != "unknown") {
        characterized(folder.path() / "replaced", host, "another processor", "characterize", 42);
        CHECK(measured_roof(folder.path(), 2)->gbs == 30);
    }
    characterized(folder.path() / "newer", host, here, "characterize", 35);
    std::filesystem::last_write_time(folder.path() / "newer" / "summary.json",
                                     std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(measured_roof(folder.path(), 2)->gbs == 35);
    // A stranger's: one that keeps its reader waiting, one without an end, one with figures.
    for (const char* name : {"waits", "endless", "theirs"})
        std::filesystem::create_directories(folder.path() / name);
    REQUIRE(::mkfifo((folder.path() / "waits" / "summary.json").c_str(), 0600) == 0);
    std::filesystem::create_symlink("/dev/zero", folder.path() / "endless" / "summary.json");
    if (::geteuid() == 0) {
        characterized(folder.path() / "theirs", host, here, "characterize", 50);
        const auto file = folder.path() / "theirs" / "summary.json";
        std::filesystem::last_write_time(
            file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(2));
        REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    }
    CHECK(measured_roof(folder.path(), 2)->gbs == 35);
}

TEST_CASE("a timeline has every process, thread and record, in microseconds from the first") {
    const TemporaryFolder folder;
    // Process 1 has a clock that is 1 us behind: its 4 us are 5 us.
    std::vector<ProcessRecords> both{some(0, 5'000), some(1, 4'000)};
    both[1].clock_offset_ns = 1'000;
    both[1].host = "node7";
    both[0].counters = {{"ready", "tasks", {{5'250, 3}, {5'500, 1.5}}}};
    write_trace(folder.path(), both);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
    const JsonValue v = JsonValue::parse(text_of(folder.path() / "trace.json"), "trace.json");
    int complete = 0, counters = 0;
    std::string names;
    for (const JsonValue& event : v.member("traceEvents").items()) {
        const std::string& ph = event.member("ph").string();
        (void)event.member("pid").integer();
        (void)event.member("tid").integer();
        if (ph == "M" && event.member("name").string() != "process_sort_index")
            names += event.member("args").member("name").string() + ";";
        if (ph == "C") {
            CHECK(event.member("args").member("tasks").number() == (counters == 0 ? 3 : 1.5));
            CHECK(event.member("ts").number() == (counters == 0 ? 0.25 : 0.5));
            ++counters;
        }
        if (ph == "X" && event.member("cat").string() == "copy") {
            CHECK(event.member("name").string() == "temperature \"u\"");
            CHECK(event.member("ts").number() == 0.4);
            CHECK(event.member("dur").number() == 0.1);
            CHECK(event.member("tid").integer() == 1);
            CHECK(event.member("args").member("patch").integer() == 4);
        }
        if (ph == "X") ++complete;
    }
    CHECK(complete == 6);
    CHECK(counters == 2);
    CHECK(names == "process 0;thread 0;thread 1;process 1 on node7;thread 0;thread 1;");
}

TEST_CASE("a timeline whose parts are not all there is refused") {
    const TemporaryFolder folder;
    write_trace_part(folder.path(), some(0, 0), 0);
    CHECK(has(refusal([&] { join_trace_parts(folder.path(), 2); }), "a part of the timeline is missing"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "trace.json"));
    CHECK(has(refusal([&] { write_trace_part(folder.path() / "none", some(0, 0), 0); }),
              "could not be written"));
}
