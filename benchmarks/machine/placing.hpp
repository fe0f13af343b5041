// Telling the kernel where pages are to lie, and asking it where they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::bench::machine_measures {

/// Binds the pages of [first, first + bytes) to one memory (its system's number), before they are touched.
/// Throws Error when the kernel refuses.
void bind_pages(void* first, std::size_t bytes, int memory);

/// Deals the pages of [first, first + bytes) over the memories, page by page, before they are touched. Throws
/// Error when the kernel refuses.
void interleave_pages(void* first, std::size_t bytes, std::span<const int> memories);

/// In which memory each of these pages lies, as move_pages(2) says; -1 for one that does not exist. None
/// where the kernel does not answer.
[[nodiscard]] std::optional<std::vector<int>> memories_of(std::span<void* const> pages);

/// Bytes by memory of the mappings that start in [first, first + bytes), from /proc/self/numa_maps: the
/// kernel's other account of the same pages. None where it is not offered.
[[nodiscard]] std::optional<std::map<int, std::uint64_t>> bytes_by_numa_maps(const void* first,
                                                                             std::size_t bytes);

/// One line of numa_maps: where its mapping starts and how many bytes lie in which memory. None for a line
/// that does not say.
struct NumaMapping {
    std::uintptr_t start = 0;
    std::map<int, std::uint64_t> bytes;
};
[[nodiscard]] std::optional<NumaMapping> parse_numa_maps(const std::string& line);

/// The memory policy that this thread inherited ("interleave", "bind", ...); none for the kernel's default,
/// which is first touch.
[[nodiscard]] std::optional<std::string> inherited_policy();

}  // namespace strata::bench::machine_measures
