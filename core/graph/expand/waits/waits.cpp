// Waits of all operations: the resolved graph's befores, patch by patch. Say a task reads ghosts of patches 4
// and 6 on patch 5: then its operation for patch 5 waits for the maker's operations for patches 4, 5 and 6.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "core/graph/expand/halos/sweep.hpp"
#include "core/graph/expand/waits/wait_list.hpp"

namespace strata::graph::detail {

namespace {

class TaskWaits {
  public:
    TaskWaits(WaitList& list, Reach& reach)
        : list_(list), in_(list.in), numbered_(list.numbered), streams_(list.streams), reach_(reach) {}

    /// All tasks, in their order.
    void all(int phase) {
        for (const TaskId task : in_.resolved.tasks.ids())
            if (numbered_.tasks[task].phase == phase)
                numbered_.tasks[task].leave ? relocation(task) : one(task);
    }

    /// A copy into a halo waits for the values. They were made after all had read what was in the halo
    /// before: their maker waits for the readers. But for frozen ghosts: the maker itself read them, on the
    /// patch around which they lie.
    void fills(int phase) {
        for (const FillGroup& group : numbered_.groups) {
            if (numbered_.tasks[group.key.maker].phase != phase) continue;
            const FamilyId family = in_.family_of(group.key.storage);
            std::uint32_t last = kNone;
            for (std::size_t i = 0; i < group.op_of.size(); ++i) {
                if (group.op_of[i] == last || group.op_of[i] == kNone) continue;
                last = group.op_of[i];
                list_.add_patch(group.key.maker, family, group.fills.all[i].from, group.key.lag);
                if (list_.empty()) continue;  // an image without readers
                if (in_.storage(group.key.storage).apart)
                    list_.add_patch(group.key.maker, family, patch_around(group, i), group.key.lag);
                fills_before(group, i);
                list_.give_to(phase, last);
            }
        }
    }

  private:
    /// The same values may be copied there twice: by a group that may be unread, and when a part of the step
    /// begins. The later copy waits for the earlier one and for who reads that.
    void fills_before(const FillGroup& group, std::size_t fill) {
        const SourceBox& piece = group.fills.all[fill];
        const Position here = position_of(in_, group.key);
        const int phase = numbered_.tasks[group.key.maker].phase;
        for (const FillGroup& other : numbered_.groups) {
            if (&other == &group || other.key.storage != group.key.storage ||
                numbered_.tasks[other.key.maker].phase != phase)
                continue;
            // Of two that may have made the version, as a part of the step begins.
            const bool beside = group.key.scope && other.key.scope == group.key.scope;
            if (beside)
                list_.add_patch(other.key.maker, in_.family_of(group.key.storage), piece.from, other.key.lag);
            if (beside ? &other < &group : other.may_be_unread || bool(group.key.scope))
                for (std::size_t i = 0; i < other.fills.all.size(); ++i)
                    if (other.op_of[i] != kNone && other.fills.all[i].from == piece.from &&
                        !common(other.fills.all[i].into(), piece.into()).empty())
                        beside ? list_.add_op(phase, other.op_of[i], group.key.scope, 0)
                               : list_.add_latest(phase, other.op_of[i], position_of(in_, other.key), here);
            if (!group.key.scope || beside) continue;
            for (const HaloReader& reader : other.readers) {
                const TaskOps& ops = numbered_.tasks[reader.task->id];
                for (std::uint32_t i = 0; i < ops.count; ++i)
                    list_.add_latest(phase, ops.first + i, position_of(in_, reader.task->id, Position::own),
                                     here);
            }
        }
    }
    /// Of a storage whose patches are apart: the patch whose halo a fill goes to.
    [[nodiscard]] int patch_around(const FillGroup& group, std::size_t fill) const {
        const auto& of_block = group.fills.of_block;
        const auto block = std::upper_bound(of_block.begin(), of_block.end(), fill) - of_block.begin() - 1;
        const Division& division = *in_.memory.layout(group.key.storage).division;
        return division.patches[division.parts[static_cast<std::size_t>(block)].first];
    }

    void one(TaskId task) {
        const TaskOps& all = numbered_.tasks[task];
        if (all.gate != RequestRole::none) return gate(task);
        for (std::uint32_t i = 0; i < all.count; ++i) {
            befores(task, all.local(i), all.first + i);
            if (in_.is(task, ResolvedTask::What::reduce))
                result(task);
            else if (in_.runs(task, Runs::in_processes))
                turn(task);
            const int patch = !all.family ? -1 : patch_of(all, i);
            wait_for_packing(list_, task, patch);
            unread_copies(task, patch);
            if (in_.is(task, ResolvedTask::What::body) && in_.info(task).renews)
                wait_to_renew(list_, task, patch);
            wait_for_posting(list_, task);
            list_.give_to(all.phase, all.first + i);
        }
        if (all.up == kNone) return;
        befores(task, 0, all.up);
        children(task);
        list_.add_op(all.phase, all.first, in_.task(task).scope, 1);  // the root has taken the part before
        list_.give_to(all.phase, all.up);
    }

    /// A writer of one patch's values (-1: of all of this process's) waits for the copies of those before
    /// that no reader may have waited for.
    void unread_copies(TaskId task, int patch) {
        const int phase = numbered_.tasks[task].phase;
        const Members& members = in_.members;
        for (std::size_t g = 0; g < numbered_.groups.size(); ++g) {
            const FillGroup& group = numbered_.groups[g];
            if (!group.may_be_unread || numbered_.tasks[group.key.maker].phase != phase ||
                !writes_to(task, group.key.storage))
                continue;
            const FamilyId family = in_.family_of(group.key.storage);
            const Position fill = position_of(in_, group.key), here = position_of(in_, task, Position::own);
            const auto from = [&](int source) {
                return patch >= 0 ? source == patch : in_.is_mine(family, source);
            };
            if (copies_[g].empty()) copies_[g] = group.by_source();
            for (const auto& [source, op] : copies_[g])
                if (from(source)) list_.add_latest(phase, op, fill, here);
            for (int process = members.first(); process < members.first() + members.on_node(); ++process) {
                if (process == members.rank) continue;
                for (const auto& [source, flag] : list_.shared.copies(process, g))
                    if (from(static_cast<int>(source))) list_.add_latest(flag, fill, here);
            }
        }
    }
    [[nodiscard]] bool writes_to(TaskId task, StorageId storage) const {
        const std::vector<ResolvedUse>& uses = in_.task(task).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if (uses[u].storage == storage && writes(in_, task, u)) return true;
        return false;
    }

    /// Of requests or answers: all this process's are there; others' have come; they are given out.
    void gate(TaskId task) {
        const TaskOps& all = numbered_.tasks[task];
        const auto part = [&](GateOp op, std::uint32_t number) {
            if (op == GateOp::post || op == GateOp::first) befores(task, 0, number);
            wait_at_gate(list_, task, op);
            list_.give_to(all.phase, number);
        };
        part(GateOp::post, all.up);
        part(GateOp::arrived, numbered_.tasks[all.arrived].first);
        part(GateOp::first, all.first);
        part(GateOp::taken, numbered_.tasks[all.taken].first);
    }

    [[nodiscard]] int patch_of(const TaskOps& all, std::uint32_t number) const {
        return in_.patches(all.family)[static_cast<std::size_t>(all.local(number))];
    }

    void relocation(TaskId task) {
        const TaskOps& arrive = numbered_.tasks[task];
        const TaskOps& leave = numbered_.tasks[arrive.leave];
        for (int local = 0; local < static_cast<int>(arrive.count); ++local) {
            wait_to_arrive(list_, task, local);
            list_.give_to(arrive.phase, arrive.op(local));
        }
        for (int local = 0; local < static_cast<int>(leave.count); ++local) {
            befores(task, local, leave.op(local));
            wait_to_leave(list_, task, local);
            list_.give_to(arrive.phase, leave.op(local));
        }
        if (!arrive.gather) return;
        wait_to_gather(list_, task);
        list_.give_to(arrive.phase, numbered_.tasks[arrive.gather].first);
    }

    void befores(TaskId task, int local, std::uint32_t op) {
        const TaskOps& mine = numbered_.tasks[task];
        const int patch = !mine.family ? -1 : in_.patches(mine.family)[static_cast<std::size_t>(local)];
        for (const SumInPlace& sum : in_.sums_in_place)  // it clears values of the round before
            if (sum.maker == task)
                for (const TaskId user : sum.users) list_.add_patch(user, mine.family, patch, 1);
        for (const Before& before : in_.task(task).before) {
            const TaskOps& theirs = numbered_.tasks[before.task];
            if (theirs.phase != mine.phase) continue;  // the start is over before the first step
            if (in_.is(task, ResolvedTask::What::reduce) && mine.up != kNone) {
                // The way up takes contributions; the result may be written when all have read the one
                // before.
                const bool contributes = !before.backward && before.lag == 0;
                if (contributes != (op == mine.up)) continue;
            }
            if (in_.is(before.task, ResolvedTask::What::reduce)) {
                // A contribution may be written again when it has been taken, here: not when all have the
                // result.
                const bool taken = before.backward && theirs.up != kNone;
                std::uint32_t done = taken ? theirs.up : theirs.first;
                if (taken && theirs.gate == RequestRole::answered)  // all of the node read answers
                    done = numbered_.tasks[theirs.taken].first;
                list_.add_op(theirs.phase, done, in_.task(before.task).scope, before.lag);
                if (op == mine.first) taken_by_all(task, before);
            } else if (!mine.family || !theirs.family) {
                list_.add_all(before.task, before.lag);
                neighbours(mine, patch, before);
            } else if (before.through_use < 0) {
                list_.add_patch(before.task, mine.family, patch, before.lag);
            } else {
                through(patch, before);
            }
        }
    }

    /// A task that runs once, or another reduction, and writes over the result of a reduction waits until all
    /// processes have it: those of this node copy it from the first one, other nodes get it packed.
    void taken_by_all(TaskId task, const Before& before) {
        const Members& members = in_.members;
        const bool reduces = in_.is(task, ResolvedTask::What::reduce) && task != before.task;
        if ((!in_.runs(task, Runs::once) && !reduces) || members.rank != members.first()) return;
        const ResolvedTask& writer = in_.task(task);
        bool rewrites = false;
        for (std::size_t u = 0; u < writer.uses.size(); ++u)
            rewrites = rewrites || (writes(in_, task, u) &&
                                    writer.uses[u].storage == in_.task(before.task).uses[0].storage);
        if (!rewrites) return;
        const ScopeId scope = in_.task(before.task).scope;
        for (int process = members.first() + 1; process < members.first() + members.on_node(); ++process)
            list_.add_other(process, before.task, 0, scope, before.lag);
        for (const std::size_t i : streams_.of[before.task].outgoing)
            if (const Stream& stream = streams_.outgoing[i]; stream.what == Stream::What::reduced)
                list_.add_op(numbered_.tasks[task].phase, stream.first, scope, before.lag);
    }

    /// One of the two tasks is of the whole process: the other's patches read across processes.
    void neighbours(const TaskOps& mine, int patch, const Before& before) {
        if (before.through_use < 0 || !in_.is(before.through_task, ResolvedTask::What::body) ||
            in_.info(before.through_task).family == nullptr)
            return;
        const Use& use = in_.use(before.through_task, before.through_use);
        if (in_.label(use.version.label).kind == Kind::scalar) return;
        if (mine.family && !before.backward)
            through(patch, before);
        else if (!mine.family && before.backward)
            for (const int own : in_.patches(number_of(in_.graph, reach_.source_family(use))))
                through(own, before);
    }

    void through(int patch, const Before& before) {
        const Use& use = in_.use(before.through_task, before.through_use);
        if (before.backward) {  // on other nodes they read images
            const FamilyId family =
                number_of(in_.graph, Reach::reading_family(use, in_.info(before.through_task)));
            for (const int other : reach_.readers(use, patch))
                if (in_.is_on_node(family, other)) list_.add_patch(before.task, family, other, before.lag);
            return;
        }
        if (is_in_place(use)) return ghosts(before, use, patch);
        const FamilyId family = number_of(in_.graph, reach_.source_family(use));
        for (const int other : reach_.sources(use, patch))
            list_.add_patch(before.task, family, other, before.lag);
    }
    void in_place(const FieldLayout& layout, const Use& use, int patch, const Division::PatchPosition& at) {
        if (use.lacks_some())
            read_on_sides(layout, patch, at, use, met_, in_place_);
        else
            read_in_place(layout, patch, at, use.width, met_, in_place_);
    }

    /// Ghosts come from the patches of the same block, which are read in place, and from the halo.
    void ghosts(const Before& before, const Use& use, int patch) {
        const FillKey key = fill_key(in_, before.through_task, before);
        const FieldLayout& layout = in_.memory.layout(key.storage);
        const Division::PatchPosition position = layout.division->find(patch);
        const FamilyId family = in_.family_of(key.storage);
        if (before.task != before.through_task || before.lag > 0)  // upwind of itself
            list_.add_patch(before.task, family, patch, before.lag);
        in_place(layout, use, patch, position);
        for (const int other : in_place_) list_.add_patch(before.task, family, other, before.lag);
        const auto at = numbered_.group_of.find(key);
        if (at == numbered_.group_of.end()) return;
        const FillGroup& group = numbered_.groups[at->second];
        const SideBoxes reads = ghosts_of(use, *layout.division->grid, patch, layout.on, layout.border);
        const bool some = group.width != use.width || use.lacks_some();
        std::uint32_t last = kNone;
        for (const std::uint32_t fill : group.fills.patch(position.at)) {
            if (some && !meets(reads, group.fills.all[fill].into())) continue;
            if (group.op_of[fill] != last && group.op_of[fill] != kNone)
                list_.add_op(numbered_.tasks[before.task].phase, group.op_of[fill], scope_of(in_, key),
                             key.scope ? 0 : before.lag);
            last = group.op_of[fill];
        }
    }

    /// Tasks of the whole team run in one order, the same in all processes: as they come in the resolved
    /// order, within each scope.
    void turn(TaskId task) {
        TaskId last;
        for (const auto& [other, inner] : in_.resolved.scopes[in_.task(task).scope].order) {
            if (inner || !in_.runs(other, Runs::in_processes)) continue;
            if (other == task) break;
            last = other;
        }
        if (last) list_.add_all(last, 0);
    }

    /// A reduction's operation that puts the result in its place. The root of a tree waits for the parts of
    /// others; other processes wait for the root. All wait until the result before was packed for other
    /// nodes.
    void result(TaskId task) {
        const TaskOps& all = numbered_.tasks[task];
        const ScopeId scope = in_.task(task).scope;
        if (all.up == kNone)
            children(task);
        else if (in_.members.rank != in_.members.first())
            list_.add_other(in_.members.first(), task, 0, scope, 0);
        streams(task, Stream::What::reduced);
    }

    /// In the tree of processes of a node: their way up. (Its flag follows that of their own part, which is
    /// one.) In that of the nodes: messages with their parts.
    void children(TaskId task) {
        const int first = in_.members.first(), here = in_.members.rank - first;
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = here * kBranches + b; child < in_.members.on_node())
                list_.add_other(first + child, task, 1, in_.task(task).scope, 0);
        streams(task, Stream::What::part_of_reduction);
    }

    /// Until this round's messages of a reduction have come, and those of the round before are packed.
    void streams(TaskId task, Stream::What what) {
        const int phase = numbered_.tasks[task].phase;
        const ScopeId scope = in_.task(task).scope;
        for (const std::size_t i : streams_.of[task].incoming)
            if (const Stream& stream = streams_.incoming[i]; stream.what == what)
                list_.add_op(phase, what == Stream::What::reduced ? stream.first : stream.second, scope, 0);
        for (const std::size_t i : streams_.of[task].outgoing)
            if (const Stream& stream = streams_.outgoing[i]; stream.what == what)
                list_.add_op(phase, stream.first, scope, 1);
    }

    WaitList& list_;
    const PlanInputs& in_;
    const Numbered& numbered_;
    const Streams& streams_;
    Reach& reach_;
    std::map<std::size_t, std::vector<std::pair<int, std::uint32_t>>> copies_;  // of groups, by source
    std::vector<int> in_place_;
    std::vector<Grid::Meeting> met_;
};

}  // namespace

void make_waits(const PlanInputs& in, const Numbered& numbered, const Needs& needs, const Streams& streams,
                const SharedFlags& shared, const Arrays& arrays, PlanParts& plan) {
    // Roughly one for each patch around: a vector that grows copies all of them again and again.
    for (const int phase : {0, 1}) {
        Program& program = plan.of(phase).program;
        program.waits.runs.reserve(program.ops.size() * 8);
    }
    WaitList list(in, numbered, streams, shared, plan);
    Reach reach(in.graph);
    TaskWaits tasks(list, reach);
    for (const int phase : {0, 1}) {
        tasks.all(phase);
        tasks.fills(phase);
        make_waits_of_messages(list, needs, arrays, reach, phase);
    }
}

}  // namespace strata::graph::detail
