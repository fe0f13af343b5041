// Hardware counters by way of PAPI. What a machine counts is never known exactly, and many offer nothing:
// PAPI's software-defined events take the same way through the library, and what they count is up to this
// program.
#include <linux/perf_event.h>
#include <papi.h>
#include <sde_lib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/run/profile/hardware.hpp"
#include "tests/catch.hpp"
#include "tests/graph/output/known_work.hpp"

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

/// Whether the kernel counts a process's instructions here, asked without PAPI.
bool kernel_counts() {
    perf_event_attr what{};
    what.type = PERF_TYPE_HARDWARE;
    what.size = sizeof(what);
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = what.exclude_hv = 1;
    const auto event = static_cast<int>(syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0) return false;
    std::int64_t count = 0;
    const bool read_it = read(event, &count, sizeof(count)) == sizeof(count);
    close(event);
    return read_it && count > 0;
}

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

TEST_CASE("without names the processor's own events are counted") {
    if (!kernel_counts()) CANNOT_TRY("the kernel counts no instructions here");
    const Counts counts = counted(1, *make_hardware_counting({}));
    const auto rows = by_name(counts);
    CHECK(counts.events[0] == "PAPI_TOT_INS");
    CHECK(rows.at("seven").events[0] > 160);
}

TEST_CASE("where the kernel counts nothing it is said that there are no counters") {
    if (kernel_counts()) CANNOT_TRY("the kernel counts instructions here");
    try {
        (void)counted(1, *make_hardware_counting({}));
        FAIL("counted");
    } catch (const Error& error) {
        CHECK(error.message().find("hardware counters are not offered here") == 0);
        CHECK(error.remedy().find("--counters simulated") != std::string::npos);
    }
}
