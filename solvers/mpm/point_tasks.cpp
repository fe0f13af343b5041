// What happens at material points: M2G, CST, CIF and G2M.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/mpm/gather.hpp"
#include "solvers/mpm/points.hpp"
#include "solvers/mpm/step.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// body(Linear{}) or body(Quadratic{}).
template <class Body>
void with_shape(const Settings& s, Body body) {
    s.quadratic() ? body(Quadratic{}) : body(Linear{});
}

/// body(run, first, n) for up to eight particles of a cell at a time.
template <class Body>
void for_blocks(const std::vector<Run>& runs, Body body) {
    for (const Run& run : runs)
        for (std::int32_t done = 0; done < run.count; done += kLanes)
            body(run, std::int64_t{run.first} + done, std::min(kLanes, run.count - done));
}

}  // namespace

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
    all.force = std::max(modulus * cell / narrow, std::abs(settings.pull));
    return all;
}

void declare_m2g(const Step& step) {
    const Labels& l = step.labels;
    const bool apic = step.settings.transfer() == Transfer::apic;
    Task task = step.graph.step().task("M2G", step.grid);
    const auto x = task.need(l.x), v = task.need(l.v), mass = task.need(l.mass);
    ListUse<const double> C;
    if (apic) C = task.need(l.C);
    const auto nodal = task.sum(l.nodal, step.reach());
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape()),
              largest = step.largest()](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        Points p{};
        for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c), p.v[c] = start_of(here[v], c);
        p.mass = start_of(here[mass]);
        if (apic)
            for (int c = 0; c < 9; ++c) p.C[c] = start_of(here[C], c);
        with_shape(s, [&]<class Shape>(Shape) {
            if (apic)
                to_grid<Shape, Shape::kAffine>(runs, lattice, p, largest.momentum, largest.mass, here[nodal]);
            else
                to_grid<Shape, false>(runs, lattice, p, largest.momentum, largest.mass, here[nodal]);
        });
    });
}

void declare_cst(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("CST", step.grid);
    const auto x = task.need(l.x), volume = task.need(l.volume);
    const auto material = task.need(l.material);
    const auto velocity = task.need(l.velocity, step.reach());
    const auto dt = task.need(l.dt.previous());
    const auto F = task.modify(l.F);
    const auto stress = task.make(l.stress);
    const auto wave = task.contribute(l.wave_rate);
    const auto strain = task.contribute(l.strain), first_energy = task.contribute(l.first_energy);
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape())](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        const double* const at[3] = {start_of(here[x], 0), start_of(here[x], 1), start_of(here[x], 2)};
        const double* const volumes = start_of(here[volume]);
        const std::int32_t* const kinds = start_of(here[material]);
        double *gradients[9], *stresses[6];
        for (int c = 0; c < 9; ++c) gradients[c] = start_of(here[F], c);
        for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
        const FieldView<const double> v = here[velocity];
        const double step_before = here[dt], narrow = std::min({lattice.h[0], lattice.h[1], lattice.h[2]});
        Lanes energy{}, least = all(1);
        double fastest = 0;
        with_shape(s, [&]<class Shape>(Shape) {
            for_blocks(runs, [&](const Run& run, std::int64_t first, int n) {
                const Weights<Shape> weights(lattice, run.cell, at, first, n);
                const Gathered g = gather<Shape>(weights, run.cell, v);
                Tensor before, now;
                for (std::size_t c = 0; c < 9; ++c)
                    before[c] = load(gradients[c] + first, n, c % 4 == 0 ? 1 : 0);
                // F' = (1 + dt grad v) F
                Lanes squares{};
                for (std::size_t i = 0; i < 3; ++i)
                    for (std::size_t j = 0; j < 3; ++j) {
                        now[3 * i + j] =
                            before[3 * i + j] + step_before * (g.gradient[3 * i] * before[j] +
                                                               g.gradient[3 * i + 1] * before[3 + j] +
                                                               g.gradient[3 * i + 2] * before[6 + j]);
                        squares += now[3 * i + j] * now[3 * i + j];
                    }
                const int kind = kinds[first];
                bool several = false;
                for (int p = 1; p < n; ++p) several |= kinds[first + p] != kind;
                const Material& material = s.materials[static_cast<std::size_t>(kind)];
                Stress found = material.stress(now);
                double speed = material.wave_speed();
                for (int p = 1; several && p < n; ++p) {  // lane by lane: rare
                    const Material& own = s.materials[static_cast<std::size_t>(kinds[first + p])];
                    const Stress theirs = own.stress(now);
                    for (std::size_t c = 0; c < 6; ++c) found.kirchhoff[c][p] = theirs.kirchhoff[c][p];
                    found.energy[p] = theirs.energy[p];
                    speed = std::max(speed, own.wave_speed());
                }
                for (std::size_t c = 0; c < 9; ++c) store(gradients[c] + first, now[c], n);
                for (std::size_t c = 0; c < 6; ++c) store(stresses[c] + first, found.kirchhoff[c], n);
                for (int p = n; p < kLanes; ++p) squares[p] = 0, found.J[p] = 1, found.energy[p] = 0;
                energy += load(volumes + first, n) * found.energy;
                least = found.J > least ? least : found.J;  // a J that is no number is kept
                fastest = std::max(fastest, speed * std::sqrt(std::max(1.0, largest(squares) / 3)));
            });
        });
        for (int p = 0; p < kLanes; ++p)
            if (!(least[p] > 0))
                here.fail(fmt::format(
                    "'deformation gradient' is no number, or turns a point inside out (its "
                    "determinant is {}): the step is unstable, or the material was crushed (time.cfl = {})",
                    least[p], s.cfl));
        here[strain] = sum(energy);
        if (here.step == 1) here[first_energy] = here[strain];
        here[wave] = fastest / narrow;
    });
}

void declare_cif(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("CIF", step.grid);
    const auto x = task.need(l.x), volume = task.need(l.volume), stress = task.need(l.stress);
    ListUse<const double> load;
    if (step.settings.loads()) load = task.need(l.load.at(step.settings.manufactured() ? 1 : 0));
    const auto force = task.sum(l.force, step.reach());
    task.run(
        [=, &s = step.settings, lattice = Lattice(step.grid.shape()), largest = step.largest()](Here& here) {
            const std::vector<Run>& runs = runs_of(here, here[x], lattice);
            Points p{};
            for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c);
            for (int c = 0; c < 6; ++c) p.stress[c] = start_of(here[stress], c);
            p.volume = start_of(here[volume]);
            if (s.loads())
                for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[load], c);
            with_shape(s, [&]<class Shape>(Shape) {
                forces_to_grid<Shape>(runs, lattice, p, largest.force, here[force]);
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
    double dt, flip;
    Real3 gravity;
};

template <class Shape>
void move_points(const std::vector<Run>& runs, const Lattice& lattice, Transfer transfer, const Moving& p,
                 const FieldView<const double>& next, const FieldView<const double>* change, Sums& sums) {
    const double* const at[3] = {p.x[0], p.x[1], p.x[2]};
    for_blocks(runs, [&](const Run& run, std::int64_t first, int n) {
        Weights<Shape> weights(lattice, run.cell, at, first, n);
        Gathered g, change_of;
        if (transfer == Transfer::apic) {
            if constexpr (Shape::kAffine) {
                for (std::size_t a = 0; a < 3; ++a) Shape::affine(weights.d[a], lattice.per_h[a]);
                g = gather<Shape>(weights, run.cell, next);
                for (int c = 0; c < 9; ++c) store(p.C[c] + first, g.gradient[c], n);
            }
        } else {
            g = gather<Shape, false>(weights, run.cell, next);
            if (transfer == Transfer::flip) change_of = gather<Shape, false>(weights, run.cell, *change);
        }
        const Lanes m = load(p.mass + first, n);
        for (int c = 0; c < 3; ++c) {
            const auto d = static_cast<std::size_t>(c);
            const Lanes before = load(p.v[c] + first, n);
            Lanes v = g.value[c];
            if (transfer == Transfer::flip) v = p.flip * (before + change_of.value[c]) + (1 - p.flip) * v;
            const Lanes x = load(p.x[c] + first, n) + p.dt * g.value[c];
            Lanes force = m * p.gravity[d];
            if (p.load[0] != nullptr) force += load(p.load[c] + first, n);
            store(p.v[c] + first, v, n);
            store(p.x[c] + first, x, n);
            sums.kinetic += 0.25 * m * (before * before + v * v);
            sums.momentum[c] += m * v;
            sums.work += force * g.value[c];
            const Lanes rate = m > 0.0 ? size(v) * lattice.per_h[d] : Lanes{};
            sums.fastest = larger(rate, sums.fastest);
        }
    });
}

}  // namespace

void declare_g2m(const Step& step) {
    const Labels& l = step.labels;
    const Transfer transfer = step.settings.transfer();
    Task task = step.graph.step().task("G2M", step.grid);
    const auto next = task.need(l.next_velocity, step.reach());
    FieldUse<const double> change;
    if (transfer == Transfer::flip) change = task.need(l.change, step.reach());
    const auto mass = task.need(l.mass);
    const TimeStep length(step, task);
    const auto worked = task.need(l.work.previous()), done = task.need(l.work_of_step.previous()),
               energy = task.need(l.first_energy.previous());
    ListUse<const double> load;
    if (step.settings.loads()) load = task.need(l.load.at(step.settings.manufactured() ? 1 : 0));
    const auto x = task.modify(l.x), v = task.modify(l.v);
    ListUse<double> C;
    if (transfer == Transfer::apic) C = task.modify(l.C);
    const auto flow = task.contribute(l.flow_rate);
    const auto kinetic = task.contribute(l.kinetic), first_energy = task.contribute(l.first_energy),
               work = task.contribute(l.work), work_of_step = task.contribute(l.work_of_step);
    const std::array momentum{task.contribute(l.momentum_x), task.contribute(l.momentum_y),
                              task.contribute(l.momentum_z)};
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape())](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        Moving p{};
        for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c), p.v[c] = start_of(here[v], c);
        if (transfer == Transfer::apic)
            for (int c = 0; c < 9; ++c) p.C[c] = start_of(here[C], c);
        if (s.loads())
            for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[load], c);
        p.mass = start_of(here[mass]);
        p.dt = length(here), p.flip = s.flip;
        p.gravity = {s.gravity[0], s.gravity[1], s.gravity[2]};
        Sums sums;
        const FieldView<const double> to = here[next];
        const FieldView<const double> by = transfer == Transfer::flip ? here[change] : to;
        with_shape(
            s, [&]<class Shape>(Shape) { move_points<Shape>(runs, lattice, transfer, p, to, &by, sums); });
        here[kinetic] = sum(sums.kinetic);
        if (!std::isfinite(here[kinetic]))
            here.fail(
                fmt::format("'velocity' is no number any more: the step is unstable (time.cfl = {})", s.cfl));
        // What is carried from step to step, one patch carries.
        if (here.patch == 0) here[work] = here[worked] + here[done];
        if (here.step == 1)
            here[first_energy] = here[kinetic];
        else if (here.patch == 0)
            here[first_energy] = here[energy];
        here[work_of_step] = p.dt * sum(sums.work);
        for (std::size_t c = 0; c < 3; ++c) here[momentum[c]] = sum(sums.momentum[c]);
        here[flow] = largest(sums.fastest);
    });
}

}  // namespace strata::mpm
