// Which cells of grids that overlap are computed, and where the values of the others come from. Tasks of the
// start scope, in pieces; where meshes move, of each step as well.
//
// Zones that are joined by themselves are a mesh: a C-grid, a background. Cells are the unknowns, at their
// centres. These parts follow each other (docs/overset.md):
//   holes.cpp   cells inside the closed walls of other meshes
//   search.cpp  for each cell a donor in each other mesh: a cell between centres, with its own centre in it
//   choice.cpp  which cells are computed, and which take values from other meshes
//   lists.cpp   who asks whom, and the interpolation
//
// A process holds what its own patches need, and the boxes of all patches. Questions travel to the patches
// that may have the answer, which search their own cells. All of it has the same bits on every layout.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/requests.hpp"
#include "core/graph/declare/zones.hpp"
#include "methods/geometry/rigid.hpp"

namespace strata::overset {

using geometry::Rigid;
using graph::Box;
using graph::Face;
using graph::FieldView;
using graph::Int3;
using graph::Real3;
using graph::Rotation;

/// What a cell is.
enum class Cell : std::int32_t {
    hole = 0,      // inside a wall, or no computed cell needs it
    computed = 1,  //
    receptor = 2,  // its values are interpolated
    orphan = 3,    // it should be a receptor, and no donor is valid: the mean of computed cells around it
};

/// Declares that a task needs a field of its patch, and gives what shows it.
using ViewOf = std::function<std::function<FieldView<const double>(const graph::Here&)>(graph::Task&)>;

/// Layers of cells that a computed cell may see.
inline constexpr int kFringe = 2;

/// It must outlive the graph.
struct Problem {
    const graph::Zones& grid;
    int dimensions = 3;
    std::vector<std::string> names = {};  // of meshes
    std::vector<int> mesh = {};           // [zone]
    /// For messages: of the mesh of a zone.
    [[nodiscard]] std::string mesh_name(int zone) const {
        const auto of = static_cast<std::size_t>(mesh[static_cast<std::size_t>(zone)]);
        return of < names.size() ? names[of] : std::to_string(of + 1);
    }
    /// [patch] faces that cut holes into other meshes. Those of a mesh are a closed surface, but for sides
    /// that are open at planes of symmetry.
    std::vector<std::vector<Face>> walls = {};
    /// [mesh] whether its surface has such sides. Then no map is made of it, and more cells ask.
    std::vector<bool> open = {};
    /// [patch] faces where a mesh ends within others: `fringe` layers of cells there are receptors.
    std::vector<std::vector<Face>> outer = {};
    /// [patch] all faces that are walls, for meshes that lie on the walls of each other.
    std::vector<std::vector<Face>> surfaces = {};
    /// Pairs of meshes of which each lies on the other's walls.
    std::vector<std::array<int, 2>> shared = {};
    /// Turns about an axis through the origin that take the whole flow onto itself, none at all first: of a
    /// mesh that is periodic by rotation. Each mesh is there once for each of them.
    std::vector<Rotation> turns = {graph::kNoRotation};
    ViewOf nodes = {};    // of the patch; in two dimensions k = 0
    ViewOf centres = {};  // with one layer around where there is a cell, edges and corners included
    /// Of own cells: where two meshes have a computed cell, the smaller number is the better one. The volume,
    /// or the distance to the nearest wall.
    ViewOf quality = {};
    bool quality_is_volume = true;
    /// Of grids that come with holes: whether each cell of a patch is one, x fastest.
    std::function<std::vector<std::uint8_t>(int patch)> holes = {};
    int fringe = kFringe;
    /// Cells of each mesh count so many times their quality as those of the mesh before it.
    double lean = 1;
    bool donor_zones = false;      // whether Connectivity::donor_zone is wanted
    std::string name = "overset";  // of labels and tasks
    /// Of meshes that move as rigid bodies: where a mesh is at the end of a step (0: at first), from where
    /// its nodes and centres are. These stay what they are, and with them trees of donors and walls: places
    /// of other meshes are taken to the frame of the mesh that is searched. Meshes that share walls move
    /// alike.
    std::function<Rigid(int mesh, std::int64_t step)> placed = {};

    [[nodiscard]] bool moves() const { return static_cast<bool>(placed); }
    /// Takes places of one mesh to where another one sees them, in its own frame.
    [[nodiscard]] Rigid seen(int mesh, int by, std::int64_t step) const {
        if (!moves() || mesh == by) return {};
        return seen_by(placed(by, step), placed(mesh, step));
    }
    /// [mesh] the same for all.
    [[nodiscard]] std::vector<Rigid> seen_by_all(int mesh, std::int64_t step) const {
        std::vector<Rigid> all;
        for (std::size_t by = 0; by < names.size(); ++by)
            all.push_back(seen(mesh, static_cast<int>(by), step));
        return all;
    }
    /// Whether two meshes share walls; whether one does so with any other.
    [[nodiscard]] bool share(int a, int b) const {
        for (const auto& [m, n] : shared)
            if ((m == a && n == b) || (m == b && n == a)) return true;
        return false;
    }
    [[nodiscard]] bool shares(int mesh) const {
        for (const auto& [m, n] : shared)
            if (m == mesh || n == mesh) return true;
        return false;
    }
};

/// Rounds of the choice, at most.
inline constexpr int kChoiceRounds = 200;

/// A question of a receptor to the patch of its donor, which stays as long as the grids do.
struct Wanted {
    Int3 base;          // the lowest corner of the cell between centres; of an orphan, its own cell
    std::int16_t what;  // Cell::receptor or Cell::orphan
    std::int16_t turn;  // of Problem::turns: the one that takes the receptor to its donor
    Real3 xi;
};

/// Cells of a kind, by zone; covered: receptors that no computed cell sees, which are holes then.
inline constexpr int kCounts = 5;
enum Count : int { kHoles, kComputed, kReceptors, kOrphans, kCovered };

struct Connectivity {
    graph::Field<std::int32_t> status;    // Cell; made in the start scope, kept
    graph::Questions<Wanted> wanted;      // those of receptors and orphans, in the order of cells, x fastest
    graph::Scalars<std::int64_t> counts;  // [kCounts zone + Count]
    graph::Scalars<std::int64_t> first_orphans;  // [zone] the lowest, as cell_of() takes it
    /// Of receptors: the least and the greatest volume of a donor over that of the receptor, as (-least,
    /// greatest).
    graph::Scalar<std::array<double, 2>> ratios;
    graph::Scalars<std::int64_t> ratio_counts;  // [ratio_bin()] receptors by that ratio
    int most = 0;                               // receptors and orphans of a patch that there may be
    /// Of meshes that share walls: what a wall face beside a computed cell counts in sums over walls, so that
    /// each wall counts once. Faces of other cells count nothing.
    std::optional<graph::Field<double>> share = {};
    /// Of meshes that move: cells that were holes a step ago and are none now. Each asks its donors in all
    /// meshes, and last its own mesh around it.
    std::optional<graph::Questions<Wanted>> uncovered = {};
    /// Where it is wanted: the zone of a receptor's donor, from 1; of other cells 0.
    std::optional<graph::Field<std::int32_t>> donor_zone = {};
};

/// Declares the tasks, in program order (Graph::in_program_order). Throws Error where a zone has one cell
/// along an axis that others are to overlap, or the graph has tasks and is not in program order.
/// A patch with more receptors than there is room for ends the run.
[[nodiscard]] Connectivity declare_connectivity(graph::Graph& graph, const Problem& problem);

/// The value of a field at each receptor of a patch, in the order of its cells.
struct Interpolated {
    graph::Questions<Wanted> wanted;
    graph::Scalar<std::int64_t> values;
    int components = 1;
    /// here[use] are the values, all components of a receptor after each other.
    [[nodiscard]] graph::AnswersUse<double> need(graph::Task& task) const {
        return wanted.answers<double>(task, values, components);
    }
};
/// In each round of the scope, the field's values at all receptors; vectors in space (LabelOptions::turns) as
/// the receptor sees them. One scope of the graph sends the lists
/// off: declare it for one.
class Exchange {
  public:
    Exchange(graph::Graph& graph, graph::Scope& scope, const Problem& problem,
             const Connectivity& connectivity);
    [[nodiscard]] Interpolated interpolate(graph::TypedVersion<double, graph::Kind::field> version);
    [[nodiscard]] Interpolated interpolate(graph::Field<double> label) {
        return interpolate(scope_->newest(label));
    }

  private:
    graph::Graph* graph_;
    graph::Scope* scope_;
    const graph::Zones* grid_;
    int dimensions_;
    std::string name_;
    std::vector<Rotation> turns_;
    Connectivity connectivity_;
};

/// What the donors of cells that come out of holes say, in the order of for_each_uncovered(). The donor of a
/// receptor comes first, then one of each other mesh (that with the lowest zone and index), the best one
/// first (of equal ones that in the lower mesh); last the mean of known cells around it in its own mesh.
class UncoveredAnswers {
  public:
    /// After the values of an answer: the sum of what holds.
    static constexpr double kKnown = 1, kLast = 2;

    UncoveredAnswers(std::span<const double> all, int components)
        : at_(all.data()), components_(components) {}
    struct Values {
        const double* of;  // of the first donor that knows them; null: none does
        bool orphan;       // no donor in another mesh knows them
    };
    /// Of the next cell.
    [[nodiscard]] Values next() {
        Values found{nullptr, true};
        for (bool last = false; !last; at_ += components_ + 1) {
            last = at_[components_] >= kLast;
            const bool known = at_[components_] == kKnown || at_[components_] == kKnown + kLast;
            if (known && found.of == nullptr) found = {at_, last};
        }
        return found;
    }

  private:
    const double* at_;
    int components_;
};
struct UncoveredValues {
    graph::Questions<Wanted> wanted;
    graph::Scalar<std::int64_t> values;
    int components = 1;
    [[nodiscard]] graph::AnswersUse<double> need(graph::Task& task) const {
        return wanted.answers<double>(task, values, components + 1);
    }
    /// `use`: what need() gave.
    [[nodiscard]] UncoveredAnswers in(const graph::Here& here, const graph::AnswersUse<double>& use) const {
        return {here[use], components};
    }
};

/// Meshes that move: what cells that come out of holes get before the first round of a step. A donor counts
/// with those of its corners that were no holes a step ago.
class Uncovering {
  public:
    Uncovering(graph::Graph& graph, const Problem& problem, const Connectivity& connectivity);
    /// The field's values at these cells; vectors in space as each cell sees them.
    [[nodiscard]] UncoveredValues interpolate(graph::TypedVersion<double, graph::Kind::field> version);
    [[nodiscard]] UncoveredValues interpolate(graph::Field<double> label) {
        return interpolate(graph_->step().newest(label));
    }

  private:
    graph::Graph* graph_;
    const graph::Zones* grid_;
    int dimensions_;
    std::string name_;
    std::vector<Rotation> turns_;
    Connectivity connectivity_;
};

/// A cell of a zone by its number, x fastest.
[[nodiscard]] inline std::int64_t number_of(const Box& zone, const Int3& at) {
    return (std::int64_t{at[2] - zone.lo[2]} * zone.extent(1) + (at[1] - zone.lo[1])) * zone.extent(0) +
           (at[0] - zone.lo[0]);
}
[[nodiscard]] inline Int3 cell_of(const Box& zone, std::int64_t number) {
    const std::int64_t row = number / zone.extent(0);
    return {zone.lo[0] + static_cast<int>(number % zone.extent(0)),
            zone.lo[1] + static_cast<int>(row % zone.extent(1)),
            zone.lo[2] + static_cast<int>(row / zone.extent(1))};
}

/// Calls call(cell, number) for the receptors and orphans of a patch, in the order of their questions.
template <class Call>
void for_each_receptor(const Box& cells, const FieldView<const std::int32_t>& status, Call&& call) {
    std::size_t number = 0;
    graph::for_each(cells, [&](int i, int j, int k) {
        const auto is = static_cast<Cell>(status(i, j, k));
        if (is == Cell::receptor || is == Cell::orphan) call(Int3{i, j, k}, number++);
    });
}

/// Calls call(cell) for cells of a patch that were holes a step ago and are none now, x fastest.
template <class Call>
void for_each_uncovered(const Box& cells, const FieldView<const std::int32_t>& before,
                        const FieldView<const std::int32_t>& now, Call&& call) {
    constexpr auto kHole = static_cast<std::int32_t>(Cell::hole);
    graph::for_each(cells, [&](int i, int j, int k) {
        if (before(i, j, k) == kHole && now(i, j, k) != kHole) call(Int3{i, j, k});
    });
}

}  // namespace strata::overset
