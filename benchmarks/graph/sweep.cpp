// Symmetric Gauss-Seidel sweeps over patches: how much of the threads a pipeline of patches keeps busy.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "benchmarks/common/median.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "core/base/error.hpp"

namespace strata::bench::graph_layer {

namespace {

using namespace strata::graph;

constexpr int kWindows = 7, kCheckedSteps = 5;

void declare(Options& options) {
    options.option("--cells", "N", "128", "cells along each edge of the cube; patches have a quarter of them")
        .example("strata bench graph-sweep --layout 1x2", "128^3 cells in 64 patches on two bound threads");
}

double right_side(int i, int j, int k) { return 1 + 0.1 * (i % 5) - 0.2 * (j % 3) + 0.05 * (k % 7); }

/// Every cell of a box in turn, up (towards = 1) or down (-1) along x, y and z:
///   u = (f + sum of the six neighbours) / 6.1, with 0 beyond the walls of a cube of n cells.
template <class To, class From>
void sweep(const To& u, const From& f, const Box& own, int n, int towards) {
    const auto at = [&](int axis, int step) {
        return towards > 0 ? own.lo[static_cast<std::size_t>(axis)] + step
                           : own.hi[static_cast<std::size_t>(axis)] - 1 - step;
    };
    for (int c = 0; c < own.extent(2); ++c)
        for (int b = 0; b < own.extent(1); ++b) {
            const int k = at(2, c), j = at(1, b);
            double* row = u.row(j, k);
            const double* right = f.row(j, k);
            // A wall's neighbour is the cell itself, taken not at all.
            const double ys = j > 0 ? 1 : 0, yn = j < n - 1 ? 1 : 0, zs = k > 0 ? 1 : 0,
                         zn = k < n - 1 ? 1 : 0;
            const double *south = u.row(j - (j > 0), k), *north = u.row(j + (j < n - 1), k);
            const double *below = u.row(j, k - (k > 0)), *above = u.row(j, k + (k < n - 1));
            for (int a = 0; a < own.extent(0); ++a) {
                const int i = at(0, a);
                const double beside = (i > 0 ? row[i - 1] : 0) + (i < n - 1 ? row[i + 1] : 0);
                const double around = ys * south[i] + yn * north[i] + zs * below[i] + zn * above[i];
                row[i] = (right[i] + around + beside) * (1 / 6.1);
            }
        }
}

/// One array over the whole cube, as sweep() reads it.
struct Cube {
    int n;
    std::vector<double> values = std::vector<double>(static_cast<std::size_t>(n) * n * n);
    [[nodiscard]] double* row(int j, int k) const {
        return const_cast<double*>(values.data()) + (static_cast<std::ptrdiff_t>(k) * n + j) * n;
    }
};

/// The sweeps as a graph, in threads of a crew that are bound to a core each.
class Sweeps {
  public:
    Sweeps(int n, int threads, Break fault)
        : n_(n),
          grid_(graph_.grid("cube", {.cells = {{0, 0, 0}, {n, n, n}}, .patch_cells = {n / 4, n / 4, n / 4}})),
          u_(graph_.field<double>("u", grid_, On::cells)),
          f_(graph_.field<double>("f", grid_, On::cells, {.kept = true})),
          fault_(fault) {
        declare_start();
        declare_sweep(0, 1);
        declare_sweep(1, -1);
        run_.emplace(graph_, threads);
    }
    /// Seconds of a step: a sweep up and one down.
    [[nodiscard]] double measure(std::int64_t steps) { return run_->measure(steps); }
    /// Values that differ, in any bit, from those of one loop over all cells after so many steps.
    [[nodiscard]] std::int64_t wrong(std::int64_t steps) const {
        const Box all{{0, 0, 0}, {n_, n_, n_}};
        const Cube u{n_}, f{n_};
        for (int k = 0; k < n_; ++k)
            for (int j = 0; j < n_; ++j)
                for (int i = 0; i < n_; ++i) f.row(j, k)[i] = right_side(i, j, k);
        for (std::int64_t step = 0; step < steps; ++step) sweep(u, f, all, n_, 1), sweep(u, f, all, n_, -1);
        std::int64_t wrong = 0;
        for (const Kept& kept : kept_versions((*run_)->plan())) {
            if (kept.label != u_.id()) continue;
            for (int patch = 0; patch < grid_.patches(); ++patch) wrong += wrong_in(patch, kept, u);
        }
        return wrong;
    }

  private:
    [[nodiscard]] std::int64_t wrong_in(int patch, const Kept& kept, const Cube& expected) const {
        const std::vector<std::byte> found = (*run_)->values(kept, patch);
        const Box box = grid_.box(patch);
        const std::size_t row = static_cast<std::size_t>(box.extent(0)) * sizeof(double);
        const std::byte* next = found.data();
        std::int64_t wrong = 0;
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j, next += row)
                wrong += std::memcmp(next, expected.row(j, k) + box.lo[0], row) != 0 ? 1 : 0;
        return wrong;
    }
    void declare_start() {
        Task task = graph_.start().task("right side", grid_);
        const auto first = task.make(u_), right = task.make(f_);
        task.run([=](Here& here) {
            const Box box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i)
                        here[first](i, j, k) = 0, here[right](i, j, k) = right_side(i, j, k);
        });
    }
    void declare_sweep(int version, int towards) {
        Task task = graph_.step().task(towards > 0 ? "up" : "down", grid_);
        const auto now = task.modify(u_.at(version), upwind({towards, towards, towards}));
        const auto right = task.need(f_);
        task.run([=, this](Here& here) {
            const bool wrong = fault_ != Break::none && towards > 0 && here.patch == grid_.patches() / 2;
            if (wrong && fault_ == Break::skip) return;
            sweep(here[now], here[right], here.cells(), n_, towards);
            if (wrong) here[now].row(here.cells().lo[1], here.cells().lo[2])[here.cells().lo[0]] += 1;
        });
    }

    int n_;
    Graph graph_{"sweeps"};
    Grid& grid_;
    Field<double> u_, f_;
    Break fault_;
    std::optional<BoundRun> run_;
};

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-sweep measures the threads of one process")
            .given(std::to_string(group.size()))
            .allowed("1");
    const int cells = given.has("--quick") ? 32 : static_cast<int>(given.integer("--cells", 8, 1024));
    if (cells % 4 != 0)
        throw Error("four patches along each edge have equal numbers of cells")
            .given(std::to_string(cells))
            .allowed("a multiple of 4");
    const int threads = thread_count();
    Result result;
    result.parameter("cells", fmt::format("{0} x {0} x {0}", cells));
    result.parameter("patches", std::int64_t{64});
    Sweeps all(cells, threads, fault), one(cells, 1, fault);
    (void)all.measure(kCheckedSteps);
    result.verification = {"rows of cells that are not, to the bit, those of one loop over all cells",
                           static_cast<double>(all.wrong(kCheckedSteps)), 0, "exact"};
    const double first = one.measure(2), window = given.has("--quick") ? 0.01 : 0.3;
    const auto steps = static_cast<std::int64_t>(std::clamp(window / std::max(first, 1e-9), 2.0, 1e6));
    std::vector<double> together, alone, efficiency;
    for (int i = 0; i < kWindows; ++i) {
        together.push_back(all.measure(steps));
        alone.push_back(one.measure(steps));
        efficiency.push_back(100 * alone.back() / (threads * together.back()));
    }
    const double updates = 2e-6 * cells * cells * cells;  // millions a step
    result.figures = {{"cells", updates / median(together), "Mcell/s", true, {}, {}},
                      {"cells, one thread", updates / median(alone), "Mcell/s", true, {}, {}},
                      {"efficiency", median(efficiency), "% of ideal", true, {}, {}}};
    result.notes = {fmt::format(
        "Efficiency: the rate beside {} times that of one thread, in turn; medians of {} windows.", threads,
        kWindows)};
    return result;
}

}  // namespace

const Benchmark sweep_patches = {of_graph::kSweep.name, of_graph::kSweep.summary, declare, run};

}  // namespace strata::bench::graph_layer
