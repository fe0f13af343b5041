// Contributions of many patches put together: to fields, to lists, to scalars.
#include <algorithm>
#include <map>

#include "core/graph/declare/shared.hpp"
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

/// By name, so that the order of adding tasks does not matter.
std::vector<std::pair<int, int>> PlanBuilder::contributors(int task) const {
    const ResolvedTask& total = resolved(task);
    std::vector<std::pair<int, int>> all;
    for (std::size_t t = 0; t < resolved_.tasks.size(); ++t) {
        const ResolvedTask& each = resolved_.tasks[t];
        if (each.what != ResolvedTask::What::body || each.scope != total.scope) continue;
        const std::vector<Use>& uses = info(static_cast<int>(t)).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if ((uses[u].access == Access::sum || uses[u].access == Access::contribute) &&
                uses[u].version.label == total.of.label)
                all.emplace_back(static_cast<int>(t), static_cast<int>(u));
    }
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return info(a.first).name < info(b.first).name; });
    return all;
}

void PlanBuilder::make_combines() {
    for (std::size_t t = 0; t < resolved_.tasks.size(); ++t) {
        const ResolvedTask& total = resolved_.tasks[t];
        if (total.what != ResolvedTask::What::combine) continue;
        const auto from = contributors(static_cast<int>(t));
        const LabelInfo& of = label(total.of.label);
        const int result = total.uses[0].storage;
        Half& all = half(tasks_[t].half);
        for (std::uint32_t i = 0; i < tasks_[t].count; ++i) {
            const int patch = patches(tasks_[t].family)[i];
            const Spot& mine = plan_.memory_.own(result, static_cast<int>(i));
            CombineCall& call = all.combines.one();
            call.element = of.element;
            call.components = of.components;
            call.bytes = static_cast<std::int64_t>(of.bytes);
            call.field = of.kind == Kind::field;
            call.to = turn(tasks_[t].half, result, mine.origin, mine.turn, 0);
            if (call.field) {
                const auto& grid = static_cast<const Grid&>(*of.family);
                const Box owned = grid.owned(patch, of.on, of.border);
                call.to.base += distance(mine, owned.lo, of.bytes);
                call.add = add_box(of.element);
                call.whole = {nullptr,
                              nullptr,
                              strides(mine, of.bytes),
                              {},
                              {owned.extent(0), owned.extent(1), owned.extent(2)},
                              of.components,
                              static_cast<std::uint32_t>(of.bytes)};
                std::vector<Move> parts;
                for (const auto& [task, use] : from) {
                    const Int3& width = info(task).uses[static_cast<std::size_t>(use)].width;
                    const int windows = resolved(task).uses[static_cast<std::size_t>(use)].storage;
                    grid.find_owners(owned.grown(width), of.on, of.border, met_);
                    for (const auto& each : met_) {
                        const Box theirs = grid.owned(each.patch, of.on, of.border).shifted(each.shift);
                        const Box both = common(theirs.grown(width), owned);
                        if (both.empty()) continue;
                        const Spot& window = spot_of(windows, each.patch);
                        const Int3 back{-each.shift[0], -each.shift[1], -each.shift[2]};
                        Move move;
                        move.from = turn(tasks_[t].half, windows,
                                         window.origin + distance(window, both.shifted(back).lo, of.bytes),
                                         window.turn, 0);
                        move.to = turn(tasks_[t].half, result,
                                       mine.origin + distance(mine, both.lo, of.bytes), mine.turn, 0);
                        move.box = {nullptr,
                                    nullptr,
                                    strides(mine, of.bytes),
                                    strides(window, of.bytes),
                                    {both.extent(0), both.extent(1), both.extent(2)},
                                    of.components,
                                    static_cast<std::uint32_t>(of.bytes)};
                        parts.push_back(move);
                    }
                }
                call.parts = all.moves.keep(parts);
            } else {
                call.count = mine.count;
                call.component = mine.component;
                std::vector<CombineCall::Entries> lists;
                for (const auto& [task, use] : from) {
                    const auto& shared =
                        static_cast<const Shared&>(*info(task).uses[static_cast<std::size_t>(use)].relation);
                    const int theirs = resolved(task).uses[static_cast<std::size_t>(use)].storage;
                    std::map<int, std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> by_patch;
                    by_patch[patch];
                    for (const Shared::Link& link : shared.links(patch)) {
                        by_patch[link.patch].first.push_back(link.entry);
                        by_patch[link.patch].second.push_back(link.their_entry);
                    }
                    for (const auto& [other, entries] : by_patch) {
                        const Spot& source = spot_of(theirs, other);
                        CombineCall::Entries part;
                        part.from = turn(tasks_[t].half, theirs, source.origin, source.turn, 0);
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
            Op& op = all.program.ops[tasks_[t].first + i];
            op.go = CombineCall::go;
            op.what = &call;
        }
    }
}

void PlanBuilder::make_reductions() {
    plan_.ends_.resize(resolved_.tasks.size());
    for (std::size_t t = 0; t < resolved_.tasks.size(); ++t) {
        const ResolvedTask& total = resolved_.tasks[t];
        if (total.what != ResolvedTask::What::reduce) continue;
        const TaskOps& at = tasks_[t];
        Half& all = half(at.half);
        const int result = total.uses[0].storage;
        const Spot& mine = plan_.memory_.own(result, 0);
        std::vector<const std::byte*> slots;
        for (const auto& each : contributors(static_cast<int>(t)))
            slots.insert(slots.end(), slots_[each].begin(), slots_[each].end());
        std::vector<std::byte*> children;
        for (int b = 1; b <= kBranches; ++b)
            if (const int child = members_.rank * kBranches + b; child < members_.size)
                children.push_back(partials_[static_cast<std::size_t>(child)] + partial_at_[t]);

        ReduceCall& call = all.reduces.one();
        call.label = &label(total.of.label);
        call.contributions = all.contributions.keep(slots);
        call.children = all.children.keep(children);
        call.mine = plan_.partials_.data() + partial_at_[t];
        call.result = turn(at.half, result, mine.origin, mine.turn, 0);
        call.finishes = at.up == kNone;
        Op& op = all.program.ops[call.finishes ? at.first : at.up];
        op.go = ReduceCall::go;
        op.what = &call;
        plan_.ends_[t] = {all.program.ops[at.first].flag, scope_of(total.scope), 0,
                          static_cast<std::int32_t>(at.first)};
        if (call.finishes) continue;
        const Spot& root = plan_.memory_.of(0, result, 0);
        FetchCall& fetch = all.fetches.one();
        fetch.from = turn(at.half, result, root.origin, root.turn, 0);
        fetch.to = call.result;
        fetch.bytes = call.label->bytes * static_cast<std::size_t>(call.label->components);
        all.program.ops[at.first].go = FetchCall::go;
        all.program.ops[at.first].what = &fetch;
    }
}

}  // namespace strata::graph::detail
