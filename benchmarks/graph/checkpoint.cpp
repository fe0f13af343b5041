// What a checkpoint takes beside plain writing of as many bytes, in one run, in turn.
//
//   STRATA_LAYOUT=2x1 checkpoint-cost FOLDER [MEBIBYTES [ROUNDS]]        e.g. checkpoint-cost /dev/shm 512 9
//
// Plain: each member writes its share into a file of its own, a MiB at a time, from memory that is there, and
// brings it to the disk (fsync). Neither packs, checks nor renames anything.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "core/base/error.hpp"
#include "core/run/checkpoint/state.hpp"

namespace {

using namespace strata;
using namespace strata::graph;
using bench::now;
namespace fs = std::filesystem;

constexpr int kPatchCells = 32;

/// A field on patches of 32^3 cells that some step changes.
struct Cube {
    explicit Cube(double bytes) : graph("cube") {
        const double patch = 8.0 * kPatchCells * kPatchCells * kPatchCells;
        const int patches = std::max(1, static_cast<int>(std::lround(bytes / patch)));
        GridShape shape;
        shape.cells.hi = {kPatchCells * patches, kPatchCells, kPatchCells};
        shape.patch_cells = {kPatchCells, kPatchCells, kPatchCells};
        grid = &graph.grid("grid", shape);
        const auto u = graph.field<double>("u", *grid, On::cells, {.history = 1});
        Task first = graph.start().task("first", *grid);
        const auto made = first.make(u);
        first.run([=](Here& here) {
            const Box& box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i) here[made](i, j, k) = i + 0.5 * j + 0.25 * k;
        });
        Task step = graph.step().task("step", *grid);
        const auto before = step.need(u.previous());
        const auto after = step.make(u);
        step.run([=](Here& here) {
            const Box& box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i)
                        here[after](i, j, k) = here[before](i, j, k) + 1;
        });
    }
    Graph graph;
    Grid* grid = nullptr;
};

void write_plainly(const fs::path& file, const std::vector<std::byte>& values, std::size_t bytes) {
    const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out < 0) throw system_error("a file cannot be made", errno).at(file.string());
    for (std::size_t at = 0; at < bytes; at += values.size())
        if (::write(out, values.data(), std::min(values.size(), bytes - at)) < 0)
            throw system_error("a file cannot be written", errno).at(file.string());
    if (::fsync(out) != 0 || ::close(out) != 0)
        throw system_error("a file cannot be written", errno).at(file.string());
}

int go(team::Team& team, int argc, char** argv) {
    const fs::path folder = fs::path(argv[1]) / "strata-checkpoint-cost";
    const double bytes = 1048576.0 * (argc > 2 ? std::atof(argv[2]) : 512);
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 9;
    Cube cube(bytes);
    SimulationOptions options;
    options.crew = &team.crew();
    Simulation run(cube.graph, Members::of(team), options);
    run.start();
    run.advance(1);
    const auto timed = [&](const std::function<void()>& work) {
        team.barrier();
        const double begin = now();
        work();
        team.barrier();
        return now() - begin;
    };
    std::vector<double> ours, plain, back;
    const std::vector<std::byte> values(1 << 20, std::byte{7});
    const auto share = static_cast<std::size_t>(bytes / team.size());
    const fs::path own = folder / fmt::format("plain-{}", team.rank());
    if (team.rank() == 0) fs::create_directories(folder);
    team.barrier();
    for (int round = 0; round < rounds; ++round) {
        ours.push_back(timed([&] { save_state(run, cube.graph, team, folder, {"cube", "", 0}, 1); }));
        Simulation other(cube.graph, Members::of(team), options);
        back.push_back(timed([&] { restore_state(other, cube.graph, team, folder, {"cube", "", 0}); }));
        team.barrier();
        if (team.rank() == 0) fs::remove_all(checkpoint_path(folder, 1));
        plain.push_back(timed([&] { write_plainly(own, values, share); }));
        fs::remove(own);
    }
    team.barrier();
    if (team.rank() != 0) return 0;
    fs::remove_all(folder);
    const double gb = bytes / 1e9;
    fmt::print("{} members x {} threads, {:.2f} GB, medians of {} rounds\n", team.size(), team.crew().count(),
               gb, rounds);
    fmt::print(
        "checkpoint {:6.2f} GB/s\nplain      {:6.2f} GB/s\nrestart    {:6.2f} GB/s\nratio      {:6.2f}\n",
        gb / bench::median(ours), gb / bench::median(plain), gb / bench::median(back),
        bench::median(plain) / bench::median(ours));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        fmt::print(stderr, "STRATA_LAYOUT=PxT checkpoint-cost FOLDER [MEBIBYTES [ROUNDS]]\n");
        return 2;
    }
    return team::run(argc, argv, [&](team::Team& team) { return go(team, argc, argv); });
}
