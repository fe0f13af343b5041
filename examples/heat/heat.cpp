// Heat in a square plate with cold edges: the solver of docs/write-a-solver.md, whole.
//   strata launch --layout 4x1 -- heat heat.toml --out run
#include <cmath>
#include <numbers>

#include "core/run/driver/driver.hpp"

using namespace strata::graph;

// 1. What a case may say
struct Settings {
    std::int64_t cells = 0, patch = 32;
    double diffusivity = 1, end = 0;
};

CaseSchema schema(Settings& s) {
    CaseSchema keys("heat", "Heat in a square plate of 1 m with cold edges.");
    keys.key("cells", &s.cells,
             {.least = 2, .most = 1 << 15, .required = true, .meaning = "in each direction"});
    keys.key("patch", &s.patch,
             {.least = 2, .most = 1 << 15, .meaning = "cells of a patch, in each direction"});
    keys.key("diffusivity", &s.diffusivity,
             {.unit = "m2/s", .least = 0, .above_least = true, .meaning = "kappa"});
    keys.key("end", &s.end,
             {.unit = "s",
              .least = 0,
              .above_least = true,
              .required = true,
              .restart = Restart::end,
              .meaning = "when the run ends"});
    return keys;
}

// 2. The numerics: a plain function on the values of one patch
double diffuse(const Box& cells, FieldView<const double> T, FieldView<double> next, double r) {
    double sum = 0;
    for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
        for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
            next(i, j) = T(i, j) + r * (T(i - 1, j) + T(i + 1, j) + T(i, j - 1) + T(i, j + 1) - 4 * T(i, j));
            sum += next(i, j);
        }
    return sum;
}

/// Sets the layer beyond the edges: the mean of a cell and the one beyond is 0.
void keep_edges_cold(const Box& own, FieldView<double> T) {
    const Box all = T.box();
    for (int j = own.lo[1]; j < own.hi[1]; ++j) {
        if (all.lo[0] < own.lo[0]) T(all.lo[0], j) = -T(own.lo[0], j);
        if (all.hi[0] > own.hi[0]) T(own.hi[0], j) = -T(own.hi[0] - 1, j);
    }
    for (int i = own.lo[0]; i < own.hi[0]; ++i) {
        if (all.lo[1] < own.lo[1]) T(i, all.lo[1]) = -T(i, own.lo[1]);
        if (all.hi[1] > own.hi[1]) T(i, own.hi[1]) = -T(i, own.hi[1] - 1);
    }
}

// 3. What is solved, as quantities and tasks
Solver declare(Graph& graph, const Settings& s) {
    const int n = static_cast<int>(s.cells), size = static_cast<int>(s.patch);
    const double h = 1.0 / n, dt = 0.2 * h * h / s.diffusivity, r = s.diffusivity * dt / (h * h);
    Grid& grid = graph.grid(
        "plate", {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {size, size, 1}, .spacing = {h, h, 1}});
    const auto T =
        graph.field<double>("temperature", grid, On::cells, {.history = 1, .border = {1, 1, 0}, .unit = "K"});
    const auto time = graph.scalar<double>("time", {.history = 1, .unit = "s"});
    const auto total = graph.scalar<double>("total", Reduce::sum, 0, {.unit = "K"});

    {  // 4. Once, before the first step
        Task task = graph.start().task("initial temperature", grid);
        const auto first = task.make(T);
        task.run([=](Here& here) {
            const Box all = here[first].box();  // at the edges of the plate: one layer beyond it, too
            for (int j = all.lo[1]; j < all.hi[1]; ++j)
                for (int i = all.lo[0]; i < all.hi[0]; ++i)
                    here[first](i, j) = std::sin(std::numbers::pi * (i + 0.5) * h) *
                                        std::sin(std::numbers::pi * (j + 0.5) * h);
        });
    }
    {  // 5. In each step
        Task task = graph.step().task("diffuse", grid);
        const auto before = task.need(T.previous(), ghosts({1, 1, 0}));
        const auto now = task.make(T);
        const auto heat = task.contribute(total);
        task.run([=](Here& here) {
            here[heat] = diffuse(here.cells(), here[before], here[now], r);
            if (!std::isfinite(here[heat])) here.fail("'temperature' is no number any more");
            keep_edges_cold(here.cells(), here[now]);
        });
    }
    {  // and the clock: once, not on each patch
        Task task = graph.step().once("advance clock");
        const auto before = task.need(time.previous());
        const auto now = task.make(time);
        task.run([=](Here& here) { here[now] = here[before] + dt; });
    }

    // 6. What makes the result count: the profile decays as exp(-2 pi^2 kappa t)
    Solver solver{.time = time, .end = s.end, .series = {total}};
    solver.verify = [=, &s](const Finished& run) -> Verification {
        const double decay =
            std::exp(-2 * std::numbers::pi * std::numbers::pi * s.diffusivity * run.value(time));
        const double error = std::sqrt(h * h * run.sum(T, [&](const Int3& at, double value) {
            const double x = std::numbers::pi * (at[0] + 0.5) * h, y = std::numbers::pi * (at[1] + 0.5) * h;
            return std::pow(value - decay * std::sin(x) * std::sin(y), 2);
        }));
        return {"error against the exact solution, in K", error, h * h, "second order: of the size of h^2"};
    };
    return solver;
}

// 7. The program
int main(int argc, char** argv) {
    Settings settings;
    CaseSchema keys = schema(settings);
    return drive(argc, argv, keys, [&](Graph& graph) { return declare(graph, settings); });
}
