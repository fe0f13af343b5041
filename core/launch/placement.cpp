#include "core/launch/placement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/launch/likwid.hpp"
#include "core/launch/near.hpp"
#include "core/launch/placement_file.hpp"
#include "core/machine/core_kinds.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

std::string plural(long n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// The name of a slot in messages.
struct Unit {
    const char *one, *many;
};
constexpr Unit kCore = {"core", "cores"}, kPu = {"PU", "PUs"};

/// The largest layout of the same shape that fits: threads kept if one process fits, then the stride given
/// up.
std::string largest_fitting(const Layout& asked, long count) {
    const auto describe = [&](int stride) {
        const long places = (count - 1) / stride + 1;
        const long processes = std::min<long>(asked.processes, places / asked.threads);
        const std::string shape = processes >= 1 ? fmt::format("{}x{}", processes, asked.threads)
                                                 : fmt::format("1x{}", std::min<long>(asked.threads, places));
        return stride == 1 ? shape : fmt::format("{} with stride {}", shape, stride);
    };
    if (asked.stride == 1) return describe(1);
    return fmt::format("{}, or {} with stride 1", describe(asked.stride), describe(1));
}

[[noreturn]] void refuse(const Layout& layout, long count, Unit unit, const std::string& of_what) {
    std::string given = fmt::format("--layout {}", to_text(layout));
    if (layout.stride != 1) given += fmt::format(" --stride {}", layout.stride);
    given += fmt::format(", which needs {}", plural(cores_spanned(layout), unit.one, unit.many));
    throw Error("the layout is larger than what this process may use")
        .given(given)
        .allowed(plural(count, unit.one, unit.many) + of_what)
        .remedy(fmt::format(
            "--layout {}, the largest of this shape that fits; or --bind none to let the system place {}",
            largest_fitting(layout, count),
            plural(static_cast<long>(layout.processes) * layout.threads, "thread", "threads")));
}

std::string siblings_text(const std::vector<Core>& cores) {
    const bool siblings = std::any_of(cores.begin(), cores.end(), [](const Core& c) { return c.size() > 1; });
    return siblings ? " (SMT siblings are not counted as cores; --smt 2 counts two of each)" : "";
}

std::vector<int> allowed_of(const machine::Machine& machine, const std::vector<int>& pus) {
    std::vector<int> allowed, sorted = pus;
    std::sort(sorted.begin(), sorted.end());
    std::set_intersection(sorted.begin(), sorted.end(), machine.allowed.pus.begin(),
                          machine.allowed.pus.end(), std::back_inserter(allowed));
    return allowed;
}

/// The PUs of the outermost cache that several cores share and that holds `core`; the core's own when none
/// does.
std::vector<int> widest_cache(const machine::Machine& machine, const machine::Core& core) {
    const machine::Cache* widest = nullptr;
    for (const machine::Cache& cache : machine.caches) {
        const bool holds = std::find(cache.cores.begin(), cache.cores.end(), core.index) != cache.cores.end();
        if (holds && cache.type != "instruction" && (widest == nullptr || cache.level > widest->level))
            widest = &cache;
    }
    if (widest == nullptr) return core.pus;
    std::vector<int> pus;
    for (const int index : widest->cores) {
        const auto& more = machine.cores[static_cast<size_t>(index)].pus;
        pus.insert(pus.end(), more.begin(), more.end());
    }
    return pus;
}

std::vector<int> widened(const machine::Machine& machine, const machine::Core& core, int pu, Bind bind) {
    switch (bind) {
        case Bind::cache:
            return allowed_of(machine, widest_cache(machine, core));
        case Bind::numa:
            return allowed_of(machine, machine.domains[static_cast<size_t>(core.domain)].pus);
        case Bind::package:
            return allowed_of(machine, machine.packages[static_cast<size_t>(core.package)].pus);
        default:
            return {pu};
    }
}

/// The kind of cores that a word asks for; -1 for all.
int kind_of(const machine::Machine& machine, const std::string& word, std::vector<std::string>& why) {
    if (word.empty()) return -1;
    const auto& kinds = machine.core_kinds;
    const bool by_speed = word == "performance" || word == "efficiency";
    if (kinds.size() < 2 && (by_speed || word == "0")) {
        why.push_back("cores: all are of one kind");
        return -1;
    }
    const machine::CoreKind* chosen = nullptr;
    for (const machine::CoreKind& kind : kinds)
        if (std::to_string(kind.index) == word) chosen = &kind;
    const bool ordered = kinds_are_ordered(machine);  // the slowest first
    if (ordered && by_speed) chosen = word == "performance" ? &kinds.back() : &kinds.front();
    if (chosen == nullptr) {
        std::string known = ordered || kinds.size() < 2 ? "performance, efficiency" : "";
        for (size_t i = 0; i < std::max<size_t>(1, kinds.size()); ++i)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", i);
        throw Error(by_speed ? "it is not known here which cores are faster" : "unknown kind of cores")
            .given(fmt::format("--core-kind {}", word))
            .allowed(known)
            .remedy("strata machine lists the kinds of cores");
    }
    why.push_back(fmt::format("cores: {} of kind {} ({})", chosen->cores.size(), chosen->index, word));
    return chosen->index;
}

std::vector<Slot> listed_slots(const machine::Machine& machine, const Numbers& list) {
    std::vector<int> every;
    for (const machine::Core& core : machine.cores)
        every.insert(every.end(), core.pus.begin(), core.pus.end());
    std::vector<Slot> found;
    for (const int pu : list.list) {
        const std::string given = fmt::format("--bind {}, of which {}", list.text, pu);
        if (std::find(every.begin(), every.end(), pu) == every.end())
            throw Error("there is no such PU")
                .given(given)
                .allowed(fmt::format("{} of this machine", print_cpulist(every)))
                .remedy("strata machine shows the PUs");
        if (!std::binary_search(machine.allowed.pus.begin(), machine.allowed.pus.end(), pu))
            throw Error("this process may not use that PU")
                .given(given)
                .allowed(fmt::format("{} (its affinity and cpuset)", print_cpulist(machine.allowed.pus)))
                .remedy("ask the batch system for that PU, or leave out taskset around this command");
        found.push_back({pu, {pu}});
    }
    return found;
}

/// With --bind none every thread may use all slots there are.
Placement unbound(const std::vector<Slot>& all, const Layout& layout) {
    std::vector<int> everything;
    for (const Slot& slot : all) everything.push_back(slot.pu);
    std::sort(everything.begin(), everything.end());
    Placement placement{layout, {}, {}, {}};
    placement.threads.resize(static_cast<size_t>(layout.processes));
    for (auto& process : placement.threads) process.assign(static_cast<size_t>(layout.threads), everything);
    return placement;
}

/// Threads take every stride-th slot.
std::vector<Slot> thinned(const std::vector<Slot>& all, const Layout& layout) {
    std::vector<Slot> taken;
    const auto count = static_cast<size_t>(layout.processes) * static_cast<size_t>(layout.threads);
    for (size_t i = 0; i < all.size() && taken.size() < count; i += static_cast<size_t>(layout.stride))
        taken.push_back(all[i]);
    return taken;
}

Placement dealt(const std::vector<Slot>& taken, const Layout& layout) {
    Placement placement{layout, {}, {}, {}};
    size_t next = 0;
    for (int p = 0; p < layout.processes; ++p) {
        auto& process = placement.threads.emplace_back();
        for (int i = 0; i < layout.threads; ++i) process.push_back(taken[next++].pus);
    }
    return placement;
}

const char* order_text(Bind bind) {
    switch (bind) {
        case Bind::core:
            return "a core each, consecutively in hwloc's order, so that neighbours stay neighbours";
        case Bind::cache:
            return "consecutive cores, each thread free within the last cache that its core shares";
        case Bind::numa:
            return "consecutive cores, each thread free within its core's memory domain";
        case Bind::package:
            return "consecutive cores, each thread free within its core's package";
        case Bind::list:
            return "the PUs of the list, in its order";
        case Bind::none:
            break;
    }
    return "anywhere among the PUs that may be used: the system decides";
}

void add_memories(const machine::Machine& machine, const Wish& wish, Placement& placement) {
    if (wish.memory.policy != Policy::inherit) {
        const std::vector<int> all = placement.pus();
        for (int p = 0; p < static_cast<int>(placement.threads.size()); ++p)
            placement.memory.push_back(memories_for(machine, wish.memory, placement.pus(p), all));
        placement.why.push_back(fmt::format("memory: --memory {}", to_text(wish.memory)));
    }
    if (wish.huge == Huge::as_is) return;
    placement.memory.resize(placement.threads.size());
    for (Memories& memories : placement.memory) memories.huge = wish.huge;
}

}  // namespace

std::vector<Core> allowed_cores(const machine::Machine& machine) {
    std::vector<Core> cores;
    for (const machine::Core& core : machine.cores) {
        Core allowed = allowed_of(machine, core.pus);
        if (!allowed.empty()) cores.push_back(std::move(allowed));
    }
    return cores;
}

long cores_spanned(const Layout& layout) {
    return (static_cast<long>(layout.processes) * layout.threads - 1) * layout.stride + 1;
}

std::vector<Slot> slots(const machine::Machine& machine, const Wish& wish, std::vector<std::string>& why) {
    const Bind bind = wish.layout.bind;
    if (bind == Bind::list) return listed_slots(machine, wish.layout.list);
    const int kind = kind_of(machine, wish.core_kind, why);
    std::vector<Slot> found;
    for (const machine::Core& core : machine.cores) {
        if (kind >= 0 && core.kind != kind) continue;
        const std::vector<int> pus = allowed_of(machine, core.pus);
        // Unbound threads may use every PU; bound ones count SMT siblings only when asked to.
        const size_t most = bind == Bind::none ? pus.size() : static_cast<size_t>(wish.smt);
        for (size_t i = 0; i < std::min(most, pus.size()); ++i)
            found.push_back({pus[i], widened(machine, core, pus[i], bind)});
    }
    return found;
}

Placement place(const machine::Machine& machine, const Wish& asked) {
    if (!asked.file.empty()) {
        Placement placement = place_from_file(machine, asked);
        add_memories(machine, asked, placement);
        return placement;
    }
    const Wish wish = with_likwid_list(machine, asked);
    const Layout& layout = wish.layout;
    std::vector<std::string> why;
    const std::vector<Slot> all = slots(machine, wish, why);
    Placement placement;
    if (layout.bind == Bind::none) {
        placement = unbound(all, layout);
    } else {
        const auto count = static_cast<long>(all.size());
        const bool by_pu = layout.bind == Bind::list || wish.smt > 1;
        std::string of_what;
        if (layout.bind == Bind::list) of_what = fmt::format(" of --bind {}", layout.list.text);
        if (!by_pu) of_what = siblings_text(allowed_cores(machine));
        if (cores_spanned(layout) > count) refuse(layout, count, by_pu ? kPu : kCore, of_what);
        std::vector<Slot> taken =
            thinned(wish.near.empty() ? all : nearest_first(machine, wish, all, why), layout);
        placement = dealt(taken, layout);
    }
    why.push_back(fmt::format("threads: {}", order_text(layout.bind)));
    if (layout.stride > 1) why.push_back(fmt::format("stride: one of every {}", layout.stride));
    placement.why = std::move(why);
    add_memories(machine, wish, placement);
    return placement;
}

Placement place(const std::vector<Core>& cores, const Layout& layout) {
    std::vector<Slot> all;
    for (const Core& core : cores)
        for (size_t i = 0; i < (layout.bind == Bind::none ? core.size() : 1); ++i)
            all.push_back({core[i], {core[i]}});
    if (layout.bind == Bind::none) return unbound(all, layout);
    if (cores_spanned(layout) > static_cast<long>(all.size()))
        refuse(layout, static_cast<long>(all.size()), kCore, siblings_text(cores));
    return dealt(thinned(all, layout), layout);
}

}  // namespace strata::launch
