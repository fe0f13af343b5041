// What acts on atoms from outside, and borders: the keys of a case.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/run/case/case.hpp"
#include "solvers/md/outside/groups.hpp"
#include "solvers/md/outside/walls.hpp"

namespace strata::md {

enum class Border : std::uint8_t { periodic, open, walls };

/// A constant force on each atom of a group, an acceleration, or a velocity that it has whatever acts on it.
struct Push {
    std::int32_t group;
    std::array<double, 3> vector{};
};
/// Force -stiffness d towards the place where the atom was at the start; energy stiffness d^2 / 2.
struct Spring {
    std::int32_t group;
    double stiffness;
};

/// In the units of the case.
struct Outside {
    // As the case says them
    std::vector<std::string> boundary;                // none: all periodic, or as the state's file has them
    std::vector<std::string> names, members, series;  // of groups
    std::vector<std::string> given_forces, given_accelerations, given_springs, given_moving, frozen;
    std::vector<std::string> faces;  // walls

    // Made of that by complete()
    Groups groups;
    std::vector<Error> without_atoms;  // of each line of `members`: the error where no atom is in it
    std::array<Border, 3> borders{Border::periodic, Border::periodic, Border::periodic};
    std::vector<std::int32_t> watched;  // the groups of `series`
    std::vector<Push> forces, accelerations;
    std::vector<Spring> springs;
    std::vector<Push> moving;  // frozen ones too
    std::vector<Wall> walls;

    void add_keys(graph::CaseSchema& keys);
    /// kinds: names of the kinds of atoms. open: of each direction, whether the state's file says so. Throws
    /// Error with the key's place.
    void complete(const graph::CaseSchema& keys, const std::vector<std::string>& kinds,
                  const std::array<bool, 3>& open);

    [[nodiscard]] bool periodic(std::size_t axis) const { return borders[axis] == Border::periodic; }
    [[nodiscard]] bool all_periodic() const { return periodic(0) && periodic(1) && periodic(2); }
    /// Whether the box has no volume.
    [[nodiscard]] bool open() const;
    [[nodiscard]] bool has_groups() const { return !groups.names().empty(); }
    /// The bits of groups whose atoms do not move by forces.
    [[nodiscard]] std::int32_t held() const;
    [[nodiscard]] bool reflects() const;
    /// As Wall::kFaces counts them.
    [[nodiscard]] std::vector<std::size_t> faces_with_walls() const;
    /// Whether atoms move in another way than without.
    [[nodiscard]] bool changes() const {
        return !(forces.empty() && accelerations.empty() && springs.empty() && walls.empty() &&
                 moving.empty());
    }
    /// Whether a task adds to the forces, or looks at them.
    [[nodiscard]] bool acts() const { return changes() || !watched.empty(); }
    /// Whether energy goes in and out: by atoms that are moved, or by forces that have no potential in a
    /// periodic direction.
    [[nodiscard]] bool works() const;
    /// The directions in which the sum of all momenta stays what it is.
    [[nodiscard]] int kept_momenta() const;
};

}  // namespace strata::md
