#include "core/graph/declare/access.hpp"

#include <fmt/format.h>

#include <string>

#include "core/base/error.hpp"
#include "core/graph/declare/graph.hpp"

namespace strata::graph {

namespace {

/// "task 'diffuse', patch 3 of 'grid', step 12".
std::string place(const Here& here) {
    std::string text = here.task != nullptr ? fmt::format("task '{}'", here.task->name) : "a task";
    if (here.patch >= 0)
        text += here.family != nullptr ? fmt::format(", patch {} of '{}'", here.patch, here.family->name())
                                       : fmt::format(", process {}", here.patch);
    return text + fmt::format(", step {}", here.step);
}

std::string caller() { return here_now != nullptr ? place(*here_now) : "outside of any task"; }

/// The label whose values this call finds at the address: "'temperature'", or what can be said without.
std::string label_at(const void* address) {
    const Here* here = here_now;
    if (here == nullptr || here->task == nullptr || here->task->graph == nullptr) return "a label";
    for (std::size_t i = 0; i < here->places.size() && i < here->task->uses.size(); ++i)
        if (here->places[i].origin == address) {
            const auto label = static_cast<std::size_t>(here->task->uses[i].version.label);
            return fmt::format("'{}'", here->task->graph->labels()[label].name);
        }
    return "a label";
}

std::string triple(const Int3& at) { return fmt::format("({}, {}, {})", at[0], at[1], at[2]); }

}  // namespace

void refuse_access(const void* address, int i, int j, int k, const Box& allowed) {
    throw Error(fmt::format("{}: touches {} at {}, outside what it declared", caller(), label_at(address),
                            triple({i, j, k})),
                kFailure)
        .given(triple({i, j, k}))
        .allowed(fmt::format("from {} up to, but without, {}", triple(allowed.lo), triple(allowed.hi)))
        .remedy("declare wider ghosts for this need, or stay inside the view's box()");
}

void refuse_access(const void* address, std::int64_t i, std::int64_t count) {
    throw Error(
        fmt::format("{}: touches value {} of {}, which has {} there", caller(), i, label_at(address), count),
        kFailure)
        .given(std::to_string(i))
        .allowed(count > 0 ? fmt::format("0 to {}", count - 1) : "none: the list is empty");
}

std::span<const Here> Here::own(const Family& of) const {
    for (const Own& each : owns)
        if (each.family == &of) return each.patches;
    return {};
}

void Here::create(int particle_set, std::int64_t count) const {
    if (creates == nullptr) fail("creates particles, which nobody keeps");
    creates(call, particle_set, count);
}

void Here::fail(std::string_view message) const {
    throw Error(fmt::format("{}: {}", place(*this), message), kFailure);
}

}  // namespace strata::graph
