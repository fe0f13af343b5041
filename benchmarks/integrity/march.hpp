// March tests of memory (van de Goor 1991): every word is written and read in both directions, with a pattern
// and its complement. March C- finds all stuck bits, all bits that do not change, addresses that reach two
// words or none, and words that others disturb.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

/// What word i holds, or its complement: a background, to which each address adds its own part.
struct Pattern {
    std::uint64_t background, factor;
    [[nodiscard]] std::uint64_t of(std::size_t i) const { return background + factor * i; }
};
[[nodiscard]] Pattern march_pattern(std::uint64_t seed);

inline constexpr int kMarchElements = 6;

/// Up or down: each word is read, where `reads`, and must hold the pattern or its complement (`reads_not`);
/// and written with the pattern or its complement (`writes_not`), where `writes`.
struct Element {
    bool up, reads, reads_not, writes, writes_not;
};
/// March C-: up(w) up(r, w~) up(r~, w) down(r, w~) down(r~, w) up(r).
inline constexpr Element kMarchCMinus[kMarchElements] = {
    {true, false, false, true, false}, {true, true, false, true, true},  {true, true, true, true, false},
    {false, true, false, true, true},  {false, true, true, true, false}, {true, true, false, false, false}};

/// One element over the words [from, to) of a memory: Memory has read(i) and write(i, value), and
/// `wrong(i, expected, obtained)` is told what differs. Returns the sum of what was read, or of what was
/// written where nothing was read: also a pattern that changes on its way shows.
template <class Memory, class Wrong>
std::uint64_t march(const Element& element, const Pattern& pattern, Memory& memory, std::size_t from,
                    std::size_t to, const Wrong& wrong) {
    const std::uint64_t read_mask = element.reads_not ? ~std::uint64_t{0} : 0,
                        write_mask = element.writes_not ? ~std::uint64_t{0} : 0;
    std::uint64_t sum = 0;
    for (std::size_t n = from; n < to; ++n) {
        const std::size_t i = element.up ? n : to - 1 - (n - from);
        const std::uint64_t value = pattern.of(i);
        if (element.reads) {
            const std::uint64_t obtained = memory.read(i);
            sum += obtained;
            if (obtained != (value ^ read_mask)) wrong(i, value ^ read_mask, obtained);
        }
        if (element.writes) memory.write(i, value ^ write_mask);
        if (!element.reads) sum += value ^ write_mask;
    }
    return sum;
}

/// What march() returns over a sound memory, as a formula.
[[nodiscard]] std::uint64_t march_sum(const Element& element, const Pattern& pattern, std::size_t from,
                                      std::size_t to);

bool march_kernel(const Round& round, Trace& trace);
bool march_reference(const Round& round, Trace& trace);
std::string march_place(int step);

}  // namespace strata::integrity
