// Drives TIOGA (https://github.com/jsitaraman/tioga) over grids of hexahedra, for overset.py: node-centred
// connectivity of structured zones, timed, and how many nodes are left without a donor.
//   tioga_driver GRID1 GRID2 ...
// Each grid is a binary file: int32 ni, nj, nk (nodes); doubles x, y, z of all nodes, i fastest, component
// after component; int32 n, then n outer nodes from 0.
// Compiled by hand against TIOGA's library, as overset.py says.
#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "MeshBlock.h"
#include "codetypes.h"
#include "tioga.h"

namespace {

struct Zone {
    int nodes = 0, cells = 0;
    std::vector<double> x;
    std::vector<int> corners, outer, iblank, iblank_cell;
    int nv = 8;
    int* connect = nullptr;
};

bool read(const std::string& path, Zone& zone) {
    std::ifstream in(path, std::ios::binary);
    std::int32_t n[3];
    if (!in.read(reinterpret_cast<char*>(n), sizeof n)) return false;
    zone.nodes = n[0] * n[1] * n[2];
    const auto count = static_cast<std::size_t>(zone.nodes);
    std::vector<double> planar(3 * count);
    in.read(reinterpret_cast<char*>(planar.data()),
            static_cast<std::streamsize>(planar.size() * sizeof(double)));
    std::int32_t outer = 0;
    in.read(reinterpret_cast<char*>(&outer), sizeof outer);
    zone.outer.resize(static_cast<std::size_t>(outer));
    if (!in.read(reinterpret_cast<char*>(zone.outer.data()), 4 * static_cast<std::streamsize>(outer)) &&
        outer > 0)
        return false;
    for (int& node : zone.outer) ++node;  // TIOGA counts from 1
    zone.x.resize(3 * count);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t d = 0; d < 3; ++d) zone.x[3 * i + d] = planar[d * count + i];
    const auto at = [&](int i, int j, int k) { return (k * n[1] + j) * n[0] + i + 1; };
    for (int k = 0; k + 1 < n[2]; ++k)
        for (int j = 0; j + 1 < n[1]; ++j)
            for (int i = 0; i + 1 < n[0]; ++i)
                for (const int c :
                     {at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k), at(i, j, k + 1),
                      at(i + 1, j, k + 1), at(i + 1, j + 1, k + 1), at(i, j + 1, k + 1)})
                    zone.corners.push_back(c);
    zone.cells = static_cast<int>(zone.corners.size() / 8);
    zone.iblank.assign(count, 1);
    zone.iblank_cell.assign(static_cast<std::size_t>(zone.cells), 1);
    zone.connect = zone.corners.data();
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    std::vector<Zone> zones(static_cast<std::size_t>(argc - 1));
    for (int z = 0; z + 1 < argc; ++z)
        if (!read(argv[z + 1], zones[static_cast<std::size_t>(z)])) {
            std::fprintf(stderr, "cannot read %s\n", argv[z + 1]);
            return 1;
        }
    TIOGA::tioga overset;
    overset.setCommunicator(MPI_COMM_WORLD, 0, 1);
    std::vector<int> wall(1, 0);
    for (std::size_t z = 0; z < zones.size(); ++z) {
        Zone& zone = zones[z];
        overset.registerGridData(static_cast<int>(z) + 1, zone.nodes, zone.x.data(), zone.iblank.data(), 0,
                                 static_cast<int>(zone.outer.size()), wall.data(), zone.outer.data(), 1,
                                 &zone.nv, &zone.cells, &zone.connect);
        overset.set_cell_iblank(static_cast<int>(z) + 1, zone.iblank_cell.data());
    }
    const auto began = std::chrono::steady_clock::now();
    overset.profile();
    overset.performConnectivity();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    long nodes = 0, receptors = 0, holes = 0, outer_left = 0;
    for (const Zone& zone : zones) {
        nodes += zone.nodes;
        for (const int blank : zone.iblank) receptors += blank < 0 ? 1 : 0, holes += blank == 0 ? 1 : 0;
        // An outer node that is still a field node has found no donor.
        for (const int node : zone.outer)
            outer_left += zone.iblank[static_cast<std::size_t>(node - 1)] == 1 ? 1 : 0;
    }
    std::printf("{\"seconds\": %.6f, \"nodes\": %ld, \"receptors\": %ld, \"holes\": %ld, \"orphans\": %ld}\n",
                took.count(), nodes, receptors, holes, outer_left);
    MPI_Finalize();
    return 0;
}
