#include "benchmarks/npb/lu/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "benchmarks/npb/common/team_group.hpp"
#include "benchmarks/npb/flow/timed.hpp"
#include "benchmarks/npb/lu/integral.hpp"
#include "benchmarks/npb/lu/lu.hpp"
#include "benchmarks/npb/lu/rows.hpp"
#include "core/graph/simulation/simulation.hpp"

namespace strata::npb::lu {
namespace {

using graph::Box;
using graph::Here;
using graph::On;
using graph::Reduce;
using graph::Task;
using graph::upwind;

/// How many blocks the points within the boundary make, in units of eight rows or of a plane.
std::int64_t blocks_of(std::int64_t points, std::int64_t unit, std::int64_t most_units) {
    const std::int64_t units = (points - 2 + unit - 1) / unit;
    return (units + most_units - 1) / most_units;
}

/// Where block `block` begins; the first and the last have the boundary as well.
int begin_of(std::int64_t points, std::int64_t unit, std::int64_t block, std::int64_t blocks) {
    const std::int64_t units = (points - 2 + unit - 1) / unit;
    if (block == 0) return 0;
    if (block == blocks) return static_cast<int>(points);
    return static_cast<int>(1 + unit * (block * units / blocks));
}

std::vector<Box> boxes_of(std::int64_t points, PatchSize size) {
    const std::int64_t rows = blocks_of(points, kLanes, size.eights),
                       slabs = blocks_of(points, 1, size.planes);
    std::vector<Box> boxes;
    for (std::int64_t k = 0; k < slabs; ++k)
        for (std::int64_t j = 0; j < rows; ++j)
            boxes.push_back({{0, begin_of(points, kLanes, j, rows), begin_of(points, 1, k, slabs)},
                             {static_cast<int>(flow::round_up(points)), begin_of(points, kLanes, j + 1, rows),
                              begin_of(points, 1, k + 1, slabs)}});
    return boxes;
}

graph::GridShape shape_of(std::int64_t points) {
    const auto n = static_cast<int>(points), width = static_cast<int>(flow::round_up(points));
    return {.cells = {{0, 0, 0}, {width, n, n}}, .patch_cells = {width, n, n}};
}

/// A view's values as the kernels read them. Those of a view that may only be read are not written.
template <class T>
flow::Field field_of(const graph::FieldView<T>& view, const Box& own) {
    T* first = view.origin() + own.lo[1] * view.stride(1) + own.lo[2] * view.stride(2);
    return {const_cast<double*>(first), view.component_stride(), view.stride(1), view.stride(2)};
}

/// A row of it, and a plane, counted as in the grid.
template <class T>
Contributions::Row row_of(const graph::FieldView<T>& view, std::int64_t y, std::int64_t z) {
    return {const_cast<double*>(view.origin() + y * view.stride(1) + z * view.stride(2)),
            view.component_stride()};
}
template <class T>
flow::Field plane_of(const graph::FieldView<T>& view, const Box& own, std::int64_t z) {
    flow::Field plane = field_of(view, own);
    plane.origin += (z - own.lo[2]) * plane.plane;
    return plane;
}

/// Memory of the calling thread, aligned to cache lines; zeroed when it grows.
template <class Kind>
double* scratch(std::size_t doubles) {
    struct Aligned {
        void operator()(double* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
    };
    thread_local std::unique_ptr<double[], Aligned> memory;
    thread_local std::size_t size = 0;
    if (size < doubles) {
        memory.reset(new (std::align_val_t{64}) double[doubles]());
        size = doubles;
    }
    return memory.get();
}
struct OfOperator {};
struct OfSolve {};
struct OfForcing {};

void evaluate(flow::Operator& operate, const flow::Cell& cell, double factor) {
    const flow::Tile& t = cell.tile;
    operate.begin(cell.u, scratch<OfOperator>(flow::Operator::doubles(t.size)));
    for (std::int64_t z = t.first(2); z < t.last(2); ++z) operate.plane(z, cell.forcing, cell.rhs, factor);
}

/// The forcing: what the operator leaves of the exact solution, with the other sign.
void force(flow::Operator& operate, const flow::Tile& t, const flow::Field& forcing) {
    const flow::Field exact = flow::Field::in(scratch<OfForcing>(flow::Field::doubles(t.size)), t.size);
    flow::fill(exact, t, -flow::Field::kLayers, t.size[2] + flow::Field::kLayers, flow::exact_values);
    evaluate(operate, {{}, t, exact, {}, forcing}, -1);
}

}  // namespace

PatchSize PatchSize::of(std::int64_t points) {
    const std::int64_t eights = flow::round_up(points - 2) / kLanes;
    return {std::clamp<std::int64_t>(eights / 4, 1, 2), std::clamp<std::int64_t>((points - 2 + 7) / 8, 2, 8)};
}

Tasks::Tasks(const flow::Problem& problem, PatchSize size, Break fault)
    : problem_(problem),
      fault_(fault),
      blocks_(blocks_of(problem.points, kLanes, size.eights)),
      grid_(graph_.add<graph::Grid>("points", shape_of(problem.points), boxes_of(problem.points, size))),
      u_(graph_.field<double>("u", grid_, On::cells,
                              {.components = flow::kComponents, .border = {kLanes, 2, 2}})),
      forcing_(
          graph_.field<double>("forcing", grid_, On::cells, {.components = flow::kComponents, .kept = true})),
      rhs_(graph_.field<double>("rhs", grid_, On::cells, {.components = flow::kComponents})),
      zeros_(static_cast<std::size_t>(flow::kComponents * RowSolve::pitch(problem.n()))) {
    residual = graph_.scalar<flow::State>("residual", Reduce::sum);
    error = graph_.scalar<flow::State>("error", Reduce::sum);
    pressures = graph_.scalar<FaceSums>("pressures", Reduce::sum);
    for (int patch = 0; patch < grid_.patches(); ++patch) operators_.emplace_back(tile(patch));
    declare_start();
    declare_solve<1>(handed("lower"));
    declare_solve<-1>(handed("upper"));
    declare_residual(graph_.step());
    declare_norms();
}

flow::Tile Tasks::tile(int patch) const {
    const Box own = grid_.box(patch);
    return {problem_.n(),
            {0, own.lo[1], own.lo[2]},
            {problem_.points, own.extent(1), own.extent(2)},
            flow::scale_of(problem_.n())};
}

graph::Assignment Tasks::assignment(int processes) const {
    if (processes > blocks_) return graph::assign(graph_, processes);
    graph::Assignment all;
    all.owner.emplace_back();
    for (int patch = 0; patch < grid_.patches(); ++patch)
        all.owner.begin()->push_back(static_cast<int>(patch % blocks_ * processes / blocks_));
    all.number(processes);
    return all;
}

Tasks::Handed Tasks::handed(const char* name) {
    // A row has room for lanes that are ahead of its points or behind them.
    return {graph_.field<double>(fmt::format("{} rows", name), grid_, On::cells,
                                 {.components = flow::kComponents, .border = {RowSolve::kMargin, 0, 0}}),
            graph_.field<double>(fmt::format("{} planes", name), grid_, On::cells,
                                 {.components = flow::kComponents})};
}

void Tasks::declare_start() {
    {
        Task task = graph_.start().task("begin", grid_);
        task.run([=, this, u = task.make(u_), forcing = task.make(forcing_)](Here& here) {
            const flow::Tile t = tile(here.patch);
            const auto to = here[u];
            const Box all = to.box();
            for (int k = all.lo[2]; k < all.hi[2]; ++k)
                for (int j = all.lo[1]; j < all.hi[1]; ++j)
                    for (int i = all.lo[0]; i < all.hi[0]; ++i) {
                        const flow::State s = flow::value_at(flow::initial_values, {i, j, k}, t);
                        for (int m = 0; m < flow::kComponents; ++m)
                            to(i, j, k, m) = s[static_cast<std::size_t>(m)];
                    }
            force(operators_[static_cast<std::size_t>(here.patch)], t, field_of(here[forcing], here.cells()));
        });
    }
    declare_residual(graph_.start());
}

/// rhs = forcing + L u.
void Tasks::declare_residual(graph::Scope& scope) {
    const bool first = &scope == &graph_.start();
    Task task = scope.task(first ? "first residual" : "residual", grid_);
    const auto u = task.need(u_.at(first ? 0 : 1), graph::ghosts({0, 2, 2}));
    const auto forcing = task.need(forcing_);
    const auto rhs = first ? task.make(rhs_) : task.modify(rhs_.at(1));
    task.run([=, this](Here& here) {
        const Box own = here.cells();
        const flow::Cell cell{{},
                              tile(here.patch),
                              field_of(here[u], own),
                              field_of(here[forcing], own),
                              field_of(here[rhs], own)};
        evaluate(operators_[static_cast<std::size_t>(here.patch)], cell, 1);
    });
}

template <int Way>
void Tasks::declare_solve(const Handed& handed) {
    Task task = graph_.step().task(Way > 0 ? "lower" : "upper", grid_);
    const auto rows = task.make(handed.rows), planes = task.make(handed.planes);
    const auto rows_before = task.need(handed.rows, upwind(1, Way));
    const auto planes_before = task.need(handed.planes, upwind(2, Way));
    const auto solve = [=, this](Here& here, const flow::Cell& cell) {
        const Box own = here.cells();
        const flow::Tile& t = cell.tile;
        const bool starts_y = Way > 0 ? own.lo[1] == 0 : own.hi[1] == t.n[1];
        const bool starts_z = Way > 0 ? own.lo[2] == 0 : own.hi[2] == t.n[2];
        const int first_row = Way > 0 ? own.lo[1] : own.hi[1] - 1,
                  last_row = own.lo[1] + own.hi[1] - 1 - first_row;
        const std::int64_t first_plane = Way > 0 ? t.first(2) : t.last(2) - 1;
        const int last = Way > 0 ? own.hi[2] - 1 : own.lo[2];
        // From beyond the boundary come zeros, to every row of a plane the same ones.
        double* none = zeros_.data();
        const flow::Field behind = plane_of(here[planes], own, last);
        Contributions c;
        c.above = behind;
        c.below = starts_z ? flow::Field{none, RowSolve::pitch(t.n), 0, 0}
                           : plane_of(here[planes_before], own, (Way > 0 ? own.lo[2] : own.hi[2] - 1) - Way);
        const RowSolve kernel(cell, problem_.dt, fault_);
        double* memory = scratch<OfSolve>(RowSolve::scratch_doubles(t.n));
        for (std::int64_t nth = 0; nth < t.last(2) - t.first(2); ++nth, c.below = behind) {
            const std::int64_t z = first_plane + Way * nth;
            c.before = starts_y ? Contributions::Row{none + RowSolve::kMargin, RowSolve::pitch(t.n)}
                                : row_of(here[rows_before], first_row - Way, own.lo[2] + z);
            c.behind = row_of(here[rows], last_row, own.lo[2] + z);
            kernel.eights<Way>(z, 0, kernel.eights(), c, memory);
        }
    };
    const auto go = [=, this, &task](auto u, auto rhs) {
        task.run([=, this](Here& here) {
            const Box own = here.cells();
            solve(here, {{}, tile(here.patch), field_of(here[u], own), {}, field_of(here[rhs], own)});
        });
    };
    if constexpr (Way > 0)
        go(task.need(u_), task.modify(rhs_));
    else
        go(task.modify(u_), task.need(rhs_.at(1)));
}

/// After the last iteration.
void Tasks::declare_norms() {
    const auto last = graph_.scalar<std::int64_t>("last", Reduce::max);
    {
        Task task = graph_.step().once("is this the last iteration?");
        task.run([=, this, now = task.make(last)](Here& here) {
            here[now] = here.step == problem_.iterations ? 1 : 0;
        });
    }
    graph::Scope& end = graph_.step()
                            .when<std::int64_t>("norms", last.at(0), [](std::int64_t is) { return is != 0; })
                            .takes(u_.at(1))
                            .takes(rhs_.at(2));
    Task task = end.task("norms", grid_);
    const auto u = task.need(u_), rhs = task.need(rhs_);
    const auto squares = task.contribute(residual), errors = task.contribute(error);
    const auto faces = task.contribute(pressures);
    task.run([=, this](Here& here) {
        const Box own = here.cells();
        const flow::Cell cell{{}, tile(here.patch), field_of(here[u], own), {}, field_of(here[rhs], own)};
        const flow::Tile& t = cell.tile;
        using flow::Over;
        here[squares] = flow::sum_of_squares(cell, Over::within, t.first(2), t.last(2), flow::rhs_at);
        here[errors] = flow::sum_of_squares(cell, Over::within, t.first(2), t.last(2), flow::error_at);
        for (std::int64_t z = 0; z < t.size[2]; ++z) add_plane(cell, z, here[faces]);
    });
}

namespace {

Plan plan(Class of, int, int) {
    const flow::Problem& problem = problem_of(of);
    const std::int64_t n = problem.points, width = flow::round_up(n);
    const auto bytes = [](std::int64_t points) {
        return static_cast<std::uint64_t>(points) * flow::kComponents * sizeof(double);
    };
    const PatchSize size = PatchSize::of(n);
    const std::int64_t rows = blocks_of(n, kLanes, size.eights), slabs = blocks_of(n, 1, size.planes);
    return {problem.size_text(),
            problem.iterations,
            fmt::format("{} x {} patches of at most {} whole rows in {} planes", rows, slabs,
                        kLanes * size.eights, size.planes),
            {{"solution", bytes((width + 2 * kLanes) * (n + 4) * (n + 4))},
             {"forcing", bytes(width * n * n)},
             {"right-hand side", bytes(width * n * n)},
             {"what patches hand on", bytes((2 * width + 2 * RowSolve::kMargin) * n * n)}}};
}

Outcome run(Class size, Group& group, Break fault) {
    team::Team& team = dynamic_cast<TeamGroup&>(group).members();
    const flow::Problem& problem = problem_of(size);
    Tasks lu(problem, PatchSize::of(problem.points), fault);
    graph::Simulation run(lu.graph(), graph::Members::of(team),
                          {.crew = &team.crew(), .assignment = lu.assignment(team.size())});
    run.start();
    constexpr int kParts = 10;
    int part = 0;
    const auto iterate = [&] {
        const Share steps(problem.iterations, part++, kParts);
        run.advance(steps.end - steps.begin);
    };
    const double seconds = flow::timed(group, "tenths of LU's iterations", kParts, iterate, [] {});
    const auto norm = [&](const auto& sums) { return flow::root_mean_square(run.value(sums), problem.n()); };
    const flow::Scale scale = flow::scale_of(problem.n());
    Outcome outcome = concluded(problem, seconds, norm(lu.residual), norm(lu.error),
                                integral_of(run.value(lu.pressures), scale));
    group.meet();  // nobody frees its patches while others read them
    return outcome;
}

}  // namespace

const Benchmark benchmark_by_tasks = {"lu", "flow equations by symmetric successive over-relaxation", plan,
                                      run};

}  // namespace strata::npb::lu
