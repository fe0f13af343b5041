#include "benchmarks/npb/ft/ft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/ft/solver.hpp"

namespace strata::npb::ft {
namespace {

constexpr Problem kProblems[] = {
    {{64, 64, 64}, 6},         // S
    {{128, 128, 32}, 6},       // W
    {{256, 256, 128}, 6},      // A
    {{512, 256, 256}, 20},     // B
    {{512, 512, 512}, 20},     // C
    {{2048, 1024, 1024}, 25},  // D
    {{4096, 2048, 2048}, 25},  // E
    {{8192, 4096, 4096}, 25},  // F
};
constexpr double kLimit = 1e-12;

Plan plan(Class size, int processes, int workers) {
    const Problem& p = problem(size);
    const Pencils pencils(p.n, processes);
    Plan plan{fmt::format("{:4}x{:4}x{:4}", p.n[0], p.n[1], p.n[2]),
              p.iterations,
              fmt::format("{} x {} pencils, over {} worker{} in each", pencils.first(), pencils.second(),
                          workers, workers == 1 ? "" : "s"),
              {}};
    for (const auto& [what, bytes] : Solver::needs(p, pencils, processes, workers))
        plan.needs.push_back({what, bytes});
    return plan;
}

Outcome run(Class size, Group& group, Break fault) {
    const Problem& p = problem(size);
    Solver solver(p, group, fault);
    bench::Progress progress("iterations of FT", static_cast<std::size_t>(p.iterations));
    // Once without a clock, for touching all there is; then everything counts, also the initial values.
    solver.start();
    group.meet();
    const double start = bench::now();
    solver.start();
    std::vector<std::complex<double>> found;
    for (int iteration = 1; iteration <= p.iterations; ++iteration) {
        found.push_back(solver.step(iteration));
        if (group.first()) progress.step();
    }
    Outcome outcome;
    outcome.seconds = group.max(bench::now() - start);
    const double points = p.points(), logarithm = std::log(points);
    outcome.operations =
        points * (14.8157 + 7.19641 * logarithm + (5.23518 + 7.21113 * logarithm) * p.iterations);
    outcome.bytes = solver.bytes(p.iterations);
    outcome.compulsory_bytes = solver.compulsory_bytes(p.iterations);
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::complex<double> official = checksums(size)[i];
        outcome.checks.push_back({fmt::format("relative error of checksum {}", i + 1), std::abs(found[i]),
                                  std::abs(official), std::abs((found[i] - official) / official), kLimit});
        outcome.lines.push_back(fmt::format("T ={:5}     Checksum = {:21.12e} {:21.12e}", i + 1,
                                            found[i].real(), found[i].imag()));
    }
    return outcome;
}

}  // namespace

const Problem& problem(Class size) { return kProblems[index(size)]; }

const Benchmark benchmark = {"ft", "a partial differential equation by Fourier transforms in 3-D", plan, run};

}  // namespace strata::npb::ft
