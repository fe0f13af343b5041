// Where a bit can flip: every general register, every vector register in use, every writable page that holds
// something.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tracee.hpp"

namespace inject {

enum class Kind { kInteger, kVector, kMemory };

struct Place {
    Kind kind = Kind::kInteger;
    std::string name;            // of the register, or of the mapping
    std::size_t offset = 0;      // of the byte: in user_regs_struct, or in the area of XSAVE
    std::uintptr_t address = 0;  // of the byte in memory
    unsigned bit = 0;            // 0 to 7
};

const char* name(Kind kind);

// A stretch of the area of XSAVE that holds (a part of) registers of one size.
struct Stretch {
    std::string name;  // "xmm", "ymm high", ...
    std::size_t offset = 0, bytes = 0, each = 0;
    unsigned component = 0;
    int first = 0;  // number of its first register
};

// Those that this processor has and the process uses (a component in its first state has no register in use).
std::vector<Stretch> vector_registers(const std::vector<std::byte>& area);

// One bit, blindly: each bit of the kind has the same chance.
Place draw(Kind kind, const Tracee& process, const Registers& registers, std::mt19937_64& random);

void flip(Tracee& process, const Place& place);

// Writable memory, in which state lies.
std::vector<Mapping> state_memory(pid_t pid);

}  // namespace inject
