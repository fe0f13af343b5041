// What a barrier costs: a team's beside those of POSIX, C++, OpenMP and a plain central one, in one run.
//
//   team-barrier [MEMBERS [ROUNDS [REPEATS]]]       e.g. team-barrier 2, or team-barrier 16 2000
//   OMP_WAIT_POLICY=passive team-barrier 16         OpenMP's threads asleep while they wait
//
// Members are threads here, each held on a PU in turn, so that all are asked the same; with more members than
// PUs ours sleeps at once, as a team does. Kinds take turns in random order, and medians are over repeats.
#include <fmt/format.h>
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/launch/bind.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/machine.hpp"
#include "core/team/barrier.hpp"
#include "core/team/seats.hpp"

namespace {

using namespace strata;
using Clock = std::chrono::steady_clock;

/// Rounds of barriers by `members` threads; seconds for all of them.
using Kind = std::function<double(int members, int rounds)>;

void hold(int member) {
    static const std::vector<int> pus = machine::own_affinity();
    launch::bind_to({pus[static_cast<std::size_t>(member) % pus.size()]});
}

/// `make(member)` gives what one member calls each round.
template <class Make>
double with_threads(int members, int rounds, Make make) {
    std::atomic<double> seconds{0};
    std::vector<std::thread> threads;
    for (int m = 0; m < members; ++m)
        threads.emplace_back([&, m] {
            hold(m);
            auto wait = make(m);
            for (int warm = 0; warm < 10; ++warm) wait();
            const auto begin = Clock::now();
            for (int round = 0; round < rounds; ++round) wait();
            if (m == 0) seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        });
    for (std::thread& thread : threads) thread.join();
    return seconds;
}

double ours(int members, int rounds) {
    const std::vector<int> pus = machine::own_affinity();
    const bool crowded = members > static_cast<int>(pus.size());
    launch::Placement placement;
    for (int m = 0; m < members; ++m)
        placement.threads.push_back({{pus[static_cast<std::size_t>(m) % pus.size()]}});
    static const machine::Machine machine = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const team::BarrierTree tree =
        team::barrier_tree(team::neighbourhood(machine, placement), team::kFanIn, crowded);
    const std::size_t bytes = (team::Barrier::bytes(tree) + team::kApart - 1) / team::kApart * team::kApart;
    const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(team::kApart, bytes), std::free);
    if (!memory) throw std::bad_alloc();
    team::Barrier::form(memory.get(), tree);
    const team::Failure failure;
    const team::Patience patience =
        crowded ? team::Patience::crowded(&failure) : team::Patience{.failure = &failure};
    return with_threads(members, rounds, [&](int m) {
        return [barrier = team::Barrier(memory.get(), m, patience)]() mutable { barrier.wait(); };
    });
}

double posix(int members, int rounds) {
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(members));
    const double seconds =
        with_threads(members, rounds, [&](int) { return [&barrier] { pthread_barrier_wait(&barrier); }; });
    pthread_barrier_destroy(&barrier);
    return seconds;
}

double standard(int members, int rounds) {
    std::barrier<> barrier(members);
    return with_threads(members, rounds, [&](int) { return [&barrier] { barrier.arrive_and_wait(); }; });
}

/// The plainest: a count, and a phase that all look at without end.
double central(int members, int rounds) {
    alignas(128) std::atomic<int> count{0};
    alignas(128) std::atomic<int> phase{0};
    return with_threads(members, rounds, [&](int) {
        return [&, next = 0]() mutable {
            ++next;
            if (count.fetch_add(1) + 1 == members) {
                count.store(0);
                phase.store(next);
            } else {
                while (phase.load() != next) {
                }
            }
        };
    });
}

#ifdef _OPENMP
double openmp(int members, int rounds) {
    double seconds = 0;
#pragma omp parallel num_threads(members)
    {
        hold(omp_get_thread_num());
        for (int warm = 0; warm < 10; ++warm) {
#pragma omp barrier
        }
        const auto begin = Clock::now();
        for (int round = 0; round < rounds; ++round) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0) seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    return seconds;
}
#endif

struct Row {
    std::string name;
    Kind run;
    std::vector<double> ns = {};
};

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int at, int otherwise) {
        return argc > at ? std::max(1, std::atoi(argv[at])) : otherwise;
    };
    const int pus = static_cast<int>(machine::own_affinity().size());
    const int members = number(1, pus), rounds = number(2, members > pus ? 2'000 : 100'000),
              repeats = number(3, 21);
    std::vector<Row> rows = {{"strata team", ours}, {"pthread_barrier", posix}, {"std::barrier", standard}};
#ifdef _OPENMP
    rows.push_back({"OpenMP", openmp});
#endif
    if (members <= pus) rows.push_back({"central, spinning", central});  // with more it would hardly end
    std::mt19937 random(std::random_device{}());
    std::vector<std::size_t> order(rows.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) rows[i].ns.push_back(1e9 * rows[i].run(members, rounds) / rounds);
    }
    fmt::print("{} members on {} PUs, {} barriers a repeat, {} repeats; ns a barrier\n", members, pus, rounds,
               repeats);
    fmt::print("{:<20}{:>12}{:>12}{:>12}\n", "", "median", "lowest", "highest");
    for (Row& row : rows) {
        std::sort(row.ns.begin(), row.ns.end());
        fmt::print("{:<20}{:>12.1f}{:>12.1f}{:>12.1f}\n", row.name, row.ns[row.ns.size() / 2], row.ns.front(),
                   row.ns.back());
    }
    return 0;
}
