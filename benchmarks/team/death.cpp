// How long it takes until every member of a team knows that one of them was killed: from the moment before it
// is, to the exception that ends the others' waits.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/team/members.hpp"
#include "benchmarks/team/team.hpp"
#include "core/base/error.hpp"
#include "core/team/team.hpp"

namespace strata::bench::team_layer {
namespace {

void declare(Options& options) {
    options.option("--members", "N", "8", "2 to 256; with more than there are cores several share one")
        .option("--deaths", "N", "20", "teams that lose a member; each is started anew")
        .example("strata bench team-death --members 64", "64 processes, one of which is killed");
}

/// What the team that loses a member printed: of each member that was told, how long that took.
std::vector<double> lose_one(int members, int expected) {
    // A team of its own: what `strata launch` chose for this program is not meant for it.
    for (const char* name : {"STRATA_LAYOUT", "STRATA_BIND", "STRATA_STRIDE", "STRATA_TEAM_PLACEMENT"})
        unsetenv(name);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("a team cannot be started", errno);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    std::array<std::string, 4> words = {program, kDeathMembers, std::to_string(members),
                                        std::to_string(expected)};
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        std::freopen("/dev/null", "w", stderr);  // there the team says who was killed
        std::array<char*, 5> argv = {words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                     nullptr};
        execv(argv[0], argv.data());
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) throw system_error("a team cannot be started", errno);
    std::vector<double> told;
    FILE* said = fdopen(ends[0], "r");
    for (double ns = 0; std::fscanf(said, "told %lf\n", &ns) == 1;) told.push_back(ns);
    std::fclose(said);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return told;
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("team-death is measured from one process, which starts its teams")
            .given(std::to_string(group.size()))
            .allowed("1");
    const auto members = static_cast<int>(given.integer("--members", 2, 256));
    const auto deaths = given.has("--quick") && !given.has("--deaths")
                            ? 5
                            : static_cast<int>(given.integer("--deaths", 1, 10'000));
    // Whom the others must name: the last member. --break: nobody dies, or another one is expected.
    const int expected = fault == Break::skip ? -1 : fault == Break::perturb ? 0 : members - 1;
    std::vector<double> slowest, all;
    std::int64_t missing = 0;
    for (int i = 0; i < deaths; ++i) {
        const std::vector<double> told = lose_one(members, expected);
        missing += members - 1 - static_cast<std::int64_t>(told.size());
        all.insert(all.end(), told.begin(), told.end());
        if (!told.empty()) slowest.push_back(*std::max_element(told.begin(), told.end()));
    }
    Result result;
    result.parameter("members", std::int64_t{members});
    result.parameter("deaths", std::int64_t{deaths});
    result.verification = {"members that were not told who died", static_cast<double>(missing), 0, "exact"};
    if (missing > 0) return result;
    const double worst = *std::max_element(slowest.begin(), slowest.end());
    result.figures = {{"told", 1e-3 * median(all), "us", false, {}, {}},
                      {"all told", 1e-3 * median(slowest), "us", false, {}, {}},
                      {"all told, at worst", 1e-3 * worst, "us", false, {}, {}}};
    result.notes = {
        "The last member is killed while the others wait in a barrier. A member that has waited for a "
        "millisecond sleeps, and looks every tenth of a second whether one is lost: 50 ms are to be "
        "expected."};
    return result;
}

}  // namespace

int death_members(int argc, char** argv) {
    const int members = std::atoi(argv[2]), expected = std::atoi(argv[3]);
    team::Options options;
    const bool crowded = members > usable_cores();
    options.layout = launch::Layout{
        .processes = members, .threads = 1, .bind = crowded ? launch::Bind::none : launch::Bind::core};
    return team::run(
        argc, argv,
        [expected](team::Team& team) {
            const std::span<std::int64_t> when = team.arena().array<std::int64_t>("when", 1);
            team.barrier();
            if (expected < 0) return kSuccess;
            if (team.rank() == team.size() - 1) {
                // All others are in the barrier, and asleep; at any moment between two of their looks.
                usleep(100'000 + 1000 * (static_cast<useconds_t>(getpid()) % 100));
                when[0] = team::detail::now_ns();
                kill(getpid(), SIGKILL);
            }
            try {
                team.barrier();
            } catch (const team::MemberLost& lost) {
                const std::int64_t now = team::detail::now_ns();
                if (lost.member() == expected) {
                    // One write, which others' do not tear.
                    const std::string line = fmt::format("told {}\n", now - when[0]);
                    if (write(STDOUT_FILENO, line.data(), line.size()) < 0) return kFailure;
                }
            }
            return kSuccess;
        },
        options);
}

const Benchmark death = {of_graph::kDeath.name, of_graph::kDeath.summary, declare, run};

}  // namespace strata::bench::team_layer
