// A program that starts its own team and then does what its first argument says; the tests look at how it
// ends.
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/machine/limits.hpp"
#include "core/team/lock.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::team;

namespace {

using Words = std::vector<std::string>;

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

/// Prints lines of all members by rank.
void in_turn(Team& team, const std::string& line) {
    for (int rank = 0; rank < team.size(); ++rank) {
        if (rank == team.rank()) fmt::print("{}\n", line), std::fflush(stdout);
        team.barrier();
    }
}

int describe(Team& team, const Words&) {
    // What all see of each other, at one address.
    auto pids = team.arena().array<int>("pids", static_cast<std::size_t>(team.size()));
    pids[static_cast<std::size_t>(team.rank())] = getpid();
    auto* counter = team.arena().array<Counter>("counter", 1).data();
    counter->take(team.rank() + 1);
    auto self = team.arena().array<const int*>("self", 1);
    if (team.rank() == 0) self[0] = pids.data();
    team.barrier();
    bool same = self[0] == pids.data();
    for (const int pid : pids) same = same && kill(pid, 0) == 0;
    in_turn(team, fmt::format("member {} of {} on {} sum {} same {} layout {} cpus {}", team.rank(),
                              team.size(), print_cpulist(machine::own_affinity()), counter->value(), same,
                              std::getenv("STRATA_LAYOUT"), std::getenv("STRATA_CPUS")));
    return 0;
}

int barriers(Team& team, const Words& words) {
    const int rounds = std::stoi(words.at(0));
    auto count = team.arena().array<long>("count", static_cast<std::size_t>(team.size()) * 16);
    for (int round = 1; round <= rounds; ++round) {
        count[static_cast<std::size_t>(team.rank()) * 16] = round;
        team.barrier();
        if (count[static_cast<std::size_t>((team.rank() + 1) % team.size()) * 16] < round) return 3;
    }
    team.barrier();
    if (team.rank() == 0) fmt::print("{} members passed {} barriers\n", team.size(), rounds);
    return 0;
}

/// `stay MS`
int stay(Team& team, const Words& words) {
    team.barrier();
    sleep_ms(std::stoi(words.at(0)));
    team.barrier();
    return 0;
}

Error singular() {
    return Error("the matrix is singular", 3).at("case.toml", 12).given("pivot 0").remedy("scale the rows");
}

/// All members fail at once: alike, or each in its own way.
int fail_together(Team& team, const Words& words) {
    team.barrier();
    if (words.at(0) == "alike") throw singular();
    throw std::runtime_error(fmt::format("file.{} is missing\nline two of {}", team.rank(), team.rank()));
}

/// How long after the death the others got to know of it, in the time of the one that died.
int die(Team& team, const Words& words) {
    const int victim = std::stoi(words.at(1)), after_us = std::stoi(words.at(2));
    auto when = team.arena().array<std::int64_t>("when", 1);
    const auto now = [] {
        return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(after_us);
    try {
        while (true) {
            if (team.rank() == victim && std::chrono::steady_clock::now() > end) {
                when[0] = now();
                if (words[0] == "kill") kill(getpid(), SIGKILL);
                if (words[0] == "segv") signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
                if (words[0] == "exit") std::_Exit(0);
                if (words[0] == "exit7") std::_Exit(7);
                if (words[0] == "throw") throw std::runtime_error("the matrix is singular");
                if (words[0] == "error") throw singular();
                if (words[0] == "leave") return 0;
                if (words[0] == "bus") {
                    auto field = team.arena().array<char>("pressure", 1 << 16);
                    const auto at = reinterpret_cast<std::uintptr_t>(field.data()) - team.arena().address();
                    if (ftruncate(team.arena().descriptor(), static_cast<off_t>(at)) != 0) return 9;
                    static_cast<volatile char*>(field.data())[100] = 1;
                }
                if (words[0] == "stuck") kill(getpid(), SIGKILL);
            }
            // Those that compute for ever and never wait can only be ended by the parent.
            if (words[0] == "stuck")
                sleep_ms(1);
            else
                team.barrier();
        }
    } catch (const MemberLost& lost) {
        fmt::print("member {} saw within {} ms: {}\n", team.rank(), now() - when[0], lost.what());
        std::fflush(stdout);
        throw;
    }
}

int wait_for_ever(Team& team, const Words&) {
    in_turn(team, fmt::format("pid {}", getpid()));
    if (team.rank() == 0)
        while (true) sleep_ms(1000);
    team.barrier();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    Words words(argv + std::min(argc, 2), argv + argc);
    const char* rank = std::getenv("STRATA_RANK");
    // Where the arena would lie in the others, this member has something of its own.
    if (what == "occupied" && rank != nullptr && rank[0] == '1')
        mmap(reinterpret_cast<void*>(0x200000000000), 4096, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (what == "early" && rank != nullptr && rank[0] == '1') return 5;
    return run(argc, argv, [&](Team& team) {
        if (what == "barriers") return barriers(team, words);
        if (what == "stay") return stay(team, words);
        if (what == "die") return die(team, words);
        if (what == "together") return fail_together(team, words);
        if (what == "wait") return wait_for_ever(team, words);
        return describe(team, words);
    });
}
