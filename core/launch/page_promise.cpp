#include "core/launch/page_promise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/cpulist.hpp"
#include "core/base/units.hpp"

namespace strata::launch {
namespace {

/// Pages that may lie elsewhere: hwloc, inside MPI_Init, visits every PU and touches some pages there.
constexpr double kStrayShare = 0.05;
constexpr std::uint64_t kStrayBytes = 256 << 10;
/// The excess that a memory may have over its equal part, as a share of that.
constexpr double kUnevenShare = 0.25;

std::string memories_text(const std::vector<int>& memories) {
    return fmt::format("{} P#{}", memories.size() == 1 ? "memory" : "memories", print_cpulist(memories));
}

std::optional<std::string> find_uneven(int rank, const machine::ByMemory& bytes, const PagePromise& promise,
                                       std::uint64_t all, std::uint64_t grain) {
    if (promise.memories.size() < 2) return std::nullopt;
    const double part = static_cast<double>(all) / static_cast<double>(promise.memories.size());
    // A new thread begins the round where its parent stood (il_prev of the kernel's task), so all threads may
    // take their first piece from one memory.
    const double slack = static_cast<double>(grain) * (promise.threads + 2);
    for (const auto& [memory, count] : bytes) {
        if (static_cast<double>(count) <= (1 + kUnevenShare) * part + slack) continue;
        return fmt::format("memory P#{} has {:.0f} % of the pages of process {} ({} of {}), promised was {}",
                           memory, 100.0 * static_cast<double>(count) / static_cast<double>(all), rank,
                           print_size(count), print_size(all), promise.words);
    }
    return std::nullopt;
}

}  // namespace

std::optional<PagePromise> promised_pages(const Placement& placement, int index) {
    if (index < 0 || static_cast<size_t>(index) >= placement.memory.size()) return std::nullopt;
    const Memories& memories = placement.memory[static_cast<size_t>(index)];
    if (memories.policy == Policy::inherit) return std::nullopt;
    Memories plain = memories;
    plain.huge = Huge::as_is;
    PagePromise promise{memories.nodes, memories.policy == Policy::interleave, placement.layout.threads,
                        to_text(plain)};
    if (memories.policy == Policy::first_touch) {
        promise.memories = memories.near;
        promise.words =
            fmt::format("{}, nearest to the threads that touch them first", memories_text(memories.near));
    }
    if (promise.memories.empty()) return std::nullopt;
    return promise;
}

machine::ByMemory own_bytes(const std::vector<machine::Region>& regions) {
    machine::ByMemory bytes;
    for (const machine::Region& region : regions)
        if (region.kind == machine::Kind::heap || region.kind == machine::Kind::stack ||
            region.kind == machine::Kind::anonymous)
            for (const auto& [memory, count] : region.bytes) bytes[memory] += count;
    return bytes;
}

std::optional<std::string> find_page_disagreement(int rank, const machine::ByMemory& bytes,
                                                  const PagePromise& promise, std::uint64_t grain) {
    const std::uint64_t all = machine::total(bytes);
    std::vector<int> elsewhere;
    std::uint64_t stray = 0;
    for (const auto& [memory, count] : bytes) {
        if (count == 0 ||
            std::find(promise.memories.begin(), promise.memories.end(), memory) != promise.memories.end())
            continue;
        elsewhere.push_back(memory);
        stray += count;
    }
    const double allowed = std::max(static_cast<double>(kStrayBytes), kStrayShare * static_cast<double>(all));
    if (static_cast<double>(stray) > allowed)
        return fmt::format("{:.0f} % of the pages of process {} ({} of {}) lie in {}, promised was {}",
                           100.0 * static_cast<double>(stray) / static_cast<double>(all), rank,
                           print_size(stray), print_size(all), memories_text(elsewhere), promise.words);
    return promise.evenly ? find_uneven(rank, bytes, promise, all, grain) : std::nullopt;
}

}  // namespace strata::launch
