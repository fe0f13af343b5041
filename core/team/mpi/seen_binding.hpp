// The bindings of members that something else has placed: mpirun --bind-to, srun --cpu-bind, strata launch
// around them.
#pragma once

#include <string>
#include <vector>

#include "core/launch/placement.hpp"

namespace strata::team {

/// The binding that a member sees of itself.
struct SeenBinding {
    std::vector<int> pus;  // that it may run on
    int threads = 0;       // that its environment says it has; 0: nothing said
    /// Of each thread, where the launcher has said them (OMP_PLACES as `strata launch` writes it).
    std::vector<std::vector<int>> places;
};
[[nodiscard]] SeenBinding see_binding();
[[nodiscard]] std::string to_text(const SeenBinding& place);
[[nodiscard]] SeenBinding parse_binding(const std::string& text);

/// The places of OMP_PLACES in its explicit form "{0},{4:2}" (OpenMP 5.2, 21.1.6, without strides and places
/// taken away); none for any other.
[[nodiscard]] std::vector<std::vector<int>> parse_omp_places(const std::string& text);

/// The placement of the members of one node. Where nobody has said how many threads a member has, it has one
/// for each of its cores, divided among those that were given the same ones: `sharing`, all on the machine,
/// which are more than `members` where one machine plays several nodes.
[[nodiscard]] launch::Placement placement_of(const std::vector<SeenBinding>& members,
                                             const std::vector<SeenBinding>& sharing,
                                             const machine::Machine& machine);

/// Whether the members of a machine have more threads than the cores that they may use.
[[nodiscard]] bool are_crowded(const std::vector<SeenBinding>& members, const machine::Machine& machine);

}  // namespace strata::team
