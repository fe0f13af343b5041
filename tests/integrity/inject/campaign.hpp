// Many faults in one worker, one at a time, each in a twin of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "places.hpp"

namespace inject {

struct Asked {
    int count = 100;
    int used = 1'000'000;  // ends after so many faults that were not masked
    std::uint64_t seed = 1;
    std::vector<Kind> kinds{Kind::kInteger, Kind::kVector, Kind::kMemory};
    bool stuck = false;  // a lane that is stuck for `steps` instructions instead of one bit that flips once
    int steps = 2000;
    int rounds = 3;      // after which a fault that was not found counts as missed
    bool pair = false;   // the program has two workers that do their rounds together
    double seconds = 0;  // no new fault after this time; 0: no limit
};

// Prints a line of JSON for each fault; ends the workers when it is done. Two workers do their rounds
// together: then each twin has a twin of the partner as its partner.
void campaign(const std::vector<pid_t>& workers, const Asked& asked);

}  // namespace inject
