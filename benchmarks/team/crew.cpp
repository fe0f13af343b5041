// What a crew costs: from a change of counts in one process to the new thread at work in another, and a
// region beside OpenMP's, in one run.
//
//   team-crew [CHANGES [REGIONS]]        e.g. team-crew, or team-crew 2000 100000
//
// Two processes lead from the first two PUs, or both from the first where there are only two; the last PU
// goes to and fro. A change is timed from before move() to the first instruction of the new thread in a
// region of the process that gets it.
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/common/median.hpp"
#include "core/machine/limits.hpp"
#include "core/team/lock.hpp"
#include "core/team/team.hpp"

namespace {

using namespace strata;
using namespace strata::team;

std::int64_t now_ns() { return detail::now_ns(); }

void busy_ns(std::int64_t ns) {
    const std::int64_t end = now_ns() + ns;
    while (now_ns() < end) detail::relax();
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void print_row(const std::string& name, std::vector<double>& values, const char* remark = "") {
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    fmt::print("{:<34}{:>12.0f}{:>12.0f}{:>12.0f}  {}\n", name, bench::median(values),
               values[values.size() * 9 / 10], values.front(), remark);
}

/// Two homes and one place that travels.
struct Stage {
    Stage(Team& team, const std::vector<int>& pus) {
        const int other = pus.size() > 2 ? pus[1] : pus[0];
        const std::vector<std::vector<int>> where = {{pus[0]}, {other}, {pus.back()}};
        const CrewPlaces plan{2, {0, 1, 0}, {}};
        void* table = team.arena().allocate("table", CrewTable::bytes(plan));
        if (team.rank() == 0) CrewTable::form(table, plan);
        team.barrier();
        Patience patience = team.patience();
        crew = std::make_unique<Crew>(table, team.rank(), where, patience);
        crew->prepare();
        word = team.arena().array<Word>("turn", 1).data();
        began = team.arena().array<std::int64_t>("began", 1).data();
        shares_home = other == pus[0];
    }
    std::unique_ptr<Crew> crew;
    Word* word = nullptr;
    std::int64_t* began = nullptr;
    bool shares_home = false;
};

/// Who calls move(), and what the thread does that is to leave.
enum class Change { given, taken, after_work, asleep };

/// The process that gives the thread away.
void give(Team& team, const Stage& stage, Change kind) {
    Crew& crew = *stage.crew;
    std::int64_t& began = *stage.began;
    const int giver = team.rank();
    if (kind == Change::after_work)
        crew.parallel_region([&](int thread, int) {
            if (thread == 0) crew.move(giver, 1 - giver);
            if (thread == 1) {
                busy_ns(20'000);
                began = now_ns();
            }
        });
    else
        crew.parallel_region([](int thread, int) {
            if (thread == 1) busy_ns(5'000);
        });
    if (kind == Change::asleep) pause_ms(3);
    if (kind == Change::given || kind == Change::asleep) {
        began = now_ns();
        crew.move(giver, 1 - giver);
    }
}

/// Where the new thread was first seen.
struct Arrival {
    std::int64_t at = 0;  // ns
    int region = 0;       // counted from 1
};

/// The process that gets it.
Arrival take(Team& team, const Stage& stage, Change kind) {
    Crew& crew = *stage.crew;
    if (kind == Change::taken) {
        *stage.began = now_ns();
        crew.move(1 - team.rank(), team.rank());
    }
    Arrival arrival;
    for (; arrival.at == 0; ++arrival.region)
        crew.parallel_region([&](int thread, int) {
            if (thread == 1) arrival.at = now_ns();
        });
    return arrival;
}

/// Nanoseconds of each change, from before move() (after_work: from the end of the leaving thread's share) to
/// the new thread in a region.
std::vector<double> switches(Team& team, Stage& stage, int changes, Change kind, int& at_once) {
    auto times = team.arena().array<double>("times", static_cast<std::size_t>(changes));
    auto first = team.arena().array<Counter>("first", 1);
    if (team.rank() == 0) {
        first[0].set(0);
        stage.word->value = 0;
    }
    team.barrier();
    // Who shares a core with the other must not look for the other's word; nor is sleeping and waking to be
    // measured here.
    Patience turns = team.patience();
    if (stage.shares_home) turns = {turns.failure, 0, 1'000'000};
    for (int change = 0; change < changes; ++change) {
        const std::uint32_t turn = static_cast<std::uint32_t>(change) + 1;
        if (team.rank() == change % 2) {
            give(team, stage, kind);
            publish(*stage.word, turn);
        } else {
            wait_until(
                *stage.word, [&](std::uint32_t now) { return now == turn; }, turns);
            const Arrival arrival = take(team, stage, kind);
            times[static_cast<std::size_t>(change)] = static_cast<double>(arrival.at - *stage.began);
            if (arrival.region == 1) first[0].take();
        }
    }
    team.barrier();
    std::vector<double> all(times.begin(), times.end());
    at_once = static_cast<int>(first[0].value());
    team.barrier();
    if (team.rank() == 0) team.arena().release("times");
    team.barrier();
    return all;
}

void changes_of_counts(Team& team, const std::vector<int>& pus, int changes) {
    Stage stage(team, pus);
    if (team.rank() == 0)
        fmt::print(
            "{} PUs, {} changes; ns from the change to the new thread at work\n{:<34}{:>12}{:>12}{:>12}\n",
            pus.size(), changes, "", "median", "90 %", "lowest");
    const std::pair<Change, const char*> kinds[] = {{Change::taken, "the receiver asks"},
                                                    {Change::given, "the giver asks"},
                                                    {Change::after_work, "at the end of a share"},
                                                    {Change::asleep, "nobody awake there"}};
    for (const auto& [kind, name] : kinds) {
        int at_once = 0;
        const int times = kind == Change::asleep ? std::min(changes, 500) : changes;
        auto all = switches(team, stage, times, kind, at_once);
        if (team.rank() == 0)
            print_row(name, all,
                      fmt::format("{:.0f} % in the first region", 100.0 * at_once / times).c_str());
    }
    if (team.rank() == 0 && stage.shares_home)
        fmt::print(
            "(both processes lead from one PU: where the giver asks, a switch between them is included)\n");
}

/// Nanoseconds of a region that does nothing.
template <class Region>
double cost_of(int rounds, Region region) {
    for (int warm = 0; warm < 1000; ++warm) region();
    const std::int64_t begin = now_ns();
    for (int round = 0; round < rounds; ++round) region();
    return static_cast<double>(now_ns() - begin) / rounds;
}

void regions(Team& team, const std::vector<int>& pus, int rounds) {
    const int threads = static_cast<int>(pus.size());
    const CrewPlaces plan = CrewPlaces::even(1, threads);
    void* table = team.arena().allocate("regions", CrewTable::bytes(plan));
    CrewTable::form(table, plan);
    std::vector<std::vector<int>> where;
    for (const int pu : pus) where.push_back({pu});
    Crew crew(table, 0, where, team.patience());
    static_cast<void>(crew.lend_to_openmp());  // binds OpenMP's threads to the same PUs
    std::vector<double> ours, loop, openmp, openmp_loop, grow, shrink;
    std::vector<double> data(1000, 1.0);
    std::mt19937 random(std::random_device{}());
    std::vector<int> order = {0, 1, 2, 3, 4};
    for (int repeat = 0; repeat < 21; ++repeat) {
        std::shuffle(order.begin(), order.end(), random);
        for (const int kind : order) {
            pause_ms(10);  // until the others' threads sleep
            if (kind == 0)
                ours.push_back(
                    cost_of(rounds, [&] { crew.parallel_region([](int, int) { asm volatile(""); }); }));
            if (kind == 1)
                loop.push_back(cost_of(rounds, [&] {
                    crew.parallel_for(0, 1000, [&](int i) { data[static_cast<std::size_t>(i)] *= 1.5; });
                }));
#ifdef _OPENMP
            if (kind == 2)
                openmp.push_back(cost_of(rounds, [&] {
#pragma omp parallel
                    asm volatile("");
                }));
            if (kind == 3)
                openmp_loop.push_back(cost_of(rounds, [&] {
#pragma omp parallel for schedule(static)
                    for (int i = 0; i < 1000; ++i) data[static_cast<std::size_t>(i)] *= 1.5;
                }));
            if (kind == 4 && threads > 1) {
                for (const int count : {1, threads}) {
                    crew.set_count(0, count);
                    const std::int64_t begin = now_ns();
                    static_cast<void>(crew.lend_to_openmp());
#pragma omp parallel
                    asm volatile("");
                    (count == 1 ? shrink : grow).push_back(static_cast<double>(now_ns() - begin));
                }
            }
#endif
            for (double& value : data) value = 1.0;
        }
    }
    fmt::print("\nregions of {} threads, {} a repeat, ns each{:>6}{:>12}{:>12}\n", threads, rounds, "median",
               "90 %", "lowest");
    print_row("crew, parallel_region", ours);
    print_row("OpenMP, parallel", openmp);
    print_row("crew, parallel_for of 1000", loop);
    print_row("OpenMP, parallel for of 1000", openmp_loop);
    print_row("OpenMP, to more threads", grow, "set, made, bound, and the first region");
    print_row("OpenMP, to one thread", shrink);
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int at, int otherwise) {
        return argc > at ? std::max(2, std::atoi(argv[at])) : otherwise;
    };
    const int changes = number(1, 2'000), rounds = number(2, 50'000);
    Options options;
    options.layout =
        launch::Layout{.processes = 2, .threads = 1, .stride = 1, .bind = launch::Bind::none, .list = {}};
    return run(
        argc, argv,
        [&](Team& team) {
            const std::vector<int> pus = machine::own_affinity();
            if (pus.size() < 2) {
                if (team.rank() == 0)
                    fmt::print("a core that goes from one process to another needs a second one\n");
                return 0;
            }
            changes_of_counts(team, pus, changes);
            if (team.rank() == 0) regions(team, pus, rounds);
            team.barrier();
            return 0;
        },
        options);
}
