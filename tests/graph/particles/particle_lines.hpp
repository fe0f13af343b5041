// What graph_particles (programs/particles.cpp) prints on a layout; for tests of particles and of their
// halos.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/team/run.hpp"

namespace strata::tests {

/// A line for each patch, sorted, and the number of the last step; without that `of_state`: a checkpoint does
/// not have it.
inline std::string lines_of(const std::string& where, std::vector<std::string> words, bool of_state = false) {
    team::testing::Run run(std::move(words), team::testing::layout(where));
    const team::testing::Done done = run.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(run.nobody_left());
    return graph::testing::sorted_lines(of_state ? done.out.substr(0, done.out.find("number")) : done.out);
}

}  // namespace strata::tests
