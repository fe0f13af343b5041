// What may hold on a face of a zone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "methods/geometry/rigid.hpp"

namespace strata::flow {

using geometry::RigidMotion;
using graph::Real3;

enum class Condition : std::uint8_t {
    supersonic_outflow,  // what is inside
    supersonic_inflow,   // a given state
    far_field,           // Riemann invariants of a given state and of what is inside
    total_inflow,        // total pressure, total temperature and direction
    pressure_outflow,    // static pressure
    mass_outflow,        // mass flow through the whole boundary
    symmetry,
    axis,       // of an axisymmetric flow; in three dimensions also a face that is collapsed to a line
    slip_wall,  // inviscid
    overset,    // receptors of another mesh lie before it; beyond it is what is inside
    wall,       // no slip: adiabatic or at a temperature, still or moving
};

/// What all but the kernels of fill.cpp ask of a condition. Faces are filled in this order (fill.hpp).
enum class Side : std::uint8_t {
    open,       // a state beyond it, from what is inside and what is given
    plane,      // beyond it is the mirror image
    slip_wall,  // so it is beyond a wall on which the flow slips: carries forces of pressure
    wall,       // the flow rests: friction, and the wall from which distances are
};
struct ConditionAbout {
    Condition condition;
    std::string_view name;  // in case files
    Side side = Side::open;
    /// Implicit lines that end there: the change beyond is the mirror image of that inside, not none. (At a
    /// wall without slip they have their own end.)
    bool mirrors_lines = false;
    /// Open: the model's variables of `Boundary::state` come in everywhere; otherwise what is inside goes
    /// out.
    bool brings_turbulence = false;
};
/// All conditions, in the order in which help and messages name them: keys and messages follow from it.
inline constexpr std::array kConditions{
    ConditionAbout{Condition::slip_wall, "slip-wall", Side::slip_wall, true},
    ConditionAbout{Condition::wall, "wall", Side::wall},
    ConditionAbout{Condition::far_field, "far-field"},  // by the direction of the flow through each face
    ConditionAbout{Condition::total_inflow, "total-inflow", Side::open, false, true},
    ConditionAbout{Condition::pressure_outflow, "pressure-outflow"},
    ConditionAbout{Condition::mass_outflow, "mass-outflow"},
    ConditionAbout{Condition::symmetry, "symmetry", Side::plane, true},
    ConditionAbout{Condition::axis, "axis", Side::plane},
    ConditionAbout{Condition::supersonic_inflow, "supersonic-inflow", Side::open, false, true},
    ConditionAbout{Condition::supersonic_outflow, "supersonic-outflow"},
    ConditionAbout{Condition::overset, "overset"},
};
namespace detail {
inline constexpr auto kByCondition = [] {
    std::array<ConditionAbout, kConditions.size()> all{};
    for (const ConditionAbout& each : kConditions) all[static_cast<std::size_t>(each.condition)] = each;
    return all;
}();
}  // namespace detail
[[nodiscard]] constexpr const ConditionAbout& about(Condition c) {
    return detail::kByCondition[static_cast<std::size_t>(c)];
}
/// Their names in case files: "far-field". Throws Error with all names for another one.
[[nodiscard]] Condition condition_of(std::string_view name);
[[nodiscard]] constexpr std::string_view name_of(Condition c) { return about(c).name; }
/// Walls on which the flow rests: those of friction and of the wall distance.
[[nodiscard]] constexpr bool is_viscous_wall(Condition c) { return about(c).side == Side::wall; }
/// Walls that carry forces.
[[nodiscard]] constexpr bool is_wall(Condition c) { return about(c).side >= Side::slip_wall; }

/// The primitive values of a flow, in the reference units (density, speed of sound and temperature 1, so that
/// p = rho T / gamma).
struct FlowState {
    double rho = 1;
    Real3 u{};
    double p = 1 / 1.4;
    double nu_tilde = 3;
    double k = 0, omega = 0;  // of Menter's model, over a^2 and a / L
};

/// The flow far from a rotor in hover, as momentum theory has it (Srinivasan, G. R., Baeder, J. D., Obayashi,
/// S., McCroskey, W. J. (1992), AIAA J. 30(10)): with w = sqrt(C_T / 2) times the speed of the tips the wake
/// leaves at 2 w through a circle of R / sqrt(2) below, and as much, pi R^2 w, comes from all around towards
/// the rotor, w / 4 (R / d)^2 at the distance d.
struct HoverFlow {
    Real3 axis{0, 0, 1}, centre{};  // thrust is along the axis
    double radius = 1, w = 0;
};

/// A condition and its numbers. Those that a condition does not name are not read.
struct Boundary {
    std::string name = {};  // of the ranges on which it holds
    Condition condition = Condition::far_field;
    FlowState state = {};  // far_field, supersonic_inflow; nu_tilde, k and omega also of total_inflow
    std::optional<HoverFlow> hover = {};  // far_field: what flows there beside the state
    double total_pressure = 1 / 1.4, total_temperature = 1;
    Real3 direction{};  // of total_inflow, of any length; 0: along the face's normal
    double pressure = 1 / 1.4;
    double mass_flow = 0;                    // mass_outflow: out of the domain, in rho a L^2 (2D: rho a L)
    std::optional<double> temperature = {};  // wall; none: adiabatic
    RigidMotion motion = {};                 // wall: beyond that of the grid
    bool carried = true;                     // wall: moves with the grid
};

}  // namespace strata::flow
