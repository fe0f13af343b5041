// Waits of one operation, put together.
#pragma once

#include <vector>

#include "core/graph/expand/halos/reach.hpp"
#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

/// Gathers waits, then gives them to an operation. `lag`: so many rounds of `scope` before this one.
class WaitList {
  public:
    WaitList(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
             const SharedFlags& shared, PlanParts& plan)
        : in(in), numbered(numbered), streams(streams), shared(shared), plan_(plan) {}

    /// For an operation of this process.
    void add_op(int phase, std::uint32_t op, ScopeId scope, int lag);
    /// The same, for its latest round before this position in the program.
    void add_latest(int phase, std::uint32_t op, const Position& of, const Position& here) {
        add_op(phase, op, of.scope, rounds_since(in, of, here));
    }
    /// For an operation of another process of the node: of a task, for its patch number `local`. (None where
    /// the task does not run there.)
    void add_other(int process, TaskId task, int local, ScopeId scope, int lag);
    /// For a task's operation on one patch of a family, wherever that patch is; of another node, until its
    /// image here has the values.
    void add_patch(TaskId task, FamilyId family, int patch, ScopeId scope, int lag);
    void add_patch(TaskId task, FamilyId family, int patch, int lag) {
        add_patch(task, family, patch, in.task(task).scope, lag);
    }
    /// The same for another process's operation with this flag.
    void add_latest(const Flag* flag, const Position& of, const Position& here);
    /// For all of a task's operations in this process.
    void add_all(TaskId task, int lag);

    /// The operation waits for all that was added since the last one. Of two waits for one flag the later
    /// round is enough.
    void give_to(int phase, std::uint32_t op);
    [[nodiscard]] bool empty() const { return waits_.empty(); }

    const PlanInputs& in;
    const Numbered& numbered;
    const Streams& streams;
    const SharedFlags& shared;

  private:
    PlanParts& plan_;
    std::vector<Wait> waits_;
};

/// Relocations (wait_relocations.cpp): the three kinds of their operations.
void wait_to_leave(WaitList& list, TaskId task, int local);
void wait_to_arrive(WaitList& list, TaskId task, int local);
void wait_to_gather(WaitList& list, TaskId task);

/// Halos of particles over nodes (wait_halos.cpp). A task that changes the arrays of a patch's particles, or
/// who is in halos, waits until messages that were made of them are packed.
void wait_for_packed_particles(WaitList& list, TaskId task, SetId set, int patch);
/// A renewal also waits until messages before it were put in place: they are divided as halos were.
void wait_to_renew(WaitList& list, TaskId task, int patch);
/// Messages divided by halos wait for the renewals at their end.
void wait_for_renewals(WaitList& list, const Stream& stream, bool outgoing);
/// Requests (wait_requests.cpp): the operations of a gate.
enum class GateOp : std::uint8_t { post, arrived, first, taken };
void wait_at_gate(WaitList& list, TaskId gate, GateOp op);
void make_waits_of_gate_message(WaitList& list, const Stream& stream, bool outgoing);
/// A task that writes requests waits until those before are posted.
void wait_for_posting(WaitList& list, TaskId task);

/// Messages (wait_messages.cpp). A writer of one patch's values (-1: of all patches) waits until the values
/// before are packed.
void wait_for_packing(WaitList& list, TaskId task, int patch);
/// Gives the operations of all messages their waits.
void make_waits_of_messages(WaitList& list, const Needs& needs, const Arrays& arrays, Reach& reach,
                            int phase);

}  // namespace strata::graph::detail
