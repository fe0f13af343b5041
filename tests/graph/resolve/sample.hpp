// A graph with something of everything: particles on a grid, sums, reductions, a solve within the step, a
// part that runs at times.
#pragma once

#include <memory>

#include "core/graph/declare/graph.hpp"

namespace strata::tests {

/// The particles' momentum goes to the nodes, which are moved, with an implicit pressure; and back.
inline std::unique_ptr<graph::Graph> sample_graph() {
    using namespace graph;
    auto graph = std::make_unique<Graph>("sample");
    Grid& grid = graph->grid("grid", {.cells = {{0, 0, 0}, {64, 64, 32}}, .patch_cells = {16, 16, 16}});
    const SetId set = graph->particles("sand", grid);
    auto id = Particles<std::int64_t>(graph->particle_sets().at(0).id_label);
    auto x = graph->particle<double>(set, "position", {.components = 3, .unit = "m"});
    auto v = graph->particle<double>(set, "velocity", {.components = 3, .unit = "m/s"});
    auto stress = graph->particle<double>(set, "stress", {.components = 6, .unit = "Pa"});
    auto mass = graph->field<double>("mass", grid, On::nodes, {.unit = "kg"});
    auto momentum = graph->field<double>("momentum", grid, On::nodes, {.components = 3, .unit = "kg m/s"});
    auto force = graph->field<double>("force", grid, On::nodes, {.components = 3, .unit = "N"});
    auto pressure = graph->field<double>("pressure", grid, On::cells, {.history = 1, .unit = "Pa"});
    auto residual = graph->field<double>("residual", grid, On::cells);
    auto norm = graph->scalar<double>("residual norm", Reduce::sum);
    auto step = graph->scalar<double>("time step", Reduce::min, 1e-3, {.history = 1, .unit = "s"});
    auto wall = graph->field<double>("wall", grid, On::cells);
    auto moved = graph->scalar<double>("wall moved", Reduce::max);
    const auto task = [&](Scope& scope, const char* name) {
        Task made = scope.task(name, grid);
        made.run([](Here&) {});
        return made;
    };
    Task fill = task(graph->start(), "fill the box");
    fill.make(id), fill.make(x), fill.make(v), fill.make(stress), fill.make(pressure), fill.make(wall);

    Task to_grid = task(graph->step(), "particles to grid");
    to_grid.need(x), to_grid.need(v), to_grid.need(stress);
    to_grid.sum(mass, ghosts(1)), to_grid.sum(momentum, ghosts(1)), to_grid.sum(force, ghosts(1));
    to_grid.work(900, 400);

    Task watch = task(graph->step(), "watch the wall");
    watch.need(force, ghosts(1));
    watch.contribute(moved);
    Scope& when = graph->step().when<double>("the wall moves", moved, [](double m) { return m > 0.1; });
    Task move_wall = task(when, "move the wall");
    move_wall.need(force, ghosts(1));
    move_wall.modify(wall);

    Task guess = task(graph->step(), "guess the pressure");
    guess.need(pressure.previous()), guess.need(wall.at(1));
    guess.make(residual);
    Scope& solve = graph->step().repeat<double>(
        "pressure solve", norm, [](double n) { return n < 1e-8; }, 200);
    Task relax = task(solve, "relax");
    relax.need(mass, ghosts(1));
    relax.modify(residual);
    relax.contribute(norm);
    Task correct = task(graph->step(), "make the pressure");
    correct.need(residual.at(1));
    correct.make(pressure);

    Task advance = task(graph->step(), "advance the nodes");
    advance.need(mass), advance.need(force), advance.need(pressure, ghosts(1)), advance.need(step.previous());
    advance.modify(momentum);
    Task to_particles = task(graph->step(), "grid to particles");
    to_particles.need(momentum.at(1), ghosts(1)), to_particles.need(step.previous());
    to_particles.modify(x), to_particles.modify(v), to_particles.modify(stress);
    to_particles.work(700, 500);
    Task limit = task(graph->step(), "limit the step");
    limit.need(v.at(1));
    limit.contribute(step);
    graph->step().relocate(set, x.last());
    return graph;
}

}  // namespace strata::tests
