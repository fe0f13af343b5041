// From what is asked to a placement: which process and thread sits on which processors, and why. Pure: no
// system call, so that it is the same for machines that are only described.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::machine {
struct Machine;
}

namespace strata::launch {

/// Everything that decides where threads and pages go.
struct Wish {
    Layout layout = {};
    bool layout_given = true;    // else a placement file says how many there are
    int smt = 1;                 // PUs to use of a core
    std::string core_kind = "";  // "performance", "efficiency" or a kind's number; empty: all
    std::string near = "";       // "gpu", "nic", or either with ":NAME"; empty: none
    std::string file = "";       // a placement file (placement_file.hpp); empty: none
    MemoryWish memory = {};
    Huge huge = Huge::as_is;
};

/// One core that may be used: the PUs of it that this process is allowed, by the system's numbers.
using Core = std::vector<int>;

/// The cores of a machine that this process may use, in hwloc's logical order.
std::vector<Core> allowed_cores(const machine::Machine& machine);

/// A place for one thread: the PU it takes, and those it may use once the way to bind has widened it.
struct Slot {
    int pu = 0;
    std::vector<int> pus;
};

/// The slots that a wish leaves, in the order in which threads take them, each named once: the PUs of the
/// list, or one PU (or `smt`) of each allowed core of the kind. `why` gets a line for each choice.
std::vector<Slot> slots(const machine::Machine& machine, const Wish& wish, std::vector<std::string>& why);

/// Thread i of process p takes slot (p*T + i)*stride; near a device, each process takes those still free that
/// are nearest to its device, by the distances between memories. Throws Error when a bound layout needs more
/// than there are, and for kinds, devices, PUs and memories that are not there.
Placement place(const machine::Machine& machine, const Wish& wish);

/// The same for cores alone, each a slot, without a machine around them.
Placement place(const std::vector<Core>& cores, const Layout& layout);

/// The number of cores that a bound layout spans: the last thread sits on core number span - 1.
long cores_spanned(const Layout& layout);

}  // namespace strata::launch
