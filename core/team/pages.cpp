#include "core/team/pages.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::team {
namespace {

constexpr std::size_t kHugePage = 2 << 20;
#ifndef MADV_COLLAPSE
constexpr int MADV_COLLAPSE = 25;  // of Linux 6.1; the C library's header may be older
#endif

long bind_pages(char* begin, std::size_t bytes, int mode, const std::vector<int>& memories) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    const int highest = memories.empty() ? 0 : *std::max_element(memories.begin(), memories.end());
    std::vector<unsigned long> mask(static_cast<std::size_t>(highest) / bits + 1, 0UL);
    for (const int memory : memories)
        mask[static_cast<std::size_t>(memory) / bits] |= 1UL << (static_cast<std::size_t>(memory) % bits);
    // The kernel reads one bit less than it is told (get_nodes() in mm/mempolicy.c).
    return memories.empty()
               ? syscall(SYS_mbind, begin, bytes, mode, nullptr, 0UL, 0UL)
               : syscall(SYS_mbind, begin, bytes, mode, mask.data(), mask.size() * bits + 1, 0UL);
}

void bind_or_throw(char* begin, std::size_t bytes, int mode, const std::vector<int>& memories,
                   const Placing& placing) {
    if (bytes == 0 || bind_pages(begin, bytes, mode, memories) == 0) return;
    // A kernel without memory policies, or a container that forbids them: no error where there is one memory.
    const int why = errno;
    if (machine::own_memories().size() <= 1) return;
    throw system_error("the kernel does not place these pages", why)
        .given(to_text(placing))
        .remedy("first touch, or a container that permits mbind(2)");
}

}  // namespace

std::string to_text(const Placing& placing) {
    const std::string list = fmt::format("P#{}", print_cpulist(placing.memories));
    switch (placing.where) {
        case Placing::Where::interleave:
            return fmt::format("page by page over the memories {}",
                               placing.memories.empty() ? "allowed" : list);
        case Placing::Where::bound:
            return "in memory " + list;
        case Placing::Where::blocked:
            return fmt::format("in {} blocks by owner, over the memories {}", placing.memories.size(), list);
        case Placing::Where::first_touch:
            break;
    }
    return "where first touched";
}

std::vector<Part> parts_of(const Placing& placing, std::size_t bytes, std::size_t page) {
    const std::size_t whole = (bytes + page - 1) / page * page;
    if (placing.where == Placing::Where::first_touch || placing.memories.empty()) return {};
    if (placing.where != Placing::Where::blocked) return {{0, whole, placing.memories}};
    std::vector<Part> parts;
    const std::size_t owners = placing.memories.size();
    // Not bytes * (i + 1) / owners: that overflows for terabytes and many owners.
    const auto border = [&](std::size_t owner) {
        const std::size_t exact = bytes / owners * owner + bytes % owners * owner / owners;
        return owner == owners ? whole : (exact + page / 2) / page * page;
    };
    for (std::size_t owner = 0; owner < owners; ++owner)
        if (border(owner) < border(owner + 1))
            parts.push_back({border(owner), border(owner + 1), {placing.memories[owner]}});
    return parts;
}

void place_pages(void* begin, std::size_t bytes, std::size_t page, const Placing& placing) {
    char* const first = static_cast<char*>(begin);
    // Local also where the process has another policy: the array's own request counts.
    if (placing.where == Placing::Where::first_touch)
        return bind_or_throw(first, (bytes + page - 1) / page * page, MPOL_LOCAL, {}, placing);
    const int mode = placing.where == Placing::Where::interleave ? MPOL_INTERLEAVE : MPOL_BIND;
    for (const Part& part : parts_of(placing, bytes, page))
        bind_or_throw(first + part.begin, part.end - part.begin, mode, part.memories, placing);
}

Placing settled(Placing placing, const std::string& array) {
    if (placing.where == Placing::Where::first_touch) return placing;
    const std::vector<int> allowed = machine::own_memories();
    if (placing.memories.empty() && placing.where == Placing::Where::interleave) placing.memories = allowed;
    for (const int memory : placing.memories)
        if (std::find(allowed.begin(), allowed.end(), memory) == allowed.end())
            throw Error("this process may not use that memory")
                .at("array " + array)
                .given(fmt::format("{}, of which P#{}", to_text(placing), memory))
                .allowed(fmt::format("P#{} (Mems_allowed_list in /proc/self/status)", print_cpulist(allowed)))
                .remedy("strata machine lists the memories");
    if (placing.memories.empty())
        throw Error("a placement names no memory").at("array " + array).given(to_text(placing));
    return placing;
}

int memory_near(int pu, const std::string& root) {
    const std::vector<int> allowed = machine::own_memories(root);
    const auto is_allowed = [&](int memory) {
        return std::find(allowed.begin(), allowed.end(), memory) != allowed.end();
    };
    int home = -1;
    for (const std::string& name :
         machine::list_folder(fmt::format("{}/sys/devices/system/cpu/cpu{}", root, pu)))
        if (name.rfind("node", 0) == 0) home = std::atoi(name.c_str() + 4);
    if (home < 0 || is_allowed(home)) return std::max(home, 0);
    // A domain without memory, or one that a cpuset forbids. Distances are listed in the order of the nodes.
    std::istringstream distances(
        machine::read_file(fmt::format("{}/sys/devices/system/node/node{}/distance", root, home))
            .value_or(""));
    std::vector<int> online;
    for (const std::string& name : machine::list_folder(root + "/sys/devices/system/node"))
        if (name.rfind("node", 0) == 0) online.push_back(std::atoi(name.c_str() + 4));
    std::sort(online.begin(), online.end());
    int best = allowed.empty() ? 0 : allowed.front(), nearest = INT_MAX;
    for (const int memory : online) {
        int distance = 0;
        if (!(distances >> distance)) break;
        if (is_allowed(memory) && distance < nearest) best = memory, nearest = distance;
    }
    return best;
}

std::vector<int> memories_of_members(const launch::Placement& placement) {
    std::vector<int> memories;
    for (const auto& threads : placement.threads)
        memories.push_back(threads.empty() || threads.front().empty() ? 0
                                                                      : memory_near(threads.front().front()));
    return memories;
}

namespace {

/// The units of huge pages that lie wholly in [begin, begin + bytes).
struct Units {
    std::uintptr_t first, end;

    Units(void* begin, std::size_t bytes)
        : first((reinterpret_cast<std::uintptr_t>(begin) + kHugePage - 1) / kHugePage * kHugePage),
          end((reinterpret_cast<std::uintptr_t>(begin) + bytes) / kHugePage * kHugePage) {}
};

/// Returns whether to try further units: one without a free huge page does not end the loop.
bool collapse(std::uintptr_t unit, std::size_t& done) {
    if (madvise(reinterpret_cast<void*>(unit), kHugePage, MADV_COLLAPSE) == 0)
        done += kHugePage;
    else if (errno == EINVAL)
        return false;  // an older kernel, or "deny"
    return true;
}

}  // namespace

std::size_t collapse_pages(void* begin, std::size_t bytes) {
    const Units units(begin, bytes);
    std::size_t done = 0;
    for (std::uintptr_t at = units.first; at < units.end && collapse(at, done); at += kHugePage) {
    }
    return done;
}

std::size_t begin_on_huge_pages(void* begin, std::size_t bytes) {
    const Units units(begin, bytes);
    std::size_t done = 0;
    for (std::uintptr_t at = units.first; at < units.end; at += kHugePage) {
        *reinterpret_cast<volatile char*>(at) = 0;
        if (!collapse(at, done)) break;
    }
    return done;
}

std::string why_no_huge_pages(const std::string& root) {
    const std::string folder = root + "/sys/kernel/mm/transparent_hugepage";
    const auto all = machine::read_choice(folder + "/shmem_enabled");
    if (!all) return "the kernel has no huge pages for shared memory";
    // Since Linux 6.10 each size has its own setting; "force" and "deny" in the common one overrule it.
    const auto own = machine::read_choice(folder + "/hugepages-2048kB/shmem_enabled");
    const bool own_counts = own && *own != "inherit" && *all != "force" && *all != "deny";
    const std::string word = own_counts ? *own : *all;
    if (word == "never" || word == "deny")
        return fmt::format("shared memory gets no huge pages: {}/{}shmem_enabled is \"{}\"", folder,
                           own_counts ? "hugepages-2048kB/" : "", word);
    return "";
}

}  // namespace strata::team
