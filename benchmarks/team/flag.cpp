// The one-way time of a flag between two processes: through the arena, and as a bare cache line.
#include <fmt/format.h>

#include "benchmarks/elsewhere.hpp"
#include "benchmarks/team/members.hpp"
#include "benchmarks/team/team.hpp"
#include "benchmarks/team/timing.hpp"
#include "core/base/error.hpp"
#include "core/team/lock.hpp"

namespace strata::bench::team_layer {
namespace {

constexpr int kCheckedRounds = 1000;
constexpr long kMostRounds = 10'000'000;

struct alignas(team::kApart) Line {
    std::atomic<std::uint32_t> value;
};

/// One word that both write in turn, and what was written before it.
struct Field {
    Line line;
    team::Signal signal;
    Line payload;
};

/// Odd numbers go one way, even ones back. `tell(number)` and `await(number)` are what is measured.
template <class Tell, class Await>
void exchange(Shared& shared, Field& field, int member, double window_s, Break fault, Tell tell,
              Await await) {
    std::uint32_t number = 0;
    const auto payload = [&](std::uint32_t n) { return 0x9e3779b9U * n; };
    for (int i = 0; i < kCheckedRounds; ++i, number += 2) {
        const auto say = [&](std::uint32_t n) {
            const bool wrong_one = fault == Break::perturb && i == kCheckedRounds / 2;
            field.payload.value.store(payload(n) + (wrong_one ? 1U : 0U), std::memory_order_relaxed);
            if (fault != Break::skip) tell(n);
        };
        const auto hear = [&](std::uint32_t n) {
            if (fault != Break::skip) await(n);
            if (field.payload.value.load(std::memory_order_relaxed) != payload(n)) ++shared.wrong;
        };
        if (member == 0) {
            say(number + 1);
            hear(number + 2);
        } else {
            hear(number + 1);
            say(number + 2);
        }
    }
    if (fault != Break::none) return;
    time_rounds(shared, member, window_s, kMostRounds, [&] {
        if (member == 0) {
            tell(number + 1);
            await(number + 2);
        } else {
            await(number + 1);
            tell(number + 2);
        }
        number += 2;
    });
}

void declare(Options& options) {
    options
        .option("--kind", "KIND", "arena",
                "arena: a Signal of the team's; line: a bare word, looked at without pause; line-pause: with "
                "one; "
                "line-fence: with what the Signal has in place of a pause")
        .example("strata bench team-flag --layout 1x2", "one way through the arena")
        .example("strata bench team-flag --layout 1x2 --kind line", "what the machine itself needs for it");
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("team-flag is measured from one process, which starts its members")
            .given(std::to_string(group.size()))
            .allowed("1");
    const std::string kind = given.choice("--kind", {"arena", "line", "line-pause", "line-fence"});
    if (usable_cores() < 2)
        throw Error("a flag needs two cores", kFailure).given("1 usable core").allowed("2 or more");
    team::Arena arena = team::Arena::create();
    Shared& shared = arena.array<Shared>("shared", 1)[0];
    Field& field = arena.array<Field>("field", 1)[0];
    const double window_s = given.has("--quick") ? 0.005 : 0.02;
    const team::Patience patience{.failure = &arena.failure()};
    in_processes(2, arena, [&](int member) {
        std::atomic<std::uint32_t>& word = field.line.value;
        const auto store = [&](std::uint32_t n) { word.store(n, std::memory_order_release); };
        if (kind == "arena")
            exchange(
                shared, field, member, window_s, fault, [&](std::uint32_t) { field.signal.raise(); },
                [&](std::uint32_t n) { field.signal.wait_for(n, patience); });
        else if (kind == "line")
            exchange(shared, field, member, window_s, fault, store, [&](std::uint32_t n) {
                while (word.load(std::memory_order_acquire) != n) {
                }
            });
        else if (kind == "line-pause")
            exchange(shared, field, member, window_s, fault, store, [&](std::uint32_t n) {
                while (word.load(std::memory_order_acquire) != n) team::detail::relax();
            });
        else
            exchange(
                shared, field, member, window_s, fault,
                [&](std::uint32_t n) { team::detail::store(word, n); },
                [&](std::uint32_t n) {
                    while (word.load(std::memory_order_acquire) != n) team::detail::look_again();
                });
    });
    Result result;
    result.parameter("kind", kind);
    result.parameter("round trips in a window", std::int64_t{shared.rounds});
    result.verification = {"flags that came before what was written before them",
                           static_cast<double>(shared.wrong.load()), 0, "exact"};
    result.figures = {{"flag", median_ns(shared) / 2, "ns", false, {}, {}}};
    result.notes = {
        fmt::format("One way is half a round trip between two processes on neighbouring cores; the median of "
                    "{} windows counts.",
                    kWindows)};
    return result;
}

}  // namespace

const Benchmark flag = {of_graph::kFlag.name, of_graph::kFlag.summary, declare, run};

}  // namespace strata::bench::team_layer
