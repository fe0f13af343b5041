#include "difference.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "places.hpp"

namespace inject {

namespace {

constexpr std::size_t kPage = 4096, kRedZone = 128;

std::vector<std::uint64_t> page_map(pid_t pid, const Mapping& mapping) {
    const int file = open(("/proc/" + std::to_string(pid) + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<std::uint64_t> entries((mapping.end - mapping.begin) / kPage);
    const ssize_t got =
        pread(file, entries.data(), 8 * entries.size(), static_cast<off_t>(mapping.begin / kPage * 8));
    close(file);
    if (got != static_cast<ssize_t>(8 * entries.size()))
        fail("cannot read the page map of process " + std::to_string(pid));
    return entries;
}

// The kernel may show neighbours as one or as two.
std::vector<Mapping> joined(std::vector<Mapping> each) {
    std::vector<Mapping> found;
    for (Mapping& one : each) {
        if (!found.empty() && found.back().end == one.begin && one.name != "[stack]")
            found.back().end = one.end;
        else
            found.push_back(std::move(one));
    }
    return found;
}

// A stack may have grown in one alone: what it grew by holds nothing.
bool alike(const Mapping& a, const Mapping& b) {
    return a.end == b.end && (a.begin == b.begin || a.name == "[stack]");
}

void compare_page(const Tracee& one, const Tracee& other, std::uintptr_t page, std::uintptr_t stack,
                  const Noise& noise, std::vector<std::uintptr_t>& found) {
    std::uint64_t a[kPage / 8], b[kPage / 8];
    read_memory(one.pid(), page, a, kPage);
    read_memory(other.pid(), page, b, kPage);
    if (std::memcmp(a, b, kPage) == 0) return;
    for (std::size_t i = 0; i < kPage / 8; ++i)
        if (const std::uintptr_t word = page + 8 * i;
            a[i] != b[i] && word >= stack && !noise.lines.contains(line_of(word)))
            found.push_back(word);
}

}  // namespace

Difference difference(const Tracee& one, const Tracee& other, const Noise& noise) {
    Difference found;
    unsigned number = 0;
    const user_regs_struct a = one.registers().general, b = other.registers().general;
    for (const auto& [x, y] : {std::pair{a.rbx, b.rbx},
                               {a.rbp, b.rbp},
                               {a.rsp, b.rsp},
                               {a.r12, b.r12},
                               {a.r13, b.r13},
                               {a.r14, b.r14},
                               {a.r15, b.r15},
                               {a.rdi, b.rdi},
                               {a.rsi, b.rsi},
                               {a.rip, b.rip}})
        found.registers |= static_cast<unsigned>(x != y) << number++;
    found.registers &= ~noise.registers;
    const std::vector<Mapping> mine = joined(state_memory(one.pid())),
                               others = joined(state_memory(other.pid()));
    if (!std::equal(mine.begin(), mine.end(), others.begin(), others.end(), alike)) {
        found.mappings = true;
        return found;
    }
    for (const Mapping& each : mine) {
        const bool stack = each.begin <= a.rsp && a.rsp < each.end && a.rsp == b.rsp;
        const std::uintptr_t from = stack ? a.rsp - kRedZone : each.begin;
        const std::vector<std::uint64_t> here = page_map(one.pid(), each),
                                         there = page_map(other.pid(), each);
        for (std::size_t i = 0; i < here.size(); ++i) {
            constexpr std::uint64_t kNumber =
                (std::uint64_t{1} << 55) - 1;  // of the page, which only root sees
            const bool same = here[i] >> 63 && there[i] >> 63 && (here[i] & kNumber) &&
                              (here[i] & kNumber) == (there[i] & kNumber);
            const std::uintptr_t page = each.begin + i * kPage;
            if ((here[i] >> 62 || there[i] >> 62) && !same && page + kPage > from)
                compare_page(one, other, page, from, noise, found.words);
        }
    }
    return found;
}

}  // namespace inject
