#include "core/run/driver/observing.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/graph/expand/plan.hpp"
#include "core/run/profile/timeline.hpp"
#include "core/team/text_from.hpp"

namespace strata::graph {

namespace {

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

std::string text_of(const std::vector<Profile::Row>& rows) {
    std::ostringstream out;
    out.precision(17);
    for (const Profile::Row& row : rows)
        out << static_cast<int>(row.kind) << ' ' << row.calls << ' ' << row.ns << ' ' << row.shortest_ns
            << ' ' << row.longest_ns << ' ' << row.flops << ' ' << row.bytes << ' ' << row.name << '\n';
    return out.str();
}

std::vector<Profile::Row> rows_of(const std::string& text) {
    std::vector<Profile::Row> rows;
    std::istringstream in(text);
    Profile::Row row;
    int kind = 0;
    while (in >> kind >> row.calls >> row.ns >> row.shortest_ns >> row.longest_ns >> row.flops >> row.bytes) {
        row.kind = static_cast<OpKind>(kind);
        in.get();
        std::getline(in, row.name);
        rows.push_back(row);
    }
    return rows;
}

}  // namespace

std::uint32_t Recording::number_of(const std::string& name) {
    const auto [at, fresh] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
}

/// The declared work of each operation. Work per particle uses the present number of particles on the patch.
void Recording::take_declared(const Simulation& run) {
    const Plan& plan = run.plan();
    const Program& program = plan.step();
    for (const Op& op : program.ops) {
        const OpWork work = program.work_of(op);
        declared_[{number_of(program.names[op.name]), op.patch, op.kind}] = {work.flops, work.bytes};
    }
    for (const TaskInfo& task : plan.graph().tasks()) {
        if (!task.worked_set) continue;
        const Populations& populations = plan.memory().populations();
        const FamilyId family = populations.family(task.worked_set);
        const std::vector<int>& own = plan.memory().patches()[family];
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto found = declared_.find({number_of(task.name), own[i], OpKind::task});
            if (found == declared_.end()) continue;
            const auto count =
                static_cast<double>(populations.own(task.worked_set, static_cast<int>(i)).count);
            found->second.flops += count * task.particle_flops;
            found->second.bytes += count * task.particle_bytes;
        }
    }
}

void Recording::take(const Simulation& run) {
    const Program& program = run.plan().step();
    const Executor& executor = run.executor();
    threads_.resize(std::max(threads_.size(), static_cast<std::size_t>(executor.threads())));
    for (int t = 0; t < executor.threads(); ++t) {
        const std::vector<Record> latest = executor.records(t);
        if (latest.empty()) continue;
        end_ns_ = std::max(end_ns_, nanoseconds(latest.back().end));
        begin_ns_ = std::min(begin_ns_, nanoseconds(latest.front().begin));
        Thread& thread = threads_[static_cast<std::size_t>(t)];
        std::vector<TimedOp>& all = thread.operations;
        if (latest.size() >= latest_) {  // it may have forgotten some
            all.clear();
            thread.whole_from_ns = nanoseconds(latest.front().begin);
        }
        for (const Record& record : latest) {
            if (record.op == Record::kWaiting) continue;
            const Op& op = program.ops[record.op];
            all.push_back({number_of(program.names[op.name]), op.patch, op.kind,
                           static_cast<std::uint16_t>(t), nanoseconds(record.begin),
                           nanoseconds(record.end)});
        }
        if (all.size() > 2 * latest_) {
            all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(latest_));
            thread.whole_from_ns = all.front().begin_ns;
        }
    }
    take_declared(run);
}

ProcessRecords Recording::records(int process) const {
    ProcessRecords all;
    all.process = process;
    all.names = names_;
    all.threads = static_cast<int>(threads_.size());
    all.begin_ns = begin_ns_;
    all.end_ns = std::max(begin_ns_, end_ns_);
    for (const Thread& thread : threads_) all.begin_ns = std::max(all.begin_ns, thread.whole_from_ns);
    for (const Thread& thread : threads_)
        for (const TimedOp& op : thread.operations)
            if (op.begin_ns >= all.begin_ns) all.records.push_back(op);
    return all;
}

Profile Recording::gather(const ProcessRecords& mine, team::Team& team) const {
    Profile own;
    own.add(mine, [&](const TimedOp& op) {
        const auto found = declared_.find({op.name, op.patch, op.kind});
        return found == declared_.end() ? Work{} : found->second;
    });
    const std::string text = text_of(own.rows());
    Profile all;
    for (int rank = 0; rank < team.size(); ++rank) {
        std::int64_t stretch[2] = {mine.threads, mine.end_ns - mine.begin_ns};
        const std::string theirs = team::text_from(team, rank, text);
        team.together().broadcast(std::span<std::int64_t>(stretch, 2), rank);
        all.merge(Profile(rows_of(theirs), static_cast<int>(stretch[0]), stretch[1]));
    }
    return all;
}

void write_timeline(const ProcessRecords& mine, team::Team& team, const std::filesystem::path& folder) {
    std::int64_t origin = mine.begin_ns;
    origin = team.together().reduce(origin, [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
    write_trace_part(folder, mine, origin);
    team.barrier();
    if (team.rank() == 0) join_trace_parts(folder, team.size());
    team.barrier();
}

}  // namespace strata::graph
