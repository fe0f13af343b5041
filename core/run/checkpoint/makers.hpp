// Objects that are made again (Graph::object) are in a checkpoint as the call that made each of them: its
// step and round, and the name of its task. A running graph knows the task by its number, which follows from
// the order in which tasks are declared, and another version of a solver may declare them in another one.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::graph {

/// Whether the values of a label are such calls.
[[nodiscard]] bool is_made_again(const LabelInfo& label);

/// A call as read_values() has it, to how a checkpoint has it.
void name_maker(const Graph& graph, std::vector<std::byte>& call);

/// The reverse. `format`: CheckpointHead::format. Format 1 has the number that the task had in the program
/// that wrote it: it says nothing here, but the step tells tasks of the start from those of steps. Throws
/// Error where the graph has no task of the name that makes the object, or more than one may be meant.
void number_maker(const Graph& graph, const LabelInfo& object, int format, std::vector<std::byte>& call);

}  // namespace strata::graph
