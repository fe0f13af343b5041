#include "benchmarks/npb/mz/benchmarks.hpp"

#include <fmt/format.h>

#include "benchmarks/npb/bt/bt.hpp"
#include "benchmarks/npb/bt/scheme.hpp"
#include "benchmarks/npb/flow/timed.hpp"
#include "benchmarks/npb/lu/integral.hpp"
#include "benchmarks/npb/lu/lu.hpp"
#include "benchmarks/npb/mz/factored.hpp"
#include "benchmarks/npb/mz/problems.hpp"
#include "benchmarks/npb/mz/relaxed.hpp"
#include "benchmarks/npb/sp/scheme.hpp"
#include "benchmarks/npb/sp/sp.hpp"

namespace strata::npb::mz {
namespace {

constexpr const char* kNames[] = {"bt-mz", "sp-mz", "lu-mz"};
const char* name_of(Kind kind) { return kNames[static_cast<std::size_t>(kind)]; }

const flow::Operations& operations_of(Kind kind) {
    return kind == Kind::bt ? bt::kOperations : kind == Kind::sp ? sp::kOperations : lu::kOperations;
}

template <Kind kKind>
Plan plan(Class size, int processes, int workers) {
    const Zones zones = zones_of(kKind, size);
    const Problem& problem = problem_of(kKind, size);
    Plan plan{fmt::format("{:4}x{:4}x{:4}", zones.points[0], zones.points[1], zones.points[2]),
              problem.iterations,
              {},
              Mesh::needs(zones, processes, workers)};
    std::vector<flow::Tile> tiles;
    for (std::size_t z = 0; z < zones.count(); ++z)
        tiles.push_back(flow::Tile::whole(zones.size(z), zones.scale));
    std::vector<Need> more;
    if constexpr (kKind == Kind::bt) more = flow::Lines<bt::Scheme>::needs(tiles, workers);
    if constexpr (kKind == Kind::sp) more = flow::Lines<sp::Scheme>::needs(tiles, workers);
    if constexpr (kKind == Kind::lu) more = Relaxed::needs(zones, processes, workers);
    for (const Need& need : more) plan.needs.push_back(need);
    return plan;
}

template <Kind kKind>
std::string division(Class size, int processes, int threads, bool moved) {
    const Zones zones = zones_of(kKind, size);
    const Assignment found = assign(zones, processes, threads, moved);
    const auto [least, most] = std::minmax_element(found.threads.begin(), found.threads.end());
    const std::string each =
        *least == *most ? std::to_string(*least) : fmt::format("{} to {}", *least, *most);
    return fmt::format("{} x {} zones, {} process{} with {} thread{} each, predicted efficiency {:.1f} %",
                       zones.widths.size(), zones.depths.size(), processes, processes == 1 ? "" : "es", each,
                       *most == 1 ? "" : "s", 100 * found.efficiency);
}

struct Run {
    const Zones& zones;
    const Problem& problem;
    Group& group;
    Mesh& mesh;
    Busy& busy;
    Break fault;
    const char* name;

    /// BT and SP: the residual is that of the values that the last iteration left, without exchange.
    template <class Scheme>
    Outcome factored() {
        const Scheme scheme(zones.scale, problem.dt, fault);
        Factored<Scheme> solver(mesh, scheme, problem.dt, busy);
        mesh.force();
        mesh.begin();
        solver.iterate();  // for touching all there is, which is not counted
        mesh.begin();
        busy.reset();
        Outcome outcome;
        outcome.seconds = flow::timed(
            group, name, problem.iterations, [&] { solver.iterate(); }, [] {});
        const double balance = busy.balance();
        mesh.evaluate(1);
        finish(outcome, mesh.rhs_norm(), mesh.error_norm(flow::Over::all), balance);
        return outcome;
    }

    /// LU: the residual is that of the last iteration, summed up while the clock runs.
    Outcome relaxed() {
        Relaxed solver(mesh, problem.dt, fault, busy);
        mesh.force();
        mesh.begin();
        mesh.evaluate(1);
        solver.iterate();
        mesh.begin();
        mesh.evaluate(1);
        busy.reset();
        flow::State residual{};
        Outcome outcome;
        outcome.seconds = flow::timed(
            group, name, problem.iterations, [&] { solver.iterate(); }, [&] { residual = mesh.rhs_norm(); });
        const double balance = busy.balance();
        finish(outcome, residual, mesh.error_norm(flow::Over::within), balance);
        outcome.checks.push_back(relative("relative error of the surface integrals",
                                          lu::surface_integral(mesh), problem.integral, 1e-8));
        outcome.lines.push_back(fmt::format("surface integrals {:23.16e}", outcome.checks.back().found));
        return outcome;
    }

    void finish(Outcome& outcome, const flow::State& residual, const flow::State& error,
                double balance) const {
        outcome.checks = flow::checks(residual, error, problem.official);
        outcome.lines = flow::norm_lines(residual, error);
        outcome.lines.push_back(fmt::format("load balance {:.3f}, by processor time", balance));
        outcome.figures.push_back({"load balance", balance, "", true, {}, {}});
    }
};

template <Kind kKind>
Outcome run(Class size, Group& group, Break fault) {
    const Zones zones = zones_of(kKind, size);
    const Problem& problem = problem_of(kKind, size);
    const Assignment assignment = assign(zones, group.processes(), group.threads(), group.moves_threads());
    group.set_counts(assignment.threads);
    Mesh mesh(zones, assignment, group);
    Busy busy(group);
    const std::string name = fmt::format("iterations of {}", name_of(kKind));
    Run run{zones, problem, group, mesh, busy, fault, name.c_str()};
    Outcome outcome;
    if constexpr (kKind == Kind::bt) outcome = run.template factored<bt::Scheme>();
    if constexpr (kKind == Kind::sp) outcome = run.template factored<sp::Scheme>();
    if constexpr (kKind == Kind::lu) outcome = run.relaxed();
    for (std::size_t z = 0; z < zones.count(); ++z)
        outcome.operations += problem.iterations * operations_of(kKind).of(zones.size(z));
    return outcome;
}

}  // namespace

const Benchmark bt_zones = {name_of(Kind::bt), "block tridiagonal systems over zones of unequal size",
                            plan<Kind::bt>, run<Kind::bt>, division<Kind::bt>};
const Benchmark sp_zones = {name_of(Kind::sp), "scalar pentadiagonal systems over zones of equal size",
                            plan<Kind::sp>, run<Kind::sp>, division<Kind::sp>};
const Benchmark lu_zones = {name_of(Kind::lu), "symmetric successive over-relaxation over 4 x 4 zones",
                            plan<Kind::lu>, run<Kind::lu>, division<Kind::lu>};

std::string balance_of(const std::string& name, Class size) {
    for (const Kind kind : {Kind::bt, Kind::sp, Kind::lu})
        if (name == name_of(kind)) return balance_text(name, size, zones_of(kind, size));
    return {};
}

}  // namespace strata::npb::mz
