// Fields and particles of a run as files for ParaView: the choice of labels, the times, and all members'
// patches in one file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/steps.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/case/case.hpp"
#include "core/run/output/fields.hpp"
#include "core/run/output/shapes.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

struct Solver;

/// The section [output] of every solver's case.
struct OutputSettings {
    std::int64_t steps = 0;  // every so many; 0: not by steps
    double interval = 0;     // every so much time of the case; 0: not by time
    std::vector<std::string> fields;

    [[nodiscard]] bool asked() const { return steps > 0 || interval > 0; }
    /// Declares the keys.
    void declare(CaseSchema& schema);
};

/// One file a step: a grid with its fields on cells and nodes, its fields on the faces of one direction, a
/// set of particles, or a shape.
struct ShownFile {
    struct Array {
        FieldArray form;
        LabelId label;
        std::size_t part = 0;  // of the shape
    };
    std::string name;
    const Grid* grid = nullptr;
    On on = On::cells;  // for a grid's fields: cells (and nodes), or faces
    SetId set;          // for particles; none: a grid's fields
    LabelId position;   // for particles: the label with their positions
    std::optional<ShownScale> scale = {};
    std::shared_ptr<const ShownShape> shape = nullptr;
    std::vector<Array> arrays;
};

/// The files for the labels that the case names, else for those of the solver, else for all that can be
/// shown: labels that are kept from step to step on cells, nodes and faces of grids, on particles that are
/// relocated, and on points and cells of the solver's shapes. Throws Error; for a wrong name in the case with
/// its file and line. `added`: labels that are shown besides.
[[nodiscard]] std::vector<ShownFile> shown_files(const Graph& graph, const Resolved& resolved,
                                                 const Solver& solver, const CaseSchema& schema,
                                                 const OutputSettings& settings,
                                                 const std::vector<LabelId>& added = {});

/// The labels that files can show at the end of a step: those that are kept, and those that a step makes,
/// once they are kept.
[[nodiscard]] std::vector<LabelId> showable(const Graph& graph, const Resolved& resolved,
                                            const std::vector<ShownShape>& shapes);

/// The same for a program without a case file: `labels`, or all that can be shown, and these shapes.
[[nodiscard]] std::vector<ShownFile> shown_files(const Graph& graph, const Resolved& resolved,
                                                 const std::vector<ShownShape>& shapes,
                                                 const std::vector<ShownLabel>& labels = {});

/// The name of a part of a graph in files: without '/' and '.'.
[[nodiscard]] std::string name_in_files(std::string name);

/// The times at which files are due.
class ShownTimes {
  public:
    ShownTimes(const OutputSettings& settings, double now)
        : steps_(settings.steps), interval_(settings.interval) {
        pass(now);
    }
    [[nodiscard]] bool due(std::int64_t step, double time) const {
        return (steps_ > 0 && step % steps_ == 0) || reached(time, next_);
    }
    /// The next time at which files are due; infinity where there is none.
    [[nodiscard]] double next() const { return next_; }
    /// To be called after files were written at this time.
    void pass(double now);

  private:
    std::int64_t steps_;
    double interval_;
    double next_ = 0;
};

/// Writes all members' values as FOLDER/NAME-000500.vtkhdf, one file for each of `files`, and adds them to
/// FOLDER/NAME.vtkhdf.series. A member holds a row of patches at a time. Collective. Throws Error; files of
/// other steps are then as they were.
void write_shown(const std::vector<ShownFile>& files, const Simulation& run, team::Team& team,
                 const std::filesystem::path& folder, double time);

/// To be called before the first files of a run, by one member. Throws Error where another run's files are
/// there. After a restart it removes files of later times from the lists.
void begin_shown(const std::vector<ShownFile>& files, const std::filesystem::path& folder, bool restarted,
                 double time);

}  // namespace strata::graph
