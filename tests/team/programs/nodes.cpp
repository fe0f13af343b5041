// A program for several nodes: the same as for one, linked with strata::team_mpi. It does what its first
// argument says; the tests look at what it prints and how it ends.
#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/cpulist.hpp"
#include "core/machine/limits.hpp"
#include "core/team/mpi/exact_sum_mpi.hpp"
#include "core/team/seats.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::team;

namespace {

using Words = std::vector<std::string>;

void say(const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
}

int hello(Team& team, const Words&) {
    // What the members of a node see of each other, at one address; what is the node's own.
    auto ranks = team.arena().array<int>("ranks", static_cast<std::size_t>(team.local_size()));
    ranks[static_cast<std::size_t>(team.local_rank())] = team.rank() + 1;
    auto self = team.arena().array<const int*>("self", 1);
    if (team.local_rank() == 0) self[0] = ranks.data();
    team.barrier();
    bool same = self[0] == ranks.data();
    for (int local = 0; local < team.local_size(); ++local)
        same = same && ranks[static_cast<std::size_t>(local)] == team.rank() - team.local_rank() + local + 1;
    // Where everybody is, as everybody knows it.
    std::string places;
    for (int rank = 0; rank < team.size(); ++rank)
        places += fmt::format("{}{}", rank == 0 ? "" : ";", print_cpulist(team.placement().pus(rank)));
    say(fmt::format(
        "member {} of {} node {} of {} local {} of {} same {} layout {} bind {} places {} on {} pid {}",
        team.rank(), team.size(), team.node(), team.nodes(), team.local_rank(), team.local_size(), same,
        launch::to_text(team.placement().layout), launch::bind_text(team.placement().layout), places,
        print_cpulist(machine::own_affinity()), getpid()));
    team.barrier();
    return 0;
}

/// Values of very different sizes and both signs, the same for any number of members.
std::vector<double> terms(std::size_t count) {
    std::mt19937_64 random(20);
    std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-200, 200);
    std::vector<double> values(count);
    for (double& value : values) value = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
    return values;
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// Whether MPI's reductions of the exact sum in a communicator of one process give what that process has.
bool exact_alone(const ExactSum& mine, MPI_Comm comm) {
    ExactSum all, root;
    MPI_Allreduce(&mine, &all, 1, exact_sum_type(), exact_sum_operation(), comm);
    MPI_Reduce(&mine, &root, 1, exact_sum_type(), exact_sum_operation(), 0, comm);
    return bits(all.value()) == bits(mine.value()) && bits(root.value()) == bits(mine.value());
}

/// The operation of MPI without a team, in a program of one rank.
int sum_alone() {
    MPI_Init(nullptr, nullptr);
    ExactSum mine;
    mine.add(std::span<const double>(terms(1000)));
    const bool right =
        mine.value() != 0 && exact_alone(mine, MPI_COMM_WORLD) && exact_alone(mine, MPI_COMM_SELF);
    if (right) say(fmt::format("alone {:.17g}", mine.value()));
    MPI_Finalize();
    return right ? 0 : 3;
}

/// Every call, compared with what one process alone computes.
int together(Team& team, const Words&) {
    const auto size = static_cast<std::size_t>(team.size()), rank = static_cast<std::size_t>(team.rank());
    const auto wrong = [&](const std::string& what) {
        say(fmt::format("member {}: {} is wrong", team.rank(), what));
        return 3;
    };
    for (int root = 0; root < team.size(); ++root)
        for (const std::size_t length : {1U, 100U, 5000U}) {  // the last in several pieces
            std::vector<int> data(length, -1);
            if (team.rank() == root) std::iota(data.begin(), data.end(), 100 * root);
            team.together().broadcast(std::span(data), root);
            for (std::size_t i = 0; i < length; ++i)
                if (data[i] != 100 * root + static_cast<int>(i)) return wrong("broadcast");
        }
    const auto most = [](int a, int b) { return std::max(a, b); };
    const auto first = [](int a, int) { return a; };
    const auto last = [](int, int b) { return b; };
    if (team.together().reduce(static_cast<int>(rank), most) != team.size() - 1) return wrong("maximum");
    if (team.together().reduce(static_cast<int>(rank), first) != 0) return wrong("the order of reduce");
    if (team.together().reduce(static_cast<int>(rank), last) != team.size() - 1)
        return wrong("the order of reduce");
    std::vector<long> longs(700, static_cast<long>(rank) + 1);
    team.together().reduce(std::span(longs), [](long a, long b) { return a + b; });
    for (const long each : longs)
        if (each != static_cast<long>(size * (size + 1) / 2)) return wrong("sum of integers");

    const std::vector<double> values = terms(10'000);
    ExactSum serial;
    serial.add(values);
    const std::size_t begin = values.size() * rank / size, end = values.size() * (rank + 1) / size;
    const std::span<const double> part(values.data() + begin, end - begin);
    if (bits(team.together().sum(part)) != bits(serial.value())) return wrong("exact sum");
    // As an operation of MPI's own, in a program's own communicator.
    ExactSum mine, all;
    mine.add(part);
    MPI_Allreduce(&mine, &all, 1, exact_sum_type(), exact_sum_operation(), MPI_COMM_WORLD);
    if (bits(all.value()) != bits(serial.value())) return wrong("exact sum by MPI_Allreduce");
    MPI_Reduce(&mine, &all, 1, exact_sum_type(), exact_sum_operation(), 0, MPI_COMM_WORLD);
    if (!exact_alone(mine, MPI_COMM_SELF)) return wrong("exact sum in MPI_COMM_SELF");
    int number = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    if (number == 0 && bits(all.value()) != bits(serial.value())) return wrong("exact sum by MPI_Reduce");

    auto seen = team.arena().array<int>("seen", 1);
    for (int round = 0; round < 200; ++round) {
        if (team.local_rank() == 0) seen[0] = round;
        team.barrier();
        if (seen[0] != round) return wrong("barrier");
        team.barrier();
    }
    if (team.rank() == 0)
        say(fmt::format("{} members on {} nodes agree: {:.17g}", team.size(), team.nodes(), serial.value()));
    return 0;
}

Error singular() { return Error("the matrix is singular", 3).at("case.toml", 12).remedy("scale the rows"); }

/// All members fail at once, and alike.
int fail_together(Team& team, const Words&) {
    team.barrier();
    throw singular();
}

int die(Team& team, const Words& words) {
    const std::string& how = words.at(0);
    const int victim = std::stoi(words.at(1)), after_us = std::stoi(words.at(2));
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(after_us);
    try {
        while (true) {
            if (team.rank() == victim && std::chrono::steady_clock::now() > end) {
                if (how == "kill") kill(getpid(), SIGKILL);
                if (how == "segv") signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
                if (how == "exit0") std::_Exit(0);
                if (how == "exit7") std::_Exit(7);
                if (how == "throw") throw std::runtime_error("the matrix is singular");
                if (how == "error") throw singular();
                if (how == "leave") return 0;
                if (how == "keeper") kill(getppid(), SIGKILL), sleep(60);
                if (how == "other") (void)team.together().sum(std::span<const double>());
            }
            if (how == "leave_node" && team.node() == victim && team.together().reduce(1, std::plus<>()) > 0)
                return 0;
            if (how == "leave_node") (void)team.together().reduce(1, std::plus<>());
            team.barrier();
        }
    } catch (const MemberLost& lost) {
        say(fmt::format("member {} saw: {}", team.rank(), lost.what()));
        throw;
    }
}

int wait_for_ever(Team& team, const Words&) {
    say(fmt::format("member {} node {} pid {} keeper {} waits", team.rank(), team.node(), getpid(),
                    getppid()));
    try {
        while (true) team.barrier();
    } catch (const MemberLost& lost) {
        say(fmt::format("member {} saw: {}", team.rank(), lost.what()));
        throw;
    }
}

int status(Team& team, const Words& words) {
    team.barrier();
    return team.rank() == std::stoi(words.at(0)) ? std::stoi(words.at(1)) : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    Words words(argv + std::min(argc, 2), argv + argc);
    if (what == "sum_alone") return sum_alone();
    // The member, not its keeper, which runs through here as well.
    if (what == "die_early" && std::getenv(kRankVariable) != nullptr) raise(SIGKILL);
    if (what == "late") {
        MPI_Init(nullptr, nullptr);
        const int result = run(argc, argv, [](Team&) { return 0; });
        MPI_Finalize();
        return result;
    }
    return run(argc, argv, [&](Team& team) {
        if (what == "together") return together(team, words);
        if (what == "die") return die(team, words);
        if (what == "alike") return fail_together(team, words);
        if (what == "wait") return wait_for_ever(team, words);
        if (what == "status") return status(team, words);
        return hello(team, words);
    });
}
