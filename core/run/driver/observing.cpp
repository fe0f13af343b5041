#include "core/run/driver/observing.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "core/run/profile/text_from.hpp"
#include "core/run/profile/timeline.hpp"

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

using Declared = std::map<std::tuple<std::uint32_t, std::int32_t, OpKind>, Work>;

/// The declared work of each operation. Work per particle uses the present number of particles on the patch.
Declared declared_work(const Simulation& run) {
    const Plan& plan = run.plan();
    const Graph& graph = plan.graph();
    Declared all;
    for (const Op& op : plan.step().ops) {
        const OpWork work = plan.step().work_of(op);
        all[{op.name, op.patch, op.kind}] = {work.flops, work.bytes};
    }
    std::map<std::string, std::uint32_t> names;
    for (const Op& op : plan.step().ops)
        if (op.kind == OpKind::task) names[plan.step().names[op.name]] = op.name;
    for (const TaskInfo& task : graph.tasks()) {
        const auto name = names.find(task.name);
        if (!task.worked_set || name == names.end()) continue;
        const Populations& populations = plan.memory().populations();
        const FamilyId family = populations.family(task.worked_set);
        const std::vector<int>& own = plan.memory().patches()[family];
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto count =
                static_cast<double>(populations.own(task.worked_set, static_cast<int>(i)).count);
            Work& work = all[{name->second, own[i], OpKind::task}];
            work.flops += count * task.particle_flops;
            work.bytes += count * task.particle_bytes;
        }
    }
    return all;
}

}  // namespace

ProcessRecords latest_records(const Simulation& run, const team::Team& team) {
    ProcessRecords all;
    const Program& program = run.plan().step();
    all.process = team.rank();
    all.names = program.names;
    all.threads = run.executor().threads();
    std::vector<std::vector<Record>> threads;
    double begin = 0, end = 0;
    for (int t = 0; t < all.threads; ++t) {
        threads.push_back(run.executor().records(t));
        if (threads.back().empty()) continue;
        begin = std::max(begin, threads.back().front().begin);  // the stretch that all threads recorded
        end = std::max(end, threads.back().back().end);
    }
    all.begin_ns = nanoseconds(begin);
    all.end_ns = nanoseconds(end);
    for (std::size_t t = 0; t < threads.size(); ++t)
        for (const Record& record : threads[t]) {
            if (record.op == Record::kWaiting || record.begin < begin) continue;
            const Op& op = program.ops[record.op];
            all.records.push_back({op.name, op.patch, op.kind, static_cast<std::uint16_t>(t),
                                   nanoseconds(record.begin), nanoseconds(record.end)});
        }
    return all;
}

Profile gather_profile(const Simulation& run, const ProcessRecords& mine, team::Team& team) {
    const auto declared = declared_work(run);
    Profile own;
    own.add(mine, [&](const TimedOp& op) {
        const auto found = declared.find({op.name, op.patch, op.kind});
        return found == declared.end() ? Work{} : found->second;
    });
    const std::string text = text_of(own.rows());
    Profile all;
    for (int rank = 0; rank < team.size(); ++rank) {
        std::int64_t stretch[2] = {mine.threads, mine.end_ns - mine.begin_ns};
        const std::string theirs = text_from(team, rank, text);
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
