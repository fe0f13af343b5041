#include <algorithm>

#include "core/launch/environment.hpp"
#include "core/launch/placement.hpp"
#include "tests/catch.hpp"

using namespace strata::launch;

namespace {

std::string value(const std::vector<std::string>& environment, const std::string& name) {
    std::string found = "unset";
    for (const std::string& entry : environment) {
        if (entry.compare(0, name.size() + 1, name + "=") != 0) continue;
        REQUIRE(found == "unset");  // once
        found = entry.substr(name.size() + 1);
    }
    return found;
}

}  // namespace

TEST_CASE("a bound process gets its places, its count of threads and its rank, whatever was set before") {
    const auto placement = place({{0}, {1}, {2}, {3}}, {2, 2, 1, Bind::core});
    const auto environment =
        apply_settings(settings_for(placement, 1, 1, 2),
                       {"OMP_NUM_THREADS=64", "KMP_AFFINITY=scatter", "OMP_NUM_THREADSX=keep", "HOME=/h"});
    CHECK(value(environment, "OMP_NUM_THREADS") == "2");
    CHECK(value(environment, "OPENBLAS_NUM_THREADS") == "2");
    CHECK(value(environment, "OMP_PLACES") == "{2},{3}");
    CHECK(value(environment, "OMP_PROC_BIND") == "close");
    CHECK(value(environment, "KMP_AFFINITY") == "unset");
    CHECK(value(environment, "STRATA_RANK") == "1");
    CHECK(value(environment, "STRATA_SIZE") == "2");
    CHECK(value(environment, "STRATA_CPUS") == "2-3");
    CHECK(value(environment, "STRATA_LAYOUT") == "2x2");
    CHECK(value(environment, "OMP_NUM_THREADSX") == "keep");
    CHECK(value(environment, "HOME") == "/h");
}

TEST_CASE("an unbound process gets the count alone, and binding is off") {
    const auto placement = place({{0}, {1}}, {1, 2, 1, Bind::none});
    const auto environment =
        apply_settings(settings_for(placement, 0, 0, 1), {"OMP_PLACES=cores", "OMP_PROC_BIND=spread"});
    CHECK(value(environment, "OMP_NUM_THREADS") == "2");
    CHECK(value(environment, "OMP_PLACES") == "unset");
    CHECK(value(environment, "OMP_PROC_BIND") == "false");
    CHECK(value(environment, "STRATA_CPUS") == "0-1");
}
