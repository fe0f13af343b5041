// What is done with eight doubles at once: the plain lanes of core.
#pragma once

#include "core/lanes/plain.hpp"

namespace strata::npb {

using strata::kLanes;
using Vec = PlainLanes;
using Bits = PlainBits;
using Mask = PlainInts;

using plain::any;
using plain::broadcast;
using plain::evens;
using plain::left_of;
using plain::load;
using plain::odds;
using plain::right_of;
using plain::sqrt;
using plain::store;
using plain::sum;
using plain::transpose;
using plain::zip_high;
using plain::zip_low;

}  // namespace strata::npb
