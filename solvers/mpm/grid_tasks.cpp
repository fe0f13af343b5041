// What happens at grid points: velocity, SEM and IA.
#include <algorithm>

#include "solvers/mpm/step.hpp"
#include "solvers/mpm/walls.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// body(row of each view, first index, count) for the rows of a patch's grid points.
template <class Body>
void for_rows(const Box& box, Body body) {
    for (int k = box.lo[2]; k < box.hi[2]; ++k)
        for (int j = box.lo[1]; j < box.hi[1]; ++j) body(j, k, box.lo[0], box.extent(0));
}

}  // namespace

/// v = p / m where there is mass.
void declare_velocity(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("velocity of grid points", step.grid);
    const auto nodal = task.modify(l.nodal);
    const auto velocity = task.make(l.velocity);
    task.run([=, &s = step.settings](Here& here) {
        const FieldView<double> sums = here[nodal], v = here[velocity];
        const Walls walls(s, here.grid(), here.patch);
        walls.fold(sums, 4, 3);
        for_rows(v.box(), [&](int j, int k, int first, int n) {
            const Row<const double> m = sums.row(j, k, 3) + first;
            for (int c = 0; c < 3; ++c) {
                const Row<const double> p = sums.row(j, k, c) + first;
                const Row<double> to = v.row(j, k, c) + first;
                for (int i = 0; i < n; ++i) to[i] = m[i] > 0 ? p[i] / m[i] : 0;
            }
        });
        walls.hold(v);
    });
}

/// a = f / m + g (Sulsky et al. 1994, eq. 20).
void declare_sem(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("SEM", step.grid);
    const auto nodal = task.need(l.nodal.at(1));
    const auto force = task.modify(l.force);
    const auto acceleration = task.make(l.acceleration);
    task.run([=, &s = step.settings](Here& here) {
        const FieldView<const double> sums = here[nodal];
        const FieldView<double> f = here[force], a = here[acceleration];
        Walls(s, here.grid(), here.patch).fold(f, 3, 3);
        for_rows(a.box(), [&](int j, int k, int first, int n) {
            const Row<const double> m = sums.row(j, k, 3) + first;
            for (int c = 0; c < 3; ++c) {
                const double g = s.gravity[static_cast<std::size_t>(c)];
                const Row<const double> from = f.row(j, k, c) + first;
                const Row<double> to = a.row(j, k, c) + first;
                for (int i = 0; i < n; ++i) to[i] = m[i] > 0 ? from[i] / m[i] + g : 0;
            }
        });
    });
}

/// v' = v + (dt before + dt) / 2 a, as walls allow.
void declare_ia(const Step& step) {
    const Labels& l = step.labels;
    const bool flip = step.settings.transfer() == Transfer::flip;
    Task task = step.graph.step().task("IA", step.grid);
    const auto velocity = task.need(l.velocity);
    const auto acceleration = task.need(l.acceleration);
    const TimeStep length(step, task);
    const auto before = task.need(l.dt.previous());
    const auto next = task.make(l.next_velocity);
    FieldUse<double> change;
    if (flip) change = task.make(l.change);
    task.run([=, &s = step.settings](Here& here) {
        const FieldView<const double> v = here[velocity], a = here[acceleration];
        const FieldView<double> to = here[next];
        const double kick = 0.5 * (here[before] + length(here));
        const auto rows = [&](auto body) {
            for_rows(to.box(), [&](int j, int k, int first, int n) {
                for (int c = 0; c < 3; ++c) body(j, k, c, first, n);
            });
        };
        rows([&](int j, int k, int c, int first, int n) {
            const Row<const double> v0 = v.row(j, k, c) + first, by = a.row(j, k, c) + first;
            const Row<double> v1 = to.row(j, k, c) + first;
            for (int i = 0; i < n; ++i) v1[i] = v0[i] + kick * by[i];
        });
        Walls(s, here.grid(), here.patch).hold(to);
        if (!flip) return;
        const FieldView<double> changed = here[change];
        rows([&](int j, int k, int c, int first, int n) {
            const Row<const double> v0 = v.row(j, k, c) + first, v1 = to.row(j, k, c) + first;
            const Row<double> dv = changed.row(j, k, c) + first;
            for (int i = 0; i < n; ++i) dv[i] = v1[i] - v0[i];
        });
    });
}

}  // namespace strata::mpm
