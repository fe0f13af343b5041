// What this solver takes of methods/particles. Its lanes hide those of core/lanes: tests put others in their
// place.
#pragma once

#include "methods/particles/shape.hpp"

namespace strata::mpm {

using namespace particles;
using particles::broadcast;
using particles::LaneInts;
using particles::Lanes;
using particles::max;
using particles::min;
using particles::Real;

}  // namespace strata::mpm
