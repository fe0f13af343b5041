// What the parts of the connectivity hand on to each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "methods/geometry/surface.hpp"
#include "methods/overset/connectivity.hpp"
#include "methods/overset/inverse.hpp"

namespace strata::overset {

using geometry::Bounds;
using geometry::bounds_in;
using geometry::point_at;
using geometry::put_bounds;
using geometry::Surface;
using geometry::turn_back;
using geometry::turned;

[[nodiscard]] constexpr std::size_t z(std::int64_t i) { return static_cast<std::size_t>(i); }

/// The cells between centres that a patch answers for, those at its lower joined faces included.
struct Donors {
    geometry::Tree<geometry::NumberedBox> tree;
    Box bases;                         // of all of them
    std::vector<std::int32_t> number;  // [place in `bases`, x fastest]; -1: there is none
    std::vector<Int3> base;
    std::vector<std::uint8_t>
        open;  // bits 2 axis + upper: beyond there is no cell, so it reaches half a cell out
    [[nodiscard]] std::size_t bytes() const {
        return tree.bytes() + base.capacity() * sizeof(Int3) + open.capacity() +
               number.capacity() * sizeof(std::int32_t);
    }
    [[nodiscard]] std::int32_t at(const Int3& at) const {
        return bases.contains(at) ? number[z(number_of(bases, at))] : -1;
    }
};

/// A place in a donor.
struct Candidate {
    std::int32_t cell = 0;  // the receptor, counted in its patch, x fastest
    std::int32_t mesh = 0, zone = 0, patch = 0, turn = 0;
    Int3 base{};
    double quality = 0;
    Real3 xi{};
};

/// What a patch works with until cells are chosen.
struct Work {
    // Holes: patches with walls of other meshes, and what rays have met so far
    struct Walls {
        std::int32_t number;  // among patches with walls
        std::int32_t cut;     // its mesh, among those that cut
        Bounds box;
    };
    std::vector<Walls> walls;
    std::vector<std::int32_t> unsure;   // cells that the map does not decide
    std::vector<std::uint8_t> rays;     // [meshes that cut * number among unsure + mesh that cuts]
    std::vector<std::uint8_t> near;     // the same: on a wall that both meshes have
    std::vector<std::uint8_t> is_hole;  // [cell]

    // Donors: patches of other meshes
    struct Other {
        std::int32_t patch, mesh, turn;
        Bounds box;
    };
    std::vector<Other> others;
    std::vector<Candidate> candidates;
    std::vector<std::int32_t> first;      // [cell] of its candidates, and the end
    std::vector<std::int32_t> candidate;  // [cell] the one at work; -1: none
    std::vector<std::int32_t> better;     // [cell] candidates that are better than the cell itself

    // Where a search stands, and the cells of the requests under way
    std::size_t at_patch = 0, at_cell = 0;
    std::vector<std::int32_t> asking, asked;  // and, of donors, the number in `others`

    // The foot of each cell on a wall of its own patch (meshes that share walls)
    struct Foot {
        Real3 x{};
        double reach = 0;  // 0: none
    };
    std::vector<Foot> feet;  // [cell], or empty
};

/// Goes on where a search stands: ask(number of a patch, number of a cell) for all cells of each patch.
/// False: it said so, as there was no room for a question, which is asked in the next round.
template <class Ask>
[[nodiscard]] bool ask_on(Work& w, std::size_t patches, std::size_t cells, Ask&& ask) {
    for (; w.at_patch < patches; ++w.at_patch, w.at_cell = 0)
        for (; w.at_cell < cells; ++w.at_cell)
            if (!ask(w.at_patch, w.at_cell)) return false;
    return true;
}

/// The choice, while it goes on.
enum State : std::int32_t { kHole = 0, kComputes = 1, kOptional = 2, kMandatory = 3 };

struct Parts {
    graph::Graph& graph;
    const Problem& p;
    std::vector<int> wall_patches;  // those that cut
    std::vector<int> cutting;       // [mesh] its number among meshes that cut; -1: it does not
    int cuts = 0;
    std::int64_t patch_cells = 0;  // most of a patch
    graph::Object<Donors> donors;
    graph::Object<Surface> surface;    // walls that cut
    graph::Object<Surface> own_walls;  // all walls, where meshes share some
    graph::Object<Work> work;
    graph::Scalars<double> boxes;       // of donors, [6 patch]: lo, -hi
    graph::Scalars<double> wall_boxes;  // [6 wall patch]
    graph::Field<std::int32_t> holes, state;
    graph::Scalars<std::int32_t> marks;  // cells of the maps that walls may touch, made at the start

    std::string when;  // at the end of names: tasks of the start and of steps have names of their own

    [[nodiscard]] std::string named(const char* part) const { return p.name + ": " + part + when; }
    [[nodiscard]] int mesh_of(int patch) const { return p.mesh[z(p.grid.zone_of(patch))]; }
};

[[nodiscard]] inline Int3 cell_at(const Box& box, std::int32_t number) {
    return {box.lo[0] + number % box.extent(0), box.lo[1] + number / box.extent(0) % box.extent(1),
            box.lo[2] + number / (box.extent(0) * box.extent(1))};
}
/// Corner n of a cell between centres.
[[nodiscard]] inline Int3 corner_of(const Int3& base, int n) {
    return {base[0] + (n & 1), base[1] + (n >> 1 & 1), base[2] + (n >> 2 & 1)};
}
/// Cells that a computed cell sees, as steps from it: two along each axis, and all around.
[[nodiscard]] std::vector<Int3> seen_from_cell(int dimensions);

/// Where a place by a wall that two meshes share lies over the other mesh's wall: moved by the step from its
/// own foot to the nearest point there; fully within `reach` of the foot, not at all from twice that on.
/// Where that step is more than a quarter of the reach, the walls are not the same, and nothing moves.
[[nodiscard]] std::optional<Real3> over_shared_wall(const Surface& wall, const Real3& x, const Real3& foot,
                                                    double reach);

/// Where tasks are declared: at the start, or in each step.
struct When {
    graph::Scope& scope;
    bool in_step = false;
};

/// Where meshes move, in steps: the list of cells that come out of holes.
class UncoveredListed {
  public:
    UncoveredListed(const When& when, const Connectivity& made, graph::Task& task);
    /// All candidates of a cell are asked, and last the cells around it in its own mesh.
    void list(const graph::Here& here, const Work& work, const FieldView<const std::int32_t>& now) const;

  private:
    bool some_;
    int most_ = 0;
    graph::FieldUse<const std::int32_t> before_{};
    graph::AskUse<Wanted> asked_{};
};

/// At the start alone: trees of donors and walls, and maps of walls.
void declare_geometry(Parts& parts);
void declare_maps(Parts& parts);
void declare_holes(Parts& parts, const When& when);
void declare_search(Parts& parts, const When& when);
/// The version 0 of `state`.
void declare_choice(Parts& parts, const When& when, graph::Scalar<std::int64_t> rounds);
void declare_lists(Parts& parts, const When& when, graph::Scalar<std::int64_t> rounds,
                   const Connectivity& made);
void declare_shares(Parts& parts, const When& when, const Connectivity& made);

}  // namespace strata::overset
