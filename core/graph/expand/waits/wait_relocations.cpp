// Waits of the operations of relocations.
#include "core/graph/expand/waits/wait_list.hpp"

namespace strata::graph::detail {

/// Besides the resolved graph's befores: until its patch took in the particles of the round before, and until
/// those that left its arrays for other nodes are packed, and values of its particles in halos there.
void wait_to_leave(WaitList& list, TaskId task, int local) {
    const PlanInputs& in = list.in;
    const TaskOps& arrive = list.numbered.tasks[task];
    list.add_op(arrive.phase, arrive.op(local), in.task(task).scope, 1);
    for (const Stream& stream : list.streams.outgoing)
        if (stream.what == Stream::What::leavers && list.numbered.tasks[stream.maker].phase == arrive.phase &&
            in.relocation(stream.maker).set == in.relocation(task).set)
            list.add_latest(arrive.phase, stream.first, position_of(in, stream.maker, Position::pack),
                            position_of(in, task, Position::own));
    wait_for_packed_particles(list, task, in.relocation(task).set,
                              in.patches(arrive.family)[static_cast<std::size_t>(local)]);
}

void wait_to_gather(WaitList& list, TaskId task) {
    const TaskOps& leave = list.numbered.tasks[list.numbered.tasks[task].leave];
    for (std::uint32_t i = 0; i < leave.count; ++i)
        list.add_op(leave.phase, leave.first + i, list.in.task(task).scope, 0);
}

namespace {

/// Particles come from patches around.
void wait_for_nearby(WaitList& list, TaskId task, int local) {
    const PlanInputs& in = list.in;
    const TaskOps& arrive = list.numbered.tasks[task];
    const ScopeId scope = in.task(task).scope;
    const int patch = in.patches(arrive.family)[static_cast<std::size_t>(local)];
    int last = -1;
    for (const Nearby& each : nearby(in.grid(arrive.family), patch, in.hops(in.relocation(task).set))) {
        if (each.patch == last) continue;
        last = each.patch;
        const int process = in.owner(arrive.family, last);
        if (in.members.is_on_node(process))
            list.add_patch(arrive.leave, arrive.family, last, scope, 0);
        else
            list.add_op(arrive.phase, list.streams.image_op(task, process), scope, 0);
    }
}

/// Particles come from anywhere: each process has gathered its own, the other nodes' are received.
void wait_for_processes(WaitList& list, TaskId task) {
    const Members& members = list.in.members;
    const TaskOps& arrive = list.numbered.tasks[task];
    const ScopeId scope = list.in.task(task).scope;
    for (const std::size_t i : list.streams.of[task].incoming)
        if (list.streams.incoming[i].what == Stream::What::leavers)
            list.add_op(arrive.phase, list.streams.incoming[i].first, scope, 0);
    for (int process = members.first(); process < members.first() + members.on_node(); ++process)
        if (process == members.rank)
            list.add_op(arrive.phase, list.numbered.tasks[arrive.gather].first, scope, 0);
        else
            list.add_other(process, arrive.gather, 0, scope, 0);
}

}  // namespace

void wait_to_arrive(WaitList& list, TaskId task, int local) {
    if (list.numbered.tasks[task].gather)
        wait_for_processes(list, task);
    else
        wait_for_nearby(list, task, local);
}

}  // namespace strata::graph::detail
