// A resolved graph as a JSON document, for drawings, Python and reviewers.
#pragma once

#include <iosfwd>
#include <string>

#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// Writes the document strata.graph/1: families, labels, scopes, tasks with their uses and what they wait
/// for, edges (which task's values which other needs: label, version, relation, rounds ago), storages with
/// their bytes (of the largest patch, and of all), critical path, warnings. Peak memory is the sum of the
/// storages, as none comes or goes while the graph runs; halos, lists of relations and messages, which depend
/// on the layout, are not in it. Bytes of particles are those of one particle.
///
/// A solver's program that is started with `--graph` writes this to its standard output, for the case it was
/// given, and ends; `strata graph show` asks it so.
void describe(const Graph& graph, const Resolved& resolved, std::ostream& out);
[[nodiscard]] std::string describe(const Graph& graph, const Resolved& resolved);

}  // namespace strata::graph
