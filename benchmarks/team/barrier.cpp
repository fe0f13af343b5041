// What a barrier costs: a team's, or one of those that programs use otherwise; one kind a launch, so that
// none disturbs another (threads of OpenMP go on looking for work).
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "benchmarks/elsewhere.hpp"
#include "benchmarks/team/members.hpp"
#include "benchmarks/team/team.hpp"
#include "benchmarks/team/timing.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/sysfs.hpp"
#include "core/team/barrier.hpp"
#include "core/team/seats.hpp"

namespace strata::bench::team_layer {
namespace {

constexpr int kCheckedRounds = 100;
constexpr long kMostRounds = 10'000'000;

/// What is asked, and what its members share.
struct Asked {
    int members = 2;
    bool crowded = false;
    double window_s = 0.01;
    Break fault = Break::none;
    Shared* shared = nullptr;
    std::span<Count> counts;

    /// One member's part: checked, then timed.
    template <class Wait>
    void go(int member, Wait wait) const {
        check_barrier(*shared, counts, member, kCheckedRounds, fault, wait);
        if (fault == Break::none) time_rounds(*shared, member, window_s, kMostRounds, wait);
    }
};

void of_team(const Asked& asked, team::Arena& arena) {
    launch::Placement placement;
    for (const int pu : pus_for(asked.members)) placement.threads.push_back({{pu}});
    const machine::Machine machine = machine::read_machine({"system", false, false});
    const team::BarrierTree tree =
        team::barrier_tree(team::neighbourhood(machine, placement), team::kFanIn, asked.crowded);
    void* memory = arena.allocate("barrier", team::Barrier::bytes(tree));
    team::Barrier::form(memory, tree);
    const team::Failure* failure = &arena.failure();
    const team::Patience patience =
        asked.crowded ? team::Patience::crowded(failure) : team::Patience{.failure = failure};
    in_processes(asked.members, arena, [&](int member) {
        team::Barrier barrier(memory, member, patience);
        asked.go(member, [&barrier] { barrier.wait(); });
    });
}

/// The plainest: a count, and a phase that all look at without end; they give their core away where they
/// share it.
void of_central(const Asked& asked) {
    alignas(team::kApart) std::atomic<int> count{0};
    alignas(team::kApart) std::atomic<int> phase{0};
    in_threads(asked.members, [&](int member) {
        asked.go(member, [&, next = 0]() mutable {
            ++next;
            if (count.fetch_add(1) + 1 == asked.members) {
                count.store(0);
                phase.store(next);
            } else {
                while (phase.load() != next)
                    if (asked.crowded) sched_yield();
            }
        });
    });
}

void of_pthread(const Asked& asked) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(asked.members));
    in_threads(asked.members,
               [&](int member) { asked.go(member, [&barrier] { pthread_barrier_wait(&barrier); }); });
    pthread_barrier_destroy(&barrier);
}

void of_standard(const Asked& asked) {
    std::barrier<> barrier(asked.members);
    in_threads(asked.members,
               [&](int member) { asked.go(member, [&barrier] { barrier.arrive_and_wait(); }); });
}

void of_openmp(const Asked& asked) {
#ifdef _OPENMP
    const std::vector<int> pus = pus_for(asked.members);
    int given = 0;
#pragma omp parallel num_threads(asked.members)
    {
#pragma omp single
        given = omp_get_num_threads();
        const int member = omp_get_thread_num();
        launch::bind_to({pus[static_cast<std::size_t>(member)]});
        if (given == asked.members)
            asked.go(member, [] {
#pragma omp barrier
            });
    }
    if (given != asked.members)
        throw Error("OpenMP does not give so many threads", kFailure)
            .given(std::to_string(asked.members))
            .allowed(std::to_string(given))
            .remedy("unset OMP_THREAD_LIMIT and OMP_DYNAMIC");
#else
    (void)asked;
    throw Error("this build knows no OpenMP", kFailure).remedy("build with a compiler that does");
#endif
}

/// Whether OpenMP's threads look or sleep is decided when its library is loaded: the program starts once
/// more.
void start_with_passive_openmp() {
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    if (policy != nullptr && std::strcmp(policy, "passive") == 0) return;
    setenv("OMP_WAIT_POLICY", "passive", 1);
    std::string words = machine::read_file("/proc/self/cmdline").value_or("");
    std::vector<char*> argv;
    for (std::size_t at = 0; at < words.size(); at += std::strlen(&words[at]) + 1) argv.push_back(&words[at]);
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
    throw system_error("the benchmark cannot start once more", errno);
}

void declare(Options& options) {
    options.option("--kind", "KIND", "team", "team, central, pthread, std, openmp or openmp-passive")
        .option("--members", "N", "2", "more than the cores that may be used share them")
        .example("strata bench team-barrier --members 16", "a team of 16 processes")
        .example("strata bench team-barrier --members 16 --kind openmp-passive",
                 "OpenMP's barrier, its threads asleep while they wait");
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("team-barrier is measured from one process, which starts its members")
            .given(std::to_string(group.size()))
            .allowed("1");
    const std::string kind =
        given.choice("--kind", {"team", "central", "pthread", "std", "openmp", "openmp-passive"});
    if (kind == "openmp-passive") start_with_passive_openmp();
    team::Arena arena = team::Arena::create();
    Asked asked;
    asked.members = static_cast<int>(given.integer("--members", 2, 4096));
    asked.crowded = asked.members > usable_cores();
    asked.window_s = given.has("--quick") ? 0.005 : 0.02;
    asked.fault = fault;
    asked.shared = &arena.array<Shared>("shared", 1)[0];
    asked.counts = arena.array<Count>("counts", static_cast<std::size_t>(asked.members));
    if (kind == "team") of_team(asked, arena);
    if (kind == "central") of_central(asked);
    if (kind == "pthread") of_pthread(asked);
    if (kind == "std") of_standard(asked);
    if (kind == "openmp" || kind == "openmp-passive") of_openmp(asked);
    Result result;
    result.parameter("kind", kind);
    result.parameter("members", std::int64_t{asked.members});
    result.parameter("cores", std::int64_t{usable_cores()});
    result.parameter("barriers in a window", std::int64_t{asked.shared->rounds});
    result.verification = {"members let through before all had come",
                           static_cast<double>(asked.shared->wrong.load()), 0,
                           fmt::format("exact, in {} barriers with a late member each", kCheckedRounds)};
    result.figures = {{"barrier", median_ns(*asked.shared), "ns", false, {}, {}}};
    result.notes = {fmt::format("The members are {}; the median of {} windows counts.",
                                kind == "team" ? "processes" : "threads of one process", kWindows)};
    return result;
}

}  // namespace

const Benchmark barrier = {of_graph::kBarrier.name, of_graph::kBarrier.summary, declare, run};

}  // namespace strata::bench::team_layer
