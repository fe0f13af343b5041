// The memory that arrays have been promised and have not touched yet, against the memory that is left.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/units.hpp"
#include "core/team/arena_table.hpp"
#include "core/team/supply.hpp"

namespace strata::team {
namespace {

constexpr std::size_t kAtOnce = 1 << 18;  // pages asked about with one call

/// Bytes of [begin, end) that have pages, touched by any process: for shared memory mincore(2) tells the
/// pages of the file, not those that this process has mapped.
std::uint64_t resident_bytes(char* begin, const char* end) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> there;
    std::uint64_t pages = 0;
    for (char* at = begin; at < end; at += kAtOnce * page) {
        const std::size_t bytes = std::min(kAtOnce * page, static_cast<std::size_t>(end - at));
        there.assign((bytes + page - 1) / page, 0);
        if (mincore(at, bytes, there.data()) != 0) return pages * page;
        pages += static_cast<std::uint64_t>(
            std::count_if(there.begin(), there.end(), [](unsigned char each) { return (each & 1) != 0; }));
    }
    return pages * page;
}

}  // namespace

Placing Arena::placing_of(const Entry& entry) const {
    const std::int16_t* first = header_->owners + entry.first_owner;
    return {entry.where, std::vector<int>(first, first + entry.owners)};
}

/// Bytes that arrays bound to this memory have been promised there and have not touched.
std::uint64_t Arena::promised_in(int memory) const {
    std::uint64_t bytes = 0;
    for (const Entry& entry : header_->entries()) {
        if (entry.used.load(std::memory_order_acquire) == 0 || entry.owners == 0) continue;
        char* const base = reinterpret_cast<char*>(header_) + entry.offset;
        for (const Part& part : parts_of(placing_of(entry), entry.reserved, entry.grain))
            if (part.memories.front() == memory)
                bytes += part.end - part.begin - resident_bytes(base + part.begin, base + part.end);
    }
    return bytes;
}

void Arena::refuse_what_cannot_be(std::string_view name, std::uint64_t bytes, std::size_t grain,
                                  const Placing& placing) const {
    const auto check = [&](std::uint64_t more, std::uint64_t promises, const Supply& supply) {
        if (more + promises <= supply.bytes) return;
        const std::string with =
            fmt::format(", {} with what other arrays have been promised and not yet touched",
                        print_size(more + promises));
        throw Error("memory does not suffice for an array", kFailure)
            .at(fmt::format("array {}", name))
            .given(fmt::format("{} more{}", print_size(more), promises > 0 ? with : ""))
            .allowed(fmt::format("{} {}", print_size(supply.bytes), supply.from))
            .remedy("fewer cells, particles or values, more nodes, or a larger limit");
    };
    const std::uint64_t promises = promised();
    check(bytes, promises - std::min(promises, resident()), memory_supply());
    if (placing.where != Placing::Where::bound && placing.where != Placing::Where::blocked) return;
    std::map<int, std::uint64_t> wanted;
    for (const Part& part : parts_of(placing, bytes, grain))
        wanted[part.memories.front()] += part.end - part.begin;
    for (const auto& [memory, more] : wanted)
        if (const auto left = supply_of_memory(memory))
            check(more, promised_in(memory), {*left, fmt::format("left in memory P#{}", memory)});
}

}  // namespace strata::team
