// March tests on a memory that has faults: the fault models of van de Goor, Testing Semiconductor Memories,
// 1991.
#include <functional>
#include <vector>

#include "benchmarks/integrity/march.hpp"
#include "tests/catch.hpp"

using namespace strata::integrity;

namespace {

constexpr std::size_t kWordsHere = 64;

/// A memory whose reads and writes a fault may change.
struct Faulty {
    std::vector<std::uint64_t> word = std::vector<std::uint64_t>(kWordsHere, 0);
    std::function<void(std::vector<std::uint64_t>&, std::size_t, std::uint64_t)> written;
    std::function<std::size_t(std::size_t)> address = [](std::size_t i) { return i; };
    [[nodiscard]] std::uint64_t read(std::size_t i) const { return word[address(i)]; }
    void write(std::size_t i, std::uint64_t value) {
        written ? written(word, address(i), value) : void(word[address(i)] = value);
    }
};

struct Found {
    std::size_t count = 0, first = kWordsHere;
    std::uint64_t bits = 0;
};

Found march_c_minus(Faulty& memory, const Pattern& pattern) {
    Found found;
    for (const Element& element : kMarchCMinus) {
        const std::uint64_t sum = march(element, pattern, memory, 0, kWordsHere,
                                        [&](std::size_t i, std::uint64_t expected, std::uint64_t obtained) {
                                            if (found.count++ == 0) found.first = i;
                                            found.bits |= expected ^ obtained;
                                        });
        if (found.count == 0) CHECK(sum == march_sum(element, pattern, 0, kWordsHere));
    }
    return found;
}

std::vector<Pattern> patterns() {
    std::vector<Pattern> list;
    for (std::uint64_t seed = 0; seed < 8; ++seed) list.push_back(march_pattern(seed));
    return list;
}

}  // namespace

TEST_CASE("a sound memory has no finding under any pattern") {
    for (const Pattern& pattern : patterns()) {
        Faulty memory;
        CHECK(march_c_minus(memory, pattern).count == 0);
    }
}

TEST_CASE("every stuck bit is found, with its word and its bit") {
    for (const Pattern& pattern : patterns())
        for (unsigned bit = 0; bit < 64; ++bit)
            for (const bool one : {false, true}) {
                const std::size_t where = (bit * 7 + 3) % kWordsHere;
                const std::uint64_t mask = std::uint64_t{1} << bit;
                Faulty memory;
                memory.written = [&](auto& word, std::size_t i, std::uint64_t value) {
                    word[i] = i != where ? value : one ? value | mask : value & ~mask;
                };
                const Found found = march_c_minus(memory, pattern);
                CHECK(found.count > 0);
                CHECK(found.first == where);
                CHECK(found.bits == mask);
            }
}

TEST_CASE("a bit that changes in one direction only is found") {
    for (const Pattern& pattern : patterns())
        for (const bool up : {false, true}) {
            Faulty memory;
            memory.written = [&](auto& word, std::size_t i, std::uint64_t value) {
                // Bit 9 of word 20 does not rise, or does not fall.
                const std::uint64_t mask = 1U << 9U, before = word[i] & mask;
                word[i] = value;
                if (i == 20 && before != (value & mask) && ((value & mask) != 0) == up) word[i] ^= mask;
            };
            memory.word[20] = up ? 0 : 1U << 9U;
            CHECK(march_c_minus(memory, pattern).count > 0);
        }
}

TEST_CASE("a word that disturbs another when it changes is found, whichever lies above") {
    for (const Pattern& pattern : patterns())
        for (const auto& [aggressor, victim] : {std::pair{11U, 40U}, std::pair{40U, 11U}})
            for (const bool up : {false, true}) {
                Faulty memory;
                memory.written = [&, a = aggressor, v = victim](auto& word, std::size_t i,
                                                                std::uint64_t value) {
                    const std::uint64_t before = word[i] & 1U;
                    word[i] = value;
                    if (i == a && before != (value & 1U) && ((value & 1U) != 0) == up) word[v] ^= 4U;
                };
                CHECK(march_c_minus(memory, pattern).count > 0);
            }
}

TEST_CASE("an address that reaches another's word is found") {
    for (const Pattern& pattern : patterns()) {
        Faulty memory;
        memory.address = [](std::size_t i) { return i == 17 ? 33 : i; };
        CHECK(march_c_minus(memory, pattern).count > 0);
    }
}
