// Flags and partial results, in memory that all processes of the node read.
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

namespace {

constexpr std::size_t kFlagsALine = 64 / sizeof(Flag);

}  // namespace

/// A thread's flags lie together, those that others look at apart from those that nobody else does: the line
/// that a thread writes all the time is not one that others poll.
void PlanBuilder::make_flags(std::uint64_t serial) {
    std::vector<std::pair<Flag**, std::size_t>> places;  // an operation's flag, and its number
    std::size_t count = 0;
    for (const int which : {0, 1})
        for (int thread = 0; thread < threads_; ++thread)
            for (const char edge : {char{0}, char{1}}) {
                const auto h = static_cast<std::size_t>(which);
                auto& all = program_data(which).program.ops;
                for (std::size_t op = 0; op < all.size(); ++op)
                    if (thread_of_op_[h][op] == thread && edge_op_[h][op] == edge)
                        places.emplace_back(&all[op].flag, count++);
                count = (count / kFlagsALine + 2) * kFlagsALine;  // processors fetch lines in pairs
            }
    plan_.flags_ =
        SharedMemory(members_, fmt::format("graph.{}.flags.{}", serial, members_.rank), count * sizeof(Flag));
    auto* flags = plan_.flags_.as<Flag>();
    for (const auto& [place, number] : places) *place = flags + number;

    if (members_.size == 1) return;
    // [resolved task] -> where its flags begin; then the flags, by local patch; the reduction's way up
    // follows.
    const auto name = [&](int process) { return fmt::format("graph.{}.directory.{}", serial, process); };
    const std::size_t n = tasks_.size();
    std::size_t entries = 0;
    for (const TaskOps& each : tasks_) entries += each.count + (each.up != kNone ? 1 : 0);
    plan_.directory_ = SharedMemory(members_, name(members_.rank), (n + entries) * sizeof(std::uint64_t));
    auto* first = plan_.directory_.as<std::uint64_t>();
    auto* table = reinterpret_cast<const Flag**>(first + n);
    std::size_t at = 0;
    for (const TaskOps& each : tasks_) {
        const auto& all = program_data(each.phase).program.ops;
        *first++ = at;
        for (std::uint32_t i = 0; i < each.count; ++i) table[at++] = all[each.first + i].flag;
        if (each.up != kNone) table[at++] = all[each.up].flag;
    }
    members_.meet();
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        directories_.push_back(SharedMemory::of_other(members_, name(process)));
}

const Flag* PlanBuilder::flag_of(int process, TaskId task, int local) const {
    const auto* first = reinterpret_cast<const std::uint64_t*>(
        directories_[static_cast<std::size_t>(process - members_.first())]);
    const auto* table = reinterpret_cast<const Flag* const*>(first + tasks_.size());
    return table[first[task.number()] + static_cast<std::uint64_t>(local)];
}

/// A process's part of each reduction: all have them at the same distances.
void PlanBuilder::make_partials(std::uint64_t serial) {
    std::size_t bytes = 0;
    for (const ResolvedTask& task : resolved_.tasks) {
        partial_at_.push_back(bytes);
        if (task.what == ResolvedTask::What::reduce)
            bytes +=
                (partial_bytes(label(task.completed.label)) + team::kApart - 1) / team::kApart * team::kApart;
    }
    const auto name = [&](int process) { return fmt::format("graph.{}.partials.{}", serial, process); };
    plan_.partials_ = SharedMemory(members_, name(members_.rank), bytes);
    if (members_.size == 1) return;
    members_.meet();
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        partials_.push_back(SharedMemory::of_other(members_, name(process)));
}

}  // namespace strata::graph::detail
