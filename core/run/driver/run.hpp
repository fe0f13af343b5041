// One member's part of a run: steps in batches, and output and steering between batches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/driver/command_line.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/observing.hpp"
#include "core/run/driver/showing.hpp"
#include "core/run/history/history.hpp"
#include "core/run/output/series.hpp"
#include "core/run/profile/counting.hpp"
#include "core/run/profile/phases.hpp"
#include "core/run/steer/control.hpp"
#include "core/run/steer/progress.hpp"

namespace strata::graph {

/// All calls are collective. Member 0 writes the series and the progress, answers the socket, and decides how
/// many steps come next. It broadcasts its decision.
class Run {
  public:
    Run(team::Team& team, Graph& graph, const Solver& solver, const CaseSchema& schema,
        const CommandLine& command_line, const OutputSettings& output, bool balance, const RunLeg& leg,
        Phases& phases);

    /// From the start, or the checkpoint, to the end.
    void go();
    [[nodiscard]] RunResult result(const Build& build) const;
    /// Profile and timeline, where they were asked for.
    void write_observed();

  private:
    /// Member 0's decision, broadcast before a batch.
    struct Orders {
        std::int64_t steps = 0;  // 0: the run ends here
        std::uint8_t checkpoint = 0, parameters = 0, fields = 0, frames = 0;
    };

    [[nodiscard]] SimulationOptions options(bool balance);
    void begin();
    void begin_series();
    [[nodiscard]] Orders next_orders();
    void follow(Orders& orders);
    void after_batch(double seconds);
    void append_row();
    void say_moves();
    void answer_requests();
    void save();
    void show();
    [[nodiscard]] bool frame_due(const Frames& frames, bool last) const;
    void write_frames(bool last);
    /// What of the series is no number; "" where all is. Collective.
    [[nodiscard]] std::string no_number() const;
    void stop_in_time();
    [[nodiscard]] std::int64_t series_every() const { return words_.series.value_or(solver_.series_every); }
    /// Where a task makes the time in each step alone, it has no value before the first step of a restart.
    [[nodiscard]] double time() const {
        if (!restarted_from_.empty() && simulation_.step() == first_step_) return restarted_time_;
        return solver_.time.id() ? simulation_.value(solver_.time) : 0;
    }
    /// The time in field files; the step, where the solver has no time.
    [[nodiscard]] double shown_time() const {
        return solver_.time.id() ? time() : static_cast<double>(simulation_.step());
    }
    [[nodiscard]] bool over() const;
    /// Whether the present state is the case's last one.
    [[nodiscard]] bool ended() const;

    team::Team& team_;
    Graph& graph_;
    const Solver& solver_;
    const CaseSchema& schema_;
    const CommandLine& words_;
    Phases& phases_;
    // Both outlive the simulation.
    std::unique_ptr<Counting> counting_;
    Recording recording_;
    Simulation simulation_;
    Counts counts_;  // of all members
    std::string restarted_from_;
    double restarted_time_ = 0;
    std::vector<ShownFile> shown_files_;
    std::optional<ShownTimes> shown_times_;  // where fields are written

    // For member 0 only
    std::optional<Series> series_;
    std::optional<History> history_;
    std::optional<Control> control_;
    std::optional<Progress> progress_;
    std::optional<Pace> pace_;
    bool stop_asked_ = false, checkpoint_asked_ = false;
    std::size_t moves_said_ = 0;
    std::vector<std::pair<std::string, double>> values_asked_;

    const OutputSettings& output_;
    const RunLeg& leg_;  // without what only the run knows
    std::int64_t first_step_ = 0, saved_ = -1, shown_ = -1, framed_ = -1;
    double stepping_s_ = 0;      // in batches
    double seconds_a_step_ = 0;  // of the last batch
};

}  // namespace strata::graph
