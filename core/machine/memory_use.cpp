#include "core/machine/memory_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

constexpr std::uint64_t kKiB = 1024;

std::optional<std::uint64_t> meminfo_bytes(const std::string& text, const char* key) {
    const auto kib = number_after(text, key);
    return kib ? std::optional(*kib * kKiB) : std::nullopt;
}

/// The pools "hugepages-2048kB" in a folder.
std::vector<HugePagePool> pools(const std::string& folder) {
    constexpr std::string_view prefix = "hugepages-";
    std::vector<HugePagePool> found;
    for (const std::string& name : list_folder(folder)) {
        std::string_view size = name;
        const auto kib = take(size, prefix) ? take_number<std::uint64_t>(size) : std::nullopt;
        if (!kib) continue;
        const auto count = [&](const char* file) {
            const auto value = read_number(fmt::format("{}/{}/{}", folder, name, file));
            return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value.value_or(0)));
        };
        found.push_back({*kib * kKiB, count("nr_hugepages"), count("free_hugepages")});
    }
    std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.size_bytes < b.size_bytes; });
    return found;
}

}  // namespace

void read_memory_use(Machine& machine, const std::string& root) {
    for (Memory& memory : machine.memories) {
        const std::string node = fmt::format("{}/sys/devices/system/node/node{}", root, memory.os_index);
        if (const auto info = read_file(node + "/meminfo")) {
            memory.free_bytes = meminfo_bytes(*info, "MemFree:");
            memory.page_cache_bytes = meminfo_bytes(*info, "FilePages:");
        }
        memory.huge_pages = pools(node + "/hugepages");
    }
    if (machine.memories.size() != 1) return;
    // Then the system's figures are this memory's. A kernel without NUMA has no others, and a node's own were
    // seen to leave out memory that was plugged into a guest later.
    const std::string info = read_file(root + "/proc/meminfo").value_or("");
    Memory& only = machine.memories.front();
    const auto take = [&](auto& into, const char* key) {
        if (const auto bytes = meminfo_bytes(info, key)) into = *bytes;
    };
    take(only.total_bytes, "MemTotal:");
    take(only.free_bytes, "MemFree:");
    take(only.page_cache_bytes, "Cached:");
    if (only.huge_pages.empty()) only.huge_pages = pools(root + "/sys/kernel/mm/hugepages");
}

HugePages read_huge_pages(const std::string& root) {
    HugePages pages;
    const std::string folder = root + "/sys/kernel/mm/transparent_hugepage/";
    pages.transparent = read_choice(folder + "enabled");
    pages.shmem = read_choice(folder + "shmem_enabled");
    const std::string info = read_file(root + "/proc/meminfo").value_or("");
    pages.default_size_bytes = meminfo_bytes(info, "Hugepagesize:").value_or(0);
    // Since Linux 6.10 each size has its own word. "force" and "deny" for all of them come first.
    const auto own =
        read_choice(folder + fmt::format("hugepages-{}kB/shmem_enabled", pages.default_size_bytes >> 10));
    if (own && *own != "inherit" && pages.shmem != "force" && pages.shmem != "deny") pages.shmem = own;
    return pages;
}

}  // namespace strata::machine
