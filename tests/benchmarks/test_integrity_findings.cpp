// What becomes of a wrong answer: traces, verdicts, replays, who others are.
#include <map>

#include "benchmarks/integrity/finding.hpp"
#include "benchmarks/integrity/settings.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::integrity;

namespace {

Trace some_trace() {
    Trace trace;
    for (std::uint64_t i = 0; i < 10; ++i) trace.add(mixed(i));
    trace.did(100);
    return trace;
}

/// Worker 0 found a wrong answer, against a reference of worker `maker`.
Suspect suspect(int maker, std::vector<Retry> retries) {
    Suspect one;
    one.report.hash = 1;
    one.report.answer_hash = 2;
    one.report.maker = maker;
    one.retries = std::move(retries);
    return one;
}

constexpr bool kRight = true, kWrong = false;

}  // namespace

TEST_CASE("a digest changes with every bit of what it is made of") {
    std::vector<std::byte> bytes(77);
    Random random(2);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    const std::uint64_t before = digest(bytes);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        CHECK(digest(bytes) != before);
        bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
    CHECK(digest(bytes) == before);
    CHECK(digest(std::span(bytes).first(76)) != before);
}

TEST_CASE("a trace's hash changes with each step, with their number and with the work") {
    const Trace right = some_trace();
    for (std::uint64_t wrong = 0; wrong < 10; ++wrong) {
        Trace trace;
        for (std::uint64_t i = 0; i < 10; ++i) trace.add(mixed(i) ^ (i == wrong ? 1U << 5U : 0U));
        trace.did(100);
        CHECK(trace.hash() != right.hash());
        CHECK(difference(right, trace).step == static_cast<int>(wrong));
    }
    Trace more = some_trace(), longer = some_trace(), known_wrong = some_trace();
    more.add(0);
    longer.did(1);
    known_wrong.expect(3, 7, 8, 64);
    for (const Trace* trace : {&more, &longer, &known_wrong}) CHECK(trace->hash() != right.hash());
    CHECK(difference(right, more).step == -1);
    CHECK(difference(right, known_wrong).offset == 64);
    Trace full, fuller;
    for (std::uint32_t i = 0; i < Trace::kSteps; ++i) full.add(i);
    fuller = full;
    fuller.add(0);
    CHECK(fuller.hash() != full.hash());
}

TEST_CASE("retries tell a core from memory, from chance and from the program") {
    const auto verdict = [](const Suspect& one, Use use) { return judge(one, use).verdict; };
    CHECK(verdict(suspect(0, {{0, kWrong, 1}, {1, kRight, 2}}), Use::core) == Verdict::core);
    CHECK(verdict(suspect(0, {{0, kRight, 2}, {1, kRight, 2}, {0, kWrong, 5}}), Use::core) == Verdict::core);
    CHECK(verdict(suspect(0, {{0, kRight, 2}, {1, kRight, 2}}), Use::core) == Verdict::not_repeated);
    CHECK(verdict(suspect(0, {{0, kWrong, 1}}), Use::core) == Verdict::repeated);
    CHECK(verdict(suspect(0, {{0, kWrong, 1}, {1, kWrong, 1}}), Use::core) == Verdict::program);
    CHECK(verdict(suspect(0, {{0, kWrong, 1}, {1, kWrong, 1}}), Use::memory) == Verdict::memory);
    CHECK(verdict(suspect(0, {{0, kWrong, 1}, {1, kRight, 2}}), Use::memory) == Verdict::core);
    CHECK(verdict(suspect(0, {}), Use::core) == Verdict::not_repeated);
}

TEST_CASE("where the reference was wrong, the core that computed it is named") {
    // All cores now find what worker 0 found: worker 3's reference was wrong.
    const Judged judged = judge(suspect(3, {{0, kRight, 1}, {1, kRight, 1}}), Use::core);
    CHECK(judged.worker == 3);
    CHECK(judge(suspect(3, {{0, kRight, 2}, {1, kRight, 2}}), Use::core).worker == 0);
}

TEST_CASE("a replay is read as it was written") {
    const auto read = read_replays(replay_text(0, 0xfedcba9876543210ULL, 3) + " miller-rabin:17");
    REQUIRE(read.size() == 2);
    CHECK(read[0].kernel == 0);
    CHECK(read[0].seed == 0xfedcba9876543210ULL);
    CHECK(read[0].pu == 3);
    CHECK(read[1].seed == 17);
    CHECK(read[1].pu == -1);
    for (const char* bad :
         {"lucas-lehmer:x", "no-kernel:1", "lucas-lehmer:1:1-2", "lucas-lehmer:", "/no/such/file"})
        CHECK_THROWS_AS(read_replays(bad), strata::Error);
}
