// Heat in a square plate that is cut into zones of unequal width. multizone_serial takes the zones one after
// the other, multizone_team divides them among the members of a team; the rest is the same (README.md).
//
//   multizone_serial        # 16 zones, 173 x 173 points, 400 steps
//   multizone_team 2        # twice as fine: the error is a quarter
//
// u_t = u_xx + u_yy on the unit square, u = 0 at its border, u = sin(pi x) sin(pi y) at the start; then
// u = exp(-2 pi^2 t) sin(pi x) sin(pi y) (Carslaw and Jaeger, "Conduction of Heat in Solids", 1959, 5.6).
// Steps are forward in time and centred in space, second order in h at a fixed ratio of time step to h^2
// (LeVeque, "Finite Difference Methods for Ordinary and Partial Differential Equations", 2007, 9.1). Zones
// overlap by a column on each side, which after each step is read from the neighbour's edge.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <span>
#include <vector>

#include "core/balance/packing.hpp"
#include "core/team/team.hpp"

namespace {

constexpr int kWidths[] = {20, 2, 9, 14, 3, 30, 5, 11, 6, 17, 2, 22, 4, 8, 13, 7};  // columns of each zone
constexpr int kZones = std::size(kWidths), kSteps = 400;
constexpr double kRatio = 0.2;  // time step / h^2; stable up to 1/4

/// What all zones have in common: the points along a side, the steps, the distance between points.
struct Grid {
    int side, steps;
    double h;
    explicit Grid(int finer) : side(0), steps(kSteps * finer * finer) {
        for (const int width : kWidths) side += width * finer;
        h = 1.0 / (side + 1);
    }
};

/// The edges of all zones, left and right, before and after a step: what neighbours read.
struct Edges {
    std::span<double> values;
    int side;
    [[nodiscard]] double* of(int zone, int right, int step) const {
        return values.data() + static_cast<std::ptrdiff_t>(((step % 2) * kZones + zone) * 2 + right) * side;
    }
};

/// A zone's own columns are 1 to width; 0 and width + 1 overlap its neighbours.
struct Zone {
    int number, first, width, rows;
    std::vector<double> now = {}, next = {};

    double& at(std::vector<double>& field, int column, int row) const {
        return field[static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
                     static_cast<std::size_t>(row)];
    }
};

double exact(const Grid& grid, int column, int row, double time) {
    constexpr double pi = std::numbers::pi;
    return std::exp(-2 * pi * pi * time) * std::sin(pi * column * grid.h) * std::sin(pi * row * grid.h);
}

std::vector<Zone> make_zones(const Grid& grid, int finer) {
    std::vector<Zone> zones;
    for (int number = 0, first = 0; number < kZones; first += kWidths[number++] * finer)
        zones.push_back({number, first, kWidths[number] * finer, grid.side + 2});
    return zones;
}

void write_edges(Zone& zone, const Edges& edges, int step) {
    for (int row = 1; row <= edges.side; ++row) {
        edges.of(zone.number, 0, step)[row - 1] = zone.at(zone.now, 1, row);
        edges.of(zone.number, 1, step)[row - 1] = zone.at(zone.now, zone.width, row);
    }
}

void read_neighbours(Zone& zone, const Edges& edges, int step) {
    for (int row = 1; row <= edges.side; ++row) {
        if (zone.number > 0) zone.at(zone.now, 0, row) = edges.of(zone.number - 1, 1, step)[row - 1];
        if (zone.number < kZones - 1)
            zone.at(zone.now, zone.width + 1, row) = edges.of(zone.number + 1, 0, step)[row - 1];
    }
}

void begin(Zone& zone, const Grid& grid) {
    zone.now.assign(static_cast<std::size_t>(zone.width + 2) * static_cast<std::size_t>(zone.rows), 0.0);
    zone.next = zone.now;
    for (int column = 1; column <= zone.width; ++column)
        for (int row = 1; row <= grid.side; ++row)
            zone.at(zone.now, column, row) = exact(grid, zone.first + column, row, 0);
}

void advance(Zone& zone, const Grid& grid) {
#pragma omp parallel for
    for (int column = 1; column <= zone.width; ++column) {
        const double* west = &zone.at(zone.now, column - 1, 0);
        const double* here = &zone.at(zone.now, column, 0);
        const double* east = &zone.at(zone.now, column + 1, 0);
        double* result = &zone.at(zone.next, column, 0);
        for (int row = 1; row <= grid.side; ++row)
            result[row] =
                here[row] + kRatio * (west[row] + east[row] + here[row - 1] + here[row + 1] - 4 * here[row]);
    }
    std::swap(zone.now, zone.next);
}

void compare(Zone& zone, const Grid& grid, double& heat, double& error) {
    const double time = grid.steps * kRatio * grid.h * grid.h;
    for (int column = 1; column <= zone.width; ++column)
        for (int row = 1; row <= grid.side; ++row) {
            const double u = zone.at(zone.now, column, row);
            heat += u * grid.h * grid.h;
            error = std::max(error, std::abs(u - exact(grid, zone.first + column, row, time)));
        }
}

int report(const Grid& grid, std::span<const double> heat, std::span<const double> error) {
    double all = 0, worst = 0;
    for (int zone = 0; zone < kZones; ++zone) {
        std::printf("zone %2d  heat %.17g  error %.17g\n", zone, heat[static_cast<std::size_t>(zone)],
                    error[static_cast<std::size_t>(zone)]);
        all += heat[static_cast<std::size_t>(zone)];
        worst = std::max(worst, error[static_cast<std::size_t>(zone)]);
    }
    const bool good = worst < 0.1 * grid.h * grid.h;
    std::printf("heat %.17g  largest error %.17g  %s\n", all, worst, good ? "verified" : "WRONG");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int solve(strata::team::Team& team, int finer) {
    const Grid grid(finer);
    std::vector<Zone> zones = make_zones(grid, finer);
    const auto owner = strata::balance::pack(std::vector<double>(std::begin(kWidths), std::end(kWidths)),
                                             std::vector<double>(static_cast<std::size_t>(team.size()), 1.0));
    std::erase_if(
        zones, [&](const Zone& zone) { return owner[static_cast<std::size_t>(zone.number)] != team.rank(); });
    auto edges_of_all =
        team.arena().array<double>("edges", static_cast<std::size_t>(2 * kZones * 2 * grid.side));
    auto heat = team.arena().array<double>("heat", kZones),
         error = team.arena().array<double>("error", kZones);
    const Edges edges{edges_of_all, grid.side};

    for (Zone& zone : zones) {
        begin(zone, grid);
        write_edges(zone, edges, 0);
    }
    team.barrier();
    for (int step = 0; step < grid.steps; ++step) {
        for (Zone& zone : zones) {
            read_neighbours(zone, edges, step);
            advance(zone, grid);
            write_edges(zone, edges, step + 1);
        }
        team.barrier();
    }
    for (Zone& zone : zones)
        compare(zone, grid, heat[static_cast<std::size_t>(zone.number)],
                error[static_cast<std::size_t>(zone.number)]);
    team.barrier();
    if (team.rank() != 0) return EXIT_SUCCESS;
    return report(grid, heat, error);
}

}  // namespace

int main(int argc, char** argv) {
    const int finer = argc > 1 ? std::atoi(argv[1]) : 1;
    return strata::team::run(argc, argv, [&](strata::team::Team& team) { return solve(team, finer); });
}
