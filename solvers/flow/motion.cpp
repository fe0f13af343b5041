#include "solvers/flow/motion.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

namespace strata::flow {

namespace {

using geometry::turned_about;
using graph::CaseSchema;

Real3 three(const std::vector<double>& given) {
    Real3 x{};
    for (std::size_t d = 0; d < given.size(); ++d) x[d] = given[d];
    return x;
}

double length(const Real3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

}  // namespace

void add_motion_keys(CaseSchema& keys, const std::string& section, MotionKeys& m) {
    const std::string of = section + ".motion.";
    keys.key(of + "kind", &m.kind,
             {.choices = {"none", "rotation", "pitch", "path"},
              .meaning = "unsteady: the grid moves as a rigid body: it turns at a rate; it turns to and fro, "
                         "angle = mean + amplitude sin(frequency t); or it goes along velocity t + heave "
                         "sin(frequency t)"});
    keys.key(of + "axis", &m.axis,
             {.entries = {3, 3}, .meaning = "rotation, pitch: its direction; in the plane z"});
    keys.key(of + "centre", &m.centre, {.entries = {2, 3}, .meaning = "rotation, pitch: on the axis"});
    keys.key(of + "rate", &m.rate, {.unit = "a/L", .meaning = "rotation: radians in a unit of time"});
    keys.key(of + "mean", &m.mean, {.unit = "degrees", .least = -360, .most = 360, .meaning = "pitch"});
    keys.key(of + "amplitude", &m.amplitude,
             {.unit = "degrees", .least = -360, .most = 360, .meaning = "pitch"});
    keys.key(of + "frequency", &m.frequency,
             {.unit = "a/L", .least = 0, .meaning = "pitch, path: radians in a unit of time"});
    keys.key(of + "velocity", &m.velocity,
             {.entries = {2, 3}, .meaning = "path: over the far field's speed of sound; none: 0"});
    keys.key(of + "heave", &m.heave, {.entries = {2, 3}, .meaning = "path: a length; none: 0"});
}

void check_motion(const MotionKeys& m, const std::string& section, bool steady, bool axisymmetric,
                  const CaseSchema& keys) {
    if (!m.moves()) return;
    const std::string of = section + ".motion.";
    if (steady)
        keys.refuse(of + "kind", "a grid moves in unsteady flow alone",
                    "\"none\", or time.kind = \"unsteady\"");
    if (axisymmetric) keys.refuse(of + "kind", "grids of axisymmetric flow stand still", "\"none\"");
    if (m.kind != "path" && !(length(three(m.axis)) > 0))
        keys.refuse(of + "axis", "an axis has a direction", "three numbers that are not all 0");
    if (m.kind == "rotation" && m.rate == 0)
        keys.refuse(of + "rate", "a rotation has a rate", "radians in a unit of time, not 0");
    if ((m.kind == "pitch" || (m.kind == "path" && !m.heave.empty())) && m.frequency == 0)
        keys.refuse(of + "frequency", "what goes to and fro has a frequency",
                    "radians in a unit of time, above 0");
    if (m.kind == "path" && m.velocity.empty() && m.heave.empty())
        keys.refuse(of + "velocity", "a path has a velocity or a heave", "two or three numbers");
}

void check_motion_of_sectors(const MotionKeys& m, const std::string& section, const std::string& axis,
                             const CaseSchema& keys) {
    if (!m.moves()) return;
    const auto along = [&](const std::vector<double>& v) {
        for (std::size_t d = 0; d < v.size(); ++d)
            if ("xyz"[d] != axis[0] && v[d] != 0) return false;
        return true;
    };
    const auto refuse = [&](const char* key, const char* what) {
        keys.refuse(section + ".motion." + key,
                    fmt::format("sectors that are periodic by rotation about {} move alike: {}", axis, what),
                    fmt::format("three numbers, of which that along {} alone is not 0", axis));
    };
    if (m.kind != "path" && !along(m.axis)) refuse("axis", "about that axis");
    if (m.kind != "path" && !along(m.centre)) refuse("centre", "the axis is through the origin");
    if (m.kind == "path" && !along(m.velocity)) refuse("velocity", "along that axis");
    if (m.kind == "path" && !along(m.heave)) refuse("heave", "along that axis");
}

BodyMotion::BodyMotion(const MotionKeys& keys, const std::string& section, int dimensions,
                       const CaseSchema& schema)
    : kind_(keys.kind == "rotation" ? Kind::rotation
            : keys.kind == "pitch"  ? Kind::pitch
            : keys.kind == "path"   ? Kind::path
                                    : Kind::none),
      axis_(three(keys.axis)),
      centre_(three(keys.centre)),
      velocity_(three(keys.velocity)),
      heave_(three(keys.heave)),
      rate_(keys.rate),
      mean_(keys.mean * std::numbers::pi / 180),
      amplitude_(keys.amplitude * std::numbers::pi / 180),
      frequency_(keys.frequency) {
    if (!moves()) return;
    const std::string of = section + ".motion.";
    const bool turns = kind_ != Kind::path;
    if (turns) {
        const double size = length(axis_);
        for (double& a : axis_) a /= size;
    }
    if (dimensions != 2) return;
    if (turns && (axis_[0] != 0 || axis_[1] != 0))
        schema.refuse(of + "axis", "a plane grid turns about z", "[0, 0, 1]");
    for (const auto& [name, along] : {std::pair{"velocity", &velocity_}, {"heave", &heave_}})
        if (!turns && (*along)[2] != 0)
            schema.refuse(of + name, "a plane grid moves in its plane", "two numbers");
}

Rigid BodyMotion::placed(double time) const {
    Rigid made;
    switch (kind_) {
        case Kind::none:
            break;
        case Kind::rotation:
            return turned_about(axis_, centre_, rate_ * time);
        case Kind::pitch:
            return turned_about(axis_, centre_, mean_ + amplitude_ * std::sin(frequency_ * time));
        case Kind::path:
            for (std::size_t d = 0; d < 3; ++d)
                made.shift[d] = velocity_[d] * time + heave_[d] * std::sin(frequency_ * time);
            break;
    }
    return made;
}

RigidMotion BodyMotion::velocity(double time) const {
    RigidMotion made;
    made.centre = centre_;
    const double cosine = frequency_ * std::cos(frequency_ * time);
    for (std::size_t d = 0; d < 3; ++d) {
        if (kind_ == Kind::rotation) made.spin[d] = rate_ * axis_[d];
        if (kind_ == Kind::pitch) made.spin[d] = amplitude_ * cosine * axis_[d];
        if (kind_ == Kind::path) made.velocity[d] = velocity_[d] + heave_[d] * cosine;
    }
    return made;
}

}  // namespace strata::flow
