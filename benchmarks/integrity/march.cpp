#include "benchmarks/integrity/march.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace strata::integrity {
namespace {

/// What a round tests: large beside most caches, and some tenths of a second. And what is tested between two
/// looks at whether somebody else wants the memory's bandwidth.
constexpr std::size_t kMostWords = (64U << 20U) / 8, kPieceWords = 8192, kLineWords = 8;

struct Words {
    std::uint64_t* word;
    [[nodiscard]] std::uint64_t read(std::size_t i) const {
        return __atomic_load_n(word + i, __ATOMIC_RELAXED);
    }
    void write(std::size_t i, std::uint64_t value) const {
        __atomic_store_n(word + i, value, __ATOMIC_RELAXED);
    }
};

/// Out of all caches, so that the next element reads from memory.
void flush([[maybe_unused]] const std::uint64_t* from, [[maybe_unused]] std::size_t words) {
#if defined(__x86_64__)
    for (std::size_t i = 0; i < words; i += kLineWords) _mm_clflush(from + i);
#endif
}

/// The part of the block that a seed tests: all parts come in turn.
std::span<std::uint64_t> part_of(const Round& round) {
    const std::size_t words = round.block.size() / 8 / kPieceWords * kPieceWords,
                      part = std::min(words, kMostWords);
    const std::size_t places = (words - part) / kPieceWords + 1;
    const std::size_t from = Random(round.seed).next() % places * kPieceWords;
    return {reinterpret_cast<std::uint64_t*>(round.block.data()) + from, part};
}

void add(Trace& trace, std::uint64_t sum, std::size_t words) {
    trace.add(sum);
    trace.did(8 * words);
}

}  // namespace

Pattern march_pattern(std::uint64_t seed) {
    Random random(seed ^ 0x6d61726368ULL);
    constexpr std::array<std::uint64_t, 4> regular = {0, 0x5555555555555555ULL, 0x3333333333333333ULL,
                                                      0x0f0f0f0f0f0f0f0fULL};
    switch (random.below(3)) {
        case 0:
            return {regular[random.below(regular.size())], 0};
        case 1:
            return {0, 8};  // the word's own offset
        default:
            return {random.next(), random.next() | 1U};
    }
}

bool march_kernel(const Round& round, Trace& trace) {
    const auto part = part_of(round);
    const Pattern pattern = march_pattern(round.seed);
    Words memory{part.data()};
    const auto offset = reinterpret_cast<std::byte*>(part.data()) - round.block.data();
    for (int e = 0; e < kMarchElements; ++e) {
        const Element& element = kMarchCMinus[e];
        std::uint64_t sum = 0;
        std::size_t words = 0;
        for (std::size_t piece = 0; piece < part.size(); piece += kPieceWords) {
            if (round.abandoned()) return false;
            const std::size_t from = element.up ? piece : part.size() - piece - kPieceWords;
            sum += march(element, pattern, memory, from, from + kPieceWords,
                         [&](std::size_t i, std::uint64_t expected, std::uint64_t obtained) {
                             trace.expect(e, expected, obtained, offset + static_cast<std::int64_t>(8 * i));
                         });
            flush(part.data() + from, kPieceWords);
            words += kPieceWords;
        }
        add(trace, sum, words);
    }
    return true;
}

std::uint64_t march_sum(const Element& element, const Pattern& pattern, std::size_t from, std::size_t to) {
    // The sum of the numbers from `from` to `to` - 1: one of the two factors is even.
    const std::uint64_t count = to - from, ends = from + to - 1;
    const std::uint64_t numbers = count % 2 == 0 ? count / 2 * ends : count * (ends / 2);
    const std::uint64_t sum = count * pattern.background + pattern.factor * numbers;
    const bool complement = element.reads ? element.reads_not : element.writes_not;
    return complement ? -count - sum : sum;  // ~x = -1 - x
}

bool march_reference(const Round& round, Trace& trace) {
    const std::size_t words = part_of(round).size();
    for (const Element& element : kMarchCMinus)
        add(trace, march_sum(element, march_pattern(round.seed), 0, words), words);
    return true;
}

std::string march_place(int step) {
    constexpr std::array<const char*, kMarchElements> names = {"up(w)",      "up(r,w~)",   "up(r~,w)",
                                                               "down(r,w~)", "down(r~,w)", "up(r)"};
    return fmt::format("element {} {}", step + 1, names[static_cast<std::size_t>(step) % kMarchElements]);
}

}  // namespace strata::integrity
