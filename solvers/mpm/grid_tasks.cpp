// What happens at grid points: velocity, SEM and IA.
#include <algorithm>

#include "solvers/mpm/contact.hpp"
#include "solvers/mpm/step.hpp"
#include "solvers/mpm/walls.hpp"
#include "solvers/mpm/work.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// body(row of each view, first index, count) for the rows of a patch's grid points.
template <class Body>
void for_rows(const Box& box, Body body) {
    for (int k = box.lo[2]; k < box.hi[2]; ++k)
        for (int j = box.lo[1]; j < box.hi[1]; ++j) body(j, k, box.lo[0], box.extent(0));
}

/// Contact between groups at a patch's grid points.
struct ContactOfGroups {
    int groups;
    double friction;
    std::vector<double> density;  // of each group: that of its first body

    explicit ContactOfGroups(const Step& step)
        : groups(step.settings.groups()), friction(step.settings.friction) {
        density.resize(static_cast<std::size_t>(groups));
        for (const Body& body : step.settings.bodies)
            if (double& of = density[static_cast<std::size_t>(body.group)]; of == 0 && body.material >= 0)
                of = step.settings.materials[static_cast<std::size_t>(body.material)].density;
    }

    /// Changes velocities where groups touch. Returns the energy that friction takes, in J, where velocities
    /// were `before` at the beginning of the step.
    template <class T>
    Real apply(const FieldView<T>& gradients, const FieldView<T>& sums, const auto& before,
               const FieldView<double>& v) const {
        std::array<Touching, 8> at;
        Real rubbed = 0;
        for_rows(v.box(), [&](int j, int k, int first, int n) {
            for (int i = first; i < first + n; ++i) {
                int count = 0;
                for (int g = 0; g < groups; ++g) {
                    const Real mass = sums(i, j, k, 4 * g + 3);
                    if (!(mass > 0)) continue;
                    Touching& body = at[static_cast<std::size_t>(count++)];
                    body = {mass, {}, {}, density[static_cast<std::size_t>(g)], g};
                    for (int c = 0; c < 3; ++c) {
                        const auto d = static_cast<std::size_t>(c);
                        body.velocity[d] = v(i, j, k, 3 * g + c);
                        body.before[d] = before(i, j, k, 3 * g + c);
                        body.gradient[d] = gradients(i, j, k, 3 * g + c);
                    }
                }
                if (count < 2 || !touch_all(at.data(), count, friction, rubbed)) continue;
                for (int b = 0; b < count; ++b)
                    for (int c = 0; c < 3; ++c)
                        v(i, j, k, 3 * at[static_cast<std::size_t>(b)].group + c) =
                            at[static_cast<std::size_t>(b)].velocity[static_cast<std::size_t>(c)];
            }
        });
        return rubbed;
    }
};

/// APIC with linear functions: the mass of a grid point, of each group, below which C learns of no more than
/// this mass would be accelerated. For a point that is xi cells beyond a grid point and alone there, the mass
/// is xi m, and the force V tau / h however small xi is: C swings with omega^2 = (c / h)^2 V / (h^3 xi), for
/// which a step of cfl h / c is too long (above 2 / omega) where xi < cfl^2 / 4 V / h^3. With that share of a
/// full cell's mass instead, it swings in time. This only slows down the matrices of points at surfaces:
/// velocities of points, and momentum with them, stay what they are.
std::vector<double> enough_mass(const Settings& s, double cfl) {
    const Real3 h = s.spacing();
    std::vector<double> mass(static_cast<std::size_t>(s.groups()));
    for (const Body& body : s.bodies) {
        if (body.material < 0) continue;
        const double density = s.materials[static_cast<std::size_t>(body.material)].density;
        double& of = mass[static_cast<std::size_t>(body.group)];
        of = std::max(of, 0.25 * cfl * cfl * density * h[0] * h[1] * h[2]);
    }
    return mass;
}

}  // namespace

/// v = p / m where there is mass; where groups touch, as contact allows.
void declare_velocity(const Step& step) {
    const Labels& l = step.labels;
    const bool contact = step.settings.contact();
    Task task = step.graph.step().task("velocity of grid points", step.grid);
    declare_work(task, work_of_velocity(step.settings));
    const auto nodal = task.modify(l.nodal);
    FieldUse<double> gradient;
    if (contact) gradient = task.modify(l.gradient);
    const auto velocity = task.make(l.velocity);
    const auto time = task.need(l.time.previous());
    const ContactOfGroups touching(step);
    task.run([=, &s = step.settings](Here& here) {
        const FieldView<double> sums = here[nodal], v = here[velocity];
        const Walls walls(s, here.grid(), here.patch);
        for (int g = 0; g < touching.groups; ++g) {
            walls.fold(sums, 4 * g, 4 * g + 3);
            if (contact) walls.mirror(here[gradient], 3 * g);
            for_rows(v.box(), [&](int j, int k, int first, int n) {
                const Row<const double> m = sums.row(j, k, 4 * g + 3) + first;
                for (int c = 0; c < 3; ++c) {
                    const Row<const double> p = sums.row(j, k, 4 * g + c) + first;
                    const Row<double> to = v.row(j, k, 3 * g + c) + first;
                    for (int i = 0; i < n; ++i) {
                        const Real mass = m[i];
                        to[i] = mass > 0 ? p[i] / mass : 0;
                    }
                }
            });
        }
        if (contact) touching.apply(here[gradient], sums, v, v);
        for (int g = 0; g < touching.groups; ++g) walls.hold(v, 3 * g, here[time]);
    });
}

/// a = f / m + g (Sulsky et al. 1994, eq. 20).
void declare_sem(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("SEM", step.grid);
    declare_work(task, work_of_sem(step.settings));
    const auto nodal = task.need(l.nodal);
    const auto force = task.modify(l.force);
    const auto acceleration = task.make(l.acceleration);
    task.run([=, &s = step.settings, groups = step.settings.groups()](Here& here) {
        const FieldView<const double> sums = here[nodal];
        const FieldView<double> f = here[force], a = here[acceleration];
        const Walls walls(s, here.grid(), here.patch);
        for (int g = 0; g < groups; ++g) {
            walls.fold(f, 3 * g, -1);
            for_rows(a.box(), [&](int j, int k, int first, int n) {
                const Row<const double> m = sums.row(j, k, 4 * g + 3) + first;
                for (int c = 0; c < 3; ++c) {
                    const double fall = s.gravity[static_cast<std::size_t>(c)];
                    const Row<const double> from = f.row(j, k, 3 * g + c) + first;
                    const Row<double> to = a.row(j, k, 3 * g + c) + first;
                    for (int i = 0; i < n; ++i) {
                        const Real mass = m[i];
                        to[i] = mass > 0 ? from[i] / mass + fall : 0;
                    }
                }
            });
        }
    });
}

namespace {

/// For all components of all groups of grid points: a row of them.
template <class Body>
void for_component_rows(const Box& box, int groups, Body body) {
    for_rows(box, [&](int j, int k, int first, int n) {
        for (int c = 0; c < 3 * groups; ++c) body(j, k, c, first, n);
    });
}

/// v' = v + kick a; damped: v' - v = kick (a - damping (v + v') / 2).
void accelerate(const FieldView<const double>& v, const auto& a, double kick, double damping, int groups,
                const FieldView<double>& to) {
    for_component_rows(v.box(), groups, [&](int j, int k, int c, int first, int n) {
        const Row<const double> v0 = v.row(j, k, c) + first, a0 = a.row(j, k, c) + first;
        const Row<double> v1 = to.row(j, k, c) + first;
        for (int i = 0; i < n; ++i) v1[i] = v0[i] + kick * Real(a0[i]);
    });
    if (damping <= 0) return;
    const double half = 0.5 * kick * damping;
    for_component_rows(v.box(), groups, [&](int j, int k, int c, int first, int n) {
        const Row<const double> v0 = v.row(j, k, c) + first;
        const Row<double> v1 = to.row(j, k, c) + first;
        for (int i = 0; i < n; ++i) v1[i] = (v1[i] - half * Real(v0[i])) / (1 + half);
    });
}

}  // namespace

/// v' = v + (dt before + dt) / 2 a, as contact and walls allow.
void declare_ia(const Step& step) {
    const Labels& l = step.labels;
    const bool flip = step.settings.transfer() == Transfer::flip, contact = step.settings.contact(),
               affine = step.settings.affine_gradient();
    Task task = step.graph.step().task("IA", step.grid);
    declare_work(task, work_of_ia(step.settings));
    const auto velocity = task.need(l.velocity);
    const auto acceleration = task.need(l.acceleration);
    const auto dt = task.need(l.dt), before = task.need(l.dt.previous());
    const auto begin = task.need(l.time.previous());
    const auto next = task.make(l.next_velocity);
    FieldUse<double> change, next_affine;
    if (flip) change = task.make(l.change);
    if (affine) next_affine = task.make(l.affine);
    const ContactOfGroups touching(step);
    FieldUse<const double> nodal, gradient;
    if (contact || affine) nodal = task.need(l.nodal);
    if (contact) gradient = task.need(l.gradient);
    const bool rubs = step.settings.rubs();
    ScalarUse<double> rubbed;
    if (rubs) rubbed = task.contribute(l.rubbed_in_step);
    task.run([=, &s = step.settings, cfl = step.cfl](Here& here) {
        const FieldView<const double> v = here[velocity], a = here[acceleration];
        const double kick = 0.5 * (here[before] + here[dt]);
        const Walls walls(s, here.grid(), here.patch);
        const auto rows = [&](auto body) { for_component_rows(v.box(), touching.groups, body); };
        const auto integrate = [&](const auto& by, const FieldView<double>& to) {
            accelerate(v, by, kick, s.damping, touching.groups, to);
            Real taken = 0;
            if (contact) taken = touching.apply(here[gradient], here[nodal], v, to);
            for (int g = 0; g < touching.groups; ++g) walls.hold(to, 3 * g, here[begin]);
            return taken;
        };
        const FieldView<double> to = here[next];
        const Real taken = integrate(a, to);
        if (rubs) here[rubbed] += double(taken);
        if (affine) {
            const std::vector<double> enough = enough_mass(s, *cfl);
            const FieldView<double> own = here[next_affine];
            rows([&](int j, int k, int c, int first, int n) {
                const double fall = s.gravity[static_cast<std::size_t>(c % 3)];
                const double per_mass = 1 / enough[static_cast<std::size_t>(c / 3)];
                const Row<const double> a0 = a.row(j, k, c) + first,
                                        m = here[nodal].row(j, k, 4 * (c / 3) + 3) + first;
                const Row<double> less = own.row(j, k, c) + first;
                for (int i = 0; i < n; ++i)
                    less[i] = fall + min(Real(m[i]) * per_mass, 1.0) * (Real(a0[i]) - fall);
            });
            integrate(own, own);
        }
        if (!flip) return;
        const FieldView<double> changed = here[change];
        rows([&](int j, int k, int c, int first, int n) {
            const Row<const double> v0 = v.row(j, k, c) + first, v1 = to.row(j, k, c) + first;
            const Row<double> dv = changed.row(j, k, c) + first;
            for (int i = 0; i < n; ++i) dv[i] = v1[i] - Real(v0[i]);
        });
    });
}

}  // namespace strata::mpm
