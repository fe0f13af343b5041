// A graph as it runs: what a solver's main() makes of it, on one process or the members of a team.
//
//   strata::team::run(argc, argv, [](strata::team::Team& team) {
//       Graph graph("heat");
//       ...                                   // families, labels, tasks
//       Simulation run(graph, Members::of(team), {.crew = &team.crew()});
//       run.start();
//       run.advance(100);
//       return 0;
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/execute/executor.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/expand/values.hpp"
#include "core/graph/simulation/balancing.hpp"

namespace strata::graph {

struct SimulationOptions {
    /// The threads of this process; without a crew, `threads` plain ones.
    team::Crew* crew = nullptr;
    int threads = 1;
    Shuffle shuffle{};
    /// Operations that each thread remembers, for profiles and timelines; 0: none.
    std::size_t records = 0;
    /// Counts what the operations of steps do; null: nothing does. It outlives the run.
    Meter* meter = nullptr;
    /// Which process has which patch; empty: chunks of each family's order of equal length.
    Assignment assignment{};
    /// Whether patches move when measured costs say so.
    BalanceRule balance{};
};

class Simulation {
  public:
    /// Resolves the graph and makes the plan. Collective over the members, as all that follows. The graph
    /// must outlive it. Throws Error.
    Simulation(Graph& graph, Members members, SimulationOptions options = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Runs the start scope. To be called once, before all else (or not at all, where values are put in place
    /// with restore()).
    void start();
    /// Takes the place of start(): `put` writes the kept values (write_values) that a run had after `step`
    /// steps.
    void restore(std::int64_t step, const std::function<void(const Plan&)>& put);

    /// The end of the run, found out by the graph itself: it stops after the step after which `stop` holds
    /// for the scalar (its last version). Set again, a run that has stopped may go on.
    template <class T>
    void stop_when(Scalar<T> scalar, std::function<bool(T)> stop) {
        stopped_ = false;
        stop_label_ = scalar.id();
        stop_ = [stop = std::move(stop)](const void* value) { return stop(*static_cast<const T*>(value)); };
    }

    /// So many steps, or fewer where stop_when() says so. Returns how many. An error in any process ends the
    /// run in all.
    std::int64_t advance(std::int64_t steps);
    [[nodiscard]] bool stopped() const { return stopped_; }
    /// Steps done since the start, also by runs before this one.
    [[nodiscard]] std::int64_t step() const { return step_; }

    /// Other owners of patches from now on; kept values move with them.
    void reassign(Assignment assignment);

    /// A scalar's value now, the same in all processes.
    template <class T>
    [[nodiscard]] T value(Scalar<T> scalar) const {
        return *reinterpret_cast<const T*>(scalar_now(scalar.id()));
    }
    /// The values that this process's `local`-th patch of a family has now.
    [[nodiscard]] std::vector<std::byte> values(const Kept& kept, int local) const {
        return read_values(*plan_, kept, local, rounds(kept));
    }
    /// Where they lie, of a field or a scalar.
    [[nodiscard]] BoxCopy values_in_place(const Kept& kept, int local) const {
        return graph::values_in_place(*plan_, kept, local, rounds(kept));
    }
    /// A number for all kept values of a patch: equal for equal bits. [local]
    [[nodiscard]] std::vector<std::uint64_t> hashes(const Family& family) const;

    [[nodiscard]] const Plan& plan() const { return *plan_; }
    [[nodiscard]] const Resolved& resolved() const { return resolved_; }
    [[nodiscard]] const Members& members() const { return members_; }
    /// How often the scope that turns a kept version's storage was begun.
    [[nodiscard]] Epoch rounds(const Kept& kept) const {
        return executor_ ? executor_->epoch(kept.scope) : 0;
    }
    /// Of the last advance().
    [[nodiscard]] const Batch& batch() const { return batch_; }
    [[nodiscard]] const Executor& executor() const { return *executor_; }

  private:
    [[nodiscard]] ExecutorOptions executor_options() const;
    [[nodiscard]] Decision whether_to_go_on();
    [[nodiscard]] const std::byte* scalar_now(LabelId label) const;
    void make_executor(std::vector<Epoch> counts);
    void follow_relations();
    [[nodiscard]] std::int64_t steps_until_a_look() const;
    void balance();
    [[nodiscard]] std::uint64_t relations_version() const;

    Graph& graph_;
    Members members_;
    SimulationOptions options_;
    Resolved resolved_;
    std::unique_ptr<Plan> plan_;
    std::unique_ptr<Executor> executor_;
    std::int64_t step_ = 0;
    std::uint64_t planned_for_ = 0;  // relations_version() of the plan
    Batch batch_;
    Balancer balancer_;
    std::int64_t looked_at_ = 0;  // the step after which costs were compared last
    LabelId stop_label_;
    std::function<bool(const void*)> stop_;
    DecideCall stop_call_;
    bool stopped_ = false;
};

}  // namespace strata::graph
