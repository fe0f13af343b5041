// Where the memory policy of a process promised its pages, and whether they lie there. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"
#include "core/machine/numa_maps.hpp"

namespace strata::launch {

struct PagePromise {
    std::vector<int> memories;  // by the system's numbers
    bool evenly = false;        // page by page over all of them
    int threads = 1;            // of the process
    std::string words;          // "only in memory P#1"
};

/// The promise for the pages of a process of the placement; nothing where no policy was asked.
std::optional<PagePromise> promised_pages(const Placement& placement, int index);

/// Bytes of the mappings that a process has for itself: heap, stacks, anonymous memory, static arrays. Files
/// lie where whoever read them first was, shared memory where whichever process touched it first, or as its
/// own policy says: a process' policy decides neither.
machine::ByMemory own_bytes(const std::vector<machine::Region>& regions);

/// The contradiction of the promise, in words; nothing when the pages keep it. `grain` is the largest piece
/// in which the kernel gives memory out (a huge page), since pieces are dealt and not bytes.
std::optional<std::string> find_page_disagreement(int rank, const machine::ByMemory& bytes,
                                                  const PagePromise& promise, std::uint64_t grain);

}  // namespace strata::launch
