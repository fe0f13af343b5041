// What one round of a kernel computed, as digests of all its results. A digest changes with every bit of what
// it is made of: each step of it is a bijection, of the word and of the state before.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "benchmarks/integrity/random.hpp"

namespace strata::integrity {

/// The digest of a run of bytes; `before` is that of the bytes in front. Four chains, so that it is not
/// slower than the kernels.
[[nodiscard]] inline std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before = 0) {
    std::array<std::uint64_t, 4> chain = {before ^ 1, before ^ 2, before ^ 3, before ^ 4};
    constexpr std::uint64_t odd = 0x9ddfea08eb382d69ULL;
    std::size_t i = 0;
    for (; i + 32 <= bytes.size(); i += 32) {
        std::array<std::uint64_t, 4> word;
        std::memcpy(word.data(), bytes.data() + i, 32);
        for (std::size_t c = 0; c < 4; ++c) chain[c] = std::rotl((chain[c] ^ word[c]) * odd, 29);
    }
    for (; i < bytes.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, bytes.size() - i < 8 ? bytes.size() - i : 8);
        chain[0] = std::rotl((chain[0] ^ word) * odd, 29);
    }
    std::uint64_t all = bytes.size();
    for (const std::uint64_t c : chain) all = mixed(all ^ c);
    return all;
}

template <class T, std::size_t N>
[[nodiscard]] std::uint64_t digest_of(std::span<T, N> values, std::uint64_t before = 0) {
    return digest(std::as_bytes(values), before);
}

/// A value that a kernel knows to be wrong, with its place where it knows one.
struct Mismatch {
    int step = -1;
    std::uint64_t expected = 0, obtained = 0;
    /// The offset of a word in the memory under test; none elsewhere.
    std::int64_t offset = -1;
};

/// The digests of a round's steps and how much it did. What a step is (an iteration, a lane, a row) is the
/// kernel's own matter.
class Trace {
  public:
    static constexpr std::uint32_t kSteps = 64;

    void add(std::uint64_t step) {
        // A kernel has its number of steps; more come only where a count was damaged, and must not go unseen.
        if (steps_ < kSteps)
            step_[steps_] = step;
        else
            step_[kSteps - 1] = mixed(step_[kSteps - 1] ^ step);
        ++steps_;
    }
    void did(std::uint64_t work) { work_ += work; }
    /// For what a kernel knows without a reference: a difference is kept, the first with its place.
    void expect(int step, std::uint64_t expected, std::uint64_t obtained, std::int64_t offset = -1) {
        if (expected == obtained) return;
        if (wrong_++ == 0) mismatch_ = {step, expected, obtained, offset};
    }

    [[nodiscard]] std::uint32_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t step(std::uint32_t i) const { return step_[i]; }
    [[nodiscard]] std::uint64_t work() const { return work_; }
    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }
    [[nodiscard]] const Mismatch& mismatch() const { return mismatch_; }
    /// Of all of it, what is wrong included.
    [[nodiscard]] std::uint64_t hash() const {
        std::uint64_t all = mixed(work_ ^ mixed(steps_ ^ mixed(wrong_)));
        for (const std::uint64_t step : step_) all = mixed(all ^ step) + step;
        return all;
    }

  private:
    std::array<std::uint64_t, kSteps> step_{};
    std::uint64_t work_ = 0, wrong_ = 0;
    std::uint32_t steps_ = 0;
    Mismatch mismatch_;
};

/// Where two traces differ first; a step of -1 and the amounts of work where only those do.
[[nodiscard]] Mismatch difference(const Trace& expected, const Trace& obtained);

}  // namespace strata::integrity
