// Contributions of many patches put together: to fields, to lists, to scalars.
#include <algorithm>
#include <map>

#include "core/graph/declare/shared.hpp"
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

/// By name, so that the order of adding tasks does not matter.
std::vector<std::pair<TaskId, int>> PlanBuilder::contributors(TaskId task) const {
    const ResolvedTask& total = resolved(task);
    std::vector<std::pair<TaskId, int>> all;
    for (const TaskId t : resolved_.tasks.ids()) {
        const ResolvedTask& each = resolved_.tasks[t];
        if (each.what != ResolvedTask::What::body || each.scope != total.scope) continue;
        const std::vector<Use>& uses = info(t).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if ((uses[u].access == Access::sum || uses[u].access == Access::contribute) &&
                uses[u].version.label == total.completed.label)
                all.emplace_back(t, static_cast<int>(u));
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return info(a.first).name < info(b.first).name; });
    return all;
}

/// The boxes that are added up for a patch, in the order in which they are.
void PlanBuilder::each_part(TaskId task, int patch, const std::function<void(const SumPart&)>& each) {
    const LabelInfo& of = label(resolved(task).completed.label);
    const auto& grid = static_cast<const Grid&>(*of.family);
    const Box owned = grid.owned(patch, of.on, of.border);
    for (const auto& [maker, use] : contributors(task)) {
        const auto u = static_cast<std::size_t>(use);
        const Use& sums = info(maker).uses[u];
        grid.find_owners(owned.grown(sums.width), of.on, of.border, met_);
        for (const auto& met : met_) {
            const Box theirs = grid.owned(met.patch, of.on, of.border).shifted(met.shift);
            const Box both = common(sums.reached(theirs), owned);
            if (!both.empty()) each({maker, resolved(maker).uses[u].storage, met.patch, both, met.shift});
        }
    }
}

namespace {

/// Divides `all` where the boxes begin and end: parts to which the same ones contribute everywhere.
/// each(part, boxes that cover it, in their order).
template <class Each>
void each_region(const Box& all, const std::vector<Box>& boxes, Each each) {
    std::array<std::vector<int>, 3> cuts;
    for (std::size_t a = 0; a < 3; ++a) {
        cuts[a] = {all.lo[a], all.hi[a]};
        for (const Box& box : boxes) cuts[a].insert(cuts[a].end(), {box.lo[a], box.hi[a]});
        std::sort(cuts[a].begin(), cuts[a].end());
        cuts[a].erase(std::unique(cuts[a].begin(), cuts[a].end()), cuts[a].end());
    }
    std::vector<std::uint32_t> covering;
    for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k)
        for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j)
            for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i) {
                const Box part{{cuts[0][i], cuts[1][j], cuts[2][k]},
                               {cuts[0][i + 1], cuts[1][j + 1], cuts[2][k + 1]}};
                covering.clear();
                for (std::size_t b = 0; b < boxes.size(); ++b)
                    if (boxes[b].contains(part)) covering.push_back(static_cast<std::uint32_t>(b));
                each(part, covering);
            }
}

}  // namespace

void PlanBuilder::make_combines() {
    for (const TaskId task : resolved_.tasks.ids()) {
        const ResolvedTask& total = resolved_.tasks[task];
        if (total.what != ResolvedTask::What::combine) continue;
        const StorageId result = total.uses[0].storage;
        const LabelInfo& of = label(total.completed.label);
        ProgramData& all = program_data(tasks_[task].phase);
        for (std::uint32_t i = 0; i < tasks_[task].count; ++i) {
            const PatchArray& mine = plan_.memory_.own(result, static_cast<int>(i));
            reader_ = {tasks_[task].phase, tasks_[task].first + i, position_of(task, Position::own)};
            CombineCall& call = all.combines.one();
            call.element = of.element;
            call.components = of.components;
            call.bytes = static_cast<std::int64_t>(of.bytes);
            call.field = of.kind == Kind::field;
            call.to = address(tasks_[task].phase, result, mine.origin, mine.buffer_stride, 0);
            const int patch = patches(tasks_[task].family)[i];
            call.field ? combine_field(call, task, patch) : combine_lists(call, task, patch);
            Op& op = all.program.ops[tasks_[task].first + i];
            op.go = CombineCall::go;
            op.what = &call;
        }
    }
}

void PlanBuilder::combine_field(CombineCall& call, TaskId task, int patch) {
    const int h = ops(task).phase;
    const StorageId result = resolved(task).uses[0].storage;
    const LabelInfo& of = label(resolved(task).completed.label);
    const Box owned = static_cast<const Grid&>(*of.family).owned(patch, of.on, of.border);
    const PatchArray& mine = array_of(result, patch);
    call.to.base += distance(mine, owned.lo, of.bytes);
    call.add = add_regions(of.element);
    const bool in_place = std::any_of(in_place_sums_.begin(), in_place_sums_.end(),
                                      [&](const SumInPlace& sum) { return sum.combine == task; });
    std::vector<bool> own;  // what is there already, where it is added up in place
    std::vector<RoundAddress> parts;
    std::vector<const PatchArray*> windows;
    std::vector<Box> boxes;
    each_part(task, patch, [&](const SumPart& part) {
        const PatchArray& window = array_of(part.windows, part.from);
        const Int3 back{-part.shift[0], -part.shift[1], -part.shift[2]};
        parts.push_back(
            address(h, part.windows,
                    window.origin + distance(window, owned.lo, of.bytes) + distance(window, back, of.bytes),
                    window.buffer_stride, 0));
        windows.push_back(&window);
        boxes.push_back(part.box);
        own.push_back(in_place && part.from == patch && part.shift == Int3{});
    });
    SumRows rows;
    each_region(owned, boxes, [&](const Box& box, const std::vector<std::uint32_t>& in) {
        if (in.size() == 1 && own[in.front()]) return;
        const Int3 at{box.lo[0] - owned.lo[0], box.lo[1] - owned.lo[1], box.lo[2] - owned.lo[2]};
        const auto offset = [&](const PatchArray& array) {
            return SumRows::BoxOrigin{distance(array, at, 1), strides(array, 1)};
        };
        std::vector<std::pair<std::uint32_t, SumRows::BoxOrigin>> from;
        for (const std::uint32_t part : in) from.emplace_back(part, offset(*windows[part]));
        rows.add({box.extent(0), box.extent(1), box.extent(2)}, of.components, offset(mine), from);
    });
    call.parts = program_data(h).parts.keep(parts);
    call.rows = &*program_data(h).sums.insert(std::move(rows)).first;
}

void PlanBuilder::combine_lists(CombineCall& call, TaskId task, int patch) {
    const int h = ops(task).phase;
    const PatchArray& mine = array_of(resolved(task).uses[0].storage, patch);
    ProgramData& all = program_data(h);
    call.count = mine.count;
    call.component = mine.component;
    std::vector<CombineCall::Entries> lists;
    for (const auto& [maker, use] : contributors(task)) {
        const auto u = static_cast<std::size_t>(use);
        const auto& shared = static_cast<const Shared&>(*info(maker).uses[u].relation);
        const StorageId theirs = resolved(maker).uses[u].storage;
        std::map<int, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> by_patch;
        by_patch[patch];
        for (const Shared::Link& link : shared.links(patch)) {
            by_patch[link.patch].first.push_back(link.entry);
            by_patch[link.patch].second.push_back(link.their_entry);
        }
        for (const auto& [other, entries] : by_patch) {
            const PatchArray& source = array_of(theirs, other);
            CombineCall::Entries part;
            part.from = address(h, theirs, source.origin, source.buffer_stride, 0);
            part.from_component = source.component;
            if (other != patch) {
                part.here = all.indices.keep(entries.first);
                part.there = all.indices.keep(entries.second);
            }
            lists.push_back(part);
        }
    }
    call.lists = all.entries.keep(lists);
}

void PlanBuilder::make_reductions() {
    plan_.ends_.resize(resolved_.tasks.size());
    for (const TaskId t : resolved_.tasks.ids()) {
        const ResolvedTask& total = resolved_.tasks[t];
        if (total.what != ResolvedTask::What::reduce) continue;
        const TaskOps& at = tasks_[t];
        ProgramData& all = program_data(at.phase);
        const StorageId result = total.uses[0].storage;
        const PatchArray& mine = plan_.memory_.own(result, 0);
        std::vector<const std::byte*> slots;
        for (const auto& each : contributors(t))
            slots.insert(slots.end(), slots_[each].begin(), slots_[each].end());
        std::vector<std::byte*> children;
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = (members_.rank - members_.first()) * kBranches + b;
                child < members_.on_node())
                children.push_back(partials_[static_cast<std::size_t>(child)] + partial_at_[t]);
        for (const std::size_t i : at.incoming)
            if (incoming_[i].what == Stream::What::part_of_reduction) {
                std::byte* const part = room_for(all.windows, partial_bytes(label(total.completed.label)));
                parts_from_[{t, incoming_[i].process}] = part;
                children.push_back(part);
            }

        ReduceCall& call = all.reduces.one();
        call.label = &label(total.completed.label);
        call.contributions = all.contributions.keep(slots);
        call.children = all.children.keep(children);
        call.mine = plan_.partials_.data() + partial_at_[t];
        call.result = address(at.phase, result, mine.origin, mine.buffer_stride, 0);
        call.finishes = at.up == kNone;
        Op& op = all.program.ops[call.finishes ? at.first : at.up];
        op.go = ReduceCall::go;
        op.what = &call;
        plan_.ends_[t] = {all.program.ops[at.first].flag, scope_of(total.scope), 0,
                          static_cast<std::int32_t>(at.first)};
        if (call.finishes || members_.rank == members_.first()) continue;  // of other nodes: messages.cpp
        const PatchArray& root = plan_.memory_.of(members_.first(), result, 0);
        FetchCall& fetch = all.fetches.one();
        fetch.from = address(at.phase, result, root.origin, root.buffer_stride, 0);
        fetch.to = call.result;
        fetch.bytes = call.label->bytes * static_cast<std::size_t>(call.label->components);
        all.program.ops[at.first].go = FetchCall::go;
        all.program.ops[at.first].what = &fetch;
    }
}

}  // namespace strata::graph::detail
