#include "solvers/flow/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::flow {

void add_frame_keys(graph::CaseSchema& keys, FrameKeys& f) {
    keys.key(
        "frame.rotation_rate", &f.rotation_rate,
        {.least = -1000,
         .most = 1000,
         .meaning = "of a frame that turns with the grid, right-handed about `axis`, in radians in a unit "
                    "of time; 0: the grid stands still"});
    keys.key("frame.tip_mach", &f.tip_mach,
             {.least = -10,
              .most = 10,
              .meaning = "in place of rotation_rate: the speed of a blade's tip over the speed of sound of "
                         "the far field, below 0: left-handed"});
    keys.key("frame.radius", &f.radius,
             {.least = 0, .meaning = "of the tips; what rotors are measured by; 0: no rotor"});
    keys.key("frame.axis", &f.axis,
             {.choices = {"x", "y", "z"}, .meaning = "of the rotation; in two dimensions z"});
    keys.key("frame.centre", &f.centre, {.entries = {2, 3}, .meaning = "a point of the axis"});
}

double Settings::rotation_rate() const {
    return frame.tip_mach != 0 && frame.radius > 0 ? frame.tip_mach / frame.radius : frame.rotation_rate;
}

Real3 Settings::about_axis(double rate) const {
    Real3 spin{};
    spin[static_cast<std::size_t>(frame.axis[0] - 'x')] = rate;
    return spin;
}

RigidMotion Settings::motion() const {
    RigidMotion motion;
    motion.spin = about_axis(rotation_rate());
    for (std::size_t d = 0; d < frame.centre.size(); ++d) motion.centre[d] = frame.centre[d];
    return motion;
}

std::optional<Rotor> Settings::rotor() const {
    if (rotation_rate() == 0 || frame.radius == 0) return std::nullopt;
    const RigidMotion how = motion();
    Rotor rotor{.axis = frame.axis[0] - 'x',
                .rate = rotation_rate(),
                .radius = frame.radius,
                .centre = how.centre,
                .stations = output.stations};
    const auto note = [&rotor](const GridKeys& g) {
        if (g.is_part()) rotor.sectors = static_cast<int>(std::lround(360 / std::abs(g.turn)));
    };
    note(grid);
    for (const auto& [name, mesh] : meshes) note(mesh.grid);
    return rotor;
}

double Settings::reference_mach() const {
    if (reference.mach > 0) return reference.mach;
    const double tip = std::abs(rotation_rate() * frame.radius);
    return tip > 0 ? tip : flow.mach;
}

void check_frame(const Settings& s, const graph::CaseSchema& keys) {
    if (s.frame.tip_mach != 0 && s.frame.rotation_rate != 0)
        keys.refuse("frame.tip_mach", "the rate is said already by frame.rotation_rate", "one of both");
    if (s.frame.tip_mach != 0 && s.frame.radius == 0)
        keys.refuse("frame.radius", "the speed of tips needs the radius at which they are", "> 0");
    if (s.reference_mach() == 0)
        keys.refuse("flow.mach", "a far field at rest is no measure of forces and of the Reynolds number",
                    "> 0, or a case with reference.mach or with frame.radius and a rate");
    if (!s.rotor() && !s.output.stations.empty())
        keys.refuse("output.stations", "only a rotor has stations along its blades",
                    "[], or a frame with a rate and frame.radius");
    if (!s.rotor() && !s.verify.thrust.empty())
        keys.refuse("verify.thrust", "only a rotor has a thrust",
                    "[], or a frame with a rate and frame.radius");
    for (const auto& [name, b] : s.boundaries)
        if (b.hover_thrust > 0 && (!s.rotor() || b.kind != "far-field"))
            keys.refuse("boundary." + name + ".hover_thrust", "only a rotor's far field has its wake",
                        "0, or kind = \"far-field\" and a frame with a rate and frame.radius");
    for (const auto& [name, b] : s.boundaries)
        if (!b.rotation.empty() && b.kind != "wall")
            keys.refuse("boundary." + name + ".rotation", "only walls without slip turn by themselves",
                        "none, or kind = \"wall\"");
    if (s.rotation_rate() == 0) return;
    if (s.flow.axisymmetric)
        keys.refuse("flow.axisymmetric", "a frame that turns is plane, or three-dimensional", "false");
    const auto along = static_cast<std::size_t>(s.frame.axis[0] - 'x');
    const Real3 far = s.velocity(3);
    for (std::size_t d = 0; d < 3; ++d)
        if (d != along && std::abs(far[d]) > 1e-12 * s.flow.mach)
            keys.refuse("flow.alpha",
                        "a frame that turns sees a steady far field only where it flows along the axis",
                        "angles at which it flows along frame.axis, or flow.mach = 0");
    for (const auto& [name, b] : s.boundaries)
        for (std::size_t d = 0; d < b.direction.size(); ++d)
            if (d != along && b.direction[d] != 0)
                keys.refuse(
                    "boundary." + name + ".direction",
                    "a frame that turns sees a steady inflow only where it is along the axis, or across "
                    "the face",
                    "none, or a direction along frame.axis");
    const auto check_axis = [&](const GridKeys& g) {
        const bool apart = std::any_of(s.frame.centre.begin(), s.frame.centre.end(), [&](const double& at) {
            return &at - s.frame.centre.data() != static_cast<std::ptrdiff_t>(along) && at != 0;
        });
        if (g.is_part() && (g.turn_axis != s.frame.axis || apart))
            keys.refuse(
                g.section + ".turn_axis", "a sector is periodic about another axis than it turns about",
                fmt::format("\"{}\", and frame.centre on that axis through the origin", s.frame.axis));
    };
    if (!s.overlaps()) check_axis(s.grid);
    for (const auto& [name, mesh] : s.meshes) check_axis(mesh.grid);
}

}  // namespace strata::flow
