// Times of work that is done over and over.
#pragma once

#include <algorithm>
#include <chrono>

namespace strata {

/// The shortest of many repeats within `seconds`, in seconds: the machine may do other things, too.
template <class F>
double shortest(double seconds, const F& work) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    double best = 1e30;
    do {
        const auto before = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - before).count());
    } while (Clock::now() < end);
    return best;
}

}  // namespace strata
