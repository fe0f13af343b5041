// A simulation: runs a graph on one process or on the members of a team.
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
#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/values.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "core/graph/simulation/bytes.hpp"
#include "core/graph/simulation/moves.hpp"

namespace strata::graph {

class Balancer;
class Plan;
struct DecideCall;

struct SimulationOptions {
    /// The threads of this process; without a crew, `threads` plain ones.
    team::Crew* crew = nullptr;
    int threads = 1;
    Shuffle shuffle{};
    /// Operations that each thread remembers, for profiles and timelines; 0: none.
    std::size_t records = 0;
    /// Measures the operations of steps; null: no measurement. It must outlive the simulation.
    Meter* meter = nullptr;
    /// Called before another plan, or another order of its operations, takes the place of the present one,
    /// whose records are then gone. Empty: no call.
    std::function<void()> before_replacing = {};
    /// The owner of each patch. Empty: by declared work and by what patches exchange (assign()).
    Assignment assignment{};
    /// Moves patches between processes by measured costs (core/balance/rebalance.hpp says when).
    bool balance = false;
};

class Simulation {
  public:
    /// Resolves the graph and makes the plan. Collective over the members, as are all functions below that
    /// run steps or change owners. The graph must outlive the simulation. Throws Error.
    Simulation(Graph& graph, Members members, SimulationOptions options = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Runs the start scope. To be called once, before all other functions; or not at all, where restore()
    /// puts values in place.
    void start();
    /// Replaces start(). `put` writes the kept values that a run had after `step` steps (write_values).
    void restore(std::int64_t step, const std::function<void(const Plan&)>& put);

    /// Ends the run by a scalar of the graph: it stops after the first step after which `stop` holds for the
    /// scalar's last version. A stopped run may go on after another call.
    template <class T>
    void stop_when(Scalar<T> scalar, std::function<bool(T)> stop) {
        stopped_ = false;
        stop_label_ = scalar.id();
        stop_ = [stop = std::move(stop)](const void* value) { return stop(*static_cast<const T*>(value)); };
    }

    /// Runs `steps` steps, or fewer if stop_when() applies. Returns their number. An error in any process
    /// ends the run in all.
    std::int64_t advance(std::int64_t steps);
    [[nodiscard]] bool stopped() const { return stopped_; }
    /// Steps done since the start, including those of a run before a restore().
    [[nodiscard]] std::int64_t step() const { return step_; }

    /// To be called by all members, between steps, where a parameter of the graph has another value now:
    /// objects that a restart would make again are made again at once, so that a run and its restart have the
    /// same.
    void parameters_changed();

    /// Changes the owners of patches; kept values move with them.
    void reassign(Assignment assignment);
    [[nodiscard]] const Assignment& assignment() const;

    /// A scalar's value now, the same in all processes.
    template <class T>
    [[nodiscard]] T value(Scalar<T> scalar) const {
        return *reinterpret_cast<const T*>(scalar_now(scalar.id()));
    }
    /// Those of a scalar of several numbers that there are now.
    template <class T>
    [[nodiscard]] std::vector<T> numbers(Scalars<T> scalar) const {
        const Numbers<const T> all(reinterpret_cast<const T*>(scalar_now(scalar.id())),
                                   graph_.labels()[scalar.id()].components - 1);
        return {all.begin(), all.end()};
    }
    /// The values that this process's `local`-th patch of a family has now.
    [[nodiscard]] std::vector<std::byte> values(const Kept& kept, int local) const;
    /// Their location in memory, for a field or a scalar.
    [[nodiscard]] BoxCopy values_in_place(const Kept& kept, int local) const;
    /// [local] -> a hash of all kept values of the patch: equal for equal bits.
    [[nodiscard]] std::vector<std::uint64_t> hashes(const Family& family) const;

    [[nodiscard]] const Plan& plan() const { return *plan_; }
    [[nodiscard]] const Resolved& resolved() const { return resolved_; }
    [[nodiscard]] const Members& members() const { return members_; }
    /// The number of rounds of the scope by which the kept version's storage changes its buffer.
    [[nodiscard]] Epoch rounds(const Kept& kept) const {
        return executor_ ? executor_->epoch(kept.scope) : 0;
    }
    /// What this process's memory is used for now.
    [[nodiscard]] RunBytes bytes() const;
    /// Of the last advance(), all its batches together.
    [[nodiscard]] const Batch& batch() const { return batch_; }
    /// What balancing by measured costs has done so far.
    [[nodiscard]] const BalanceRecord& balanced() const;
    [[nodiscard]] const Executor& executor() const { return *executor_; }

  private:
    [[nodiscard]] ExecutorOptions executor_options() const;
    [[nodiscard]] Decision whether_to_go_on();
    [[nodiscard]] const std::byte* scalar_now(LabelId label) const;
    void make_executor(std::vector<Epoch> counts);
    void end_executor();
    void follow_relations();
    [[nodiscard]] std::vector<Epoch> rounds_of_all() const;
    void balance();
    void reorder();
    void count(const Batch& part);
    [[nodiscard]] std::uint64_t relations_version() const;

    Graph& graph_;
    Members members_;
    SimulationOptions options_;
    Resolved resolved_;
    std::int64_t graph_heap_ = 0, plan_heap_ = 0, executor_heap_ = 0;  // what these hold, in bytes
    std::unique_ptr<Plan> plan_;
    std::unique_ptr<Executor> executor_;
    std::int64_t step_ = 0;
    std::uint64_t planned_for_ = 0;  // relations_version() of the plan
    Batch batch_;
    std::unique_ptr<Balancer> balancer_;
    std::int64_t reorder_from_ = 0;  // the first step before which the order of operations may change again
    LabelId stop_label_;
    std::function<bool(const void*)> stop_;
    std::unique_ptr<DecideCall> stop_call_;
    bool stopped_ = false;
};

}  // namespace strata::graph
