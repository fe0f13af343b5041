// From a layout to a placement: which process and thread sits on which processor. Pure: no system call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::machine {
struct Machine;
}

namespace strata::launch {

enum class Bind { core, none };

/// Processes x threads, the distance between neighbouring threads in cores, and whether they are held there.
struct Layout {
    int processes = 1;
    int threads = 1;
    int stride = 1;
    Bind bind = Bind::core;
};

/// Reads "PxT", e.g. "36x4": 36 processes of 4 threads. Throws Error for anything else.
Layout parse_layout(std::string_view text);
Bind parse_bind(std::string_view text);
std::string to_text(const Layout& layout);
std::string to_text(Bind bind);

/// One core that may be used: the PUs of it that this process is allowed, by the system's numbers.
using Core = std::vector<int>;

struct Placement {
    Layout layout;
    /// [process][thread] -> the PUs that this thread may use: one PU when bound, all allowed ones when not.
    std::vector<std::vector<std::vector<int>>> threads;

    /// All PUs of one process, ascending.
    [[nodiscard]] std::vector<int> pus(int process) const;
    /// All PUs of the placement, ascending.
    [[nodiscard]] std::vector<int> pus() const;
};

/// The cores of a machine that this process may use, in hwloc's logical order.
std::vector<Core> allowed_cores(const machine::Machine& machine);

/// Thread i of process p sits on allowed core (p*T + i)*stride, on the first allowed PU of that core: SMT
/// siblings share a core's units and are not counted as cores. Throws Error when a bound layout needs more
/// cores than allowed.
Placement place(const std::vector<Core>& cores, const Layout& layout);
Placement place(const machine::Machine& machine, const Layout& layout);

/// How many cores a bound layout spans: the last thread sits on core number span - 1.
long cores_spanned(const Layout& layout);

}  // namespace strata::launch
