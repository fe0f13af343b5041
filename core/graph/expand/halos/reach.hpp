// The patches that a use of a task joins: those that a patch reads from, and those that read from it.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

class Reach {
  public:
    explicit Reach(const Graph& graph) : graph_(graph) {}

    /// The patches (of the use's source family) that `patch` (of the reading family) reads through the use,
    /// ascending; with ghosts also itself (on some sides alone: those there, and itself).
    [[nodiscard]] const std::vector<int>& sources(const Use& use, int patch);
    /// The patches (of the reading family) that read from `patch` (of the source family), ascending.
    [[nodiscard]] const std::vector<int>& readers(const Use& use, int patch);
    /// The family that the use's values are on: of contributions those of the task.
    [[nodiscard]] const Family& source_family(const Use& use) const;
    /// The family whose patches read them: of contributions the label's, where they are combined.
    [[nodiscard]] static const Family& reading_family(const Use& use, const TaskInfo& by) {
        return use.is_scattered() ? use.relation->source() : *by.family;
    }

  private:
    using Lists = std::vector<std::vector<int>>;
    [[nodiscard]] const LabelInfo& label(const Use& use) const { return graph_.labels()[use.version.label]; }
    const std::vector<int>& around(const Grid& grid, const LabelInfo& label, const Int3& width, int patch);
    const std::vector<int>& beside(const Grid& grid, const LabelInfo& label, const SideBoxes& sides,
                                   int patch);
    const Lists& inverse_beside(const Grid& grid, const LabelInfo& label, const Use& use);
    const std::vector<int>& pieces(const Relation& relation, On on, int patch);
    const Lists& inverse(const Relation& relation, On on);
    const Lists& inverse(const Grid& grid, const LabelInfo& label, const Int3& width);

    const Graph& graph_;
    std::vector<Grid::Meeting> met_;
    std::vector<int> found_;
    std::map<std::pair<const Relation*, On>, Lists> inverses_;
    // Of joined zones: border, width; and towards, corners, within the zone.
    std::map<std::tuple<const Grid*, On, Int3, Int3>, Lists> ghosts_;
    std::map<std::tuple<const Grid*, On, Int3, Int3, Int3, bool, bool>, Lists> sides_;
};

}  // namespace strata::graph
