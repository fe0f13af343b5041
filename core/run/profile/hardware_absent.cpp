#include "core/base/error.hpp"
#include "core/run/profile/hardware.hpp"

namespace strata::graph {

std::unique_ptr<Counting> make_hardware_counting(const std::vector<std::string>& /*events*/) {
    throw Error("this build cannot read hardware counters: PAPI was not found when it was made")
        .given("--counters hardware")
        .remedy("install PAPI (strata doctor says how) and set up again; or --counters simulated");
}

}  // namespace strata::graph
