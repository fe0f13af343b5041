// Where the pages of a process lie, by what they hold and by memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::machine {

enum class Kind { program_text, library_text, file, heap, stack, anonymous, shared };
inline constexpr Kind kKinds[] = {Kind::program_text, Kind::library_text, Kind::file,  Kind::heap,
                                  Kind::stack,        Kind::anonymous,    Kind::shared};
/// "program text", "heap", ...
const char* to_text(Kind kind);

/// Bytes by the system's number of the memory.
using ByMemory = std::map<int, std::uint64_t>;
std::uint64_t total(const ByMemory& bytes);

/// One mapping of an address space.
struct Region {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  // 0 when only numa_maps was read, which does not say
    Kind kind = Kind::anonymous;
    std::string file;    // what is mapped; empty for memory without a name
    std::string policy;  // the kernel's word: default, bind:0-1, interleave:0-3, prefer:1, local
    std::uint64_t page_bytes = 4096;
    ByMemory bytes;  // pages that are present
};

/// Reads the text of /proc/PID/numa_maps (numa(7)); `maps` (proc(5)) says which files are mapped executable
/// and where mappings end, and may be empty; `program` is the file that runs.
std::vector<Region> read_numa_maps(std::string_view numa_maps, std::string_view maps,
                                   const std::string& program);

/// The regions of /proc/PID/maps alone: no policies, no pages.
std::vector<Region> read_maps(std::string_view maps, const std::string& program);

/// Asks the kernel for the memory of each page (move_pages(2) without moving), of at most `most_pages` pages
/// spread evenly over the address space, and fills in `bytes`, scaled up where pages were left out. Returns
/// the share that was asked, or nothing with errno when the kernel refuses.
std::optional<double> ask_pages(int pid, std::vector<Region>& regions, std::uint64_t most_pages);

/// Bytes of all regions.
ByMemory sum(const std::vector<Region>& regions);

}  // namespace strata::machine
