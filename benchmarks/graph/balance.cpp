// Patches of unequal cost that move between processes by measured cost: how near a step then is to the ideal,
// and what looking at costs takes where all patches cost the same.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "benchmarks/team/members.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/launch/placement.hpp"
#include "core/machine/machine.hpp"
#include "core/team/barrier.hpp"
#include "core/team/seats.hpp"

namespace strata::bench::graph_layer {

namespace {

using namespace strata::graph;

constexpr int kSide = 8, kPatches = kSide * kSide, kCells = 8, kDear = 8, kTimes = 10, kWindows = 7;

void declare(Options& options) {
    options.option("--members", "N", "2", "processes of one thread, bound to a core each")
        .option("--work", "US", "100",
                "microseconds that a patch takes; eight of the 64 take ten times as long")
        .example("strata bench graph-balance", "64 patches on two processes");
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A chain of square roots with its neighbours' values in it.
struct Work {
    graph::Graph graph{"unequal"};
    Grid& grid;
    Field<double> u;
    std::vector<int> times = std::vector<int>(kPatches, 1);
    std::int64_t rounds;

    Work(std::int64_t rounds_of_cell, bool even)
        : grid(graph.grid("square", {.cells = {{0, 0, 0}, {kSide * kCells, kSide * kCells, 1}},
                                     .patch_cells = {kCells, kCells, 1}})),
          u(graph.field<double>("u", grid, On::cells, {.history = 1})),
          rounds(rounds_of_cell) {
        // The first ones along the curve: one process has them all.
        for (int i = 0; i < kDear && !even; ++i)
            times[static_cast<std::size_t>(grid.order()[static_cast<std::size_t>(i)])] = kTimes;
        Task begin = graph.start().task("begin", grid);
        const auto first = begin.make(u);
        begin.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j) { here[first](i, j) = 1 + 0.01 * i + 0.02 * j; });
        });
        Task task = graph.step().task("work", grid);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto now = task.make(u);
        task.run([=, this](Here& here) {
            const std::int64_t n = rounds * times[static_cast<std::size_t>(here.patch)];
            for_each(here.cells(), [&](int i, int j) {
                double x = 0.25 * (here[old](i - 1, j) + here[old](i + 1, j) + here[old](i, j - 1) +
                                   here[old](i, j + 1));
                for (std::int64_t k = 0; k < n; ++k) x = std::sqrt(x * x + 1e-3);
                here[now](i, j) = x / (1 + 1e-3 * static_cast<double>(n));
            });
        });
    }
    template <class Each>
    static void for_each(const Box& box, Each each) {
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i) each(i, j);
    }
};

/// What the members tell member 0, in the arena. Times are seconds of a step.
struct Found {
    double ideal[kWindows], before[kWindows], after[kWindows], even[kWindows], even_off[kWindows];
    double moved_at, move_s, balance_before, balance_after, looks;
    std::uint64_t expected[kPatches], found[kPatches];
};

class Measuring {
  public:
    Measuring(Members members, std::int64_t rounds, double work_us, double window, Found& found)
        : members_(std::move(members)), rounds_(rounds), work_us_(work_us), window_(window), found_(found) {}

    /// Some steps before patches move and some after, beside the same on one process.
    void check(Break fault) {
        Work work(rounds_, false), whole(rounds_, false);
        if (fault == Break::perturb) work.rounds += 1;
        Simulation run(work.graph, members_, {.balance = true}), alone(whole.graph, alone_members());
        run.start(), alone.start();
        until_moved(run);
        alone.advance(run.step() + (fault == Break::skip ? 1 : 0));
        hashes(run, work, found_.found);
        if (members_.rank == 0) hashes(alone, whole, found_.expected);
        members_.meet();
    }

    void unequal() {
        Work work(rounds_, false);
        Simulation still(work.graph, members_), moving(work.graph, members_, {.balance = true});
        still.start(), moving.start();
        until_moved(moving);
        if (members_.rank == 0) {
            const auto& moves = moving.balanced().moves;
            found_.moved_at = moves.empty() ? -1 : static_cast<double>(moves.front().step);
            if (!moves.empty()) {
                found_.move_s = moves.front().seconds;
                found_.balance_before = moves.front().balance_before;
                found_.balance_after = moves.front().balance_after;
            }
        }
        for (int i = 0; i < kWindows; ++i) {
            ideal(i);
            tell(found_.before[i], step_seconds(still));
            tell(found_.after[i], step_seconds(moving));
        }
    }

    void even() {
        Work work(rounds_, true);
        Simulation still(work.graph, members_), looking(work.graph, members_, {.balance = true});
        still.start(), looking.start();
        looking.advance(100);
        for (int i = 0; i < kWindows; ++i) {
            tell(found_.even_off[i], step_seconds(still));
            tell(found_.even[i], step_seconds(looking));
        }
        if (members_.rank == 0) found_.looks = static_cast<double>(looking.balanced().looks);
    }

  private:
    static void until_moved(Simulation& run) {
        while (run.step() < 200 && run.balanced().moves.empty()) run.advance(1);
        run.advance(20);
    }
    [[nodiscard]] Members alone_members() const {
        Members alone = Members::alone();
        alone.patience = members_.patience;
        return alone;
    }
    void tell(double& where, double seconds) const {
        if (members_.rank == 0) where = seconds;
    }
    /// A step of all patches in each member alone, at the same time, divided by the members.
    void ideal(int window) {
        Work work(rounds_, false);
        Simulation alone(work.graph, alone_members());
        alone.start();
        alone.advance(2);
        members_.meet();
        const auto steps = static_cast<std::int64_t>(std::max(2.0, window_ / (136e-6 * work_us_)));
        tell(found_.ideal[window], seconds_of(alone, steps) / members_.size);
        members_.meet();
    }
    static double seconds_of(Simulation& run, std::int64_t steps) {
        const double begin = seconds_now();
        run.advance(steps);
        return (seconds_now() - begin) / static_cast<double>(steps);
    }
    /// With all that lies between steps, until the last member is done.
    double step_seconds(Simulation& run) {
        const auto steps = static_cast<std::int64_t>(std::max(10.0, window_ / (64e-6 * work_us_)));
        members_.meet();
        const double begin = seconds_now();
        run.advance(steps);
        members_.meet();
        return (seconds_now() - begin) / static_cast<double>(steps);
    }
    static void hashes(const Simulation& run, const Work& work, std::uint64_t* into) {
        const auto& own = run.plan().memory().patches().at(0);
        const auto found = run.hashes(work.grid);
        for (std::size_t i = 0; i < own.size(); ++i) into[own[i]] = found[i];
    }

    Members members_;
    std::int64_t rounds_;
    double work_us_, window_;
    Found& found_;
};

/// Rounds of a cell with which a patch takes so long.
std::int64_t rounds_for(double microseconds) {
    constexpr std::int64_t trial = 20'000;
    double best = 1;
    for (int i = 0; i < 5; ++i) {
        volatile double from = 1.5;
        double x = from;
        const double begin = seconds_now();
        for (std::int64_t k = 0; k < trial; ++k) x = std::sqrt(x * x + 1e-3);
        from = x;
        best = std::min(best, (seconds_now() - begin) / trial);
    }
    return std::max<std::int64_t>(1,
                                  static_cast<std::int64_t>(1e-6 * microseconds / best / (kCells * kCells)));
}

void measure(int count, double work_us, double window, Break fault, Found& found, team::Arena& arena) {
    launch::Placement placement;
    for (const int pu : team_layer::pus_for(count)) placement.threads.push_back({{pu}});
    const machine::Machine machine = machine::read_machine({"system", false, false});
    const bool crowded = count > team_layer::usable_cores();
    const team::BarrierTree tree =
        team::barrier_tree(team::neighbourhood(machine, placement), team::kFanIn, crowded);
    void* memory = arena.allocate("barrier", team::Barrier::bytes(tree));
    team::Barrier::form(memory, tree);
    const std::int64_t rounds = rounds_for(work_us);
    team_layer::in_processes(count, arena, [&](int member) {
        team::Barrier barrier(memory, member, bound_patience(arena, count));
        Members members;
        members.rank = member;
        members.size = count;
        members.firsts = {0, count};
        members.arena = &arena;
        members.meet = [&barrier] { barrier.wait(); };
        members.patience = bound_patience(arena, count);
        Measuring measuring(members, rounds, work_us, window, found);
        measuring.check(fault);
        if (fault == Break::none) measuring.unequal(), measuring.even();
        barrier.wait();
    });
}

double mid(const double (&values)[kWindows]) { return median({values, values + kWindows}); }

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-balance starts its processes itself")
            .given(std::to_string(group.size()))
            .allowed("1, and --members N");
    const int members = static_cast<int>(given.integer("--members", 2, kPatches / 2));
    const double work = given.has("--quick") ? 10 : static_cast<double>(given.integer("--work", 1, 100'000));
    team::Arena arena = team::Arena::create();
    Found& found = arena.array<Found>("found", 1)[0];
    measure(members, work, given.has("--quick") ? 0.01 : 0.3, fault, found, arena);
    Result result;
    result.parameter("members", std::int64_t{members});
    result.parameter("patches",
                     fmt::format("{}, of which {} take {} times as long", kPatches, kDear, kTimes));
    result.parameter("work", fmt::format("{} us a patch", work));
    int wrong = 0;
    for (int patch = 0; patch < kPatches; ++patch)
        wrong += found.expected[patch] != found.found[patch] ? 1 : 0;
    result.verification = {"patches whose values are not, to the bit, those of one process",
                           static_cast<double>(wrong), 0, "exact"};
    if (fault != Break::none) return result;
    std::vector<double> before, after, looks;
    for (int i = 0; i < kWindows; ++i) {
        before.push_back(100 * found.ideal[i] / found.before[i]);
        after.push_back(100 * found.ideal[i] / found.after[i]);
        looks.push_back(100 * found.even_off[i] / found.even[i]);
    }
    result.figures = {{"ideal / step, patches at rest", median(before), "% of ideal", true, {}, {}},
                      {"ideal / step, patches moved", median(after), "% of ideal", true, {}, {}},
                      {"step", 1e3 * mid(found.after), "ms", false, {}, {}},
                      {"all even, with looks at costs", median(looks), "% of without", true, {}, {}}};
    result.notes = {fmt::format("Ideal: a step of all patches on one process (each member runs one at the "
                                "same time), divided by {}; "
                                "medians of {} windows, in turn.",
                                members, kWindows),
                    found.moved_at < 0 ? std::string("No patch has moved.")
                                       : fmt::format("Patches moved first after step {:.0f}, in {:.3g} ms: "
                                                     "load balance {:.1f} %, then {:.1f} %, "
                                                     "by measured costs.",
                                                     found.moved_at, 1e3 * found.move_s,
                                                     100 * found.balance_before, 100 * found.balance_after),
                    fmt::format("Where all are even, costs were looked at {:.0f} times.", found.looks)};
    return result;
}

}  // namespace

const Benchmark balance_patches = {of_graph::kBalance.name, of_graph::kBalance.summary, declare, run};

}  // namespace strata::bench::graph_layer
