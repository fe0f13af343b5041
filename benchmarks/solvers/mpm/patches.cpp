// strata-mpm-patches --points N: a bar under tension on 100 patches of N material points each, for the study
// of how large patches should be (McCorquodale et al. 2001, Figures 3 and 4): rates of floating-point
// operations, and how much of the time is task code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/observing.hpp"
#include "core/run/driver/result.hpp"
#include "core/team/team.hpp"
#include "solvers/mpm/tasks.hpp"

namespace {

using namespace strata;
using namespace strata::graph;

constexpr Int3 kPatches{5, 5, 4};
constexpr int kPointsOfCell = 8;
/// Cells of a patch: 8 to 7200 points.
constexpr std::array<Int3, 11> kSizes{{{1, 1, 1},
                                       {2, 2, 2},
                                       {3, 3, 3},
                                       {4, 4, 4},
                                       {5, 5, 5},
                                       {5, 6, 6},
                                       {6, 6, 7},
                                       {7, 7, 7},
                                       {8, 8, 8},
                                       {9, 9, 9},
                                       {9, 10, 10}}};

int points_of(const Int3& patch) { return kPointsOfCell * patch[0] * patch[1] * patch[2]; }

Int3 size_of(int points) {
    std::vector<int> known;
    for (const Int3& patch : kSizes) {
        if (points_of(patch) == points) return patch;
        known.push_back(points_of(patch));
    }
    throw Error("no such patch size")
        .at("--points")
        .given(fmt::format("{}", points))
        .allowed(fmt::format("{}", fmt::join(known, ", ")));
}

/// What was not task code, by kind, as shares of the threads' time.
std::string runtime_of(const Profile& profile) {
    std::map<std::string, double> shares;
    double known = 0;
    for (const Profile::Row& row : profile.rows()) {
        if (row.kind == OpKind::task) continue;
        const double share = 1e-9 * static_cast<double>(row.ns) / profile.thread_seconds();
        shares[name_of(row.kind)] += share;
        known += share;
    }
    std::string text = "Of the threads' time, not task code: ";
    for (const auto& [kind, share] : shares) text += fmt::format("{} {:.2f} %, ", kind, 100 * share);
    return text + fmt::format("waiting and the rest {:.2f} %.", 100 * (profile.runtime_share() - known));
}

/// The Uintah input's rubber, pulled at both ends, which walls hold.
mpm::Settings bar(const Int3& patch) {
    constexpr double kSpacing = 0.04;  // m
    mpm::Settings s;
    for (std::size_t a = 0; a < 3; ++a) {
        s.patch_cells[a] = patch[a];
        s.cells.push_back(std::int64_t{patch[a]} * kPatches[a]);
        s.size.push_back(kSpacing * static_cast<double>(s.cells[a]));
    }
    s.bodies = {{.b = {s.size[0], s.size[1], s.size[2]}}};
    s.flip = 1;
    s.given_materials = {
        {.law = mpm::Law::mooney_rivlin, .density = 1000, .poisson = 0.49, .c1 = 1e5, .c2 = 2e4}};
    s.pull = 100;  // N
    s.end = 1e3;   // s: never
    mpm::complete(s, mpm::schema(s));
    return s;
}

struct Measured {
    std::int64_t steps = 0;
    double seconds = 0;
    Profile profile;
};

/// Steps for about so many seconds, after some that settle memory and clocks; of the latest operations that
/// all threads remember, where these are fewer.
Measured measure(Simulation& run, team::Team& team, double seconds) {
    const auto now = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const auto timed = [&](std::int64_t steps) {
        team.barrier();
        const double before = now();
        run.advance(steps);
        double took = now() - before;
        team.together().broadcast(std::span(&took, 1), 0);
        return took;
    };
    run.advance(3);
    std::int64_t steps = 3;
    double took = timed(steps);
    while (took < seconds / 20) took = timed(steps *= 4);
    Measured found;
    found.steps =
        std::max(std::int64_t{3}, static_cast<std::int64_t>(seconds / took * static_cast<double>(steps)));
    const auto begin = static_cast<std::int64_t>(1e9 * now());
    found.seconds = timed(found.steps);
    Recording recording(kRecords);
    recording.take(run);
    ProcessRecords mine = recording.records(team.rank());
    mine.begin_ns = std::max(mine.begin_ns, begin);
    std::erase_if(mine.records, [&](const TimedOp& op) { return op.begin_ns < mine.begin_ns; });
    found.profile = recording.gather(mine, team);
    return found;
}

RunResult result_of(const Measured& found, const Simulation& run, const mpm::Labels& l, int points,
                    team::Team& team) {
    RunResult r;
    r.solver = "mpm-patches";
    r.settings = {{"points", fmt::format("{}", points)}};
    r.processes = team.size();
    r.threads = team.crew().count();
    r.steps_s = found.seconds;
    r.steps = run.step();
    r.time = run.value(l.time);
    r.time_unit = std::string(1, 's');
    const Build build;
    r.compiler = build.compiler, r.flags = build.flags;
    // Opposite forces on a body that is the same from both ends: it moves, and not as a whole.
    const double kinetic = run.value(l.kinetic), patches = kPatches[0] * kPatches[1] * kPatches[2];
    const double mass = 1000 * std::pow(0.04, 3) * points / kPointsOfCell * patches;
    r.verification = {"momentum along the bar, as a share of what its points have",
                      std::abs(run.value(l.momentum_x)) / std::sqrt(2 * kinetic * mass), 1e-6,
                      "equal forces on both ends"};
    double flops = 0, bytes = 0;
    for (const Profile::Row& row : found.profile.rows()) flops += row.flops, bytes += row.bytes;
    const double all = found.profile.thread_seconds(), tasks = found.profile.task_seconds();
    const double threads = team.size() * team.crew().count();
    r.figures = {{"rate of operations", 1e-9 * flops / all * threads, "GF/s", true},
                 {"in task code alone", 1e-9 * flops / tasks * threads, "GF/s", true},
                 {"time in task code", 100 * tasks / all, "%", true},
                 {"points updated",
                  1e-6 * points * patches * static_cast<double>(found.steps) / found.seconds, "M/s", true},
                 {"bytes moved", 1e-9 * bytes / all * threads, "GB/s", true}};
    r.notes = {runtime_of(found.profile)};
    return r;
}

int go(team::Team& team, int points, double seconds, const std::string& file) {
    const mpm::Settings settings = bar(size_of(points));
    Graph graph("mpm");
    const mpm::Labels labels = mpm::declare(graph, settings);
    SimulationOptions options;
    options.crew = &team.crew();
    options.records = kRecords;
    Simulation run(graph, Members::of(team), options);
    run.start();
    const Measured found = measure(run, team, seconds);
    const RunResult result = result_of(found, run, labels, points, team);
    if (team.rank() != 0) return kSuccess;
    if (!file.empty()) write_result_to(file, result);
    std::fputs(result_text(result).c_str(), stdout);
    return result.verification.passed() ? kSuccess : kFailure;
}

}  // namespace

int main(int argc, char** argv) {
    int points = 0;
    double seconds = 0;
    std::string file;
    try {
        Options options("strata-mpm-patches",
                        "A bar under tension on 100 patches by the material point method: rates by the "
                        "number of points a patch.");
        options.option("--points", "N", "1000", "material points of a patch, 8 to 7200")
            .option("--duration", "TIME", "1s", "how long to measure")
            .option("--json", "FILE", "", "write the result there as JSON (schema strata.result/1)")
            .example("strata launch --layout 1x2 -- strata-mpm-patches --points 64", "on two threads")
            .example("strata study run patch-size", "all sizes, with plots");
        const Parsed given = options.parse(argc, argv);
        if (given.help()) return kSuccess;
        points = static_cast<int>(given.integer("--points", 1, 1'000'000));
        seconds = given.seconds("--duration");
        file = given.text("--json");
        size_of(points);
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
    return team::run(argc, argv, [&](team::Team& team) { return go(team, points, seconds, file); });
}
