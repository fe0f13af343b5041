#include "benchmarks/integrity/pingpong.hpp"

#include <fmt/format.h>

#include "benchmarks/integrity/ground.hpp"

namespace strata::integrity {
namespace {

constexpr std::uint64_t kSteps = 20'000, kParts = 50;
using Words = std::array<std::uint64_t, kWords>;

/// What a side does to the line that it got: each word depends on its neighbour.
void work_on(Words& words, std::uint64_t step) {
    for (std::size_t i = 0; i < kWords; ++i)
        words[i] = (words[i] ^ words[(i + 1) % kWords] >> 31U) * 0x9ddfea08eb382d69ULL + step;
}

Words first_words(std::uint64_t seed) {
    Random random(seed);
    Words words{};
    for (std::uint64_t& word : words) word = random.next();
    return words;
}

/// Lines are taken in an order that no prefetcher guesses.
std::size_t line_of(std::uint64_t seed, std::uint64_t step) { return mixed(seed + step) % kLines; }

void add(Trace& trace, const Words& words, std::uint64_t step, std::uint64_t& sum) {
    for (const std::uint64_t word : words) sum = mixed(sum ^ word);
    if (step % (kSteps / kParts) == 0) trace.add(sum);
}

}  // namespace

bool pingpong(const Round& round, Trace& trace) {
    Ground& ground = *round.ground;
    Words words = first_words(round.seed);
    std::uint64_t sum = 0;
    // Steps are done in turn: an odd one by the first side, an even one by the second.
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
        const bool mine = (step % 2 == 1) == (round.side == 0);
        auto& line = ground.lines[line_of(round.seed, step)];
        if (mine) {
            work_on(words, step);
            for (std::size_t i = 0; i < kWords; ++i) line.word[i].store(words[i], std::memory_order_relaxed);
            done(round, step);
        } else {
            if (!await(round, step)) return false;
            for (std::size_t i = 0; i < kWords; ++i) words[i] = line.word[i].load(std::memory_order_relaxed);
        }
        add(trace, words, step, sum);
    }
    trace.did(kSteps);
    return true;
}

bool pingpong_reference(const Round& round, Trace& trace) {
    Words words = first_words(round.seed);
    std::uint64_t sum = 0;
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
        work_on(words, step);
        add(trace, words, step, sum);
    }
    trace.did(kSteps);
    return true;
}

std::string pingpong_place(int step) {
    return fmt::format("steps {} to {}", static_cast<std::uint64_t>(step) * (kSteps / kParts) + 1,
                       static_cast<std::uint64_t>(step + 1) * (kSteps / kParts));
}

}  // namespace strata::integrity
