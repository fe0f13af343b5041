// Connectivity of meshes that move: found anew in each step, as if they stood there.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"
#include "tests/graph/solvers/solver.hpp"
#include "tests/solvers/overset/overset_grids.hpp"

using namespace strata::tests;
using namespace strata::overset;
using strata::graph::Members;
using strata::graph::Simulation;

namespace {

Rigid about_z(double angle, const Real3& shift) {
    Rigid made{{{{std::cos(angle), -std::sin(angle), 0}, {std::sin(angle), std::cos(angle), 0}, {0, 0, 1}}},
               shift};
    return made;
}

/// A ring around a body goes through a background and turns: less than a cell in a step.
std::vector<OversetMesh> ring_in_brick() {
    return {brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.03),
            ring_mesh<2>("ring", 40, 16, {0.1, 0.05, 0}, 0.5, 3)};
}
Rigid ring_placed(int mesh, std::int64_t step) {
    const auto n = static_cast<double>(step);
    return mesh == 0 ? Rigid{} : about_z(0.11 * n, {0.06 * n, 0.02 * n, 0});
}

std::vector<OversetMesh> box_in_box() {
    std::vector<OversetMesh> meshes{
        brick_mesh<3>("outer", {20, 18, 16}, {0, 0, 0}, {2, 2, 2}, 0.02),
        brick_mesh<3>("inner", {16, 14, 14}, {-0.45, -0.48, 0.5}, {0.45, 0.48, 1.45}, 0.03, 0.4)};
    meshes[1].outer = all_faces(3);
    return meshes;
}
Rigid box_placed(int mesh, std::int64_t step) {
    const auto n = static_cast<double>(step);
    return mesh == 0 ? Rigid{} : about_z(0.13 * n, {1 + 0.02 * n, 0.97, 0});
}

/// Status of all cells after a number of steps, and where meshes stand there for good.
template <int Dim, class Placed>
void compare_with_still(const std::vector<OversetMesh>& meshes, Placed placed, int steps) {
    OversetGrids<Dim> moving(meshes, 9, {}, placed);
    Simulation run(moving.graph, Members::alone());
    run.start();
    int changed = 0;
    std::vector<std::vector<std::int32_t>> before;
    for (int step = 0; step <= steps; ++step) {
        CAPTURE(step);
        if (step > 0) run.advance(1);
        std::vector<OversetMesh> there = meshes;
        for (std::size_t m = 0; m < there.size(); ++m)
            there[m].place = [at = meshes[m].place, by = placed(static_cast<int>(m), step)](
                                 const Int3& node) { return by(at(node)); };
        OversetGrids<Dim> still(there, 9);
        Simulation beside(still.graph, Members::alone());
        beside.start();
        std::vector<std::vector<std::int32_t>> all;
        for (int patch = 0; patch < moving.zones.patches(); ++patch) {
            all.push_back(values_of<std::int32_t>(run, moving.found().status.id(), patch));
            CHECK(all.back() == values_of<std::int32_t>(beside, still.found().status.id(), patch));
            CHECK_FALSE(all.back().empty());
        }
        changed += !before.empty() && all != before ? 1 : 0;
        before = all;
    }
    CHECK(changed == steps);
}

double linear(const Real3& x) { return 0.3 + 2 * x[0] - 1.5 * x[1] + 0.7 * x[2]; }

}  // namespace

TEST_CASE("connectivity of meshes that move is that of meshes that stand there") {
    compare_with_still<2>(ring_in_brick(), ring_placed, 6);
    compare_with_still<3>(box_in_box(), box_placed, 3);
}

TEST_CASE("linear fields are carried over in each step, and cells that come out of holes get known values") {
    OversetGrids<2> grids(ring_in_brick(), 9, {}, ring_placed);
    Graph& graph = grids.graph;
    const Zones& zones = grids.zones;
    const auto moved = graph.scalar<std::array<double, 3>>("most", Reduce::max, 0.0);
    const auto uncovered = graph.scalar<std::int64_t>("uncovered", Reduce::sum);
    // Known cells have the field at their place, the others 1e9.
    const auto value_of = [&](const Here& here, const FieldView<const double>& centres, const Int3& at,
                              std::int64_t step) {
        const Real3 x{centres(at[0], at[1], at[2], 0), centres(at[0], at[1], at[2], 1), 0};
        return linear(ring_placed(zones.zone_of(here.patch), step)(x));
    };
    const auto set = [&](Scope& scope, bool at_start) {
        Task task = scope.task(at_start ? "first value" : "value", zones);
        const auto c = task.need(grids.centres);
        const auto is = task.need(grids.found().status);
        const auto to = at_start ? task.make(grids.value) : task.modify(grids.value);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const bool known = here[is](i, j, k) != static_cast<std::int32_t>(Cell::hole);
                here[to](i, j, k, 0) = known ? value_of(here, here[c], {i, j, k}, here.step) : 1e9;
                for (int n = 1; n < OversetGrids<2>::kValues; ++n) here[to](i, j, k, n) = known ? 1 : 1e9;
            });
        });
    };
    set(graph.start(), true);
    set(graph.step(), false);
    Uncovering uncovering(graph, *grids.problem, grids.found());
    const UncoveredValues before = uncovering.interpolate(grids.value.at(0));
    Exchange exchange(graph, graph.step(), *grids.problem, grids.found());
    const Interpolated now = exchange.interpolate(grids.value.at(1));
    Task task = graph.step().task("compare", zones);
    const auto c = task.need(grids.centres);
    const auto was = task.need(grids.found().status.previous()), is = task.need(grids.found().status);
    const auto from_before = before.need(task), from_now = now.need(task);
    constexpr std::size_t each = OversetGrids<2>::kValues;
    task.run([=, &zones, most = task.contribute(moved), count = task.contribute(uncovered)](Here& here) {
        std::array<double, 3> off{};
        for_each_receptor(here.cells(), here[is], [&](const Int3& at, std::size_t n) {
            off[0] =
                std::max(off[0], std::abs(here[from_now][each * n] - value_of(here, here[c], at, here.step)));
        });
        std::int64_t cells = 0;
        UncoveredAnswers answers = before.in(here, from_before);
        for_each_uncovered(here.cells(), here[was], here[is], [&](const Int3& at) {
            ++cells;
            const double* got = answers.next().of;
            // What the other mesh has there now was where that mesh was a step ago.
            const int own = zones.zone_of(here.patch), other = 1 - own;
            const Real3 x{here[c](at[0], at[1], at[2], 0), here[c](at[0], at[1], at[2], 1), 0};
            const Real3 there = ring_placed(own, here.step)(x);
            const Real3 then =
                ring_placed(other, here.step - 1)(ring_placed(other, here.step).inverse()(there));
            off[1] = std::max(off[1], std::abs(got[0] - linear(then)));
            off[2] = std::max(off[2], std::abs(got[1] - 1));
        });
        here[most] = off, here[count] = cells;
    });
    Simulation run(graph, Members::alone());
    run.start();
    std::int64_t all = 0;
    for (int step = 1; step <= 8; ++step) {
        run.advance(1);
        const auto [receptors, place, known] = run.value(moved);
        CHECK(receptors < 1e-11);
        CHECK(place <
              0.06);  // half a cell of the ring at its wall; the ring's motion alone makes 0.1 and more
        CHECK(known < 1e-13);
        all += run.value(uncovered);
    }
    CHECK(all > 50);
}

namespace {

/// What cells out of holes get where each cell that was known a step ago has a 1: how many there are, how far
/// off it is, and how many of them no other mesh knows. (In a hole it would be 1e9.)
std::array<double, 3> known_values(const std::vector<OversetMesh>& meshes, int steps,
                                   const std::function<Rigid(int, std::int64_t)>& placed) {
    OversetGrids<2> grids(meshes, 9, {}, placed);
    Graph& graph = grids.graph;
    const Zones& zones = grids.zones;
    const auto found = graph.scalar<std::array<double, 3>>("found", Reduce::sum);
    const auto set = [&](Scope& scope, bool at_start) {
        Task task = scope.task(at_start ? "first value" : "value", zones);
        const auto is = task.need(grids.found().status);
        const auto to = at_start ? task.make(grids.value) : task.modify(grids.value);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const bool known = here[is](i, j, k) != static_cast<std::int32_t>(Cell::hole);
                for (int n = 0; n < OversetGrids<2>::kValues; ++n) here[to](i, j, k, n) = known ? 1 : 1e9;
            });
        });
    };
    set(graph.start(), true);
    set(graph.step(), false);
    Uncovering uncovering(graph, *grids.problem, grids.found());
    const UncoveredValues before = uncovering.interpolate(grids.value.at(0));
    Task task = graph.step().task("compare", zones);
    const auto was = task.need(grids.found().status.previous()), is = task.need(grids.found().status);
    const auto values = before.need(task);
    task.run([=, to = task.contribute(found)](Here& here) {
        UncoveredAnswers answers = before.in(here, values);
        for_each_uncovered(here.cells(), here[was], here[is], [&](const Int3&) {
            const auto got = answers.next();
            here[to][0] += 1;
            here[to][1] += got.of != nullptr ? std::abs(got.of[0] - 1) : 1;
            here[to][2] += got.orphan ? 1 : 0;
        });
    });
    Simulation run(graph, Members::alone());
    run.start();
    std::array<double, 3> all{};
    for (int step = 1; step <= steps; ++step) {
        run.advance(1);
        for (std::size_t n = 0; n < 3; ++n) all[n] += run.value(found)[n];
    }
    return all;
}

/// The third mesh goes to the right, and a little up.
Rigid third_goes(int mesh, std::int64_t step) {
    const auto t = static_cast<double>(step);
    return mesh == 2 ? Rigid{.shift = {0.15 * t, 0.01 * t, 0}} : Rigid{};
}

}  // namespace

TEST_CASE("corners of a donor that were holes a step ago do not count") {
    // A body goes through the edge of the ring around another one, over a background that is finer than both
    // rings. Where cells of the background come out of the body, the best donor of some is a cell of that
    // ring which has come out of it, too: the body's own ring is coarser.
    const auto [cells, off, orphans] =
        known_values({brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.01),
                      ring_mesh<2>("first", 60, 16, {-0.8, 0, 0}, 0.4, 4),
                      ring_mesh<2>("second", 12, 4, {0.6, 0, 0}, 0.5, 3)},
                     10, third_goes);
    CHECK(cells > 50);
    CHECK(off < 1e-12);
    CHECK(orphans == 0);
}

TEST_CASE("a cell out of a hole takes its next donor where the best one lay in a hole as a whole") {
    // A fine mesh lies over the background where the body has been. What comes out of the body has its best
    // donor there, which has come out as well; the body's own ring knows the flow.
    OversetMesh fine = brick_mesh<2>("fine", {50, 44, 1}, {-0.2, -1, 0}, {2.2, 1, 0}, 0.01);
    fine.outer = all_faces(2);
    const auto [cells, off, orphans] =
        known_values({brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.01), fine,
                      ring_mesh<2>("body", 24, 8, {0.3, 0, 0}, 0.5, 3)},
                     8, third_goes);
    CHECK(cells > 50);
    CHECK(off < 1e-12);
    CHECK(orphans == 0);
}

TEST_CASE("cells out of holes are orphans where no other mesh knew the flow") {
    // The body goes farther in a step than its ring reaches. Known cells around know something for a few.
    const auto [cells, off, orphans] =
        known_values({brick_mesh<2>("background", {60, 50, 1}, {-3, -2.5, 0}, {3, 2.5, 0}, 0.01),
                      ring_mesh<2>("body", 48, 8, {-1.2, 0, 0}, 0.5, 1.5)},
                     1, [](int mesh, std::int64_t step) {
                         return mesh == 1 ? Rigid{.shift = {1.6 * static_cast<double>(step), 0, 0}} : Rigid{};
                     });
    CHECK(orphans > 10);
    CHECK(off > 10);       // nothing is known in the middle
    CHECK(off < orphans);  // but beside the hole that was
    CHECK(orphans <= cells);
}

TEST_CASE("vectors in cells that come out of holes are those that they see, also from another sector") {
    // A cylinder goes round across the join of a quarter. The flow is the same in all sectors: a swirl.
    const auto swirl = [](const Real3& x) { return Real3{-2 * x[1], 2 * x[0], 1}; };
    const auto placed = [](int mesh, std::int64_t step) {
        return mesh == 1 ? about_z(0.05 * static_cast<double>(step), {}) : Rigid{};
    };
    OversetGrids<3> grids({sector_mesh("sector", {48, 32, 4}, std::numbers::pi / 2),
                           ring_mesh<3>("ring", 40, 10, {1.5, -0.1, 0}, 0.2, 2.3, 4)},
                          9, {}, placed);
    Graph& graph = grids.graph;
    const auto found = graph.scalar<std::array<double, 2>>("found", Reduce::max, 0.0);
    const auto set = [&](Scope& scope, bool at_start) {
        Task task = scope.task(at_start ? "first value" : "value", grids.zones);
        const auto c = task.need(grids.centres);
        const auto to = at_start ? task.make(grids.value) : task.modify(grids.value);
        task.run([=, &zones = grids.zones](Here& here) {
            const Rigid there = placed(zones.zone_of(here.patch), here.step);
            for_each(here.cells(), [&](int i, int j, int k) {
                const Real3 u = swirl(there({here[c](i, j, k, 0), here[c](i, j, k, 1), here[c](i, j, k, 2)}));
                for (int n = 0; n < 2; ++n) here[to](i, j, k, n) = 1;
                for (int d = 0; d < 3; ++d) here[to](i, j, k, 2 + d) = u[std::size_t(d)];
            });
        });
    };
    set(graph.start(), true);
    set(graph.step(), false);
    Uncovering uncovering(graph, *grids.problem, grids.found());
    const UncoveredValues before = uncovering.interpolate(grids.value.at(0));
    Task task = graph.step().task("compare", grids.zones);
    const auto c = task.need(grids.centres);
    const auto was = task.need(grids.found().status.previous()), is = task.need(grids.found().status);
    const auto values = before.need(task);
    task.run([=, &zones = grids.zones, to = task.contribute(found)](Here& here) {
        auto& most = here[to];
        most = {};
        if (zones.zone_of(here.patch) != 0) return;
        UncoveredAnswers answers = before.in(here, values);
        for_each_uncovered(here.cells(), here[was], here[is], [&](const Int3& at) {
            const auto got = answers.next();
            const Real3 x{here[c](at[0], at[1], at[2], 0), here[c](at[0], at[1], at[2], 1), 0};
            const Real3 u = swirl(x);
            for (std::size_t d = 0; d < 3; ++d) most[0] = std::max(most[0], std::abs(got.of[2 + d] - u[d]));
            if (x[1] > x[0]) most[1] = 1;  // the cylinder that is there stands for another sector's
        });
    });
    Simulation run(graph, Members::alone());
    run.start();
    bool image = false;
    for (int step = 1; step <= 4; ++step) {
        run.advance(1);
        const auto [off, there] = run.value(found);
        CHECK(off < 0.5);  // of 2 to 4: donors have moved by 0.05 radians
        image = image || there > 0;
    }
    CHECK(image);
}
