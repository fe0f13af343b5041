// The placement of shared memory's pages in memories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::team {

/// The placement policy of one array. Memories have the system's numbers.
struct Placing {
    enum class Where {
        first_touch,  // in the memory nearest to the thread that first touches the page
        interleave,   // page by page over `memories`
        bound,        // all in memories.front()
        blocked       // in as many equal blocks as `memories` has entries, block i in memories[i]
    };
    Where where = Where::first_touch;
    std::vector<int> memories;

    static Placing first_touch() { return {}; }
    /// Page by page over these memories; none named: over all that this process may use.
    static Placing interleave(std::vector<int> memories = {}) {
        return {Where::interleave, std::move(memories)};
    }
    static Placing bound(int memory) { return {Where::bound, {memory}}; }
    /// Blocked by owner, for an array that is divided evenly among members: the memory of each member in
    /// turn.
    static Placing blocked(std::vector<int> memory_of_owner) {
        return {Where::blocked, std::move(memory_of_owner)};
    }
};

[[nodiscard]] std::string to_text(const Placing& placing);

/// A part of an array that goes to a set of memories.
struct Part {
    std::size_t begin = 0, end = 0;  // bytes from the array's beginning
    std::vector<int> memories;
};

/// The parts of an array of `bytes`. Borders between blocks are at the multiples of `page` nearest to the
/// element where the owner changes. With first touch there are no parts.
[[nodiscard]] std::vector<Part> parts_of(const Placing& placing, std::size_t bytes, std::size_t page);

/// Tells the kernel the placement (mbind(2); for shared memory it holds in all processes that map it). Throws
/// Error for memories that this process may not use, and where the kernel refuses though there are several
/// memories to choose from.
void place_pages(void* begin, std::size_t bytes, std::size_t page, const Placing& placing);

/// Fills in the memories of `interleave` where none are named. Throws Error for memories that this process
/// may not use.
[[nodiscard]] Placing settled(Placing placing, const std::string& array);

/// The memory nearest to a PU, of those that this process may use.
[[nodiscard]] int memory_near(int pu, const std::string& root = "");

/// The memory nearest to each member, by its first PU: the owners of Placing::blocked where each member owns
/// its block.
[[nodiscard]] std::vector<int> memories_of_members(const launch::Placement& placement);

/// Moves the content of [begin, begin + bytes) to huge pages, in units of 2 MiB that lie wholly inside.
/// Returns the bytes that are on huge pages then. Each unit goes to the memory of most of its pages, so call
/// it after they have been touched, each member for its own part. Not for interleaved pages. It needs no
/// setting: the kernel does it (MADV_COLLAPSE, Linux 6.1) also where shmem_enabled is "never", but not for
/// "deny". Others may use the memory meanwhile.
std::size_t collapse_pages(void* begin, std::size_t bytes);

/// The same for memory that has not been touched yet. Touches one page of each unit, which decides its
/// memory, and has the kernel make it a huge one: there is nothing to copy. In the calling thread alone it
/// takes 0.2 s for 1 GiB where the system has free huge pages, up to 3 s where it must first make room.
std::size_t begin_on_huge_pages(void* begin, std::size_t bytes);

/// The reason why shared memory gets no huge pages on this system, in one line; empty where it gets them on
/// request.
[[nodiscard]] std::string why_no_huge_pages(const std::string& root = "");

}  // namespace strata::team
