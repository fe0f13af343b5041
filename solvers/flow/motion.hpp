// Meshes that move as rigid bodies, by a motion that the case gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/case/case.hpp"
#include "methods/geometry/rigid.hpp"
#include "solvers/flow/boundary/conditions.hpp"

namespace strata::flow {

using geometry::Rigid;

/// What a case says of the motion of a mesh. The values before reading are the defaults.
struct MotionKeys {
    std::string kind = "none";
    std::vector<double> axis{0, 0, 1}, centre{0, 0, 0};
    double rate = 0;                      // rotation: radians in a unit of time
    double mean = 0, amplitude = 0;       // pitch: degrees
    double frequency = 0;                 // pitch, path: radians in a unit of time
    std::vector<double> velocity, heave;  // path

    [[nodiscard]] bool moves() const { return kind != "none"; }
    friend bool operator==(const MotionKeys&, const MotionKeys&) = default;
};
/// `section`: of the grid.
void add_motion_keys(graph::CaseSchema& keys, const std::string& section, MotionKeys& motion);
/// Throws Error with the key's place.
void check_motion(const MotionKeys& motion, const std::string& section, bool steady, bool axisymmetric,
                  const graph::CaseSchema& keys);
/// Of a case with sectors that are periodic by rotation about `axis` ("x", "y" or "z") through the origin:
/// throws Error where the mesh does not move alike in all of them, which it does about and along that axis.
void check_motion_of_sectors(const MotionKeys& motion, const std::string& section, const std::string& axis,
                             const graph::CaseSchema& keys);

/// The motion of one mesh. Times are in lengths over speeds of sound.
class BodyMotion {
  public:
    /// Throws Error where a plane mesh is to turn about another axis than z.
    BodyMotion(const MotionKeys& keys, const std::string& section, int dimensions,
               const graph::CaseSchema& schema);

    [[nodiscard]] bool moves() const { return kind_ != Kind::none; }
    /// Where it takes places at a time, from where the grid has them.
    [[nodiscard]] Rigid placed(double time) const;
    /// The velocity of its places at a time.
    [[nodiscard]] RigidMotion velocity(double time) const;

  private:
    enum class Kind { none, rotation, pitch, path } kind_ = Kind::none;
    Real3 axis_{0, 0, 1}, centre_{}, velocity_{}, heave_{};
    double rate_ = 0, mean_ = 0, amplitude_ = 0, frequency_ = 0;  // radians
};

/// Those of all meshes of a case, by their numbers; of a case with one grid the only one.
struct Motions {
    std::vector<BodyMotion> of;
    double step = 0;  // of time

    [[nodiscard]] bool some() const {
        for (const BodyMotion& one : of)
            if (one.moves()) return true;
        return false;
    }
    /// At the end of a time step; before the first one the meshes are where they are at first.
    [[nodiscard]] Rigid placed(int mesh, std::int64_t at_step) const {
        const double time = at_step > 0 ? step * static_cast<double>(at_step) : 0;
        return of[static_cast<std::size_t>(mesh)].placed(time);
    }
    /// Takes places of one mesh, where the grid has them, to where another one has what is there.
    [[nodiscard]] Rigid seen(int mesh, int by, std::int64_t at_step) const {
        return seen_by(placed(by, at_step), placed(mesh, at_step));
    }
    [[nodiscard]] RigidMotion velocity(int mesh, std::int64_t at_step) const {
        return of[static_cast<std::size_t>(mesh)].velocity(step * static_cast<double>(at_step));
    }
};

}  // namespace strata::flow
