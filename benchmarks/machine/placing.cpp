#include "benchmarks/machine/placing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "core/base/error.hpp"

namespace strata::bench::machine_measures {
namespace {

void set_policy(void* first, std::size_t bytes, int policy, std::span<const int> memories) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    const auto most = static_cast<std::size_t>(*std::max_element(memories.begin(), memories.end()));
    std::vector<unsigned long> mask(most / bits + 1, 0UL);
    for (const int memory : memories) {
        const auto at = static_cast<std::size_t>(memory);
        mask[at / bits] |= 1UL << (at % bits);
    }
    // The kernel reads one bit less than it is told (get_nodes() in mm/mempolicy.c).
    if (syscall(SYS_mbind, first, bytes, policy, mask.data(), mask.size() * bits + 1, 0UL) != 0)
        throw system_error("memory cannot be bound to its place", errno)
            .given(fmt::format("memory {}", fmt::join(memories, ",")))
            .remedy("strata machine says whether pages can be placed here");
}

}  // namespace

void bind_pages(void* first, std::size_t bytes, int memory) {
    set_policy(first, bytes, MPOL_BIND, std::span(&memory, 1));
}

void interleave_pages(void* first, std::size_t bytes, std::span<const int> memories) {
    set_policy(first, bytes, MPOL_INTERLEAVE, memories);
}

std::optional<std::vector<int>> memories_of(std::span<void* const> pages) {
    constexpr std::size_t kAtOnce = 4096;  // bounds what the kernel copies in one call
    std::vector<int> where(pages.size(), -1);
    for (std::size_t at = 0; at < pages.size(); at += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, pages.size() - at);
        if (syscall(SYS_move_pages, 0, count, pages.data() + at, nullptr, where.data() + at, 0) != 0)
            return std::nullopt;
    }
    for (int& memory : where) memory = std::max(memory, -1);  // an error number: not there
    return where;
}

std::optional<NumaMapping> parse_numa_maps(const std::string& line) {
    // "7f3c00000000 default anon=512 dirty=512 N0=256 N1=256 kernelpagesize_kB=4" (proc_pid_numa_maps(5)).
    NumaMapping mapping;
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) return std::nullopt;
    char* end = nullptr;
    mapping.start = std::strtoull(word.c_str(), &end, 16);
    if (*end != '\0') return std::nullopt;
    std::uint64_t kib = 0;
    while (words >> word) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) continue;
        const std::string name = word.substr(0, equals);
        const std::uint64_t value = std::strtoull(word.c_str() + equals + 1, nullptr, 10);
        if (name == "kernelpagesize_kB") kib = value;
        if (name.size() > 1 && name[0] == 'N' && name.find_first_not_of("0123456789", 1) == std::string::npos)
            mapping.bytes[std::stoi(name.substr(1))] = value;
    }
    if (!mapping.bytes.empty() && kib == 0) return std::nullopt;
    for (auto& [memory, count] : mapping.bytes) count *= kib * 1024;
    return mapping;
}

std::optional<std::map<int, std::uint64_t>> bytes_by_numa_maps(const void* first, std::size_t bytes) {
    std::ifstream lines("/proc/self/numa_maps");
    if (!lines) return std::nullopt;
    const auto low = reinterpret_cast<std::uintptr_t>(first);
    std::map<int, std::uint64_t> sum;
    for (std::string line; std::getline(lines, line);) {
        const auto mapping = parse_numa_maps(line);
        if (!mapping || mapping->start < low || mapping->start >= low + bytes) continue;
        for (const auto& [memory, count] : mapping->bytes) sum[memory] += count;
    }
    return sum;
}

std::optional<std::string> inherited_policy() {
    int policy = MPOL_DEFAULT;
    if (syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL) != 0) return std::nullopt;
    switch (policy & 0xff) {  // the flags are above
        case MPOL_DEFAULT:
        case MPOL_LOCAL:
            return std::nullopt;
        case MPOL_PREFERRED:
            return "preferred";
        case MPOL_BIND:
            return "bind";
        case MPOL_INTERLEAVE:
            return "interleave";
        default:
            return fmt::format("policy {}", policy & 0xff);
    }
}

}  // namespace strata::bench::machine_measures
