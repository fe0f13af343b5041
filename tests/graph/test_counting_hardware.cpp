// Hardware counters by way of PAPI. What a machine counts is never known exactly, and many offer nothing:
// PAPI's software-defined events take the same way through the library, and what they count is up to this
// program.
#include <papi.h>
#include <sde_lib.h>

#include "core/graph/profile/hardware.hpp"
#include "tests/catch.hpp"
#include "tests/graph/known_work.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;

namespace {

/// PAPI finds these because the program has loaded the library of such events.
void define_events() {
    const papi_handle_t handle = papi_sde_init("strata");
    papi_sde_register_counter_cb(
        handle, "WORK", PAPI_SDE_RO | PAPI_SDE_INSTANT, PAPI_SDE_long_long, [](void*) { return work; },
        nullptr);
    papi_sde_register_counter_cb(
        handle, "ASKED", PAPI_SDE_RO | PAPI_SDE_INSTANT, PAPI_SDE_long_long, [](void*) { return ++asked; },
        nullptr);
}

const std::string kWork = "sde:::strata::WORK", kAsked = "sde:::strata::ASKED";

}  // namespace

TEST_CASE("PAPI counts what each task does as its own") {
    define_events();
    // PAPI has one such event set at a time, so one thread.
    const Counts counts = counted(1, *make_hardware_counting({kWork, kAsked}));
    CHECK(counts.from.find("PAPI ") == 0);
    check_known(counts);
}

TEST_CASE("an event that PAPI does not know is refused by its name") {
    define_events();
    try {
        (void)make_hardware_counting({kWork, "PAPI_NO_SUCH"});
        FAIL("counted");
    } catch (const Error& error) {
        CHECK(error.given() == "PAPI_NO_SUCH");
        CHECK(error.text().find("papi_avail") != std::string::npos);
    }
}

TEST_CASE("without names the processor's own events are counted, or it is said that there are none") {
    try {
        const Counts counts = counted(1, *make_hardware_counting({}));
        const auto rows = by_name(counts);
        CHECK(counts.events[0] == "PAPI_TOT_INS");
        CHECK(rows.at("seven").events[0] > 160);
    } catch (const Error& error) {
        INFO(error.text());
        CHECK(error.message().find("hardware counters are not offered here") == 0);
        CHECK(error.remedy().find("--counters simulated") != std::string::npos);
    }
}
