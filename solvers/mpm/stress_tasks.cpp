// Stress and the forces that come of it: CST and CIF, one after the other, or in one go along the points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/mpm/deformation.hpp"
#include "solvers/mpm/gather.hpp"
#include "solvers/mpm/plastic.hpp"
#include "solvers/mpm/points.hpp"
#include "solvers/mpm/quadrature.hpp"
#include "solvers/mpm/step.hpp"
#include "solvers/mpm/work.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// What CST knows of a patch's points; of plastic ones also their states.
struct Deforming {
    double dt;
    const double* volume;
    const std::int32_t* kind;
    double *F[9], *elastic[6], *alpha;
    const std::int32_t* group;  // as in Points
};

/// CST on a patch's points: what it changes, and what it finds out on the way. `Plastic`: there are plastic
/// materials, so that points have states.
template <bool Plastic>
class Deform {
  public:
    Deform(const Settings& s, const Lattice& lattice, const Deforming& points,
           const FieldView<const double>& velocity)
        : settings_(s), p_(points), velocity_(velocity) {
        narrow_ = std::min({lattice.h[0], lattice.h[1], lattice.h[2]});
        backward_ = s.backward();
    }

    /// Of particles first .. first + n of a cell: F' = (1 + dt grad v) F, stored, and Kirchhoff's stress.
    template <class Shape>
    Symmetric operator()(const Weights<Shape>& weights, const Run& run, std::int64_t first, int n) {
        return deform(gather<Shape>(weights, run.cell, velocity_), first, n);
    }
    /// The same where bodies in contact have velocity fields of their own.
    template <class Shape>
    Symmetric own(const Weights<Shape>& weights, const Run& run, std::int64_t first, int n) {
        return deform(gather_own<Shape>(weights, run.cell, velocity_, p_.group + first, n), first, n);
    }

    /// Fails where a determinant was not positive; returns the energy.
    [[nodiscard]] double check(const Here& here) const {
        for (int p = 0; p < kLanes; ++p)
            if (sound_[p] == 0)
                here.fail(fmt::format(
                    "'deformation gradient' is no number, or turns a point inside out (its "
                    "determinant is not above 0), {}: the step is unstable (time.cfl = {}), or the "
                    "material was crushed; try a smaller time.cfl, method.shape \"quadratic\" or "
                    "\"gimp\", slower bodies or a stiffer material",
                    place_of(here), settings_.cfl));
        return lane_sum(energy_);
    }
    [[nodiscard]] double rate() const { return fastest_ / narrow_; }
    /// det F of the latest block.
    [[nodiscard]] const Lanes& volume_ratio() const { return J_; }
    /// That plastic flow has taken up so far.
    [[nodiscard]] double plastic_work() const { return lane_sum(work_); }

  private:
    Symmetric deform(const Gathered& g, std::int64_t first, int n) {
        Tensor before, now, backward;
        for (std::size_t c = 0; c < 9; ++c) before[c] = load_ahead(p_.F[c] + first, n, c % 4 == 0 ? 1 : 0);
        if (backward_) backward = backward_step(g, p_.dt);
        const auto product = [&](const auto& a, std::size_t i, std::size_t j) {
            return a[3 * i] * before[j] + a[3 * i + 1] * before[3 + j] + a[3 * i + 2] * before[6 + j];
        };
        Lanes squares{};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
                now[3 * i + j] = backward_ ? product(backward, i, j)
                                           : before[3 * i + j] + p_.dt * product(g.gradient, i, j);
                squares += now[3 * i + j] * now[3 * i + j];
            }
        for (std::size_t c = 0; c < 9; ++c) store_ahead(p_.F[c] + first, now[c], n);
        double speed = 0;
        Stress found;
        if (Plastic && any_plastic(first, n)) {
            Tensor step = backward;
            if (!backward_)
                for (std::size_t c = 0; c < 9; ++c)
                    step[c] = p_.dt * g.gradient[c] + (c % 4 == 0 ? 1.0 : 0.0);
            found = plastic_stress(now, step, squares, first, n, speed);
        } else {
            found = stress(now, first, n, speed);
        }
        if (n < kLanes)
            for (int p = n; p < kLanes; ++p) squares[p] = 0, found.J[p] = 1, found.energy[p] = 0;
        energy_ += load_ahead(p_.volume + first, n) * found.energy;
        sound_ &= found.J > 0.0;
        fastest_ = max(speed * sqrt(max(largest_lane(squares) / 3, 1.0)), fastest_);
        J_ = found.J;
        return found.kirchhoff;
    }

    const Material& material(std::int64_t point) const {
        return settings_.materials[static_cast<std::size_t>(p_.kind[point])];
    }
    [[nodiscard]] bool any_plastic(std::int64_t first, int n) const {
        for (int p = 0; p < n; ++p)
            if (material(first + p).plastic()) return true;
        return false;
    }
    /// A block in which particles are plastic; others have the stress of their own laws. Waves' speed follows
    /// from the elastic deformation (`squares`), not from all of it.
    Stress plastic_stress(const Tensor& F, const Tensor& step, Lanes& squares, std::int64_t first, int n,
                          double& speed) {
        PlasticState kept;
        for (std::size_t c = 0; c < 6; ++c) kept.b[c] = load_ahead(p_.elastic[c] + first, n, c < 3 ? 1 : 0);
        kept.alpha = load_ahead(p_.alpha + first, n);
        Stress found{{}, {}, detail::determinant(F)};
        Lanes work{};
        LaneInts todo = LaneInts{};
        for (int p = 0; p < n; ++p) todo[p] = -1;
        for (int p = 0; p < n; ++p) {
            if (todo[p] == 0) continue;
            const Material& m = material(first + p);
            LaneInts own{};
            for (int q = p; q < n; ++q) own[q] = p_.kind[first + q] == p_.kind[first + p] ? -1 : 0;
            todo &= ~own;
            speed = std::max(speed, m.wave_speed());
            if (m.plastic()) {
                PlasticState state = kept;
                const PlasticStress s = remembered(m, F, step, p_.dt, state);
                for (std::size_t c = 0; c < 6; ++c) {
                    found.kirchhoff[c] = select(own, s.kirchhoff[c], found.kirchhoff[c]);
                    kept.b[c] = select(own, state.b[c], kept.b[c]);
                }
                kept.alpha = select(own, state.alpha, kept.alpha);
                found.energy = select(own, s.energy, found.energy);
                work = select(own, s.work, work);
                squares = select(own, s.squares, squares);
            } else {
                const Stress s = m.stress(F);
                for (std::size_t c = 0; c < 6; ++c)
                    found.kirchhoff[c] = select(own, s.kirchhoff[c], found.kirchhoff[c]);
                found.energy = select(own, s.energy, found.energy);
            }
        }
        for (std::size_t c = 0; c < 6; ++c) store_ahead(p_.elastic[c] + first, kept.b[c], n);
        store_ahead(p_.alpha + first, kept.alpha, n);
        work_ += load_ahead(p_.volume + first, n) * work;
        return found;
    }
    /// A block whose particles are of one material; of several, lane by lane.
    Stress stress(const Tensor& F, std::int64_t first, int n, double& speed) const {
        Stress found = material(first).stress(F);
        speed = material(first).wave_speed();
        for (int p = 1; p < n; ++p) {
            if (p_.kind[first + p] == p_.kind[first]) continue;
            const Material& m = material(first + p);
            const Stress own = m.stress(F);
            for (std::size_t c = 0; c < 6; ++c) found.kirchhoff[c][p] = own.kirchhoff[c][p];
            found.energy[p] = own.energy[p];
            speed = std::max(speed, m.wave_speed());
        }
        return found;
    }

    const Settings& settings_;
    Deforming p_;
    double narrow_ = 0;
    bool backward_ = false;
    Real fastest_ = 0;
    FieldView<const double> velocity_;
    Lanes energy_{}, work_{}, J_{};
    LaneInts sound_ = LaneInts{} - 1;
};

/// What CST needs and makes, stresses apart.
struct DeformUses {
    ListUse<const double> x, volume;
    ListUse<const std::int32_t> material, group;
    FieldUse<const double> velocity;
    ScalarUse<const double> dt;
    ListUse<double> F, elastic, alpha;
    ScalarUse<double> wave, strain, plastic_work;
    bool plastic, contact;

    DeformUses(const Step& step, Task& task) {
        const Labels& l = step.labels;
        x = task.need(l.x), volume = task.need(l.volume);
        material = task.need(l.material);
        velocity = task.need(l.velocity, step.reach());
        dt = task.need(l.dt.previous());
        F = task.modify(l.F);
        wave = task.contribute(l.wave_rate);
        strain = task.contribute(l.strain);
        contact = step.settings.contact();
        if (contact) group = task.need(l.group);
        plastic = step.settings.plastic();
        if (plastic) {
            elastic = task.modify(l.elastic), alpha = task.modify(l.alpha);
            plastic_work = task.contribute(l.plastic_work);
        }
    }
    /// body(Deform) with the Deform of the case; then what it found out goes where it belongs.
    template <class Body>
    void go(const Here& here, const Settings& s, const Lattice& lattice, Body body) const {
        Deforming p{here[dt], start_of(here[volume]), start_of(here[material]), {}, {}, nullptr, nullptr};
        for (int c = 0; c < 9; ++c) p.F[c] = start_of(here[F], c);
        p.group = contact ? start_of(here[group]) : nullptr;
        const auto with = [&](auto deform) {
            body(deform);
            here[strain] = deform.check(here);
            here[wave] = deform.rate();
            if (plastic) here[plastic_work] = deform.plastic_work();
        };
        if (plastic) {
            for (int c = 0; c < 6; ++c) p.elastic[c] = start_of(here[elastic], c);
            p.alpha = start_of(here[alpha]);
            with(Deform<true>(s, lattice, p, here[velocity]));
        } else {
            with(Deform<false>(s, lattice, p, here[velocity]));
        }
    }
};

struct ForceUses {
    ListUse<const double> load;
    ListUse<const std::int32_t> group;
    FieldUse<double> force;
    double largest;

    ForceUses(const Step& step, Task& task) : largest(step.largest().force) {
        const Labels& l = step.labels;
        if (step.settings.loads()) load = task.need(l.load);
        if (step.settings.contact()) group = task.need(l.group);
        force = task.sum(l.force, step.adds());
    }
    template <class Shape, class StressOf>
    void in_contact(const Here& here, const Settings& s, const Lattice& lattice, const std::vector<Run>& runs,
                    const Points& p, StressOf stress) const {
        if (s.loads())
            forces_to_grid<Shape, true, true>(runs, lattice, p, largest, here[force], stress);
        else
            forces_to_grid<Shape, false, true>(runs, lattice, p, largest, here[force], stress);
    }
    template <class StressOf>
    void go(const Here& here, const Settings& s, const Lattice& lattice, const std::vector<Run>& runs,
            Points p, StressOf stress) const {
        if (s.loads())
            for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[load], c);
        if (s.contact()) p.group = start_of(here[group]);
        with_shape(s, [&]<class Shape>(Shape) {
            if (s.contact())
                in_contact<Shape>(here, s, lattice, runs, p, stress);
            else if (s.loads())
                forces_to_grid<Shape, true>(runs, lattice, p, largest, here[force], stress);
            else
                forces_to_grid<Shape, false>(runs, lattice, p, largest, here[force], stress);
        });
    }
};

Points points_of(const Here& here, ListUse<const double> x, ListUse<const double> volume) {
    Points p{};
    for (int c = 0; c < 3; ++c) p.x[c] = start_of(here[x], c);
    p.volume = start_of(here[volume]);
    return p;
}

/// CST where forces are integrals over cells: also what these are made from.
void stress_and_cell_sums(const Step& step, Task& task, const DeformUses& uses, ListUse<double> stress) {
    const auto J = task.make(step.labels.J);
    const auto cells = task.make(step.labels.cell_sums);
    task.run([=, &s = step.settings, lattice = step.lattice()](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[uses.x], lattice);
        const Points p = points_of(here, uses.x, uses.volume);
        double* stresses[6];
        for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
        double* const ratios = start_of(here[J]);
        const FieldView<double> sums = here[cells];
        clear_cell_sums(sums);
        uses.go(here, s, lattice, [&](auto& deform) {
            for (const Run& run : runs) {
                CellSums own;
                for_blocks(run, [&](std::int64_t first, int n) {
                    const Weights<Quadratic> weights(lattice, run.cell, p.x, first, n);
                    const Symmetric tau = deform(weights, run, first, n);
                    for (std::size_t c = 0; c < 6; ++c) store_ahead(stresses[c] + first, tau[c], n);
                    store_ahead(ratios + first, deform.volume_ratio(), n);
                    own.add(weights, load_ahead(p.volume + first, n), deform.volume_ratio(), tau);
                });
                own.keep(run.cell, sums);
            }
        });
    });
}

}  // namespace

void declare_cst(const Step& step) {
    Task task = step.graph.step().task("CST", step.grid);
    declare_work(step, task, work_of_cst(step.settings));
    const DeformUses uses(step, task);
    const auto stress = task.make(step.labels.stress);
    if (step.settings.by_cells()) {
        stress_and_cell_sums(step, task, uses, stress);
        return;
    }
    task.run(
        [=, &s = step.settings, contact = step.settings.contact(), lattice = step.lattice()](Here& here) {
            const std::vector<Run>& runs = runs_of(here, here[uses.x], lattice);
            const Points p = points_of(here, uses.x, uses.volume);
            double* stresses[6];
            for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
            uses.go(here, s, lattice, [&](auto& deform) {
                with_shape(s, [&]<class Shape>(Shape) {
                    for_blocks(runs, [&](const Run& run, std::int64_t first, int n) {
                        const Weights<Shape> weights(lattice, run.cell, p.x, first, n);
                        const Symmetric tau =
                            contact ? deform.own(weights, run, first, n) : deform(weights, run, first, n);
                        for (std::size_t c = 0; c < 6; ++c) store_ahead(stresses[c] + first, tau[c], n);
                    });
                });
            });
        });
}

void declare_cif(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("CIF", step.grid);
    declare_work(step, task, work_of_cif(step.settings));
    const auto x = task.need(l.x), volume = task.need(l.volume), stress = task.need(l.stress);
    const ForceUses uses(step, task);
    const bool by_cells = step.settings.by_cells();
    ListUse<const double> J;
    FieldUse<const double> cells;
    if (by_cells) J = task.need(l.J), cells = task.need(l.cell_sums, ghosts(1));
    task.run([=, &s = step.settings, lattice = step.lattice()](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        const double* stresses[6];
        for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
        if (by_cells) {
            Points p = points_of(here, x, volume);
            if (s.loads())
                for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[uses.load], c);
            const auto go = [&](auto loads) {
                forces_of_cells<decltype(loads)::value>(runs, lattice, p, stresses, start_of(here[J]),
                                                        here[cells], uses.largest, here[uses.force]);
            };
            s.loads() ? go(std::true_type()) : go(std::false_type());
            return;
        }
        uses.go(here, s, lattice, runs, points_of(here, x, volume),
                [&](const auto&, const Run&, std::int64_t first, int n) {
                    Symmetric tau;
                    for (std::size_t c = 0; c < 6; ++c) tau[c] = load_ahead(stresses[c] + first, n);
                    return tau;
                });
    });
}

void declare_cst_and_cif(const Step& step) {
    Task task = step.graph.step().task("CST and CIF", step.grid);
    declare_work(step, task, work_of_cst_and_cif(step.settings));
    const DeformUses uses(step, task);
    const ForceUses forces(step, task);
    task.run([=, &s = step.settings, lattice = step.lattice()](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[uses.x], lattice);
        uses.go(here, s, lattice, [&](auto& deform) {
            forces.go(here, s, lattice, runs, points_of(here, uses.x, uses.volume),
                      [&](const auto& weights, const Run& run, std::int64_t first, int n) {
                          return deform(weights, run, first, n);
                      });
        });
    });
}

}  // namespace strata::mpm
