// strata-md-weak: the Columbia fluid with as many atoms for every thread, for the study of weak scaling
// (Biswas et al., SC 2005, Table 5: 64,000 atoms a process, cutoff 5.0, 100 steps).
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/result.hpp"
#include "core/team/team.hpp"
#include "solvers/md/tasks.hpp"

namespace {

using namespace strata;
using namespace strata::graph;

/// A patch for each thread, in a row along z: what a patch has to do, and to copy, is the same for any
/// number.
md::Settings fluid(double cutoff, std::int64_t threads, std::int64_t steps) {
    md::Settings s;
    s.cells = {25, 20, 32 * threads};  // of four atoms: 64,000 for a thread
    s.patches = {1, 1, threads};
    s.density = 0.8442, s.temperature = 3, s.cutoff = cutoff, s.shift = "energy";
    s.steps = steps, s.thermo = steps;
    md::complete(s, md::schema(s));
    return s;
}

int go(team::Team& team, double cutoff, std::int64_t steps, const std::string& file) {
    const std::int64_t threads = std::int64_t{team.size()} * team.crew().count();
    const md::Settings settings = fluid(cutoff, threads, steps);
    Graph graph("md");
    const md::Labels l = md::declare(graph, settings);
    Simulation run(graph, Members::of(team), {.crew = &team.crew()});
    run.start();
    run.advance(1);
    team.barrier();
    const auto before = std::chrono::steady_clock::now();
    run.advance(steps - 1);
    team.barrier();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
    const auto atoms = static_cast<double>(run.value(l.atoms));
    if (team.rank() != 0) return kSuccess;
    RunResult r;
    r.solver = "md-weak";
    r.settings = {{"atoms", fmt::format("{:.0f}", atoms)}, {"cutoff", fmt::format("{}", cutoff)}};
    r.processes = team.size(), r.threads = team.crew().count();
    r.steps_s = took, r.steps = run.step();
    r.time = run.value(l.time), r.time_unit = "tau";
    const Build build;
    r.compiler = build.compiler, r.flags = build.flags;
    const double kinetic = run.value(l.thermo.kinetic);
    r.verification = {"change of the total energy, as a share of the kinetic energy",
                      std::abs(run.value(l.thermo.total) - run.value(l.thermo.first)) / kinetic, 0.01,
                      "energy is conserved"};
    const auto done = static_cast<double>(steps - 1);
    r.figures = {{"atoms updated", 1e-6 * atoms * done / took, "M/s", true},
                 {"time of a step", 1e3 * took / done, "ms", false}};
    if (!file.empty()) write_result_to(file, r);
    std::fputs(result_text(r).c_str(), stdout);
    return r.verification.passed() ? kSuccess : kFailure;
}

}  // namespace

int main(int argc, char** argv) {
    std::int64_t steps = 0;
    double cutoff = 0;
    std::string file;
    try {
        Options options("strata-md-weak",
                        "The Lennard-Jones fluid of the Columbia benchmark, with as many atoms for every "
                        "thread: how fast, by how many threads.");
        options.option("--cutoff", "R", "5", "in sigma")
            .option("--steps", "N", "100", "the first one is not timed")
            .option("--json", "FILE", "", "write the result there as JSON (schema strata.result/1)")
            .example("strata launch --layout 2x1 -- strata-md-weak --cutoff 2.5", "on two processes")
            .example("strata study run md-weak", "on one core, two, ... all, with plots");
        const Parsed given = options.parse(argc, argv);
        if (given.help()) return kSuccess;
        steps = given.integer("--steps", 2, 1'000'000);
        cutoff = given.number("--cutoff", 0.5, 20);
        file = given.text("--json");
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    }
    return team::run(argc, argv, [&](team::Team& team) { return go(team, cutoff, steps, file); });
}
