// The bindings of members placed by another program: mpirun --bind-to, srun --cpu-bind, or strata launch
// around them.
#pragma once

#include <string>
#include <vector>

#include "core/launch/placement.hpp"

namespace strata::team {

/// The binding that a member sees of itself.
struct SeenBinding {
    std::vector<int> pus;  // on which it may run
    int threads = 0;       // from its environment; 0: not set
    /// Of each thread, where the launcher has set them (OMP_PLACES as `strata launch` writes it).
    std::vector<std::vector<int>> places;
};
[[nodiscard]] SeenBinding see_binding();
[[nodiscard]] std::string to_text(const SeenBinding& place);
[[nodiscard]] SeenBinding parse_binding(const std::string& text);

/// The places of OMP_PLACES in its explicit form "{0},{4:2}" (OpenMP 5.2, 21.1.6, without strides and
/// excluded places); none for any other form.
[[nodiscard]] std::vector<std::vector<int>> parse_omp_places(const std::string& text);

/// The placement of the members of one node. A member without a given number of threads has one for each of
/// its cores, divided among the members with the same cores. `sharing`: all members on the machine, which are
/// more than `members` where one machine stands for several nodes.
[[nodiscard]] launch::Placement placement_of(const std::vector<SeenBinding>& members,
                                             const std::vector<SeenBinding>& sharing,
                                             const machine::Machine& machine);

/// Whether the members of a machine have more threads than the cores that they may use.
[[nodiscard]] bool are_crowded(const std::vector<SeenBinding>& members, const machine::Machine& machine);

}  // namespace strata::team
