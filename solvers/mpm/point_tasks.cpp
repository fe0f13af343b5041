// What happens at material points: M2G and G2M.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/mpm/gather.hpp"
#include "solvers/mpm/points.hpp"
#include "solvers/mpm/step.hpp"
#include "solvers/mpm/work.hpp"

namespace strata::mpm {

using namespace graph;

Step::Largest Step::largest() const {
    const Real3 h = settings.spacing();
    const double cell = h[0] * h[1] * h[2], narrow = std::min({h[0], h[1], h[2]});
    double density = 0, modulus = 0, speed = 0, fastest = std::abs(settings.amplitude);
    for (const Material& m : settings.materials) {
        density = std::max(density, m.density);
        modulus = std::max(modulus, m.modulus());
        speed = std::max(speed, m.wave_speed());
    }
    for (const Body& body : settings.bodies)
        for (const double v : body.velocity) fastest = std::max(fastest, std::abs(v));
    Largest all;
    all.mass = 2 * density * cell;
    all.momentum = all.mass * (speed + fastest);
    all.gradient = all.mass / narrow;
    all.force = std::max(modulus * cell / narrow, std::abs(settings.pull));
    for (const Surface& f : settings.surfaces) {
        double size = std::abs(f.pressure);
        for (const double t : f.traction) size += std::abs(t);
        all.force = std::max(all.force, size * cell / narrow);
    }
    return all;
}

void declare_m2g(const Step& step) {
    const Labels& l = step.labels;
    const bool apic = step.settings.transfer() == Transfer::apic;
    Task task = step.graph.step().task("M2G", step.grid);
    declare_work(step, task, work_of_m2g(step.settings));
    const auto x = task.need(l.x), v = task.need(l.v), mass = task.need(l.mass);
    const GrowthCheck growth(step, task, x, v, mass);
    ListUse<const double> C;
    if (apic) C = task.need(l.C);
    const auto nodal = task.sum(l.nodal, step.adds());
    const bool contact = step.settings.contact();
    ListUse<const std::int32_t> group;
    FieldUse<double> gradient;
    if (contact) group = task.need(l.group), gradient = task.sum(l.gradient, step.adds());
    task.run([=, &s = step.settings, lattice = step.lattice(), largest = step.largest()](Here& here) {
        growth.look(here);
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        Points p{};
        for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c), p.v[c] = start_of(here[v], c);
        p.mass = start_of(here[mass]);
        if (apic)
            for (int c = 0; c < 9; ++c) p.C[c] = start_of(here[C], c);
        if (contact) p.group = start_of(here[group]);
        with_shape(s, [&]<class Shape>(Shape) {
            const auto go = [&]<bool Affine, bool Contact>() {
                to_grid<Shape, Affine, Contact>(runs, lattice, p, largest.momentum, largest.mass,
                                                here[nodal]);
            };
            if (contact) {
                apic ? go.template operator()<true, true>() : go.template operator()<false, true>();
                gradients_to_grid<Shape>(runs, lattice, p, largest.gradient, here[gradient]);
            } else {
                apic ? go.template operator()<true, false>() : go.template operator()<false, false>();
            }
        });
    });
}

namespace {

/// What G2M finds out on the way.
struct Sums {
    Lanes kinetic{}, work{}, momentum[3]{}, fastest{};
};

struct Moving {
    double *x[3], *v[3], *C[9];
    const double *mass, *load[3];
    const std::int32_t* group;  // as in Points
    double dt, flip;
    Real3 gravity;
};

/// `beside`: with FLIP the change of the grid's velocities; with APIC the velocities that C is found from.
template <class Shape, bool Contact>
void move_points(const std::vector<Run>& runs, const Lattice& lattice, Transfer transfer, const Moving& p,
                 const FieldView<const double>& next, const FieldView<const double>& beside, Sums& sums,
                 Moved& moved) {
    const double* const at[3] = {p.x[0], p.x[1], p.x[2]};
    for_blocks(runs, [&](const Run& run, std::int64_t first, int n) {
        Weights<Shape> weights(lattice, run.cell, at, first, n);
        const auto gathered = [&]<bool Gradient>(const FieldView<const double>& field,
                                                 std::bool_constant<Gradient>) {
            if constexpr (Contact)
                return gather_own<Shape, Gradient>(weights, run.cell, field, p.group + first, n);
            else
                return gather<Shape, Gradient>(weights, run.cell, field);
        };
        Gathered g, found_beside;
        if (transfer == Transfer::apic) {
            for (std::size_t a = 0; a < 3; ++a) Shape::affine(weights.d[a], lattice.per_h[a]);
            constexpr bool kOwn = std::is_same_v<Shape, Linear>;
            g = gathered(next, std::bool_constant<!kOwn>());
            if constexpr (kOwn) found_beside = gathered(beside, std::true_type());
            for (int c = 0; c < 9; ++c)
                store_ahead(p.C[c] + first, kOwn ? found_beside.gradient[c] : g.gradient[c], n);
        } else {
            g = gathered(next, std::false_type());
            if (transfer == Transfer::flip) found_beside = gathered(beside, std::false_type());
        }
        const Lanes m = load_ahead(p.mass + first, n);
        LaneInts stays = LaneInts{} - 1;  // in its cell
        for (int c = 0; c < 3; ++c) {
            const auto d = static_cast<std::size_t>(c);
            const Lanes before = load_ahead(p.v[c] + first, n);
            Lanes v = g.value[c];
            if (transfer == Transfer::flip) v = p.flip * (before + found_beside.value[c]) + (1 - p.flip) * v;
            const Lanes x = load_ahead(p.x[c] + first, n) + p.dt * g.value[c];
            Lanes force = m * p.gravity[d];
            if (p.load[0] != nullptr) force += load_ahead(p.load[c] + first, n);
            store_ahead(p.v[c] + first, v, n);
            store_ahead(p.x[c] + first, x, n);
            const Lanes at = (x - lattice.origin[d]) * lattice.per_h[d];
            const double cell = run.cell[d];
            stays &= (at >= cell) & (at < cell + 1);
            sums.kinetic += 0.25 * m * (before * before + v * v);
            sums.momentum[c] += m * v;
            sums.work += force * g.value[c];
            const Lanes rate = select(m > 0.0, abs(v) * lattice.per_h[d], Lanes{});
            sums.fastest = max(rate, sums.fastest);
        }
        if (!all_of(stays, n))
            for (int l = 0; l < n; ++l)
                if (stays[l] == 0) moved.add(first + l);
    });
}

}  // namespace

void declare_g2m(const Step& step) {
    const Labels& l = step.labels;
    const Transfer transfer = step.settings.transfer();
    Task task = step.graph.step().task("G2M", step.grid);
    declare_work(step, task, work_of_g2m(step.settings));
    const auto next = task.need(l.next_velocity, step.reach());
    FieldUse<const double> beside = next;
    if (transfer == Transfer::flip) beside = task.need(l.change, step.reach());
    if (step.settings.affine_gradient()) beside = task.need(l.affine, step.reach());
    const auto mass = task.need(l.mass);
    const auto dt = task.need(l.dt);
    ListUse<const double> load;
    if (step.settings.loads()) load = task.need(l.load);
    ListUse<const std::int32_t> group;
    if (step.settings.contact()) group = task.need(l.group);
    const auto x = task.modify(l.x), v = task.modify(l.v);
    ListUse<double> C;
    if (transfer == Transfer::apic) C = task.modify(l.C);
    task.moves(l.set);
    const auto flow = task.contribute(l.flow_rate);
    const auto kinetic = task.contribute(l.kinetic), work_of_step = task.contribute(l.work_of_step);
    const std::array momentum{task.contribute(l.momentum_x), task.contribute(l.momentum_y),
                              task.contribute(l.momentum_z)};
    task.run([=, &s = step.settings, set = l.set, lattice = step.lattice()](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        Moving p{};
        for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c), p.v[c] = start_of(here[v], c);
        if (transfer == Transfer::apic)
            for (int c = 0; c < 9; ++c) p.C[c] = start_of(here[C], c);
        if (s.loads())
            for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[load], c);
        p.mass = start_of(here[mass]);
        p.dt = here[dt], p.flip = s.flip;
        p.gravity = {s.gravity[0], s.gravity[1], s.gravity[2]};
        Sums sums;
        const FieldView<const double> to = here[next], by = here[beside];
        Moved& moved = here.moved(set);
        if (s.contact()) p.group = start_of(here[group]);
        with_shape(s, [&]<class Shape>(Shape) {
            if (s.contact())
                move_points<Shape, true>(runs, lattice, transfer, p, to, by, sums, moved);
            else
                move_points<Shape, false>(runs, lattice, transfer, p, to, by, sums, moved);
        });
        here[kinetic] = lane_sum(sums.kinetic);
        if (!std::isfinite(here[kinetic]))
            here.fail(fmt::format(
                "'velocity' is no number any more, of a point {}: the step is unstable (time.cfl = {}); "
                "try a smaller one, or weaker loads",
                place_of(here), s.cfl));
        here[work_of_step] = p.dt * lane_sum(sums.work);
        for (std::size_t c = 0; c < 3; ++c) here[momentum[c]] = lane_sum(sums.momentum[c]);
        here[flow] = largest_lane(sums.fastest);
    });
}

}  // namespace strata::mpm
