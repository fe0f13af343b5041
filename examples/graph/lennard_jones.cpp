// Lennard-Jones: 864 atoms of a melt in reduced units, by velocity Verlet, in eight patches of a periodic
// cube. A patch sees the atoms that are closer to it than the cutoff and a skin, and owns a list of the pairs
// that are. It stays until an atom has moved by half the skin; then atoms go to the patches where they are,
// and each patch looks around anew. A pair across two patches is computed once, and the force goes back to
// the other one's patch. After 60 steps patches change owners, and their lists are made again there.
//   strata launch --layout 2x1 -- lennard_jones [FOLDER STEP]
// FOLDER: a checkpoint after every fifth step; a run goes on from the last. In STEP a process is killed.
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

constexpr int kSide = 6, kAtoms = 4 * kSide * kSide * kSide, kSteps = 120;  // kSide: cells of four atoms
constexpr double kDensity = 0.8442, kTemperature = 1.44, kCut = 2.5, kSkin = 0.3, kDt = 0.005;
const double kLattice = std::cbrt(4 / kDensity), kLength = kSide * kLattice;

/// Of two atoms that are `apart(c)` from each other along c: their energy, which is 0 at the cutoff. Calls
/// pull(c, force between them).
template <class Apart, class Pull>
double interact(Apart apart, Pull pull) {
    static const double at_cut = 4 * (std::pow(kCut, -12) - std::pow(kCut, -6));
    const double d[] = {apart(0), apart(1), apart(2)}, square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (square >= kCut * kCut) return 0;
    const double two = 1 / square, six = two * two * two, force = 24 * two * six * (2 * six - 1);
    for (int c : {0, 1, 2}) pull(c, force * d[c]);
    return 4 * six * (six - 1) - at_cut;
}

/// Of all images, the nearest one.
double nearest(double d) { return d - kLength * std::nearbyint(d / kLength); }

using Vectors = std::vector<std::array<double, 3>>;
using Pairs = std::vector<std::array<std::uint32_t, 2>>;

/// A face-centred cubic lattice; velocities without order.
struct Atoms {
    Vectors x = Vectors(kAtoms), v = x;
    Atoms() {
        unsigned long dice = 1;
        for (int n = 0; n < kAtoms; ++n)
            for (int c : {0, 1, 2}) {
                const int cell[] = {n / 4 % kSide, n / 4 / kSide % kSide, n / 4 / kSide / kSide};
                x[n][c] = (cell[c] + (n % 4 == 0 || c == 3 - n % 4 ? 0 : 0.5) + 0.25) * kLattice;
                dice = dice * 6364136223846793005UL + 1442695040888963407UL;
                v[n][c] = std::sqrt(12 * kTemperature) * (double(dice >> 11U) * 0x1p-53 - 0.5);
            }
    }
    /// So many steps by a plain loop over all pairs; returns the energy before the last one.
    double advance(int steps) {
        double energy = 0;
        for (int step = 1; step <= steps; ++step) {
            energy = 0;
            Vectors f(kAtoms);
            for (int i = 0; i < kAtoms; ++i)
                for (int j = i + 1; j < kAtoms; ++j)
                    energy += interact([&](int c) { return nearest(x[j][c] - x[i][c]); },
                                       [&](int c, double pull) { f[i][c] -= pull, f[j][c] += pull; });
            for (int i = 0; i < kAtoms; ++i)
                for (int c : {0, 1, 2}) {
                    const double kick = kDt / 2 * f[i][c];
                    v[i][c] += step > 1 ? kick : 0;
                    energy += v[i][c] * v[i][c] / 2;
                    x[i][c] += kDt * (v[i][c] += kick);
                }
        }
        return energy;
    }
};

/// The quantities of the melt, and the tasks that make them.
struct Melt {
    Graph graph{"lennard_jones"};
    const double cell = kLength / 4;
    Grid& box = graph.grid("box", {.cells = {{0, 0, 0}, {4, 4, 4}},
                                   .patch_cells = {2, 2, 2},
                                   .periodic = {true, true, true},
                                   .spacing = {cell, cell, cell}});
    const SetId atoms = graph.particles("atoms", box);
    const Particles<std::int64_t> id = graph.particle_id(atoms);
    const Particles<double> x = graph.particle<double>(atoms, "x", {.components = 3});
    const Particles<double> v = graph.particle<double>(atoms, "v", {.components = 3});
    const Particles<double> force = graph.particle<double>(atoms, "force", {.components = 3});
    const HaloId near = graph.particle_halo("near", x, kCut + kSkin);
    const Scalar<double> energy = graph.scalar<double>("energy", Reduce::sum);
    const Scalar<double> moved = graph.scalar<double>("moved", Reduce::max, 0, {.history = 1});
    const Scalar<double> apart = graph.scalar<double>("apart", Reduce::max);
    const Scalar<std::int32_t> rebuilds = graph.scalar<std::int32_t>("rebuilds");
    const Object<Pairs> pairs = graph.object<Pairs>(
        "pairs", box, {.bytes = [](const Pairs& all) { return all.capacity() * sizeof all[0]; }});

    /// `plain`: where a plain loop has the atoms in the end. In step `killed` a process is killed.
    Melt(const Atoms& first, const Atoms& plain, int killed) {
        put(first);
        graph.start().relocate(atoms, x.last(), 0);  // to the patches where they are
        look_around(graph.start(), "look around at first");
        declare_rebuild();
        find_forces();
        move(plain, killed);
    }

  private:
    void look_around(Scope& scope, const std::string& name) {
        scope.renew(near);
        Task task = scope.task(name, box);
        task.run([at = task.need(graph.renewed<double>(near).last(), near), who = task.need(id.last(), near),
                  around = task.need(near), made = task.make(pairs)](Here& here) {
            const auto own = here[around].own(), all = here[around].size();
            const auto rx = here[at].component(0), ry = here[at].component(1), rz = here[at].component(2);
            here[made].clear();
            for (std::uint32_t i = 0; i < own; ++i)
                for (std::uint32_t j = i + 1; j < all; ++j) {
                    const double dx = rx[j] - rx[i], dy = ry[j] - ry[i], dz = rz[j] - rz[i];
                    const double square = dx * dx + dy * dy + dz * dz;
                    if (square < std::pow(kCut + kSkin, 2) && (j < own || here[who][i] < here[who][j]))
                        here[made].push_back({i, j});
                }
        });
    }

    void put(const Atoms& first) {
        Task put = graph.start().task("put the atoms", box);
        put.make(force);
        put.run([this, &first, who = put.make(id), at = put.make(x), speed = put.make(v)](Here& here) {
            here.create(atoms, kAtoms / box.patches());
            for (int n = 0, i = here.patch; i < kAtoms; ++n, i += box.patches()) {
                here[who][n] = i;
                for (int c : {0, 1, 2})
                    here[at].component(c)[n] = first.x[i][c], here[speed].component(c)[n] = first.v[i][c];
            }
        });
    }

    void declare_rebuild() {
        Scope& rebuild = graph.step().when<double>("rebuild", moved.previous(),
                                                   [](double square) { return square > kSkin * kSkin / 4; });
        rebuild.relocate(atoms, x.last());
        look_around(rebuild, "look around");
        Task counts = rebuild.once("count");
        counts.run([count = counts.modify(rebuilds)](Here& here) { ++here[count]; });
    }

    void find_forces() {
        Task forces = graph.step().task("force", box);
        forces.run([at = forces.need(x.at(1), near), list = forces.need(pairs.at(1)),  // after "rebuild"
                    pull = forces.sum(force, near), sum = forces.contribute(energy)](Here& here) {
            for (const auto& p : here[list])
                here[sum] += interact(
                    [&](int c) { return here[at].component(c)[p[1]] - here[at].component(c)[p[0]]; },
                    [&](int c, double pulls) {
                        here[pull].component(c)[p[0]] -= pulls, here[pull].component(c)[p[1]] += pulls;
                    });
        });
    }

    void move(const Atoms& plain, int killed) {
        Task task = graph.step().task("kick and drift", box);
        task.run([&plain, killed, pull = task.need(force), speed = task.modify(v.at(1)),
                  at = task.modify(x.at(1)), before = task.need(graph.renewed<double>(near).last()),
                  who = task.need(id.last()), sum = task.contribute(energy),
                  farthest = task.contribute(moved), difference = task.contribute(apart)](Here& here) {
            if (here.step == killed && here.patch == 7) std::raise(SIGKILL);
            for (int i = 0; i < here[at].size(); ++i) {
                double way = 0;
                for (int c : {0, 1, 2}) {
                    const double kick = kDt / 2 * here[pull].component(c)[i];
                    double &u = here[speed].component(c)[i], &r = here[at].component(c)[i];
                    if (here.step > 1) u += kick;  // the second half of the step before
                    here[sum] += u * u / 2;
                    r += kDt * (u += kick);
                    way += std::pow(r - here[before].component(c)[i], 2);
                    here[difference] =
                        std::max(here[difference], std::abs(nearest(r - plain.x[here[who][i]][c])));
                }
                here[farthest] = std::max(here[farthest], way);
            }
        });
    }
};

int run(strata::team::Team& team, const std::string& folder, int killed) {
    const Atoms first;
    Atoms plain = first;
    const double energy_of_plain = plain.advance(kSteps), energy_at_first = Atoms(first).advance(1);
    Melt melt(first, plain, killed);
    const StateName state{"melt", "", 0};
    Simulation steps(melt.graph, Members::of(team), {.crew = &team.crew()});
    const bool goes_on = !folder.empty() && std::filesystem::exists(folder);
    goes_on ? void(restore_state(steps, melt.graph, team, folder, state)) : steps.start();
    const int from = int(steps.step());
    const double since = std::sqrt(steps.value(melt.moved)) / kSkin;
    while (steps.step() < kSteps) {
        steps.advance(5);
        if (!folder.empty()) save_state(steps, melt.graph, team, folder, state, 1);
        if (steps.step() != 60) continue;
        Assignment other = steps.assignment();
        for (int& owner : other.owner[FamilyId(0)]) owner = team.size() - 1 - owner;
        steps.reassign(other);
    }
    std::int64_t bits = 0;  // of all patches
    for (const std::uint64_t each : steps.hashes(melt.box)) bits ^= std::int64_t(each);
    bits = team.together().reduce(bits, [](std::int64_t a, std::int64_t b) { return a ^ b; });
    const double drift = (steps.value(melt.energy) - energy_at_first) / kAtoms;
    const double wrong =
        std::max(steps.value(melt.apart), std::abs(steps.value(melt.energy) - energy_of_plain) / kAtoms);
    if (team.rank() == 0)
        std::printf(
            "energy of an atom %.4f, after %d steps %+.1e; %d rebuilds; from a plain loop %.1e\n"
            "bits %016lx; from step %d, when atoms had moved by %.2f of the skin\n",
            energy_at_first / kAtoms, kSteps, drift, int(steps.value(melt.rebuilds)), wrong,
            (unsigned long)bits, from, since);
    return wrong < 1e-9 && std::abs(drift) < 1e-3 && steps.value(melt.rebuilds) > 3 ? 0 : 1;
}

int main(int argc, char** argv) {
    const std::string folder = argc > 2 ? argv[1] : "";
    const int killed = argc > 2 ? std::stoi(argv[2]) : 0;
    return strata::team::run(argc, argv, [&](strata::team::Team& team) { return run(team, folder, killed); });
}
