#include "benchmarks/integrity/atomics.hpp"

#include <array>

#include "benchmarks/integrity/ground.hpp"

namespace strata::integrity {
namespace {

constexpr std::uint64_t kTimes = 20'000;

// Each word has a line to itself.
enum Word : std::size_t { kAdded, kToggled, kCounted, kTickets, kOwnBits, kSwapped, kTicketSum, kWordCount };

std::uint64_t value_of(std::uint64_t seed, int side, std::uint64_t time) {
    return mixed(mixed(seed + static_cast<std::uint64_t>(side)) + time);
}

/// What the words hold when both sides are done.
std::array<std::uint64_t, kWordCount> results(std::uint64_t seed) {
    std::array<std::uint64_t, kWordCount> result{};
    for (const int side : {0, 1})
        for (std::uint64_t time = 0; time < kTimes; ++time) {
            result[kAdded] += value_of(seed, side, time);
            result[kToggled] ^= value_of(seed, side, time);
            result[kOwnBits] ^= std::uint64_t{1}
                                << (2 * (value_of(seed, side, time) % 32) + static_cast<unsigned>(side));
        }
    result[kCounted] = 2 * kTimes;
    result[kTickets] = 2 * kTimes;
    result[kTicketSum] = kTimes * (2 * kTimes - 1);
    result[kSwapped] = result[kAdded];
    return result;
}

void add(Trace& trace, const std::array<std::uint64_t, kWordCount>& result) {
    for (const std::uint64_t value : result) trace.add(value);
    trace.did(6 * kTimes);
}

}  // namespace

bool atomics(const Round& round, Trace& trace) {
    const auto word = [&](Word which) -> std::atomic<std::uint64_t>& {
        return round.ground->lines[which].word[0];
    };
    // An exchange leaves one value and takes another: all that were left but the last were taken by somebody.
    std::uint64_t tickets = 0, taken = 0, own = 0;
    if (done(round, 1), !await(round, 1)) return false;
    for (std::uint64_t time = 0; time < kTimes; ++time) {
        const std::uint64_t value = value_of(round.seed, round.side, time);
        word(kAdded).fetch_add(value);
        word(kToggled).fetch_xor(value);
        std::uint64_t count = word(kCounted).load();
        while (!word(kCounted).compare_exchange_weak(count, count + 1)) {
        }
        tickets += word(kTickets).fetch_add(1);
        // The even bits belong to the first side, the odd ones to the other: nobody else changes them.
        const std::uint64_t mine = 0x5555555555555555ULL << static_cast<unsigned>(round.side);
        const std::uint64_t bit = std::uint64_t{1} << (2 * (value % 32) + static_cast<unsigned>(round.side));
        const std::uint64_t before =
            (own & bit) == 0 ? word(kOwnBits).fetch_or(bit) : word(kOwnBits).fetch_and(~bit);
        trace.expect(kOwnBits, own, before & mine);
        own ^= bit;
        taken += word(kSwapped).exchange(value);
        if (time % 1024 == 0 && round.abandoned()) return false;
    }
    // What this side took is given to the sum; what lies there now stays.
    word(kTicketSum).fetch_add(tickets);
    round.ground->lines[kWordCount].word[0].fetch_add(taken);
    if (done(round, 2), !await(round, 2)) return false;
    std::array<std::uint64_t, kWordCount> result{};
    for (std::size_t i = 0; i < kWordCount; ++i) result[i] = word(static_cast<Word>(i)).load();
    result[kSwapped] += round.ground->lines[kWordCount].word[0].load();
    add(trace, result);
    return true;
}

bool atomics_reference(const Round& round, Trace& trace) {
    add(trace, results(round.seed));
    return true;
}

std::string atomics_place(int step) {
    constexpr std::array<const char*, kWordCount> names = {
        "fetch_add", "fetch_xor",         "compare_exchange", "tickets drawn", "fetch_or and fetch_and",
        "exchange",  "the sum of tickets"};
    return names[static_cast<std::size_t>(step) % kWordCount];
}

}  // namespace strata::integrity
