// The quantities of this solver.
#pragma once

#include <array>

#include "core/graph/declare/graph.hpp"

namespace strata::transport {

using graph::Field;
using graph::List;
using graph::Scalar;

struct Labels {
    Field<double> T;                 // temperature, or what the flow carries
    Field<double> T_star;            // after the first stage of an advection step
    std::array<Field<double>, 3> v;  // through the faces of each direction
    List<double> rate;               // one a patch: 1 / the largest stable step
    Scalar<double> dt, time;
    Scalar<double> total, least, most;  // of T: integral, smallest, largest
};

}  // namespace strata::transport
