// How long a core takes from one process to another: from the change of counts in the one that gives to the
// new thread at work in a region of the one that gets.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "benchmarks/elsewhere.hpp"
#include "benchmarks/team/members.hpp"
#include "benchmarks/team/team.hpp"
#include "core/base/error.hpp"
#include "core/team/barrier.hpp"
#include "core/team/crew.hpp"

namespace strata::bench::team_layer {
namespace {

/// What both processes share.
struct Stage {
    team::Word turn;
    std::int64_t began;  // nanoseconds
    std::atomic<std::uint64_t> wrong;
};

void declare(Options& options) {
    options.option("--changes", "N", "2000", "how often the core goes to and fro; the median counts")
        .example("strata bench team-switch --layout 1x2", "one core between two processes");
}

/// Member `giver` has its second thread at work, then gives its place away; the other begins regions until it
/// has a second thread. Where that thread is, and that the giver has it no longer, is checked.
void change(Stage& stage, team::Crew& crew, int member, int giver, std::uint32_t number, int traveller,
            const team::Patience& turns, std::span<double> times, Break fault) {
    if (member == giver) {
        crew.parallel_region([](int, int) {});
        stage.began = team::detail::now_ns();
        if (fault != Break::skip) crew.move(giver, 1 - giver);
        // Before the other knows: it may give the core back before this thread runs again.
        if (crew.count() != 1) ++stage.wrong;
        team::publish(stage.turn, number);
        return;
    }
    team::wait_until(
        stage.turn, [number](std::uint32_t turn) { return turn == number; }, turns);
    std::int64_t reached = 0;
    int pu = -1;
    // Others may keep the core that travels from the thread that is to leave it.
    constexpr std::int64_t longest = 60'000'000'000;
    for (int region = 0; reached == 0 && (fault != Break::skip || region < 100); ++region) {
        if (region % 1024 == 1023 && team::detail::now_ns() - stage.began > longest) break;
        crew.parallel_region([&](int thread, int) {
            if (thread != 1) return;
            reached = team::detail::now_ns();
            pu = sched_getcpu();
        });
    }
    if (fault == Break::perturb) pu = -1;
    if (pu != traveller) ++stage.wrong;
    times[number - 1] = static_cast<double>(reached - stage.began);
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("team-switch is measured from one process, which starts its members")
            .given(std::to_string(group.size()))
            .allowed("1");
    const auto changes = static_cast<std::uint32_t>(
        given.has("--quick") && !given.has("--changes") ? 500 : given.integer("--changes", 10, 1'000'000));
    if (usable_cores() < 2)
        throw Error("a core that goes from process to process needs a second one", kFailure)
            .given("1 usable core")
            .allowed("2 or more");
    // Two homes, on one core where there are only two, and the place that travels.
    const std::vector<int> pus = pus_for(std::min(usable_cores(), 3));
    const bool shared_home = pus.size() == 2;
    const int traveller = pus.back();
    const std::vector<std::vector<int>> where = {{pus[0]}, {shared_home ? pus[0] : pus[1]}, {traveller}};
    const team::CrewPlaces plan{2, {0, 1, 0}, {}};
    team::Arena arena = team::Arena::create();
    Stage& stage = arena.array<Stage>("stage", 1)[0];
    const std::span<double> times = arena.array<double>("times", changes);
    void* table = arena.allocate("table", team::CrewTable::bytes(plan));
    team::CrewTable::form(table, plan);
    const team::BarrierTree tree = team::barrier_tree({2, {}, {}}, team::kFanIn, shared_home);
    void* memory = arena.allocate("barrier", team::Barrier::bytes(tree));
    team::Barrier::form(memory, tree);
    const team::Failure* failure = &arena.failure();
    const team::Patience looking{.failure = failure};
    // Who shares a core with the other must not look for its word.
    const team::Patience turns = shared_home ? team::Patience::crowded(failure) : looking;
    in_processes(2, arena, [&](int member) {
        team::Crew crew(table, member, where, looking);
        crew.prepare();
        team::Barrier barrier(memory, member, turns);
        barrier.wait();
        for (std::uint32_t i = 0; i < changes; ++i)
            change(stage, crew, member, static_cast<int>(i % 2), i + 1, traveller, turns, times, fault);
        barrier.wait();
    });
    std::vector<double> all(times.begin(), times.end());
    std::nth_element(all.begin(), all.begin() + changes / 2, all.end());
    Result result;
    result.parameter("changes", std::int64_t{changes});
    result.verification = {"changes after which the core was not where it was sent",
                           static_cast<double>(stage.wrong.load()), 0, "exact"};
    result.figures = {{"switch", 1e-3 * all[changes / 2], "us", false, {}, {}}};
    result.notes = {"The thread that leaves was looking for work; the homes of both processes are " +
                    std::string(shared_home ? "one core, so the time holds a change of process there."
                                            : "cores of their own.")};
    return result;
}

}  // namespace

const Benchmark core_switch = {of_graph::kSwitch.name, of_graph::kSwitch.summary, declare, run};

}  // namespace strata::bench::team_layer
