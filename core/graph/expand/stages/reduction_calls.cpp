// Reductions to scalars: contributions of this process, then a tree of the node's processes, then one of the
// nodes' first processes.
#include <algorithm>
#include <iterator>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

class Reductions {
  public:
    Reductions(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
               const SharedFlags& shared, const ContributionSlots& slots, PlanParts& plan)
        : in_(in), numbered_(numbered), streams_(streams), shared_(shared), slots_(slots), plan_(plan) {}

    ReceivedParts all() {
        for (const TaskId task : in_.resolved.tasks.ids())
            if (in_.is(task, ResolvedTask::What::reduce) && numbered_.tasks[task].gate == RequestRole::none)
                one(task);
        return std::move(received_);
    }

  private:
    void one(TaskId task) {
        const TaskOps& at = numbered_.tasks[task];
        ProgramData& all = plan_.of(at.phase);
        const StorageId result = in_.task(task).uses[0].storage;
        const auto address = [&](const PatchArray& array) {
            return numbered_.address(at.phase, in_.storage(result), array.origin, array.buffer_stride, 0);
        };
        ReduceCall& call = all.store.one<ReduceCall>();
        call.label = &in_.completed(task);
        call.contributions = all.store.keep(contributions(task));
        call.children = all.store.keep(children(task, all.windows));
        if (at.up != kNone) call.mine = plan_.partials.data() + shared_.partial_at[task];
        call.result = address(in_.memory.own(result, 0));
        call.finishes = at.up == kNone;
        all.set(call.finishes ? at.first : at.up, call);
        plan_.ends[task] = {all.program.ops[at.first].flag, numbered_.scopes[in_.task(task).scope], 0};
        const int root = in_.members.first();
        if (call.finishes || in_.members.rank == root) return;  // of other nodes: message_calls.cpp
        FetchCall& fetch = all.store.one<FetchCall>();
        fetch.from = address(in_.memory.of(root, result, 0));
        fetch.to = call.result;
        fetch.bytes = call.label->bytes * static_cast<std::size_t>(call.label->components);
        all.set(at.first, fetch);
    }

    [[nodiscard]] std::vector<Contributions> contributions(TaskId task) const {
        std::vector<Contributions> all;
        for (const Contributor& each : contributors(in_, task))
            if (const auto slots = slots_.find(each); slots != slots_.end())
                std::copy_if(slots->second.begin(), slots->second.end(), std::back_inserter(all),
                             [](const Contributions& of_thread) { return of_thread.count > 0; });
        return all;
    }

    /// The parts of processes below this one in the tree: of this node, then of others.
    std::vector<std::byte*> children(TaskId task, Stock& room) {
        std::vector<std::byte*> all;
        const int first = in_.members.first(), here = in_.members.rank - first;
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = here * kBranches + b; child < in_.members.on_node())
                all.push_back(shared_.partial(first + child, task));
        for (const std::size_t i : streams_.of[task].incoming)
            if (const Stream& stream = streams_.incoming[i]; stream.what == Stream::What::part_of_reduction) {
                std::byte* const part = room_for(room, partial_bytes(in_.completed(task)));
                received_[{task, stream.process}] = part;
                all.push_back(part);
            }
        return all;
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Streams& streams_;
    const SharedFlags& shared_;
    const ContributionSlots& slots_;
    PlanParts& plan_;
    ReceivedParts received_;
};

}  // namespace

ReceivedParts make_reductions(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                              const SharedFlags& shared, const ContributionSlots& slots, PlanParts& plan) {
    return Reductions(in, numbered, streams, shared, slots, plan).all();
}

}  // namespace strata::graph::detail
