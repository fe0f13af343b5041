// How fast a process reads what its neighbour has just written, in place: the arena's answer to a message.
#include <fmt/format.h>

#include <cstring>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/random.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/team/members.hpp"
#include "benchmarks/team/team.hpp"
#include "benchmarks/team/timing.hpp"
#include "core/base/error.hpp"
#include "core/team/lock.hpp"

namespace strata::bench::team_layer {
namespace {

using Word = std::uint64_t;

/// The number of a round and the place of a word make the word.
Word word_of(std::uint64_t round, std::size_t at) { return random_bits(round) + at; }

/// As one reads it to use it: every word once, in order.
Word sum(std::span<const Word> words) {
    Word total = 0;
    for (const Word word : words) total += word;
    return total;
}

Word sum_of_round(std::uint64_t round, std::size_t count) {
    return count * random_bits(round) + count * (count - 1) / 2;
}

void declare(Options& options) {
    options
        .option("--kind", "KIND", "in-place",
                "in-place: read where it lies; copy: into memory of the reader's own, as a message would be")
        .option("--size", "SIZE", "2MiB", "the neighbour's array")
        .example("strata bench team-read --layout 1x2", "2 MiB that a neighbour has just written");
}

/// An array that one member writes and the other then reads, round after round.
struct Handover {
    Shared& shared;
    std::span<team::Signal> signals;  // written, read
    std::span<Word> array;
    team::Patience patience;
    std::uint32_t rounds_each;  // of a window; the first window warms up
    Break fault;

    [[nodiscard]] std::uint32_t rounds() const { return rounds_each * (kWindows + 1); }
    void write() const {
        for (std::uint32_t round = 1; round <= rounds(); ++round) {
            for (std::size_t i = 0; i < array.size(); ++i) array[i] = word_of(round, i);
            if (fault == Break::perturb) ++array[round % array.size()];
            signals[0].raise();
            signals[1].wait_for(round, patience);
        }
    }
    void read(bool copy) const {
        const Array<Word> own(array.size());
        for (std::uint32_t round = 1; round <= rounds(); ++round) {
            if (fault != Break::skip) signals[0].wait_for(round, patience);
            const double begin = now();
            Word total = 0;
            if (copy) {
                std::memcpy(own.data(), array.data(), array.size_bytes());
                asm volatile("" : : "r"(own.data()) : "memory");
            } else {
                total = sum(array);
            }
            const double seconds = now() - begin;
            if (copy) total = sum(own.span());
            if (total != sum_of_round(round, array.size())) ++shared.wrong;
            const auto window = (round - 1) / rounds_each;
            if (window > 0) shared.windows[window - 1] += seconds / rounds_each;
            signals[1].raise();
        }
    }
};

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("team-read is measured from one process, which starts its members")
            .given(std::to_string(group.size()))
            .allowed("1");
    const std::string kind = given.choice("--kind", {"in-place", "copy"});
    const std::uint64_t bytes = given.size("--size");
    if (bytes < 4096 || bytes > (std::uint64_t{1} << 30) || bytes % sizeof(Word) != 0)
        throw Error("--size is out of range")
            .given(given.text("--size"))
            .allowed("4 KiB .. 1 GiB, a multiple of 8");
    if (usable_cores() < 2)
        throw Error("a neighbour needs two cores", kFailure).given("1 usable core").allowed("2 or more");
    team::Arena arena = team::Arena::create();
    Shared& shared = arena.array<Shared>("shared", 1)[0];
    const Handover handover{shared,
                            arena.array<team::Signal>("written and read", 2),
                            arena.array<Word>("array", bytes / sizeof(Word)),
                            {.failure = &arena.failure()},
                            given.has("--quick") ? 20U : 100U,
                            fault};
    in_processes(2, arena, [&](int member) {
        if (member == 1)
            handover.write();
        else
            handover.read(kind == "copy");
    });
    Result result;
    result.parameter("kind", kind);
    result.parameter("bytes", static_cast<std::int64_t>(bytes));
    result.verification = {"arrays that were not read as written", static_cast<double>(shared.wrong.load()),
                           0, "exact: every word of every round"};
    result.figures = {{"read",
                       static_cast<double>(bytes) / median_ns(shared),
                       "GB/s",
                       true,
                       static_cast<double>(bytes),
                       {}}};
    result.notes = {
        "The neighbour writes the whole array before each read; writing is not timed. Time counts from the "
        "moment "
        "in which the reader knows that it is written."};
    return result;
}

}  // namespace

const Benchmark read = {of_graph::kRead.name, of_graph::kRead.summary, declare, run};

}  // namespace strata::bench::team_layer
