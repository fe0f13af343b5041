// Walls in files: Cp, Cf and y+ of each wall face, as CSV and as a surface for ParaView.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/run/driver/driver.hpp"
#include "methods/curvilinear/grid.hpp"
#include "solvers/flow/boundary/wall_distance.hpp"
#include "solvers/flow/output/known.hpp"
#include "solvers/flow/output/walls.hpp"

namespace strata::flow {

/// Zone, i, j, k of a cell where its zone was cut from, from 1. `shapes` empty: zones are as they were.
[[nodiscard]] std::array<std::int32_t, 4> number_of(std::span<const ZoneShape> shapes, int zone,
                                                    const graph::Int3& cell);

/// Lists of the grid: an entry is a wall face, of each patch those of its walls, face by face, x fastest.
struct SurfaceLabels {
    const graph::Grid* grid = nullptr;
    std::vector<std::int64_t>
        first;                    // [patch] the wall faces of the patches before it; and at the end of all
    graph::List<double> corners;  // places, 2 (in two dimensions) or 4 of each
    graph::List<std::int32_t> numbers;  // of the corners
    graph::List<double> centre, cp, cf, y_plus;
    graph::List<std::int32_t> cell;  // zone, i, j, k, from 1
    /// Of meshes that overlap: 1 where the face's cell is computed, else 0.
    std::optional<graph::List<std::int32_t>> computed = {};
};

struct Surface {
    const graph::Grid& grid;
    int dimensions = 3;
    /// [patch] walls, with their boundaries; they must outlive the graph.
    struct Wall {
        Face face;
        const Boundary* boundary;
    };
    std::vector<std::vector<Wall>> walls;
    Gas gas;
    std::function<RigidMotion(int patch, std::int64_t step)> motion = {};  // of the grid; none: it rests
    Reference reference;
    ViewOf nodes;
    ViewOf centres;  // with a layer beyond faces: neighbours' cells, and mirror images
    /// Zones as they were before they were cut: cells are numbered so in files. Empty: as they are.
    std::vector<ZoneShape> shapes;
    KnownOf known = {};  // of meshes that overlap
};

/// Declares the labels, and a task in `scope` that fills them from a version of q (after its borders).
[[nodiscard]] SurfaceLabels declare_surface(graph::Graph& graph, graph::Scope& scope, const Surface& surface,
                                            const graph::TypedVersion<double, graph::Kind::field>& q);
/// The surface (2D: lines) in field files, with Cp, Cf, y+ and the cell's zone, i, j, k.
[[nodiscard]] graph::ShownShape surface_shape(const SurfaceLabels& labels, int dimensions);

/// FOLDER/surface-STEP.csv, every so many steps (0: never) and at the end of a run: a row for each wall face
/// whose cell is computed, in the order of patches: x, y, z, Cp, Cf in x, y, z, y+, zone, i, j, k from 1.
/// Rows have one length, so each process writes its own to their places.
[[nodiscard]] std::shared_ptr<graph::Frames> surface_file(SurfaceLabels labels, std::int64_t every);

}  // namespace strata::flow
