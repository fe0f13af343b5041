// A lane that is stuck: for some instructions a bit of every result that goes to a vector register is 0,
// or 1.
#pragma once

#include <random>
#include <string>

#include "tracee.hpp"

namespace inject {

struct Stuck {
    unsigned bit = 0;  // 0 to 511 of a vector register
    bool one = false;
    std::string text() const { return "bit " + std::to_string(bit) + " at " + (one ? "1" : "0"); }
};

// A bit of a width that the process uses.
Stuck draw_lane(const Tracee& process, std::mt19937_64& random);

// Steps through the instructions; returns how many results it changed.
int run_stuck(Tracee& process, const Stuck& lane, int steps);

}  // namespace inject
