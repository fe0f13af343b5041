#include "solvers/flow/output/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "methods/geometry/bounds.hpp"
#include "methods/geometry/points.hpp"
#include "solvers/flow/boundary/states.hpp"

namespace strata::flow {

using namespace graph;

namespace {

constexpr double kOutside = 1e-9;  // of a cell, that a point on its face may be outside by rounding

/// Solves a Dim x Dim system; false where it is singular.
template <int Dim>
bool solve(std::array<Real3, 3> a, Real3 b, Real3& x) {
    for (std::size_t c = 0; c < Dim; ++c) {
        std::size_t best = c;
        for (std::size_t r = c + 1; r < Dim; ++r)
            if (std::abs(a[r][c]) > std::abs(a[best][c])) best = r;
        if (a[best][c] == 0) return false;
        std::swap(a[c], a[best]), std::swap(b[c], b[best]);
        for (std::size_t r = c + 1; r < Dim; ++r) {
            const double factor = a[r][c] / a[c][c];
            for (std::size_t d = c; d < Dim; ++d) a[r][d] -= factor * a[c][d];
            b[r] -= factor * b[c];
        }
    }
    for (std::size_t c = Dim; c-- > 0;) {
        x[c] = b[c];
        for (std::size_t d = c + 1; d < Dim; ++d) x[c] -= a[c][d] * x[d];
        x[c] /= a[c][c];
    }
    return true;
}

template <int Dim>
bool holds(const std::array<Real3, 8>& corners, const Real3& x) {
    Real3 at{0.5, 0.5, Dim == 3 ? 0.5 : 0.0};
    for (int iteration = 0; iteration < 50; ++iteration) {
        // Where `at` is taken to, and the derivatives of that by each index.
        Real3 place{};
        std::array<Real3, 3> slopes{};  // [direction][index]
        for (std::size_t n = 0; n < (std::size_t{1} << Dim); ++n) {
            std::array<double, 3> part{1, 1, 1}, sign{};
            for (std::size_t a = 0; a < Dim; ++a) {
                const bool upper = (n >> a & 1U) != 0;
                part[a] = upper ? at[a] : 1 - at[a], sign[a] = upper ? 1 : -1;
            }
            for (std::size_t d = 0; d < Dim; ++d) {
                place[d] += part[0] * part[1] * part[2] * corners[n][d];
                slopes[d][0] += sign[0] * part[1] * part[2] * corners[n][d];
                slopes[d][1] += part[0] * sign[1] * part[2] * corners[n][d];
                slopes[d][2] += part[0] * part[1] * sign[2] * corners[n][d];
            }
        }
        Real3 rest{}, change{};
        for (std::size_t d = 0; d < Dim; ++d) rest[d] = x[d] - place[d];
        if (!solve<Dim>(slopes, rest, change)) return false;
        double largest = 0;
        for (std::size_t a = 0; a < Dim; ++a) {
            at[a] = std::clamp(at[a] + change[a], -1.0, 2.0);
            largest = std::max(largest, std::abs(change[a]));
        }
        if (largest < 1e-12) break;
        if (iteration == 49) return false;
    }
    for (std::size_t a = 0; a < Dim; ++a)
        if (!(at[a] >= -kOutside && at[a] <= 1 + kOutside)) return false;
    return true;
}

}  // namespace

template <int Dim>
std::optional<Int3> cell_of(const Box& cells, const FieldView<const double>& nodes, const Real3& x,
                            const std::function<bool(const Int3&)>& allowed) {
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                std::array<Real3, 8> corners{};
                bool may = true;
                for (int d = 0; d < Dim && may; ++d) {
                    const auto axis = static_cast<std::size_t>(d);
                    double lo = 0, hi = 0;
                    for (int n = 0; n < (1 << Dim); ++n) {
                        const double at = nodes(i + (n & 1), j + (n >> 1 & 1), k + (n >> 2), d);
                        corners[static_cast<std::size_t>(n)][axis] = at;
                        lo = n == 0 ? at : std::min(lo, at), hi = n == 0 ? at : std::max(hi, at);
                    }
                    const double room = kOutside * (hi - lo);
                    may = x[axis] >= lo - room && x[axis] <= hi + room;
                }
                if (may && holds<Dim>(corners, x) && (!allowed || allowed({i, j, k}))) return Int3{i, j, k};
            }
    return std::nullopt;
}

template <int Dim>
std::array<double, kProbed> probe(double gamma, const Int3& cell, const Real3& x,
                                  const FieldView<const double>& q, const FieldView<const double>& centres) {
    const CellDifferences<Dim> differences(centres, q.box(), cell);
    const auto value = [&](const Int3& at, int n) {
        const FlowState state = state_at<Dim>(gamma, q, at);
        return n == 0 ? state.rho : n == 4 ? state.p : state.u[static_cast<std::size_t>(n - 1)];
    };
    std::array<double, kProbed> values{};
    for (int n = 0; n < kProbed; ++n) {
        const Real3 slope = differences.gradient([&](const Int3& at) { return value(at, n); });
        double& sum = values[static_cast<std::size_t>(n)];
        sum = value(cell, n);
        for (int d = 0; d < Dim; ++d)
            sum += slope[static_cast<std::size_t>(d)] *
                   (x[static_cast<std::size_t>(d)] - centres(cell[0], cell[1], cell[2], d));
    }
    return values;
}

namespace {

/// Where a patch has a point, as bits: it has it; in a cell that is interpolated; whose neighbours are not
/// all known, so that there is no gradient.
enum Held : std::int32_t { kNone = 0, kHeld = 1, kInterpolated = 2, kAlone = 4 };

/// The value in the cell, wherever the point is in it.
template <int Dim>
std::array<double, kProbed> value_in(double gamma, const Int3& cell, const FieldView<const double>& q) {
    const FlowState state = state_at<Dim>(gamma, q, cell);
    return {state.rho, state.u[0], state.u[1], Dim == 3 ? state.u[2] : 0, state.p};
}

struct Holder {
    std::int32_t held = kNone;
    Int3 cell{};
};
/// The cell of a patch that has a point: a computed one if there is any.
template <int Dim>
Holder holder_of(const Box& cells, const FieldView<const double>& nodes, const Real3& x,
                 const std::function<Known(const Int3&)>& known) {
    if (!known) {
        const auto cell = cell_of<Dim>(cells, nodes, x);
        return cell ? Holder{kHeld, *cell} : Holder{};
    }
    for (const Known wanted : {Known::computed, Known::interpolated}) {
        const auto cell = cell_of<Dim>(cells, nodes, x, [&](const Int3& at) { return known(at) == wanted; });
        if (!cell) continue;
        Holder found{wanted == Known::computed ? kHeld : kHeld | kInterpolated, *cell};
        for (std::size_t a = 0; a < Dim; ++a)
            for (const int by : {-1, 1}) {
                Int3 next = *cell;
                next[a] += by;
                if (known(next) == Known::nothing) found.held |= kAlone;
            }
        return found;
    }
    return {};
}

/// Whether a patch may have a cell that holds a point: the box of its nodes does.
bool may_hold(const geometry::Bounds& nodes, const Real3& x, int dimensions) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
        const double room = kOutside * (nodes.hi[d] - nodes.lo[d]);
        if (!(x[d] >= nodes.lo[d] - room && x[d] <= nodes.hi[d] + room)) return false;
    }
    return true;
}

/// In which cell of which patch each point lies: at the start, or of grids that move in each step.
void find_cells(const Probes& probes, Scope& in, const ProbeLabels& labels, List<std::int32_t> cells,
                const std::string& when) {
    const auto count = static_cast<std::int64_t>(probes.points.size());
    Task task = in.task("probes, search" + when, probes.grid);
    const auto nodes = probes.nodes(task);
    const auto made = task.make(cells);
    const auto holder = task.contribute(labels.holders);
    std::function<Known(const Here&, const Int3&)> known;
    if (probes.known) known = probes.known(task, ghosts({1, 1, probes.dimensions == 3 ? 1 : 0}));
    task.run([=, points = probes.points, dimensions = probes.dimensions,
              patches = probes.grid.patches()](Here& here) {
        const auto x = nodes(here);
        geometry::Bounds box;
        for_each(x.box(), [&](int i, int j, int k) {
            box.add(geometry::point_at(x, dimensions, {i, j, k}));
        });
        std::function<Known(const Int3&)> is;
        if (known) is = [&](const Int3& cell) { return known(here, cell); };
        here[holder].resize(count);
        for (std::int64_t n = 0; n < count; ++n) {
            const Real3& point = points[static_cast<std::size_t>(n)];
            const Holder found = !may_hold(box, point, dimensions) ? Holder{}
                                 : dimensions == 2                 ? holder_of<2>(here.cells(), x, point, is)
                                                                   : holder_of<3>(here.cells(), x, point, is);
            here[made][4 * n] = found.held;
            for (std::size_t d = 0; d < 3; ++d)
                here[made][4 * n + 1 + static_cast<std::int64_t>(d)] = found.cell[d];
            if (found.held != kNone)
                here[holder][n] = here.patch + ((found.held & kInterpolated) != 0 ? patches : 0);
        }
    });
}

}  // namespace

ProbeLabels declare_probes(Graph& graph, Scope& scope, const Probes& probes,
                           const TypedVersion<double, Kind::field>& q) {
    const int count = static_cast<int>(probes.points.size());
    ProbeLabels labels{graph.scalars<double>("probes", Reduce::sum, kProbed * count),
                       graph.scalars<double>("probes, patches", Reduce::min, count)};
    const auto cells = graph.list<std::int32_t>("probes, cells", probes.grid,
                                                [count](int) { return 4 * count; }, {.kept = true});
    find_cells(probes, graph.start(), labels, cells, "");
    {
        Task task = graph.start().task("probes, check", probes.grid);
        const auto holder = task.need(labels.holders);
        task.run([=, points = probes.points, patches = probes.grid.patches(),
                  meshes = static_cast<bool>(probes.known)](Here& here) {
            std::string lost;
            for (std::int64_t n = 0; n < count && here.patch == 0; ++n) {
                const Real3& at = points[static_cast<std::size_t>(n)];
                if (here[holder][n] < 2 * patches) continue;
                lost += fmt::format("{}probe {} at ({:g}, {:g}, {:g})", lost.empty() ? "" : ", ", n + 1,
                                    at[0], at[1], at[2]);
            }
            if (!lost.empty())
                here.fail(
                    fmt::format("no cell holds {}{}: output.probes may have points within the grid alone",
                                lost, meshes ? " but holes of meshes that overlap" : ""));
        });
    }
    if (probes.moves) find_cells(probes, scope, labels, cells, ", in a step");
    Task task = scope.task("probes", probes.grid);
    const auto flow = task.need(q, ghosts(1).without_corners());
    const auto centres = probes.centres(task);
    const auto found = task.need(cells.last());
    const auto holder = task.need(labels.holders.last());
    const auto values = task.contribute(labels.values);
    task.run([=, points = probes.points, dimensions = probes.dimensions, gamma = probes.gamma,
              patches = probes.grid.patches()](Here& here) {
        here[values].resize(kProbed * count);
        for (std::int64_t n = 0; n < count; ++n) {
            const std::int32_t held = here[found][4 * n];
            if (held == kNone || here[holder][n] != here.patch + ((held & kInterpolated) != 0 ? patches : 0))
                continue;
            const Int3 cell{here[found][4 * n + 1], here[found][4 * n + 2], here[found][4 * n + 3]};
            const Real3& x = points[static_cast<std::size_t>(n)];
            const bool alone = (held & kAlone) != 0;
            const auto all = dimensions == 2 ? alone ? value_in<2>(gamma, cell, here[flow])
                                                     : probe<2>(gamma, cell, x, here[flow], centres(here))
                             : alone ? value_in<3>(gamma, cell, here[flow])
                                             : probe<3>(gamma, cell, x, here[flow], centres(here));
            for (int v = 0; v < kProbed; ++v)
                here[values][kProbed * n + v] = all[static_cast<std::size_t>(v)];
        }
    });
    return labels;
}

template std::optional<Int3> cell_of<2>(const Box&, const FieldView<const double>&, const Real3&,
                                        const std::function<bool(const Int3&)>&);
template std::optional<Int3> cell_of<3>(const Box&, const FieldView<const double>&, const Real3&,
                                        const std::function<bool(const Int3&)>&);
template std::array<double, kProbed> probe<2>(double, const Int3&, const Real3&,
                                              const FieldView<const double>&, const FieldView<const double>&);
template std::array<double, kProbed> probe<3>(double, const Int3&, const Real3&,
                                              const FieldView<const double>&, const FieldView<const double>&);

}  // namespace strata::flow
