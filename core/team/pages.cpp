#include "core/team/pages.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::team {
namespace {

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
    // A kernel without memory policies, or a container that forbids them: no loss where there is one memory.
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
    // Not bytes * (i + 1) / owners: that overflows for terabytes among many.
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
    // Local also where the process itself runs under another policy: what was asked of this array counts.
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

std::string why_no_huge_pages(const std::string& root) {
    const std::string folder = root + "/sys/kernel/mm/transparent_hugepage";
    const auto chosen = machine::read_choice(folder + "/shmem_enabled");
    if (!chosen) return "the kernel has no huge pages for shared memory";
    if (*chosen == "never" || *chosen == "deny")
        return fmt::format("shared memory gets no huge pages: {}/shmem_enabled is \"{}\"", folder, *chosen);
    const std::string sized = folder + "/hugepages-2048kB/shmem_enabled";
    if (const auto each = machine::read_choice(sized); each && *each == "never")
        return fmt::format("shared memory gets no huge pages: {} is \"never\"", sized);
    return "";
}

}  // namespace strata::team
