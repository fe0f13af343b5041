// Eight particles at once, or four values of each of two.
#pragma once

#ifdef STRATA_PARTICLE_LANES  // other lanes: those of tests, which count operations
#include STRATA_PARTICLE_LANES
#else
#include "core/lanes/functions.hpp"
#include "core/lanes/lanes.hpp"
#include "core/lanes/memory.hpp"

namespace strata::particles {
using strata::broadcast;
using strata::LaneInts;
using strata::Lanes;
using strata::max;
using strata::min;
/// A number outside lanes whose arithmetic is part of a kernel's work.
using Real = double;
}  // namespace strata::particles
#endif

namespace strata::particles {

/// Of particles 2 p and 2 p + 1: a value each, four times.
template <int p>
inline Lanes spread(const Lanes& x) {
    constexpr int e = 2 * p, o = 2 * p + 1;
    return shuffle<e, e, e, e, o, o, o, o>(x, x);
}
/// Four values of each of eight particles, turned around: pairs[p] has those of particle 2 p, then of 2 p
/// + 1.
struct Pairs {
    Lanes of[4];
    Pairs(const Lanes& a, const Lanes& b, const Lanes& c, const Lanes& d) {
        const Lanes ab = shuffle<0, 8, 1, 9, 2, 10, 3, 11>(a, b);
        const Lanes cd = shuffle<0, 8, 1, 9, 2, 10, 3, 11>(c, d);
        const Lanes AB = shuffle<4, 12, 5, 13, 6, 14, 7, 15>(a, b);
        const Lanes CD = shuffle<4, 12, 5, 13, 6, 14, 7, 15>(c, d);
        of[0] = shuffle<0, 1, 8, 9, 2, 3, 10, 11>(ab, cd);
        of[1] = shuffle<4, 5, 12, 13, 6, 7, 14, 15>(ab, cd);
        of[2] = shuffle<0, 1, 8, 9, 2, 3, 10, 11>(AB, CD);
        of[3] = shuffle<4, 5, 12, 13, 6, 7, 14, 15>(AB, CD);
    }
};

}  // namespace strata::particles
