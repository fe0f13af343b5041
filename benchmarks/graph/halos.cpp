// What halos of particles cost in a step of molecular dynamics: positions with their halo, and forces that go
// back through it, beside the forces themselves.
//
//   STRATA_LAYOUT=1x1 graph-halos [SIDE] [PATCHES A SIDE]
//
// 4 SIDE^3 atoms (20: 32,000) on a face-centred lattice of density 0.8442 for each process, pushed off it a
// little; cutoff 2.5, skin 0.3 (Lennard-Jones, reduced units). Who is near whom is found once. Four graphs,
// of which a step does more and more; the figures are differences between them, each the least of many.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

enum class Step { nothing, own_copied, positions, sums, forces };
constexpr double kCut = 2.5, kSkin = 0.3;
using Pairs = std::vector<std::array<std::uint32_t, 2>>;

/// The graph of which a step does so much.
class Melt {
  public:
    Melt(Step does, int processes, int side, int patches)
        : box_(grid(processes, side, patches)), atoms_(graph.particles("atoms", box_)) {
        put(processes, side);
        look_around();
        count();
        if (does == Step::nothing || does == Step::own_copied)
            move_own(does == Step::own_copied);
        else
            move(does);
    }

    Graph graph{"melt"};
    Scalar<std::int64_t> own = graph.scalar<std::int64_t>("own", Reduce::sum);
    Scalar<std::int64_t> all = graph.scalar<std::int64_t>("all", Reduce::sum);

  private:
    const Grid& grid(int processes, int side, int patches);
    void put(int processes, int side);
    void look_around();
    void count();
    void move_own(bool copied);
    void move(Step does);

    const Grid& box_;
    SetId atoms_;
    Particles<std::int64_t> id_ = graph.particle_id(atoms_);
    Particles<double> x_ = graph.particle<double>(atoms_, "x", {.components = 3});
    Particles<double> force_ = graph.particle<double>(atoms_, "force", {.components = 3});
    Particles<double> copy_ = graph.particle<double>(atoms_, "copy", {.components = 3});
    HaloId near_ = graph.particle_halo("near", x_, kCut + kSkin);
    Object<Pairs> pairs_ = graph.object<Pairs>("pairs", box_);
};

const Grid& Melt::grid(int processes, int side, int patches) {
    const int cells = 4 * patches;
    const double lattice = std::cbrt(4 / 0.8442), cell = side * lattice / cells;
    return graph.grid("box", {.cells = {{0, 0, 0}, {processes * cells, cells, cells}},
                              .patch_cells = {4, 4, 4},
                              .periodic = {true, true, true},
                              .spacing = {cell, cell, cell}});
}

/// A lattice, pushed a little; each atom goes to the patch where it is.
void Melt::put(int processes, int side) {
    const double lattice = std::cbrt(4 / 0.8442);
    const int each = 4 * side * side * side;
    Task put = graph.start().task("put", box_);
    put.make(force_), put.make(copy_);
    put.run([=, &box = box_, atoms = atoms_, who = put.make(id_), at = put.make(x_)](Here& here) {
        const int first = here.patch, every = box.patches(), count = processes * each;
        here.create(atoms, (count - first + every - 1) / every);
        for (int n = 0, i = first; i < count; ++n, i += every) {
            const int c = i / 4, place[] = {c % (processes * side), c / (processes * side) % side,
                                            c / (processes * side) / side};
            here[who][n] = i;
            for (int d : {0, 1, 2})
                here[at].component(d)[n] =
                    (place[d] + (i % 4 == 0 || d == 3 - i % 4 ? 0.25 : 0.75) + 0.1 * std::sin(i + d)) *
                    lattice;
        }
    });
    graph.start().relocate(atoms_, x_.last(), 0);
}

/// Who is near whom, found once.
void Melt::look_around() {
    graph.start().renew(near_);
    Task look = graph.start().task("look around", box_);
    look.run([at = look.need(graph.renewed<double>(near_).last(), near_), who = look.need(id_.last(), near_),
              around = look.need(near_), made = look.make(pairs_)](Here& here) {
        const std::int64_t own = here[around].own(), all = here[around].size();
        const auto rx = here[at].component(0), ry = here[at].component(1), rz = here[at].component(2);
        for (std::uint32_t i = 0; i < own; ++i)
            for (std::uint32_t j = i + 1; j < all; ++j) {
                const double dx = rx[j] - rx[i], dy = ry[j] - ry[i], dz = rz[j] - rz[i];
                if (dx * dx + dy * dy + dz * dz < std::pow(kCut + kSkin, 2) &&
                    (j < own || here[who][i] < here[who][j]))
                    here[made].push_back({i, j});
            }
    });
}

void Melt::count() {
    Task count = graph.step().task("count", box_);
    count.run([around = count.need(near_), o = count.contribute(own), a = count.contribute(all)](Here& here) {
        here[o] += here[around].own(), here[a] += here[around].size();
    });
}

/// The step without a halo.
void Melt::move_own(bool copied) {
    Task task = graph.step().task("own", box_);
    const auto at = task.need(x_);
    const auto to = task.make(copy_);
    task.run([=](Here& here) {
        for (int d = 0; d < 3 && copied; ++d)
            std::ranges::copy(here[at].component(d), here[to].component(d).begin());
    });
}

void Melt::move(Step does) {
    Task task = graph.step().task("forces", box_);
    const auto at = task.need(x_, near_);
    if (does == Step::positions) {
        task.run([](Here&) {});
        return;
    }
    const auto pull = task.sum(force_, near_);
    const auto list = task.need(pairs_.last());
    task.run([=](Here& here) {
        const auto rx = here[at].component(0), ry = here[at].component(1), rz = here[at].component(2);
        const auto fx = here[pull].component(0), fy = here[pull].component(1), fz = here[pull].component(2);
        if (does == Step::sums) return;
        for (const auto& [i, j] : here[list]) {
            const double dx = rx[j] - rx[i], dy = ry[j] - ry[i], dz = rz[j] - rz[i];
            const double square = dx * dx + dy * dy + dz * dz;
            if (square >= kCut * kCut) continue;
            const double two = 1 / square, six = two * two * two, f = 24 * two * six * (2 * six - 1);
            fx[i] -= f * dx, fy[i] -= f * dy, fz[i] -= f * dz;
            fx[j] += f * dx, fy[j] += f * dy, fz[j] += f * dz;
        }
    });
    Task use = graph.step().task("use", box_);
    use.need(force_), use.run([](Here&) {});
}

}  // namespace

int main(int argc, char** argv) {
    return team::run(argc, argv, [&](team::Team& team) {
        const int side = argc > 1 ? std::atoi(argv[1]) : 20, patches = argc > 2 ? std::atoi(argv[2]) : 2;
        double ms[5];
        std::int64_t own = 0, all = 0;
        for (const Step does : {Step::nothing, Step::own_copied, Step::positions, Step::sums, Step::forces}) {
            Melt melt(does, team.size(), side, patches);
            Simulation run(melt.graph, Members::of(team), {.crew = &team.crew()});
            run.start();
            double& least = ms[int(does)] = 1e9;
            for (int batch = 0; batch < 40; ++batch) {
                team.barrier();
                run.advance(5);
                least = std::min(
                    least, 1e3 * team.together().reduce(run.batch().seconds / 5,
                                                        [](double a, double b) { return std::max(a, b); }));
            }
            own = run.value(melt.own), all = run.value(melt.all);
        }
        if (team.rank() == 0)
            fmt::print(
                "{} atoms in {} patches of a process, {:.2f} in halos for each\n"
                "step                            {:7.3f} ms\n"
                "positions with their halo       {:7.3f} ms  {:.1f} %\n"
                "  copying own values takes      {:7.3f} ms  {:.1f} %\n"
                "forces through the halo         {:7.3f} ms  {:.1f} %\n",
                own / team.size(), patches * patches * patches, double(all - own) / double(own), ms[4],
                ms[2] - ms[0], 100 * (ms[2] - ms[0]) / ms[4], ms[1] - ms[0], 100 * (ms[1] - ms[0]) / ms[4],
                ms[3] - ms[2], 100 * (ms[3] - ms[2]) / ms[4]);
        return 0;
    });
}
