#include "places.hpp"

#include <cpuid.h>

#include <array>
#include <cstring>

namespace inject {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kStateBits = 512;  // XSTATE_BV: the header of XSAVE follows the 512 bytes of FXSAVE

struct General {
    const char* name;
    std::size_t offset;
};

constexpr std::array kGeneral{
    General{"rax", offsetof(user_regs_struct, rax)}, General{"rbx", offsetof(user_regs_struct, rbx)},
    General{"rcx", offsetof(user_regs_struct, rcx)}, General{"rdx", offsetof(user_regs_struct, rdx)},
    General{"rsi", offsetof(user_regs_struct, rsi)}, General{"rdi", offsetof(user_regs_struct, rdi)},
    General{"rbp", offsetof(user_regs_struct, rbp)}, General{"rsp", offsetof(user_regs_struct, rsp)},
    General{"r8", offsetof(user_regs_struct, r8)},   General{"r9", offsetof(user_regs_struct, r9)},
    General{"r10", offsetof(user_regs_struct, r10)}, General{"r11", offsetof(user_regs_struct, r11)},
    General{"r12", offsetof(user_regs_struct, r12)}, General{"r13", offsetof(user_regs_struct, r13)},
    General{"r14", offsetof(user_regs_struct, r14)}, General{"r15", offsetof(user_regs_struct, r15)},
    General{"rip", offsetof(user_regs_struct, rip)}};

// What arithmetic leaves behind: carry, parity, adjust, zero, sign, overflow.
constexpr std::array kFlags{0U, 2U, 4U, 6U, 7U, 11U};

std::uint64_t below(std::uint64_t n, std::mt19937_64& random) {
    return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random);
}

Place integer(std::mt19937_64& random) {
    const std::uint64_t at = below(64 * kGeneral.size() + kFlags.size(), random);
    if (at >= 64 * kGeneral.size()) {
        const unsigned bit = kFlags[at - 64 * kGeneral.size()];
        return {Kind::kInteger, "flags", offsetof(user_regs_struct, eflags) + bit / 8, 0, bit % 8};
    }
    const General& one = kGeneral[at / 64];
    return {Kind::kInteger, one.name, one.offset + at % 64 / 8, 0, static_cast<unsigned>(at % 8)};
}

Place vector(const Registers& registers, std::mt19937_64& random) {
    const std::vector<Stretch> stretches = vector_registers(registers.vectors);
    std::uint64_t bytes = 0;
    for (const Stretch& each : stretches) bytes += each.bytes;
    if (bytes == 0)  // nothing in use: the first ones, which then come into use
        return {Kind::kVector, "xmm0", 160, 0, static_cast<unsigned>(below(8, random))};
    std::uint64_t at = below(bytes, random);
    for (const Stretch& each : stretches) {
        if (at < each.bytes)
            return {Kind::kVector, each.name + std::to_string(each.first + static_cast<int>(at / each.each)),
                    each.offset + at, 0, static_cast<unsigned>(below(8, random))};
        at -= each.bytes;
    }
    fail("no vector register");
}

Place memory(pid_t pid, std::mt19937_64& random) {
    std::vector<std::pair<std::uintptr_t, std::string>> pages;
    for (const Mapping& each : state_memory(pid))
        for (const std::uintptr_t page : resident_pages(pid, each)) pages.emplace_back(page, each.name);
    if (pages.empty()) fail("process " + std::to_string(pid) + " has no memory of its own");
    const auto& [page, name] = pages[below(pages.size(), random)];
    return {Kind::kMemory, name.empty() ? "anonymous" : name.substr(name.rfind('/') + 1), 0,
            page + below(kPage, random), static_cast<unsigned>(below(8, random))};
}

}  // namespace

const char* name(Kind kind) {
    return kind == Kind::kInteger ? "integer" : kind == Kind::kVector ? "vector" : "memory";
}

std::vector<Stretch> vector_registers(const std::vector<std::byte>& area) {
    std::uint64_t in_use = 0;
    std::memcpy(&in_use, area.data() + kStateBits, sizeof in_use);
    std::vector<Stretch> found;
    if (in_use >> 1 & 1) found.push_back({"xmm", 160, 256, 16, 1, 0});
    struct Component {
        unsigned number;
        const char* name;
        std::size_t each;
        int first;
    };
    // Components of XSAVE (Intel's manual, volume 1, section 13.1): the others hold no vector registers.
    for (const Component& one :
         {Component{2, "ymm high ", 16, 0}, Component{5, "k", 8, 0}, Component{6, "zmm high ", 32, 0},
          Component{7, "zmm", 64, 16}, Component{18, "tile", 1024, 0}}) {
        if (!(in_use >> one.number & 1)) continue;
        unsigned size = 0, offset = 0, c = 0, d = 0;
        __cpuid_count(0xd, one.number, size, offset, c, d);
        found.push_back({one.name, offset, size, one.each, one.number, one.first});
    }
    return found;
}

Place draw(Kind kind, const Tracee& process, const Registers& registers, std::mt19937_64& random) {
    if (kind == Kind::kInteger) return integer(random);
    return kind == Kind::kVector ? vector(registers, random) : memory(process.pid(), random);
}

void flip(Tracee& process, const Place& place) {
    const auto mask = static_cast<std::uint8_t>(1U << place.bit);
    if (place.kind == Kind::kMemory) {
        std::uint8_t byte = 0;
        read_memory(process.pid(), place.address, &byte, 1);
        byte ^= mask;
        write_memory(process.pid(), place.address, &byte, 1);
        return;
    }
    Registers registers = process.registers();
    std::byte* area = place.kind == Kind::kInteger ? reinterpret_cast<std::byte*>(&registers.general)
                                                   : registers.vectors.data();
    area[place.offset] ^= std::byte{mask};
    process.set(registers);
}

std::vector<Mapping> state_memory(pid_t pid) {
    std::vector<Mapping> found;
    for (const Mapping& each : mappings(pid))
        if (each.readable && each.writable) found.push_back(each);
    return found;
}

}  // namespace inject
