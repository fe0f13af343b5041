// Whether two processes that were doubled from one are in the same state again.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "tracee.hpp"

namespace inject {

constexpr unsigned kRegisters = 16;

// Addresses of words, and registers, in which two processes that stand before the same write differ.
struct Difference {
    std::vector<std::uintptr_t> words;
    unsigned registers = 0;  // a bit for each; of the second side of a pair, kRegisters further up
    bool mappings = false;
    bool only(std::uintptr_t address) const {
        return words.size() == 1 && words[0] == (address & ~std::uintptr_t{7}) && registers == 0 && !mappings;
    }
    bool none() const { return words.empty() && registers == 0 && !mappings; }
};

// What differs between two runs without a fault: lines of 64 bytes, and registers, that hold times.
struct Noise {
    std::set<std::uintptr_t> lines;
    unsigned registers = 0;
};

// Left out by the convention of calls (System V ABI for x86-64, section 3.2): at a call to write(2) vector
// registers, rax, rcx, r8 to r11 hold nothing that is read again, nor does memory below the stack pointer and
// its red zone.
Difference difference(const Tracee& one, const Tracee& other, const Noise& noise);

constexpr std::uintptr_t line_of(std::uintptr_t address) { return address & ~std::uintptr_t{63}; }

}  // namespace inject
