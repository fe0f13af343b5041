#include "core/base/error.hpp"
#include "core/run/profile/simulated.hpp"

namespace strata::graph {

namespace {

[[noreturn]] void refuse() {
    throw Error("this build cannot simulate counters: valgrind was not found when it was made")
        .given("--counters simulated")
        .remedy("install valgrind (strata doctor says how) and set up again; or --counters hardware");
}

}  // namespace

bool is_simulated() { return false; }
std::unique_ptr<Counting> make_simulated_counting() { refuse(); }
void check_simulation(bool /*simulable*/) { refuse(); }
void start_simulation(bool /*simulable*/, const std::vector<std::string>& /*arguments*/) { refuse(); }

}  // namespace strata::graph
