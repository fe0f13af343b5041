// Lennard-Jones: 864 atoms of a melt in reduced units, by velocity Verlet, in eight patches of a periodic
// cube. A patch sees the atoms that are closer to it than the cutoff and a skin. Who they are stays until an
// atom has moved by half the skin; then atoms go to the patches where they are, and each patch looks around
// anew. A pair across two patches is computed once, and the force goes back to the other one's patch.
//   strata launch --layout 2x1 -- lennard_jones
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

constexpr int kSide = 6, kAtoms = 4 * kSide * kSide * kSide;  // cells of the lattice (four atoms each) a side
constexpr double kDensity = 0.8442, kTemperature = 1.44, kCut = 2.5, kSkin = 0.3, kDt = 0.005;
const double kLattice = std::cbrt(4 / kDensity), kLength = kSide * kLattice;

/// Of two atoms, by the square of their distance: force over distance, and energy, which is 0 at the cutoff.
struct Pair {
    double force, energy;
    explicit Pair(double square) {
        static const double at_cut = 4 * (std::pow(kCut, -12) - std::pow(kCut, -6));
        const double two = 1 / square, six = two * two * two;
        force = 24 * two * six * (2 * six - 1);
        energy = 4 * six * (six - 1) - at_cut;
    }
};

/// Of all images, the nearest one.
double nearest(double d) { return d - kLength * std::nearbyint(d / kLength); }

using Vectors = std::vector<std::array<double, 3>>;

/// A face-centred cubic lattice; velocities without order.
struct Atoms {
    Vectors x, v;
    Atoms() {
        constexpr double corners[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
        for (int cell = 0; cell < kSide * kSide * kSide; ++cell)
            for (const auto& corner : corners) {
                const int at[3] = {cell % kSide, cell / kSide % kSide, cell / kSide / kSide};
                std::array<double, 3>& r = x.emplace_back();
                for (std::size_t c = 0; c < 3; ++c) r[c] = (at[c] + corner[c] + 0.25) * kLattice;
            }
        unsigned long dice = 1;
        for (auto& u : v = Vectors(kAtoms))
            for (double& one : u) {
                dice = dice * 6364136223846793005UL + 1442695040888963407UL;
                one = std::sqrt(12 * kTemperature) * (double(dice >> 11U) * 0x1p-53 - 0.5);
            }
    }
    /// So many steps by a plain loop over all pairs; returns the energy before the last one.
    double advance(int steps) {
        double energy = 0;
        for (int step = 1; step <= steps; ++step) {
            Vectors f(x.size());
            energy = 0;
            for (std::size_t i = 0; i < x.size(); ++i)
                for (std::size_t j = i + 1; j < x.size(); ++j) {
                    std::array<double, 3> d;
                    for (std::size_t c = 0; c < 3; ++c) d[c] = nearest(x[j][c] - x[i][c]);
                    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    if (square >= kCut * kCut) continue;
                    const Pair pair(square);
                    energy += pair.energy;
                    for (std::size_t c = 0; c < 3; ++c)
                        f[i][c] -= pair.force * d[c], f[j][c] += pair.force * d[c];
                }
            for (std::size_t i = 0; i < x.size(); ++i)
                for (std::size_t c = 0; c < 3; ++c) {
                    if (step > 1) v[i][c] += kDt / 2 * f[i][c];
                    energy += v[i][c] * v[i][c] / 2;
                    v[i][c] += kDt / 2 * f[i][c];
                    x[i][c] += kDt * v[i][c];
                }
        }
        return energy;
    }
};

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [](strata::team::Team& team) {
        constexpr int kDts = 120;
        const Atoms first;
        Atoms plain = first;
        const double energy_of_plain = plain.advance(kDts);

        Graph graph("lennard_jones");
        const double cell = kLength / 4;
        Grid& box = graph.grid("box", {.cells = {{0, 0, 0}, {4, 4, 4}},
                                       .patch_cells = {2, 2, 2},
                                       .periodic = {true, true, true},
                                       .spacing = {cell, cell, cell}});
        const SetId atoms = graph.particles("atoms", box);
        const auto id = graph.particle_id(atoms);
        const auto x = graph.particle<double>(atoms, "x", {.components = 3});
        const auto v = graph.particle<double>(atoms, "v", {.components = 3});
        const auto force = graph.particle<double>(atoms, "force", {.components = 3});
        const HaloId near = graph.particle_halo("near", x, kCut + kSkin);
        const auto energy = graph.scalar<double>("energy", Reduce::sum);
        const auto moved = graph.scalar<double>("moved", Reduce::max, 0, {.history = 1});
        const auto apart = graph.scalar<double>("apart", Reduce::max);
        const auto rebuilds = graph.scalar<std::int32_t>("rebuilds");
        {
            Task task = graph.start().task("put the atoms", box);
            const auto who = task.make(id);
            const auto at = task.make(x);
            const auto speed = task.make(v);
            task.run([=, &first](Here& here) {
                std::vector<std::size_t> mine;
                for (std::size_t i = 0; i < kAtoms; ++i)
                    if (const auto& [a, b, c] = first.x[i];
                        here.cells().contains(Int3{int(a / cell), int(b / cell), int(c / cell)}))
                        mine.push_back(i);
                here.create(atoms, std::int64_t(mine.size()));
                for (std::size_t n = 0; n < mine.size(); ++n) {
                    here[who].component()[n] = std::int64_t(mine[n]);
                    for (int c : {0, 1, 2}) {
                        here[at].component(c)[n] = first.x[mine[n]][std::size_t(c)];
                        here[speed].component(c)[n] = first.v[mine[n]][std::size_t(c)];
                    }
                }
            });
        }
        graph.start().renew(near);
        Scope& rebuild = graph.step().when<double>("rebuild", moved.previous(),
                                                   [](double square) { return square > kSkin * kSkin / 4; });
        rebuild.relocate(atoms, x.last());
        rebuild.renew(near);
        Task counts = rebuild.once("count");
        const auto count = counts.modify(rebuilds);
        counts.run([=](Here& here) { ++here[count]; });
        {
            Task task = graph.step().task("force", box);
            const auto at = task.need(x.at(1), near);  // after "rebuild"
            const auto who = task.need(id.last(), near);
            const auto around = task.need(near);
            const auto pull = task.sum(force, near);
            const auto sum = task.contribute(energy);
            task.run([=](Here& here) {
                const auto own = std::size_t(here[around].own()), all = std::size_t(here[around].size());
                const auto number = here[who].component();
                const auto rx = here[at].component(0), ry = here[at].component(1), rz = here[at].component(2);
                const auto fx = here[pull].component(0), fy = here[pull].component(1);
                const auto fz = here[pull].component(2);
                for (std::size_t i = 0; i < own; ++i)
                    for (std::size_t j = i + 1; j < all; ++j) {
                        const double dx = rx[j] - rx[i], dy = ry[j] - ry[i], dz = rz[j] - rz[i];
                        const double square = dx * dx + dy * dy + dz * dz;
                        if (square >= kCut * kCut || (j >= own && number[j] < number[i])) continue;
                        const Pair pair(square);
                        here[sum] += pair.energy;
                        fx[i] -= pair.force * dx, fy[i] -= pair.force * dy, fz[i] -= pair.force * dz;
                        fx[j] += pair.force * dx, fy[j] += pair.force * dy, fz[j] += pair.force * dz;
                    }
            });
        }
        Task task = graph.step().task("kick and drift", box);
        const auto pull = task.need(force);
        const auto speed = task.modify(v.at(1));
        const auto at = task.modify(x.at(1));
        const auto before = task.need(graph.renewed<double>(near).last());
        const auto who = task.need(id.last());
        const auto sum = task.contribute(energy);
        const auto farthest = task.contribute(moved);
        const auto difference = task.contribute(apart);
        task.run([=, &plain](Here& here) {
            for (std::size_t i = 0; i < std::size_t(here[at].size()); ++i) {
                double way = 0;
                for (int c : {0, 1, 2}) {
                    const double kick = kDt / 2 * here[pull].component(c)[i];
                    double &u = here[speed].component(c)[i], &r = here[at].component(c)[i];
                    if (here.step > 1) u += kick;  // the second half of the step before
                    here[sum] += u * u / 2, u += kick;
                    r += kDt * u;
                    way += std::pow(r - here[before].component(c)[i], 2);
                    const auto& other = plain.x[std::size_t(here[who].component()[i])];
                    here[difference] =
                        std::max(here[difference], std::abs(nearest(r - other[std::size_t(c)])));
                }
                here[farthest] = std::max(here[farthest], way);
            }
        });
        Simulation run(graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(1);
        const double begin = run.value(energy);
        run.advance(kDts - 1);
        team.barrier();  // nobody frees its patches while others read them
        const double drift = (run.value(energy) - begin) / kAtoms;
        if (team.rank() == 0)
            std::printf("energy of an atom %.4f, after %d steps %+.1e; %d rebuilds; from a plain loop %.1e\n",
                        begin / kAtoms, kDts, drift, int(run.value(rebuilds)), run.value(apart));
        const bool same =
            run.value(apart) < 1e-9 && std::abs(run.value(energy) - energy_of_plain) < 1e-9 * kAtoms;
        return same && std::abs(drift) < 1e-3 && run.value(rebuilds) > 3 ? 0 : 1;
    });
}
