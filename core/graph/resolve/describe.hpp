// A resolved graph as a JSON document, for drawings, Python and reviewers.
#pragma once

#include <iosfwd>
#include <string>

#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// Writes the document strata.graph/1: families, labels, scopes, tasks with their uses and waits, edges (from
/// maker to reader: label, version, relation, lag), storages with their bytes (of the largest patch, and of
/// all), critical path, warnings. Peak memory is the sum of all storages, since they exist for the whole run.
/// Halos, lists of relations and messages are not counted: they depend on the layout. Bytes of particles are
/// those of one particle.
///
/// A solver's program that is started with `--graph` writes the document for its case to standard output and
/// ends. `strata graph show` uses this.
void describe(const Graph& graph, const Resolved& resolved, std::ostream& out);
[[nodiscard]] std::string describe(const Graph& graph, const Resolved& resolved);

}  // namespace strata::graph
