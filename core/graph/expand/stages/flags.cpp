// Flags and partial results, in memory that all processes of the node read.
#include <fmt/format.h>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

constexpr std::size_t kFlagsALine = 64 / sizeof(Flag);

/// A thread's flags lie together, in two parts: flags that others look at, and private ones. So the line that
/// a thread writes all the time is not one that others poll.
void give_flags(const PlanInputs& in, const Operations& operations, PlanParts& plan) {
    std::vector<std::pair<Flag**, std::size_t>> places;  // an operation's flag, and its number
    std::size_t count = 0;
    for (const int phase : {0, 1})
        for (int thread = 0; thread < in.threads; ++thread)
            for (const bool seen : {false, true}) {
                const std::vector<Operations::OpThread>& all = operations.threads(phase);
                for (std::size_t op = 0; op < all.size(); ++op)
                    if (all[op].thread == thread && all[op].seen == seen)
                        places.emplace_back(&plan.of(phase).program.ops[op].flag, count++);
                if (phase == 0) continue;                         // that runs once
                count = (count / kFlagsALine + 2) * kFlagsALine;  // processors fetch lines in pairs
            }
    plan.flags = SharedMemory(in.members, fmt::format("graph.{}.flags.{}", in.serial, in.members.rank),
                              count * sizeof(Flag));
    auto* flags = plan.flags.as<Flag>();
    for (const auto& [place, number] : places) *place = flags + number;
}

/// Calls each(process) for those of this node, in order.
template <class Each>
void each_on_node(const Members& members, Each each) {
    for (int process = members.first(); process < members.first() + members.on_node(); ++process)
        each(process);
}

/// For each task where its flags begin in the table that follows, then for each group of copies that may be
/// unread; then the table: a task's flags by local patch, then that of a reduction's way up; a group's
/// copies.
void share_directory(const PlanInputs& in, const Numbered& numbered, PlanParts& plan, SharedFlags& shared) {
    const auto name = [&](int process) { return fmt::format("graph.{}.directory.{}", in.serial, process); };
    std::size_t entries = 0;
    for (const TaskOps& each : numbered.tasks)
        entries += static_cast<std::size_t>(each.places()) + (each.up != kNone ? 1 : 0);
    std::vector<std::vector<std::pair<int, std::uint32_t>>> copies;
    for (const FillGroup& group : numbered.groups) {
        copies.push_back(group.may_be_unread ? group.by_source() : decltype(group.by_source())());
        entries += 2 * copies.back().size();
    }
    plan.directory =
        SharedMemory(in.members, name(in.members.rank), (shared.begins + entries) * sizeof(std::uint64_t));
    auto* first = plan.directory.as<std::uint64_t>();
    auto* table = reinterpret_cast<const Flag**>(first + shared.begins);
    std::size_t at = 0;
    for (const TaskOps& each : numbered.tasks) {
        const auto& all = plan.of(each.phase).program.ops;
        *first++ = at;
        for (int local = 0; local < each.places(); ++local)
            table[at++] = each.op(local) == kNone ? nullptr : all[each.op(local)].flag;
        if (each.up != kNone) table[at++] = all[each.up].flag;
    }
    auto* words = reinterpret_cast<std::uint64_t*>(table);
    for (std::size_t g = 0; g < copies.size(); ++g) {
        *first++ = at;
        const auto& all = plan.of(numbered.tasks[numbered.groups[g].key.maker].phase).program.ops;
        for (const auto& [patch, op] : copies[g]) {
            words[at++] = static_cast<std::uint64_t>(patch);
            table[at++] = all[op].flag;
        }
    }
    *first = at;
    in.members.meet();
    each_on_node(in.members, [&](int process) {
        shared.directories.push_back(SharedMemory::of_other(in.members, name(process)));
    });
}

/// A process's part of each reduction: all processes have them at the same distances, on lines of their own.
/// The root of the tree, process 0, has none: it makes the results.
void share_partials(const PlanInputs& in, PlanParts& plan, SharedFlags& shared) {
    std::size_t bytes = 0;
    for (const TaskId task : in.resolved.tasks.ids()) {
        shared.partial_at.push_back(bytes);
        if (in.is(task, ResolvedTask::What::reduce))
            bytes += (partial_bytes(in.completed(task)) + sizeof(Line) - 1) / sizeof(Line) * sizeof(Line);
    }
    const auto name = [&](int process) { return fmt::format("graph.{}.partials.{}", in.serial, process); };
    if (in.members.rank > 0) plan.partials = SharedMemory(in.members, name(in.members.rank), bytes);
    if (in.members.size == 1) return;
    in.members.meet();
    each_on_node(in.members, [&](int process) {
        shared.partials.push_back(process == 0 ? nullptr
                                  : process == in.members.rank
                                      ? plan.partials.data()
                                      : SharedMemory::of_other(in.members, name(process)));
    });
}

}  // namespace

const Flag* SharedFlags::flag(int process, TaskId task, int local) const {
    const auto* first_of =
        reinterpret_cast<const std::uint64_t*>(directories[static_cast<std::size_t>(process - first)]);
    const auto* table = reinterpret_cast<const Flag* const*>(first_of + begins);
    return table[first_of[task.number()] + static_cast<std::uint64_t>(local)];
}

std::span<const SharedFlags::Copy> SharedFlags::copies(int process, std::size_t group) const {
    const auto* first_of =
        reinterpret_cast<const std::uint64_t*>(directories[static_cast<std::size_t>(process - first)]);
    const std::uint64_t *at = first_of + tasks + group, *table = first_of + begins;
    return {reinterpret_cast<const Copy*>(table + at[0]), (at[1] - at[0]) / 2};
}

SharedFlags share_flags(const PlanInputs& in, const Numbered& numbered, const Operations& operations,
                        PlanParts& plan) {
    SharedFlags shared;
    shared.first = in.members.first();
    shared.tasks = numbered.tasks.size();
    shared.begins = shared.tasks + numbered.groups.size() + 1;
    give_flags(in, operations, plan);
    if (in.members.size > 1) share_directory(in, numbered, plan, shared);
    share_partials(in, plan, shared);
    return shared;
}

}  // namespace strata::graph::detail
