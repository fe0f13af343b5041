// Stress and the forces that come of it: CST and CIF, one after the other, or in one go along the points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/mpm/gather.hpp"
#include "solvers/mpm/points.hpp"
#include "solvers/mpm/step.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// CST on a patch's points: what it changes, and what it finds out on the way.
class Deform {
  public:
    Deform(const Settings& s, const Lattice& lattice, double dt, const double* volume,
           const std::int32_t* kind, double* const (&F)[9], const FieldView<const double>& velocity)
        : settings_(s), dt_(dt), volume_(volume), kind_(kind), velocity_(velocity) {
        std::copy(F, F + 9, F_);
        narrow_ = std::min({lattice.h[0], lattice.h[1], lattice.h[2]});
    }

    /// Of particles first .. first + n of a cell: F' = (1 + dt grad v) F, stored, and Kirchhoff's stress.
    template <class Shape>
    Symmetric operator()(const Weights<Shape>& weights, const Run& run, std::int64_t first, int n) {
        const Gathered g = gather<Shape>(weights, run.cell, velocity_);
        Tensor before, now;
        for (std::size_t c = 0; c < 9; ++c) before[c] = load(F_[c] + first, n, c % 4 == 0 ? 1 : 0);
        Lanes squares{};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
                now[3 * i + j] = before[3 * i + j] + dt_ * (g.gradient[3 * i] * before[j] +
                                                            g.gradient[3 * i + 1] * before[3 + j] +
                                                            g.gradient[3 * i + 2] * before[6 + j]);
                squares += now[3 * i + j] * now[3 * i + j];
            }
        for (std::size_t c = 0; c < 9; ++c) store(F_[c] + first, now[c], n);
        double speed = 0;
        Stress found = stress(now, first, n, speed);
        if (n < kLanes)
            for (int p = n; p < kLanes; ++p) squares[p] = 0, found.J[p] = 1, found.energy[p] = 0;
        energy_ += load(volume_ + first, n) * found.energy;
        sound_ &= found.J > 0.0;
        fastest_ = std::max(fastest_, speed * std::sqrt(std::max(1.0, largest(squares) / 3)));
        return found.kirchhoff;
    }

    /// Fails where a determinant was not positive; returns the energy.
    [[nodiscard]] double check(const Here& here) const {
        for (int p = 0; p < kLanes; ++p)
            if (sound_[p] == 0)
                here.fail(
                    fmt::format("'deformation gradient' is no number, or turns a point inside out (its "
                                "determinant is not "
                                "above 0): the step is unstable, or the material was crushed (time.cfl = {})",
                                settings_.cfl));
        return sum(energy_);
    }
    [[nodiscard]] double rate() const { return fastest_ / narrow_; }

  private:
    /// A block whose particles are of one material; of several, lane by lane.
    Stress stress(const Tensor& F, std::int64_t first, int n, double& speed) const {
        const auto material = [&](int p) -> const Material& {
            return settings_.materials[static_cast<std::size_t>(kind_[first + p])];
        };
        Stress found = material(0).stress(F);
        speed = material(0).wave_speed();
        for (int p = 1; p < n; ++p) {
            if (kind_[first + p] == kind_[first]) continue;
            const Stress own = material(p).stress(F);
            for (std::size_t c = 0; c < 6; ++c) found.kirchhoff[c][p] = own.kirchhoff[c][p];
            found.energy[p] = own.energy[p];
            speed = std::max(speed, material(p).wave_speed());
        }
        return found;
    }

    const Settings& settings_;
    double dt_, narrow_ = 0, fastest_ = 0;
    const double* volume_;
    const std::int32_t* kind_;
    double* F_[9];
    FieldView<const double> velocity_;
    Lanes energy_{};
    LaneInts sound_ = LaneInts{} - 1;
};

/// What CST needs and makes, stresses apart.
struct DeformUses {
    ListUse<const double> x, volume;
    ListUse<const std::int32_t> material;
    FieldUse<const double> velocity;
    ScalarUse<const double> dt;
    ListUse<double> F;
    ScalarUse<double> wave, strain, first_energy;

    DeformUses(const Step& step, Task& task) {
        const Labels& l = step.labels;
        x = task.need(l.x), volume = task.need(l.volume);
        material = task.need(l.material);
        velocity = task.need(l.velocity, step.reach());
        dt = task.need(l.dt.previous());
        F = task.modify(l.F);
        wave = task.contribute(l.wave_rate);
        strain = task.contribute(l.strain), first_energy = task.contribute(l.first_energy);
    }
    [[nodiscard]] Deform start(const Here& here, const Settings& s, const Lattice& lattice) const {
        double* gradients[9];
        for (int c = 0; c < 9; ++c) gradients[c] = start_of(here[F], c);
        return {s,         lattice,       here[dt], start_of(here[volume]), start_of(here[material]),
                gradients, here[velocity]};
    }
    void finish(const Here& here, const Deform& deform) const {
        here[strain] = deform.check(here);
        if (here.step == 1) here[first_energy] = here[strain];
        here[wave] = deform.rate();
    }
};

struct ForceUses {
    ListUse<const double> load;
    FieldUse<double> force;
    double largest;

    ForceUses(const Step& step, Task& task) : largest(step.largest().force) {
        const Labels& l = step.labels;
        if (step.settings.loads()) load = task.need(l.load.at(step.settings.manufactured() ? 1 : 0));
        force = task.sum(l.force, step.reach());
    }
    template <class StressOf>
    void go(const Here& here, const Settings& s, const Lattice& lattice, const std::vector<Run>& runs,
            Points p, StressOf stress) const {
        if (s.loads())
            for (int c = 0; c < 3; ++c) p.load[c] = start_of(here[load], c);
        with_shape(s, [&]<class Shape>(Shape) {
            if (s.loads())
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

}  // namespace

void declare_cst(const Step& step) {
    Task task = step.graph.step().task("CST", step.grid);
    const DeformUses uses(step, task);
    const auto stress = task.make(step.labels.stress);
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape())](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[uses.x], lattice);
        const Points p = points_of(here, uses.x, uses.volume);
        double* stresses[6];
        for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
        Deform deform = uses.start(here, s, lattice);
        with_shape(s, [&]<class Shape>(Shape) {
            for_blocks(runs, [&](const Run& run, std::int64_t first, int n) {
                const Symmetric tau = deform(Weights<Shape>(lattice, run.cell, p.x, first, n), run, first, n);
                for (std::size_t c = 0; c < 6; ++c) store(stresses[c] + first, tau[c], n);
            });
        });
        uses.finish(here, deform);
    });
}

void declare_cif(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("CIF", step.grid);
    const auto x = task.need(l.x), volume = task.need(l.volume), stress = task.need(l.stress);
    const ForceUses uses(step, task);
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape())](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[x], lattice);
        const double* stresses[6];
        for (int c = 0; c < 6; ++c) stresses[c] = start_of(here[stress], c);
        uses.go(here, s, lattice, runs, points_of(here, x, volume),
                [&](const auto&, const Run&, std::int64_t first, int n) {
                    Symmetric tau;
                    for (std::size_t c = 0; c < 6; ++c) tau[c] = load(stresses[c] + first, n);
                    return tau;
                });
    });
}

void declare_cst_and_cif(const Step& step) {
    Task task = step.graph.step().task("CST and CIF", step.grid);
    const DeformUses uses(step, task);
    const ForceUses forces(step, task);
    task.run([=, &s = step.settings, lattice = Lattice(step.grid.shape())](Here& here) {
        const std::vector<Run>& runs = runs_of(here, here[uses.x], lattice);
        Deform deform = uses.start(here, s, lattice);
        forces.go(here, s, lattice, runs, points_of(here, uses.x, uses.volume),
                  [&](const auto& weights, const Run& run, std::int64_t first, int n) {
                      return deform(weights, run, first, n);
                  });
        uses.finish(here, deform);
    });
}

}  // namespace strata::mpm
