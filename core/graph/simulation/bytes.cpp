#include "core/graph/simulation/bytes.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

#if defined(__GLIBC_PREREQ) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GLIBC_PREREQ(2, 33)
#define STRATA_HEAP_IS_TOLD
#endif
#endif

#ifdef STRATA_HEAP_IS_TOLD
namespace {

/// Small pieces that a thread gave back it keeps for its next requests, 7 of a size, and they count as given
/// out. So: as many as it ever keeps, before each reading.
void fill_thread_cache() {
    constexpr std::size_t kept = 7, unit = 2 * sizeof(std::size_t), largest = 64 * unit;
    void* volatile pieces[kept];  // else a compiler sees that nobody uses them
    for (std::size_t bytes = unit + sizeof(std::size_t); bytes <= largest + sizeof(std::size_t);
         bytes += unit) {
        for (void* volatile& piece : pieces) piece = std::malloc(bytes);
        for (void* volatile& piece : pieces) std::free(piece);
    }
}

}  // namespace
#endif

std::optional<std::uint64_t> heap_bytes() {
#ifdef STRATA_HEAP_IS_TOLD
    fill_thread_cache();
    const struct mallinfo2 now = mallinfo2();
    return std::uint64_t{now.uordblks} + now.hblkhd;
#else
    return std::nullopt;
#endif
}

namespace {

/// Values of a label on a patch that a process has, in bytes; of particles 0: they have a pool of their own.
std::uint64_t own_bytes(const LabelInfo& label, int patch) {
    const auto each = label.bytes * static_cast<std::size_t>(label.components);
    if (label.kind == Kind::field) return static_cast<std::uint64_t>(owned(label, patch).volume()) * each;
    if (label.kind == Kind::list) return static_cast<std::uint64_t>(label.entries(patch)) * each;
    return label.kind == Kind::scalar ? each : 0;
}

}  // namespace

RunBytes bytes_of(const Plan& plan) {
    RunBytes all;
    const Graph& graph = plan.graph();
    const Memory& memory = plan.memory();
    for (const Storage& storage : plan.resolved().storages) {
        const LabelInfo& label = label_of(graph, storage);
        if (storage.contributions || label.kind == Kind::object) continue;
        const auto depth = static_cast<std::uint64_t>(storage.depth);
        if (label.kind == Kind::scalar) {
            all.values += depth * own_bytes(label, 0);
            continue;
        }
        for (const int patch : memory.patches()[number_of(graph, *label.family)])
            all.values += depth * own_bytes(label, patch);
    }
    all.copies = memory.bytes() - std::min<std::uint64_t>(memory.bytes(), all.values) + plan.images().size();
    all.values += memory.populations().pool().bytes() + memory.objects().bytes();
    all.runtime = plan.shared_bytes();
    return all;
}

}  // namespace strata::graph
