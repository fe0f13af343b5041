// The message rate: who sends to whom, and where the messages of a window lie.
#include <algorithm>
#include <set>

#include "benchmarks/osu/pairs.hpp"
#include "tests/catch.hpp"

using namespace strata::bench::osu;

TEST_CASE("each process belongs to one pair of which one end sends, near or far") {
    for (const bool far : {false, true})
        for (int size = 2; size <= 16; size += 2)
            for (int rank = 0; rank < size; ++rank) {
                const End end = end_of(rank, size, far), other = end_of(end.peer, size, far);
                CHECK(other.peer == rank);
                CHECK(other.sends != end.sends);
                CHECK(std::max(rank, end.peer) - std::min(rank, end.peer) == (far ? size / 2 : 1));
            }
    CHECK(end_of(2, 8, false).peer == 3);
    CHECK(end_of(2, 8, true).peer == 6);
    CHECK(end_of(2, 8, true).sends);
}

TEST_CASE("head and tail of each message of a window are its own, so that each can carry its number") {
    constexpr std::size_t kWord = 8;
    for (const std::size_t bytes :
         {1U, 8U, 9U, 64U, 72U, 100U, 4096U, 8192U, 8193U, 8200U, 65536U, 2'000'000U}) {
        std::set<std::size_t> words;
        const std::size_t stride = send_stride(bytes);
        for (int m = 0; m < kMostWindow; ++m) {
            const std::size_t head = static_cast<std::size_t>(m) * stride;
            words.insert(head / kWord);
            if (bytes > kWord)
                for (const std::size_t byte : {head + bytes - kWord, head + bytes - 1})
                    words.insert(byte / kWord);
        }
        const std::size_t tail = bytes <= kWord ? 0 : bytes % kWord == 0 || bytes < 2 * kWord ? 1 : 2;
        CHECK(words.size() == kMostWindow * (1 + tail));
    }
}

TEST_CASE("receives that are open at once do not overlap, and fill no more than some MiB") {
    CHECK(open_receives(1, 64) == 64);
    CHECK(open_receives(65536, 64) == 64);
    CHECK(open_receives(2'000'000, 64) == 2);
    CHECK(open_receives(std::size_t{64} << 20, 64) == 1);
    for (const std::size_t bytes : {1U, 63U, 64U, 65U, 1'000'001U}) CHECK(receive_stride(bytes) >= bytes);
}
