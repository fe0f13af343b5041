// Holding a process on PUs, and becoming the program.
#pragma once

#include <string>
#include <vector>

namespace strata::launch {

/// The PUs that a process may use (0: this one).
std::vector<int> affinity_of(int pid = 0);

/// Holds this process on the PUs; false when the system refuses (errno says why).
bool bind_to(const std::vector<int>& pus);

/// Replaces this process by the program. Returns errno when that fails, else not at all.
int become(const std::string& path, const std::vector<std::string>& arguments,
           const std::vector<std::string>& environment);

/// The Error of a program that the system would not start.
[[noreturn]] void refuse_start(const std::string& path, int why);

}  // namespace strata::launch
