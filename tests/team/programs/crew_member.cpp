// A program that starts its own team, whose members' threads come and go; the tests look at what it says.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/launch/bind.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/sysfs.hpp"
#include "core/team/lock.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::team;

namespace {

using Words = std::vector<std::string>;

/// What sched_getaffinity says of the calling thread, and whether /proc says the same.
std::vector<int> own_binding(bool& agreed) {
    std::vector<int> pus = launch::affinity_of();
    const std::string status =
        machine::read_file(fmt::format("/proc/self/task/{}/status", gettid())).value_or("");
    std::smatch found;
    agreed = std::regex_search(status, found, std::regex("Cpus_allowed_list:\\s*(\\S+)")) &&
             found[1] == print_cpulist(pus);
    return pus;
}

/// Of each thread of this process but the calling one: its state, and how often it has run.
std::string threads_at_rest() {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
        if (entry.path().filename() == std::to_string(gettid())) continue;
        const std::string status = machine::read_file(entry.path() / "status").value_or("");
        std::smatch state, voluntary, forced;
        std::regex_search(status, state, std::regex("State:\\s*(\\S)"));
        std::regex_search(status, voluntary, std::regex("\nvoluntary_ctxt_switches:\\s*(\\d+)"));
        std::regex_search(status, forced, std::regex("nonvoluntary_ctxt_switches:\\s*(\\d+)"));
        text += fmt::format("{} {} {};", state.str(1), voluntary.str(1), forced.str(1));
    }
    return text;
}

/// Whether each thread of a region is bound to its place, by sched_getaffinity and by /proc.
bool bound(Crew& crew, int expected) {
    std::atomic<int> right{0};
    int seen = 0;
    crew.parallel_region([&](int thread, int threads) {
        if (thread == 0) seen = threads;
        bool agreed = false;
        if (own_binding(agreed) == crew.pus().at(static_cast<std::size_t>(Crew::place())) && agreed) ++right;
    });
    return seen == expected && right == expected;
}

int binding(Team& team, const Words&) {
    Crew& crew = team.crew();
    const int all = crew.count();
    std::string said = fmt::format("member {}: {} threads, bound {}", team.rank(), all, bound(crew, all));
    crew.set_count(team.rank(), 1);
    said += fmt::format(", one {}", bound(crew, 1));
    // Those without a place sleep, and nothing wakes them.
    std::string rest;
    for (int i = 0; i < 200; ++i) {
        rest = threads_at_rest();
        if (rest.find('R') == std::string::npos) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    said += fmt::format(", asleep {}", rest == threads_at_rest() && rest.find('R') == std::string::npos);
    crew.set_count(team.rank(), all);
    said += fmt::format(", again {}", bound(crew, all));
    fmt::print("{}\n", said);
    return 0;
}

/// Members whose homes are all on the first PU, each further PU a place that travels among them.
std::unique_ptr<Crew> travelling(Team& team, int& places) {
    const std::vector<int> pus = machine::own_affinity();
    CrewPlaces plan{team.size(), {}, {}};
    std::vector<std::vector<int>> where;
    for (int member = 0; member < team.size(); ++member) {
        plan.owner.push_back(member);
        where.push_back({pus.front()});
    }
    for (std::size_t i = 1; i < pus.size(); ++i) {
        plan.owner.push_back(0);
        where.push_back({pus[i]});
    }
    places = plan.places();
    void* table = team.arena().allocate("table", CrewTable::bytes(plan));
    if (team.rank() == 0) CrewTable::form(table, plan);
    team.barrier();
    return std::make_unique<Crew>(table, team.rank(), where, team.patience());
}

/// Cores go round among the members; on each there is never more than one thread awake.
int travel(Team& team, const Words& words) {
    int places = 0;
    const auto crew = travelling(team, places);
    auto awake = team.arena().array<std::atomic<int>>("awake", static_cast<std::size_t>(places));
    auto wrong = team.arena().array<std::atomic<int>>("wrong", 1);
    const int extra = places - team.size(), rounds = std::stoi(words.at(0));
    if (words.at(1) == "prepared") crew->prepare();
    for (int round = 0; round < rounds; ++round) {
        const int owner = round % team.size(), next = (round + 1) % team.size();
        team.barrier();
        if (team.rank() == owner && extra > 0) crew->move(owner, next, extra);
        const int wanted = team.rank() == next ? 1 + extra : 1;
        // Who owned them may go on with regions: they have one thread now; who is to own them waits for them.
        int seen = 0;
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        team.barrier();
        while (seen != wanted && std::chrono::steady_clock::now() < end)
            crew->parallel_region([&](int thread, int threads) {
                if (thread == 0) seen = threads;
                if (thread == 0) return;
                bool agreed = false;
                auto& here = awake[static_cast<std::size_t>(Crew::place())];
                if (++here != 1) ++wrong[0];
                if (own_binding(agreed) != crew->pus()[static_cast<std::size_t>(Crew::place())] || !agreed)
                    ++wrong[0];
                --here;
            });
        if (seen != wanted) ++wrong[0];
    }
    team.barrier();
    if (team.rank() == 0)
        fmt::print("{} cores went round {} members {} times, wrong {}\n", extra, team.size(), rounds,
                   wrong[0].load());
    return 0;
}

/// Everybody changes everybody's counts.
int disorder(Team& team, const Words& words) {
    Crew& crew = team.crew();
    auto awake =
        team.arena().array<std::atomic<int>>("awake", static_cast<std::size_t>(crew.table().places()));
    auto wrong = team.arena().array<std::atomic<int>>("wrong", 1);
    auto changes = team.arena().array<Counter>("changes", 1);
    std::mt19937 random(static_cast<unsigned>(team.rank()) + 1);
    const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(team.size())); };
    for (int round = 0; round < std::stoi(words.at(0)); ++round) {
        try {
            crew.move(any(), any(), 1);
            changes[0].take();
        } catch (const MemberLost&) {
            throw;
        } catch (const Error&) {  // it had one only
        }
        std::array<std::atomic<int>, 32> times{};
        crew.parallel_for(0, 32, [&](int i) {
            auto& here = awake[static_cast<std::size_t>(Crew::place())];
            if (++here != 1) ++wrong[0];
            ++times[static_cast<std::size_t>(i)];
            --here;
        });
        for (const auto& time : times)
            if (time != 1) ++wrong[0];
        if (round % 16 == 0) team.barrier();
    }
    team.barrier();
    int sum = 0;
    for (const int count : crew.counts()) sum += count;
    if (team.rank() == 0)
        fmt::print("{} threads of {} members, changed {}, wrong {}\n", sum, team.size(),
                   changes[0].value() > 0, wrong[0].load());
    return 0;
}

int threads_of(Crew& crew) {
    int seen = 0;
    crew.parallel_region([&](int thread, int threads) {
        if (thread == 0) seen = threads;
    });
    return seen;
}

/// Cores that one process has lent to its OpenMP go to another when it says so, and not before.
int lent(Team& team, const Words&) {
    int places = 0;
    const auto crew = travelling(team, places);
    const int extra = places - team.size();
    int before = 0, after = 0, back = 0, wrong = 0;
#ifdef _OPENMP
    const auto openmp_is_bound = [&] {
        std::vector<int> own;
        crew->table().places_of(0, own);
        int right = 0, threads = 0;
#pragma omp parallel reduction(+ : right)
        {
            bool agreed = false;
            const auto place =
                static_cast<std::size_t>(own.at(static_cast<std::size_t>(omp_get_thread_num())));
            right += own_binding(agreed) == crew->pus()[place] && agreed ? 1 : 0;
#pragma omp master
            threads = omp_get_num_threads();
        }
        return right == threads ? threads : -1;
    };
    if (team.rank() == 0 && (crew->lend_to_openmp() != 1 + extra || openmp_is_bound() != 1 + extra)) ++wrong;
#else
    const auto openmp_is_bound = [&] { return 1; };
    static_cast<void>(openmp_is_bound);
#endif
    team.barrier();
    if (team.rank() == 1 && extra > 0) {
        crew->move(0, 1, extra);
        before = threads_of(*crew);
    }
    team.barrier();
    if (team.rank() == 0 && crew->lend_to_openmp() > 0 && openmp_is_bound() != 1) ++wrong;
    team.barrier();
    if (team.rank() == 1) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (after != 1 + extra && std::chrono::steady_clock::now() < end) after = threads_of(*crew);
        if (extra > 0) crew->move(1, 0, extra);
    }
    team.barrier();
    if (team.rank() == 0) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (back != 1 + extra && std::chrono::steady_clock::now() < end) back = threads_of(*crew);
    } else {
        static_cast<void>(threads_of(*crew));
    }
    team.barrier();
    fmt::print("member {}: of {} cores {} before, {} after, {} back, wrong {}\n", team.rank(), extra, before,
               after, back, wrong);
    return 0;
}

/// A thread of member 1 kills its process within a region, while the others change counts and meet.
int die(Team& team, const Words&) {
    Crew& crew = team.crew();
    try {
        for (int round = 0;; ++round) {
            crew.move(team.rank(), (team.rank() + 1) % team.size(),
                      team.rank() == 0 && crew.count() > 1 ? 1 : 0);
            crew.parallel_region([&](int thread, int threads) {
                if (team.rank() == 1 && round == 50 && thread == threads - 1) kill(getpid(), SIGKILL);
            });
            team.barrier();
        }
    } catch (const MemberLost& lost) {
        fmt::print("member {} saw: {}\n", team.rank(), lost.what());
        std::fflush(stdout);
        throw;
    }
}

/// A body's exception ends the member as any other does.
int singular(Team& team, const Words&) {
    if (team.rank() == 0)
        team.crew().parallel_for(0, 100, [&](int i) {
            if (i == 99) throw std::runtime_error("the matrix is singular");
        });
    team.barrier();
    return 0;
}

int openmp([[maybe_unused]] Team& team, const Words&) {
    Crew& crew = team.crew();
#ifdef _OPENMP
    std::atomic<int> wrong{0};
    std::string said;
    const int all = crew.count();
    for (const int count : {all, 1, all, 1, all}) {
        crew.set_count(team.rank(), count);
        const int lent = crew.lend_to_openmp();
        std::vector<std::vector<int>> seen(static_cast<std::size_t>(lent));
        int threads = 0;
#pragma omp parallel
        {
            bool agreed = false;
            auto pus = own_binding(agreed);
            if (!agreed) ++wrong;
#pragma omp critical
            if (omp_get_thread_num() < lent) seen[static_cast<std::size_t>(omp_get_thread_num())] = pus;
#pragma omp master
            threads = omp_get_num_threads();
        }
        if (threads != count || lent != count) ++wrong;
        std::vector<int> own;
        crew.table().places_of(team.rank(), own);
        for (std::size_t i = 0; i < seen.size(); ++i)
            if (seen[i] != crew.pus()[static_cast<std::size_t>(own.at(i))]) ++wrong;
        // What is lent is nobody else's, and a region of the crew takes it back.
        for (std::size_t i = 1; i < own.size(); ++i)
            if (crew.table().seen(own[i]).state != PlaceWord::lent) ++wrong;
        said += fmt::format("{} ", threads);
        if (!bound(crew, count)) ++wrong;
    }
    fmt::print("OpenMP had {}threads, wrong {}\n", said, wrong.load());
#else
    fmt::print("no OpenMP: {}\n", crew.lend_to_openmp());
#endif
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    const Words words(argv + std::min(argc, 2), argv + argc);
    return run(argc, argv, [&](Team& team) {
        if (what == "travel") return travel(team, words);
        if (what == "disorder") return disorder(team, words);
        if (what == "die") return die(team, words);
        if (what == "singular") return singular(team, words);
        if (what == "lent") return lent(team, words);
        if (what == "openmp") return openmp(team, words);
        return binding(team, words);
    });
}
