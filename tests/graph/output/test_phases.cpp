#include <chrono>
#include <thread>

#include "core/base/process_age.hpp"
#include "core/run/profile/phases.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("the phases of a run have no gaps: from the process' first instruction to now") {
    // Two clocks are read one after the other when a run begins: on a busy machine something else may run
    // between.
    const double before = process_age_s();
    Phases phases;
    const double slack = process_age_s() - before + 1e-3;
    phases.enter("steps");
    sleep_ms(30);
    CHECK(phases.enter("fields") >= 0.03);
    sleep_ms(20);
    phases.enter("steps");
    sleep_ms(30);
    const double least = process_age_s();
    const auto all = phases.until_now();
    const double most = process_age_s();
    REQUIRE(all.size() == 3);
    CHECK(all[0].first == "start");
    CHECK(all[1].first == "steps");
    CHECK(all[1].second >= 0.06);
    CHECK(all[2].second >= 0.02);
    double sum = 0;
    for (const auto& [name, seconds] : all) sum += seconds;
    CHECK(sum >= least - slack);
    CHECK(sum <= most + slack);
}

TEST_CASE("phases are told longest first, the short ones added up") {
    CHECK(
        text_of({{"start", 0.02}, {"plan", 1.5}, {"steps", 218.0}, {"fields", 12.0}, {"comparison", 0.4}}) ==
        "in all 3 min 52 s: steps 218 s, fields 12 s, other 1.92 s\n");
    CHECK(text_of({{"start", 0.02}, {"steps", 0.98}}) == "in all 1 s: steps 980 ms, start 20 ms\n");
}
