// One member's part of a replay: a window of a run is computed again from the nearest state, written with
// what --add asks for, and compared with what the run wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/run/checkpoint/state.hpp"
#include "core/run/driver/replay_plan.hpp"
#include "core/run/output/series.hpp"
#include "core/run/profile/phases.hpp"
#include "core/run/steer/progress.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// All calls are collective. Member 0 reads the run's folder, which may still grow, and broadcasts its
/// decisions. Nothing in the run's folder is changed; the replay's own has its name once it is whole.
class Replay {
  public:
    Replay(team::Team& team, Graph& graph, const Solver& solver, const CaseSchema& schema, ReplayPlan plan,
           const OutputSettings& output, bool balance, bool quiet, Phases& phases);
    ~Replay();
    Replay(const Replay&) = delete;
    Replay& operator=(const Replay&) = delete;

    /// Throws Error at the first value that is not the run's.
    void go();

  private:
    /// Member 0's decision, before the next steps.
    struct Orders {
        std::int64_t steps = 0;  // 0: the window ends here
        std::uint8_t fields = 0, frames = 0, compare_fields = 0, compare_checkpoint = 0, parameters = 0;
    };
    struct Compared {
        std::int64_t rows = 0, fields = 0, checkpoints = 0;
    };

    void begin();
    void restore();
    void read_original();
    void make_folder();
    void say_start() const;
    [[nodiscard]] Orders next_orders();
    void follow(Orders& orders);
    void show(const Orders& orders);
    void write_frames();
    void compare_checkpoint();
    void compare_row();
    void append_row();
    void finish();
    [[nodiscard]] std::string compared_text() const;
    [[noreturn]] void differs(const std::string& what) const;
    [[nodiscard]] StateName name_of_state() const;
    /// Where a task makes the time in each step alone, it has no value before the first step.
    [[nodiscard]] double time() const {
        if (!solver_.time.id()) return static_cast<double>(simulation_.step());
        return !from_.empty() && simulation_.step() == first_ ? first_time_ : simulation_.value(solver_.time);
    }
    [[nodiscard]] bool in_output(std::int64_t step) const {
        return step >= plan_.wish.from && (step - plan_.wish.from) % plan_.wish.every == 0;
    }

    team::Team& team_;
    Graph& graph_;
    const Solver& solver_;
    const CaseSchema& schema_;
    ReplayPlan plan_;
    bool quiet_;
    Phases& phases_;
    Simulation simulation_;
    std::vector<ShownFile> shown_;
    std::filesystem::path folder_;  // until it is whole
    std::string from_;              // the checkpoint's path; "" for the start
    std::int64_t first_ = 0;        // the step of that state
    double first_time_ = 0;         // and its time, as the checkpoint says
    bool framed_ = false;           // the solver's own files have begun
    double seconds_a_step_ = 0;

    // For member 0 only
    int lock_ = -1;                                            // on folder_: the replay lives
    std::map<std::int64_t, Series::Row> rows_;                 // the run's
    std::map<std::int64_t, std::vector<std::string>> fields_;  // its field files, by step
    std::set<std::int64_t> checkpoints_;
    std::set<std::int64_t> stops_;  // steps after which something is compared, written or changed
    std::optional<Series> series_;
    std::optional<Progress> progress_;
    Compared compared_;
};

}  // namespace strata::graph
