// The plan of one process: the resolved graph for its patches. Made once for each assignment of patches;
// executed step by step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/longest_first.hpp"
#include "core/graph/expand/memory/memory.hpp"
#include "core/graph/expand/stages/plan_parts.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

class Plan {
  public:
    /// Collective over the members, all with the same graph, assignment and serial (a number that no other
    /// plan of these processes has). `threads`: of this process. The graph must outlive it. Throws Error.
    Plan(const Graph& graph, const Resolved& resolved, const Assignment& assignment, const Members& members,
         int threads, std::uint64_t serial);
    /// The same for another assignment in the middle of a run, or after a relation has changed: `rounds`
    /// counts the rounds of each scope of the step so far. Kept values are taken over from `old`, halos
    /// filled.
    Plan(const Plan& old, const Assignment& assignment, int threads, std::uint64_t serial,
         const std::vector<Epoch>& rounds);
    ~Plan();
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    /// To be executed once, before the first step; the members must meet before they execute `step`.
    [[nodiscard]] const Program& start() const { return parts_.of(0).program; }
    [[nodiscard]] const Program& step() const { return parts_.of(1).program; }
    /// For executors.
    [[nodiscard]] Program& start() { return parts_.of(0).program; }
    [[nodiscard]] Program& step() { return parts_.of(1).program; }
    [[nodiscard]] const Memory& memory() const { return memory_; }
    [[nodiscard]] const Assignment& assignment() const { return assignment_; }
    [[nodiscard]] const Members& members() const { return members_; }

    [[nodiscard]] const Graph& graph() const { return graph_; }
    [[nodiscard]] const Resolved& resolved() const { return resolved_; }
    /// The number of a graph's scope in the program of the step; the steps themselves are 0.
    [[nodiscard]] std::uint16_t scope(ScopeId graph_scope) const { return parts_.scopes[graph_scope]; }
    /// Holds when the scalars of a reduction of the step, or of a task that runs once, are there, in this
    /// process.
    [[nodiscard]] Wait end_of(TaskId maker) const { return parts_.ends[maker]; }
    /// So many steps were done before the first of `step`'s scope 0, e.g. when a run is continued from a
    /// file.
    void count_steps_from(std::int64_t steps) { steps_before_ = steps; }
    /// From now on the step's tasks are timed, or no longer. Between batches.
    void measure(bool on) { measured_ = on; }
    /// The seconds that the tasks of each patch of this process took while they were timed; forgets them.
    /// [family][local]
    [[nodiscard]] VectorBy<FamilyId, std::vector<double>> take_costs();
    /// Takes over the objects that live from step to step from the plan that this one replaces, where they
    /// lose their value. Collective over the members; `serial` as of a plan.
    void take_over_objects(const Plan& old, std::uint64_t serial) const;
    /// Puts dear patches first in the step's lists (longest_first.hpp). `costs`: [family][patch], of all
    /// processes. Returns whether the order has changed: then the step needs a new executor.
    bool start_longest_first(const VectorBy<FamilyId, std::vector<double>>& costs) {
        return longest_first_.order(parts_.of(1).program, graph_, cost_classes(costs, memory_.patches()));
    }
    /// Copies all halos of kept storages anew: after values were put there from a file or another plan. To be
    /// called in all members, between two meetings.
    void fill_halos();
    /// Calls work(family, local) for each patch of this process, in the thread that its tasks prefer: what is
    /// written there for the first time then lies beside that thread.
    void for_own_patches(const std::function<void(FamilyId family, int local)>& work) const;
    /// Messages are expected from now on: those of the rounds after so many of each scope. Then none any
    /// more.
    void listen(int phase, const std::vector<Epoch>& rounds);
    void stop_listening();

    /// Frees the start's program, the data of its operations and what plans are made from. To be called when
    /// all members have executed it, or never will.
    void forget_start();
    /// Bytes of flags and tables in memory that other processes read, without values.
    [[nodiscard]] std::size_t shared_bytes() const;

    using Exchanged = graph::Exchanged;
    // For tests that compare plans: the data of fill_halos(), listen() and stop_listening(). `phase`: 0 is
    // the start, 1 the step.
    /// Kept values that fill_halos() sends and receives. [process]; empty where all are on one node.
    [[nodiscard]] const std::vector<Exchanged>& exchanged() const { return parts_.exchanged; }
    /// Storages of kept values, and the copies that fill their halos.
    [[nodiscard]] std::vector<std::pair<StorageId, const FillCall*>> refills(int phase) const;
    /// Channels on which messages are expected, and the scopes whose rounds they count.
    [[nodiscard]] const std::vector<std::pair<Channel*, std::uint16_t>>& listening(int phase) const {
        return parts_.of(phase).listening;
    }
    [[nodiscard]] const std::vector<Channel*>& sending(int phase) const { return parts_.of(phase).sending; }
    /// Memory for values of other nodes' patches.
    [[nodiscard]] std::span<const std::byte> images() const {
        const SharedMemory& all = parts_.images;
        return {all.data(), all.data() == nullptr ? 0 : all.size()};
    }

  private:
    [[nodiscard]] bool past_caches() const;
    void take_over(const Plan& old);
    void take_over(const Plan& old, StorageId storage, int patch, int local);
    void put(StorageId storage, int patch, int local, std::span<const std::byte> values);
    void exchange_kept();
    void take_over_from_afar(const Plan& old);

    const Graph& graph_;
    const Resolved& resolved_;
    Assignment assignment_;
    const Members& members_;
    std::int64_t steps_before_ = 0;
    bool measured_ = false;
    LongestFirst longest_first_;
    Memory memory_;
    PlanParts parts_;
};

}  // namespace strata::graph
