// The program around a solver, common to all solvers.
//
//   int main(int argc, char** argv) {
//       Settings settings;
//       CaseSchema keys = schema(settings);
//       return graph::drive(argc, argv, keys, [&](Graph& graph) -> Solver {
//           Labels labels = declare(graph, settings);
//           return {.time = labels.time, .end = settings.end, .series = {labels.total}};
//       });
//   }
//
// It reads the case, starts the team, runs the graph to its end and writes the output that docs/run-output.md
// describes: result, series, fields, checkpoints, profile, timeline. It answers `strata steer`. A solver's
// kernels and tasks do not depend on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/clock.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/case/case.hpp"
#include "core/run/driver/finished.hpp"
#include "core/run/driver/result.hpp"
#include "core/run/output/shapes.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// The verification of a result, and further figures of the run.
struct Findings : Verification {
    Findings() = default;
    Findings(Verification found, std::vector<Figure> further = {})  // NOLINT(google-explicit-constructor)
        : Verification(std::move(found)), figures(std::move(further)) {}
    /// Of one criterion or more, all of which must hold. The verification is the one that is farthest beyond
    /// its limit, or else nearest to it.
    [[nodiscard]] static Findings of(std::vector<Verification> criteria, std::vector<Figure> further);
    std::vector<Figure> figures;
    std::vector<Verification> criteria;  // all; none: the verification alone
    /// Which keys of the case could have said what has to hold, where none does. A rule of the solver's own
    /// can then refuse the result, and verifies nothing.
    std::string unasked;
};

/// Files of a solver's own that grow by a frame now and then, as trajectories in the forms of its field. All
/// calls are collective, and between steps.
class Frames {
  public:
    Frames() = default;
    virtual ~Frames() = default;
    Frames(const Frames&) = delete;
    Frames& operator=(const Frames&) = delete;

    /// Steps from one frame of a run to the next, at multiples of it; the first state is a frame as well.
    [[nodiscard]] virtual std::int64_t every() const = 0;
    /// Whether the last state of a run is a frame too, whichever step it is.
    [[nodiscard]] virtual bool at_end() const { return false; }
    /// Before the first frame, which is the present state's, with as many steps to the next ones.
    /// `restarted`: the run goes on after the present step, whose frame is there.
    virtual void begin(const Simulation& run, team::Team& team, const std::filesystem::path& folder,
                       std::int64_t every, bool restarted) = 0;
    virtual void write(const Simulation& run, team::Team& team, double time) = 0;
};

/// The properties of a solver that the driver uses.
struct Solver {
    /// The time of the case, and its end.
    Scalar<double> time = {};
    double end = 0;
    std::string time_unit = "s";
    /// Where a run may be finished at no time that is known before: it ends after the first step after which
    /// this is not 0, and the time ends nothing. The last step that the case has is to be said by it, too.
    Scalar<std::int32_t> done = {};
    /// A line for the start of a run, where the values of the first state are there.
    std::function<std::string(const Simulation&)> first_line = {};
    /// The end of that line, which is said with --quiet too: what changes how files are to be read.
    std::string notice = {};
    /// The columns of the time series.
    std::vector<Scalar<double>> series = {};
    /// A row every so many steps, where the command line says nothing else. Where its values are found in
    /// some steps alone: whether they are in this one (0: at the start). Others have no row.
    std::int64_t series_every = 10;
    std::function<bool(std::int64_t step)> series_due = {};
    /// The labels in files for ParaView, where a case asks for such files ([output], --fields). Allowed are
    /// fields on cells and nodes, labels of particles, and lists on points and cells of shapes, that are kept
    /// from step to step. Empty: all of these.
    std::vector<ShownLabel> fields = {};
    /// What families look like there that are no images and no particles: curvilinear blocks, unstructured
    /// cells, surfaces, lines, tables.
    std::vector<ShownShape> shapes = {};
    /// Particles whose positions are kept in another measure than they are shown.
    std::optional<ShownScale> scale = {};
    /// Written where the run has a folder (--out).
    std::vector<std::shared_ptr<Frames>> frames = {};
    /// Numbers for cases that begin with the state of a checkpoint, e.g. the box: after the present step.
    std::function<std::vector<std::pair<std::string, std::vector<double>>>(const Simulation&)> facts = {};
    /// What makes the result count: asked once, at the end.
    std::function<Findings(const Finished&)> verify = {};
};

/// Compiler and flags of the solver's own code, for the result's provenance.
struct Build {
#ifdef STRATA_SOLVER_COMPILER
    std::string compiler = STRATA_SOLVER_COMPILER, flags = STRATA_SOLVER_FLAGS;
#else
    std::string compiler, flags;
#endif
#if defined(__AVX512F__) || defined(__ARM_FEATURE_SVE)
    bool simulable = false;
#else
    bool simulable = true;  // valgrind knows its instructions
#endif
    /// A script and what it imports, where the program is an interpreter: `strata replay` expects the same.
    std::vector<std::string> sources = {};
};

/// To be called first in main(); its result is main's. `declare` is called in each member and fills the
/// graph, after the case's values have been read into the schema's variables. Errors are printed once.
/// `start`: the arguments with which /proc/self/exe becomes this program again, where they are not argv (an
/// interpreter's).
int drive(int argc, char** argv, CaseSchema& schema, const std::function<Solver(Graph&)>& declare,
          const Build& build = {}, const std::vector<std::string>& start = {});

/// The same for a solver that is a class: its members are the values of the keys that declare(CaseSchema&)
/// declares, and `Solver declare(Graph&)` fills the graph.
template <class Declared>
int drive(int argc, char** argv, const std::string& solver, const std::string& summary) {
    Declared declared;
    CaseSchema keys(solver, summary);
    declared.declare(keys);
    return drive(argc, argv, keys, [&](Graph& graph) -> Solver { return declared.declare(graph); });
}

}  // namespace strata::graph
