#include "tests/graph/solvers/charges.hpp"

#include <array>
#include <cmath>

#include "tests/graph/particles/cloud.hpp"

namespace strata::tests {

using namespace graph;

namespace {

constexpr Int3 kCells{12, 9, 6};
constexpr int kEach = 2;  // particles in a cell
constexpr std::array<bool, 3> kPeriodic{true, true, false};

/// The weights of a particle at u on the nodes first, first + 1, ...: a cloud in a cell (order 2) or the
/// cubic B-spline (order 4). Hockney and Eastwood, Computer Simulation Using Particles, 1988, section 5-3.
struct Weights {
    int first = 0;
    std::array<double, 4> w{};
};
Weights weights(int order, double u) {
    const double cell = std::floor(u), f = u - cell;
    const int i = static_cast<int>(cell);
    if (order == 2) return {i, {1 - f, f}};
    return {i - 1,
            {(1 - f) * (1 - f) * (1 - f) / 6, (4 - 6 * f * f + 3 * f * f * f) / 6,
             (1 + 3 * f + 3 * f * f - 3 * f * f * f) / 6, f * f * f / 6}};
}

/// each(node, weight) for all nodes that a particle at x gives to; `scale`: nodes in a cell.
template <class Each>
void each_node(int order, double scale, const double* x, const Each& each) {
    const Weights a = weights(order, scale * x[0]), b = weights(order, scale * x[1]),
                  c = weights(order, scale * x[2]);
    for (int k = 0; k < order; ++k)
        for (int j = 0; j < order; ++j)
            for (int i = 0; i < order; ++i)
                each(Int3{a.first + i, b.first + j, c.first + k}, a.w[z(i)] * b.w[z(j)] * c.w[z(k)]);
}

Int3 wrapped(Int3 node, const Int3& n) {
    for (std::size_t a = 0; a < 2; ++a) node[a] = (node[a] % n[a] + n[a]) % n[a];
    return node;
}

}  // namespace

Charges::Charges() : Solver("charges") {
    const auto box = [](int a, int b, int c) { return Box{{0, 0, 0}, {a, b, c}}; };
    cells = &graph.grid("cells", {.cells = box(12, 9, 6), .patch_cells = {5, 4, 3}, .periodic = kPeriodic});
    pencils =
        &graph.grid("pencils", {.cells = box(12, 9, 6), .patch_cells = {12, 2, 4}, .periodic = kPeriodic});
    fine = &graph.add<Grid>("fine",
                            GridShape{.cells = box(24, 18, 12), .patch_cells = {}, .periodic = kPeriodic},
                            std::vector<Box>{{{0, 0, 0}, {24, 5, 12}},
                                             {{0, 5, 0}, {10, 18, 12}},
                                             {{10, 5, 0}, {24, 18, 7}},
                                             {{10, 5, 7}, {24, 18, 12}}});
    coarse = &graph.grid("coarse", {.cells = box(4, 3, 2), .patch_cells = {2, 3, 1}, .periodic = kPeriodic});
    near = graph.field<double>("near", *pencils, On::nodes, {.kept = true});
    on_fine = graph.field<double>("on fine", *fine, On::nodes, {.components = 2, .history = 1});
    on_coarse = graph.field<double>("on coarse", *coarse, On::nodes, {.kept = true});
    total = graph.scalar<double>("total", Reduce::sum);
    total_fine = graph.scalar<double>("total of fine", Reduce::sum);
    total_coarse = graph.scalar<double>("total of coarse", Reduce::sum);
    set_ = graph.particles("charges", *cells);
    id_ = graph.particle_id(set_);
    x_ = graph.particle<double>(set_, "x", {.components = 3});
    v_ = graph.particle<double>(set_, "v", {.components = 3});
    q_ = graph.particle<double>(set_, "q");
    declare_particles();
    declare_spreading();
    declare_totals();
}

void Charges::declare_particles() {
    {
        Task task = graph.start().task("sow", *cells);
        const auto id = task.make(id_);
        const auto x = task.make(x_), v = task.make(v_), q = task.make(q_);
        task.run([=, this](Here& here) {
            const Box box = here.cells();
            here.create(set_, box.volume() * kEach);
            std::int64_t at = 0;
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i)
                        for (int n = 0; n < kEach; ++n, ++at) {
                            const std::int64_t number =
                                ((k * kCells[1] + j) * std::int64_t{kCells[0]} + i) * kEach + n;
                            here[id][at] = number;
                            here[q][at] = 1 + static_cast<double>(number % 7) - 3.5 * static_cast<double>(n);
                            const std::array<double, 3> lo{i + 0.0, j + 0.0, 1 + (k + 0.0) * 2 / 3};
                            for (int c = 0; c < 3; ++c) {
                                const auto seed = static_cast<std::uint64_t>(number);
                                const auto eighths = [&](int salt) {
                                    return std::floor(8 * dice(seed, z(salt + c))) / 8;
                                };
                                here[x].component(c)[z(at)] = std::floor(8 * lo[z(c)]) / 8 + 0.5;
                                here[v].component(c)[z(at)] = c == 2 ? eighths(7) / 2 : eighths(3);
                            }
                        }
        });
    }
    Task task = graph.step().task("push", *cells);
    const auto rho =
        task.need(on_fine.previous(), graph.add<Overlap>("fine around cells", *fine, *cells,
                                                         Overlap::Level::source_finer, 2, Int3{3, 3, 3}));
    const auto v = task.modify(v_), x = task.modify(x_);
    task.run([=](Here& here) {
        for (std::int64_t p = 0; p < here[x].size(); ++p) {
            std::array<double, 3> at{};
            for (int c = 0; c < 3; ++c) at[z(c)] = here[x].component(c)[z(p)];
            double felt = 0;
            each_node(4, 2, at.data(),
                      [&](const Int3& node, double w) { felt += w * here[rho](node[0], node[1], node[2]); });
            for (int c = 0; c < 3; ++c) {
                double& speed = here[v].component(c)[z(p)];
                if (c == 0 && felt > 0.5) speed = -speed;  // what is felt changes the way
                double next = at[z(c)] + speed;
                if (c == 2 && (next < 1 || next >= 5)) speed = -speed, next = at[z(c)];
                here[x].component(c)[z(p)] = next;
            }
        }
    });
    graph.step().relocate(set_, x_.last());
}

void Charges::declare_spreading() {
    const Overlap& same =
        graph.add<Overlap>("pencils around cells", *pencils, *cells, Overlap::Level::same, 1, Int3{1, 1, 1});
    const Overlap& finer =
        graph.add<Overlap>("onto fine", *fine, *cells, Overlap::Level::source_finer, 2, Int3{3, 3, 3});
    const Overlap& coarser =
        graph.add<Overlap>("onto coarse", *coarse, *cells, Overlap::Level::source_coarser, 3, Int3{1, 1, 1});
    const auto spread_fine = [&](Scope& scope, const char* name, auto xs, auto qs) {
        Task task = scope.task(name, *cells);
        const auto x = task.need(xs), q = task.need(qs);
        const auto to = task.sum(on_fine, finer);
        task.run([=](Here& here) {
            for (std::int64_t p = 0; p < here[x].size(); ++p) {
                std::array<double, 3> at{};
                for (int c = 0; c < 3; ++c) at[z(c)] = here[x].component(c)[z(p)];
                each_node(4, 2, at.data(), [&](const Int3& node, double w) {
                    here[to](node[0], node[1], node[2]) += here[q][p] * w;
                    here[to](node[0], node[1], node[2], 1) += w;
                });
            }
        });
    };
    spread_fine(graph.start(), "spread at first", x_.last(), q_.last());
    spread_fine(graph.step(), "spread on fine", x_.last(), q_.last());
    {
        Task task = graph.step().task("spread", *cells);
        const auto x = task.need(x_.last()), q = task.need(q_.last());
        const auto to = task.sum(near, same), less = task.sum(on_coarse, coarser);
        task.run([=](Here& here) {
            for (std::int64_t p = 0; p < here[x].size(); ++p) {
                std::array<double, 3> at{};
                for (int c = 0; c < 3; ++c) at[z(c)] = here[x].component(c)[z(p)];
                each_node(2, 1, at.data(), [&](const Int3& node, double w) {
                    here[to](node[0], node[1], node[2]) += here[q][p] * w;
                });
                each_node(2, 1.0 / 3, at.data(), [&](const Int3& node, double w) {
                    here[less](node[0], node[1], node[2]) += here[q][p] * w;
                });
            }
        });
    }
    {  // more contributions to one sum: of its own family, and of some patches
        Task task = graph.step().task("background", *pencils);
        const auto to = task.sum(near, Sides({0, 0, 0}, {1, 0, 0}));
        task.run([=](Here& here) {
            const Box box = here[to].box();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i) here[to](i, j, k) += i == 12 ? 0.25 : 0.5;
        });
    }
    Task task = graph.step().task("spread more", *cells);
    const auto to = task.sum(near, same);
    task.on({1, 3, 10}).run([=](Here& here) {
        const Int3 lo = here.cells().lo;
        here[to](lo[0] - 1, lo[1] - 1, lo[2] - 1) += 0.375;  // where lo[2] is 0 nobody has that node
    });
}

void Charges::declare_totals() {
    const auto add_up = [&](const char* name, const Grid& mesh, Field<double> label, Scalar<double> to) {
        Task task = graph.step().task(name, mesh);
        const auto rho = task.need(label);
        const auto sum = task.contribute(to);
        task.run([=](Here& here) {
            const Box box = here[rho].box();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i) here[sum] += here[rho](i, j, k);
        });
    };
    add_up("add up", *pencils, near, total);
    add_up("add up fine", *fine, on_fine, total_fine);
    add_up("add up coarse", *coarse, on_coarse, total_coarse);
}

Charges::Nodes Charges::spread(const Simulation& run, double scale, int order) const {
    const Int3 n{static_cast<int>(kCells[0] * scale + 0.5), static_cast<int>(kCells[1] * scale + 0.5), 0};
    Nodes sums;
    for (int patch = 0; patch < cells->patches(); ++patch) {
        const auto x = values_of<double>(run, x_.id(), patch), q = values_of<double>(run, q_.id(), patch);
        Nodes window;  // by indices that are not wrapped, in the order of periodic shifts
        for (std::size_t p = 0; p < q.size(); ++p) {
            const std::array<double, 3> at{x[p], x[q.size() + p], x[2 * q.size() + p]};
            each_node(order, scale, at.data(), [&](const Int3& node, double w) { window[node] += q[p] * w; });
        }
        for (const auto& [node, value] : window) sums[wrapped(node, n)] += value;
    }
    return sums;
}

Charges::Nodes Charges::expected_fine(const Simulation& run) const { return spread(run, 2, 4); }
Charges::Nodes Charges::expected_coarse(const Simulation& run) const { return spread(run, 1.0 / 3, 2); }

Charges::Nodes Charges::expected_near(const Simulation& run) const {
    Nodes sums;
    for (int k = 0; k <= kCells[2]; ++k)
        for (int j = 0; j < kCells[1]; ++j)
            for (int i = 0; i < kCells[0]; ++i) sums[{i, j, k}] = i == 0 ? 0.75 : 0.5;
    for (const auto& [node, value] : spread(run, 1, 2)) sums[node] += value;
    for (const int patch : {1, 3, 10}) {
        const Int3 lo = cells->box(patch).lo;
        if (lo[2] > 0) sums[wrapped({lo[0] - 1, lo[1] - 1, lo[2] - 1}, kCells)] += 0.375;
    }
    return sums;
}

Charges::Nodes Charges::values(const Simulation& run, const Grid& mesh, LabelId label, int component) {
    Nodes all;
    for (int patch = 0; patch < mesh.patches(); ++patch) {
        const std::vector<double> part = values_of<double>(run, label, patch);
        const Box box = mesh.owned(patch, On::nodes);
        std::size_t at = z(box.volume() * component);
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) all[{i, j, k}] = part.at(at++);
    }
    return all;
}

}  // namespace strata::tests
