// Waits of the operations of requests and answers (requests.hpp says what they do).
#include "core/graph/expand/waits/wait_list.hpp"

namespace strata::graph::detail {

namespace {

/// The waits of one gate's operations: what nobody declared.
class GateWaits {
  public:
    GateWaits(WaitList& list, TaskId task)
        : list_(list),
          in_(list.in),
          task_(task),
          ops_(list.numbered.tasks[task]),
          set_(request_role(in_.graph, in_.task(task).completed.label).set) {}

    void before_post() {
        if (ops_.gate == RequestRole::delivered) {
            own(ops_.taken, 1);  // the table before is read by all of the node,
            returned();          // and knows where answers are;
            answers_read();      // tasks write the next answers to where these are
        } else {
            delivered();
        }
    }
    void before_arrival() {
        for (const std::size_t i : list_.streams.of[task_].incoming)
            list_.add_op(ops_.phase, list_.streams.incoming[i].first, scope(), 0);
        if (ops_.gate != RequestRole::delivered) return;
        own(ops_.taken, 1);
        returned();
    }
    void before_first() {
        everywhere(task_, 1);
        everywhere(ops_.arrived, 0);
        packed(0);
        if (ops_.gate == RequestRole::delivered) taken_back();
    }
    void before_taken() { everywhere(task_, 0); }
    void before_pack(const Stream& stream) {
        list_.add_op(ops_.phase, stream.second, scope(), 1);
        everywhere(task_, 1);
    }
    void before_receive() {
        own(ops_.arrived, 1);
        own(ops_.taken, 1);
        if (ops_.gate == RequestRole::answered) delivered();
    }

  private:
    [[nodiscard]] ScopeId scope() const { return in_.task(task_).scope; }
    void own(TaskId part, int lag) {
        list_.add_op(ops_.phase, list_.numbered.tasks[part].first, scope(), lag);
    }
    /// All processes of the node; `local` 1: of a gate, the operation before messages.
    void everywhere(TaskId part, int local) {
        const Members& members = in_.members;
        for (int process = members.first(); process < members.first() + members.on_node(); ++process)
            if (process == members.rank)
                list_.add_op(ops_.phase, local == 1 ? ops_.up : list_.numbered.tasks[part].first, scope(), 0);
            else
                list_.add_other(process, part, local, scope(), 0);
    }
    void packed(int lag) {
        for (const std::size_t i : list_.streams.of[task_].outgoing)
            list_.add_op(ops_.phase, list_.streams.outgoing[i].first, scope(), lag);
    }
    /// Calls each(gate) for gates of this kind, of the same set in the same program.
    template <class Each>
    void gates(RequestRole::What what, Each each) {
        for (const TaskId other : in_.resolved.tasks.ids())
            if (const TaskOps& ops = list_.numbered.tasks[other];
                ops.gate == what && ops.phase == ops_.phase &&
                request_role(in_.graph, in_.task(other).completed.label).set == set_)
                each(other, ops);
    }
    void latest(TaskId gate, std::uint32_t op) {
        list_.add_latest(ops_.phase, op, position_of(in_, gate, Position::own),
                         position_of(in_, task_, Position::own));
    }
    void delivered() {
        gates(RequestRole::delivered, [&](TaskId gate, const TaskOps& ops) { latest(gate, ops.first); });
    }
    /// Of the answers to the requests before: this process has its own; all of the node have theirs.
    void returned() {
        gates(RequestRole::answered, [&](TaskId gate, const TaskOps& ops) { latest(gate, ops.first); });
    }
    /// The answers before have been read here.
    void answers_read() {
        for (const TaskId reader : in_.resolved.tasks.ids()) {
            const TaskOps& ops = list_.numbered.tasks[reader];
            if (ops.phase != ops_.phase || !in_.is(reader, ResolvedTask::What::body)) continue;
            for (const Use& use : in_.info(reader).uses) {
                const RequestRole role = request_role(in_.graph, use.version.label);
                if (use.access != Access::need || role.what != RequestRole::answered || role.set != set_)
                    continue;
                for (std::uint32_t i = 0; i < ops.count; ++i)
                    list_.add_latest(ops.phase, ops.first + i, position_of(in_, reader, Position::own),
                                     position_of(in_, task_, Position::own));
            }
        }
    }
    void taken_back() {
        gates(RequestRole::answered,
              [&](TaskId gate, const TaskOps& ops) { latest(gate, list_.numbered.tasks[ops.taken].first); });
    }

    WaitList& list_;
    const PlanInputs& in_;
    TaskId task_;
    const TaskOps& ops_;
    const RequestSet* set_;
};

}  // namespace

void wait_at_gate(WaitList& list, TaskId gate, GateOp op) {
    GateWaits waits(list, gate);
    op == GateOp::post      ? waits.before_post()
    : op == GateOp::arrived ? waits.before_arrival()
    : op == GateOp::first   ? waits.before_first()
                            : waits.before_taken();
}

void make_waits_of_gate_message(WaitList& list, const Stream& stream, bool outgoing) {
    GateWaits waits(list, stream.maker);
    const int phase = list.numbered.tasks[stream.maker].phase;
    if (!outgoing) {
        waits.before_receive();
        return list.give_to(phase, stream.first);
    }
    waits.before_pack(stream);
    list.give_to(phase, stream.first);
    list.add_op(phase, stream.first, list.in.task(stream.maker).scope, 0);
    list.give_to(phase, stream.second);
}

namespace {

/// Several sets of requests may send off the same lists.
LabelId lists_of(const WaitList& list, TaskId gate) {
    return request_role(list.in.graph, list.in.task(gate).completed.label).set->labels().to;
}

}  // namespace

void wait_for_posting(WaitList& list, TaskId task) {
    if (!list.in.is(task, ResolvedTask::What::body)) return;
    const int phase = list.numbered.tasks[task].phase;
    for (const Use& use : list.in.info(task).uses) {
        if (use.access != Access::make) continue;
        const RequestRole role = request_role(list.in.graph, use.version.label);
        if (role.what != RequestRole::to) continue;
        for (const TaskId gate : list.in.resolved.tasks.ids())
            if (const TaskOps& ops = list.numbered.tasks[gate]; ops.gate == RequestRole::delivered &&
                                                                ops.phase == phase &&
                                                                lists_of(list, gate) == use.version.label)
                list.add_latest(phase, ops.up, position_of(list.in, gate, Position::own),
                                position_of(list.in, task, Position::own));
    }
}

}  // namespace strata::graph::detail
