#include "solvers/flow/boundary_keys.hpp"

#include <cmath>

namespace strata::flow {

using graph::CaseSchema;

void add_boundary_keys(CaseSchema& keys, const std::string& name, BoundaryKeys& b) {
    const std::string of = "boundary." + name + '.';
    std::vector<std::string> kinds;
    for (const ConditionAbout& condition : kConditions) kinds.emplace_back(condition.name);
    keys.key(
        of + "kind", &b.kind,
        {.choices = std::move(kinds),
         .required = true,
         .meaning = "wall: no slip; total-inflow: by total pressure and temperature; overset: a mesh ends "
                    "within another one"});
    keys.key(of + "temperature", &b.temperature,
             {.least = 0, .meaning = "wall: over the far field's; 0: adiabatic"});
    keys.key(
        of + "velocity", &b.velocity,
        {.entries = {2, 3},
         .meaning = "wall: over the far field's speed of sound; beyond that of the grid, where it turns"});
    keys.key(of + "rotation", &b.rotation,
             {.entries = {0, 1},
              .meaning = "wall: it turns about the frame's axis at this rate, seen at rest, in radians in a "
                         "unit of time (0: a casing that stands still); none: it moves with the grid"});
    keys.key(of + "hover_thrust", &b.hover_thrust,
             {.least = 0,
              .most = 1,
              .meaning = "far-field: the thrust coefficient of a rotor in hover, whose wake leaves there and "
                         "towards which fluid comes; 0: it rests, or flows as the far field"});
    keys.key(of + "total_pressure", &b.total_pressure,
             {.least = 0, .above_least = true, .meaning = "total-inflow: over the far field's static one"});
    keys.key(of + "total_temperature", &b.total_temperature,
             {.least = 0, .above_least = true, .meaning = "total-inflow: over the far field's static one"});
    keys.key(of + "direction", &b.direction,
             {.entries = {2, 3}, .meaning = "total-inflow; none: across the face"});
    keys.key(of + "pressure", &b.pressure,
             {.least = 0, .above_least = true, .meaning = "pressure-outflow: over the far field's"});
    keys.key(of + "mass_flow", &b.mass_flow,
             {.least = 0, .meaning = "mass-outflow: through the whole boundary"});
}

std::vector<Boundary> case_boundaries(const Settings& s, const graph::CaseSchema& keys, int dimensions) {
    std::vector<Boundary> all;
    for (const auto& [name, b] : s.boundaries) {
        Boundary made;
        made.name = name;
        made.condition = condition_of(b.kind);
        made.state = s.far_field(dimensions);
        const double p = 1 / s.flow.gamma;
        made.total_pressure = b.total_pressure * p, made.total_temperature = b.total_temperature;
        made.direction = place(b.direction, 0);
        if (const auto rotor = s.rotor(); rotor && b.hover_thrust > 0)
            made.hover = {.axis = s.about_axis(1),
                          .centre = rotor->centre,
                          .radius = rotor->radius,
                          .w = std::abs(rotor->rate) * rotor->radius * std::sqrt(b.hover_thrust / 2)};
        made.pressure = b.pressure * p;
        made.mass_flow = b.mass_flow;
        if (b.temperature > 0) made.temperature = b.temperature;
        made.motion.velocity = place(b.velocity, 0);
        if (!b.rotation.empty()) {
            made.carried = false;
            made.motion.spin = s.about_axis(b.rotation[0]);
            made.motion.centre = place(s.frame.centre, 0);
        }
        if (is_viscous_wall(made.condition) && s.flow.equations == "euler")
            keys.refuse("boundary." + name + ".kind", "a flow without viscosity does not stick to walls",
                        "\"slip-wall\", or flow.equations = \"laminar\" or \"rans\"");
        if (made.condition == Condition::mass_outflow && !(b.mass_flow > 0))
            keys.refuse("boundary." + name + ".mass_flow", "an outflow by mass flow needs one", "> 0");
        if (!b.rotation.empty() && s.flow.axisymmetric)
            keys.refuse("boundary." + name + ".rotation", "axisymmetric flow does not turn about its axis",
                        "none, or a grid in three dimensions");
        if (!b.rotation.empty() && dimensions == 2 && s.frame.axis != "z")
            keys.refuse("frame.axis", "walls of a plane turn about an axis across it", "\"z\"");
        all.push_back(made);
    }
    return all;
}

}  // namespace strata::flow
