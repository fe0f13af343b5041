// The operations of requests and answers: what each of them works on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

class MakeRequests {
  public:
    MakeRequests(const PlanInputs& in, const Numbered& numbered, const Streams& streams, PlanParts& plan)
        : in_(in), numbered_(numbered), streams_(streams), plan_(plan) {}

    void all() {
        for (const TaskId task : in_.resolved.tasks.ids())
            if (numbered_.tasks[task].gate == RequestRole::delivered) requests(task);
        for (const TaskId task : in_.resolved.tasks.ids())
            if (numbered_.tasks[task].gate == RequestRole::answered) answers(task);
    }

  private:
    [[nodiscard]] int processes_here() const { return in_.members.on_node(); }
    [[nodiscard]] std::string name(const char* what, TaskId task, int process) const {
        return fmt::format("graph.{}.{}.{}.{}", in_.serial, what, task.number(), process);
    }
    /// Memory of this process that others read, and theirs. Collective.
    std::vector<std::byte*> share(const char* what, TaskId task, std::size_t bytes) {
        const Members& members = in_.members;
        SharedMemory& own = plan_.departures.emplace_back(members, name(what, task, members.rank), bytes);
        if (members.size > 1) members.meet();
        std::vector<std::byte*> all;
        for (int process = members.first(); process < members.first() + processes_here(); ++process)
            all.push_back(process == members.rank
                              ? own.data()
                              : SharedMemory::of_other(members, name(what, task, process)));
        return all;
    }
    void pass(int phase, std::uint32_t op) {
        plan_.of(phase).program.ops[op].go = [](void*, Worker&) { return Outcome::done; };
    }
    [[nodiscard]] std::uint16_t scope(TaskId task) const { return numbered_.scopes[in_.task(task).scope]; }
    [[nodiscard]] int node_of(int process) const {
        const std::vector<int>& firsts = in_.members.firsts;
        return static_cast<int>(std::upper_bound(firsts.begin(), firsts.end(), process) - firsts.begin()) - 1;
    }

    /// The tables of a process: how many, then they themselves.
    struct Shown {
        std::int64_t count;
        PostedTable tables[1];
    };

    void requests(TaskId task) {
        const TaskOps& ops = numbered_.tasks[task];
        ProgramData& all = plan_.of(ops.phase);
        const RequestSet& set = *request_role(in_.graph, in_.task(task).completed.label).set;
        RequestsOnTheWay& of = all.store.one<RequestsOnTheWay>();
        all.delivered[set.labels().delivered] = &of;
        const FamilyId family = number_of(in_.graph, set.answerers());
        of.set = &set;
        of.rank = in_.members.rank;
        of.first = in_.members.first(), of.last = of.first + processes_here();
        of.owner = in_.assignment.owner[family], of.local = in_.assignment.local[family];
        of.patches = static_cast<int>(in_.patches(family).size());
        of.pool = &in_.memory.populations().pool();
        askers(of);
        const std::vector<std::size_t>& incoming = streams_.of[task].incoming;
        for (std::byte* shown :
             share("requests", task, sizeof(Shown) + incoming.size() * sizeof(PostedTable))) {
            auto* const of_process = reinterpret_cast<Shown*>(shown);
            if (static_cast<int>(of.tables.size()) == of.rank - of.first)
                of_process->count = static_cast<std::int64_t>(1 + incoming.size());
            of.tables.emplace_back(of_process->tables, 0);
        }
        if (in_.members.size > 1) in_.members.meet();
        for (std::span<PostedTable>& each : of.tables) {
            const auto* shown = reinterpret_cast<const Shown*>(reinterpret_cast<std::byte*>(each.data()) -
                                                               offsetof(Shown, tables));
            each = {each.data(), static_cast<std::size_t>(shown->count)};
        }
        others(task, of);
        PostCall& post = all.store.one<PostCall>();
        post.of = &of;
        all.set(ops.up, post);
        ArrivedCall& arrived = all.store.one<ArrivedCall>();
        arrived.of = &of, arrived.scope = scope(task);
        all.set(numbered_.tasks[ops.arrived].first, arrived);
        DeliverCall& deliver = all.store.one<DeliverCall>();
        deliver.of = &of;
        all.set(ops.first, deliver);
        pass(ops.phase, numbered_.tasks[ops.taken].first);
    }
    void askers(RequestsOnTheWay& of) const {
        const RequestSet::Labels& labels = of.set->labels();
        const StorageId to = storage_of(labels.to), count = storage_of(labels.count),
                        questions = storage_of(labels.questions);
        const FamilyId family = number_of(in_.graph, of.set->askers());
        for (const int patch : in_.patches(family))
            of.askers.push_back({patch, in_.local(family, patch),
                                 reinterpret_cast<const std::int32_t*>(in_.own(to, patch).origin),
                                 reinterpret_cast<const RequestCounts*>(in_.own(count, patch).origin),
                                 in_.own(questions, patch).origin});
        std::sort(of.askers.begin(), of.askers.end(),
                  [](const auto& a, const auto& b) { return a.patch < b.patch; });
    }
    [[nodiscard]] StorageId storage_of(LabelId label) const {
        for (const StorageId s : in_.resolved.storages.ids())
            if (in_.storage(s).label == label && !in_.storage(s).contributions) return s;
        return {};
    }
    /// The nodes that this process exchanges messages with: first those that are asked, then those that ask.
    void others(TaskId task, RequestsOnTheWay& of) {
        const TaskOps& ops = numbered_.tasks[task];
        ProgramData& all = plan_.of(ops.phase);
        const auto other = [&](const Stream& stream) -> OtherNode& {
            const auto node = static_cast<std::size_t>(node_of(stream.process));
            OtherNode& made = of.others.emplace_back();
            made.first = in_.members.firsts[node], made.last = in_.members.firsts[node + 1];
            return made;
        };
        const Streams::OfTask& streams = streams_.of[task];
        of.others.reserve(streams.outgoing.size() + streams.incoming.size());
        for (const std::size_t s : streams.outgoing) {
            const Stream& stream = streams_.outgoing[s];
            OtherNode& node = other(stream);
            node.asks = stream.channel;
            PackRequestsCall& pack = all.store.one<PackRequestsCall>();
            pack.of = &of, pack.node = &node, pack.scope = scope(task);
            all.set(stream.first, pack);
            SendCall& send = all.store.one<SendCall>();
            send.channel = stream.channel, send.scope = scope(task);
            all.set(stream.second, send);
            all.sending.push_back(stream.channel);
        }
        PostedTable* received = of.tables[static_cast<std::size_t>(of.rank - of.first)].data();
        for (const std::size_t s : streams.incoming) {
            const Stream& stream = streams_.incoming[s];
            OtherNode& node = other(stream);
            node.is_asked = stream.channel;
            node.received = ++received;
            ReceiveCall& receive = all.store.one<ReceiveCall>();
            receive.channel = stream.channel, receive.scope = scope(task);
            all.set(stream.first, receive);
        }
    }

    void answers(TaskId task) {
        const TaskOps& ops = numbered_.tasks[task];
        ProgramData& all = plan_.of(ops.phase);
        const RequestRole role = request_role(in_.graph, in_.task(task).completed.label);
        const RequestSet::Answers& kind = role.set->answers()[role.answers];
        AnswersOnTheWay& of = all.store.one<AnswersOnTheWay>();
        all.answered[kind.label] = &of;
        of.of = all.delivered.at(role.set->labels().delivered);
        of.of->answers.push_back(&of);
        of.bytes = static_cast<std::int64_t>(kind.bytes), of.all = kind.all;
        const int nodes = static_cast<int>(in_.members.firsts.size()) - 1;
        // The answers to a process's patches lie behind what it says of others.
        const FamilyId family = number_of(in_.graph, role.set->askers());
        const std::size_t head =
            ((1 + static_cast<std::size_t>(nodes)) * sizeof(SharedAnswers) + sizeof(Line) - 1) /
            sizeof(Line) * sizeof(Line);
        const std::size_t values =
            in_.patches(family).size() * static_cast<std::size_t>(role.set->most()) * kind.bytes;
        for (std::byte* each : share("answers", task, head + values)) {
            of.shared.push_back(reinterpret_cast<SharedAnswers*>(each));
            of.bases.push_back(each + head);
        }
        std::byte* const own = of.bases[static_cast<std::size_t>(of.of->rank - of.of->first)];
        std::memset(own, 0, values);  // who reads them writes first: they lie in its memory
        of.bases.push_back(nullptr);
        of.room.bases = of.bases.data();
        of.seen = {in_.assignment.local[family].data(), own};
        if (nodes > 1) {
            for (int process = 0; process < in_.members.size; ++process)
                of.node_of.push_back(node_of(process));
            for (int node = 0; node < nodes; ++node)
                of.asker_of.push_back(in_.members.first() + node % processes_here());
        }
        messages(task, of);
        pass(ops.phase, ops.up);
        pass(ops.phase, numbered_.tasks[ops.arrived].first);
        ReturnCall& back = all.store.one<ReturnCall>();
        back.of = &of;
        all.set(ops.first, back).threads = static_cast<std::uint16_t>(in_.threads);
        pass(ops.phase, numbered_.tasks[ops.taken].first);
    }
    void messages(TaskId task, AnswersOnTheWay& of) {
        ProgramData& all = plan_.of(numbered_.tasks[task].phase);
        const std::vector<OtherNode>& others = of.of->others;
        of.sends.resize(others.size()), of.receives.resize(others.size());
        const auto message = [&](const Stream& stream, bool sends, std::uint32_t op) {
            const int number = node_of(stream.process);
            std::size_t at = 0;
            while (others[at].first != in_.members.firsts[static_cast<std::size_t>(number)] ||
                   (others[at].is_asked != nullptr) != sends)
                ++at;
            (sends ? of.sends : of.receives)[at] = stream.channel;
            AnswersMessageCall& call = all.store.one<AnswersMessageCall>();
            call.of = &of, call.node = at, call.number = number, call.sends = sends, call.scope = scope(task);
            all.set(op, call);
            return at;
        };
        for (const std::size_t s : streams_.of[task].outgoing) {
            const Stream& stream = streams_.outgoing[s];
            PackAnswersCall& pack = all.store.one<PackAnswersCall>();
            pack.of = &of, pack.node = message(stream, true, stream.second), pack.scope = scope(task);
            all.set(stream.first, pack);
            all.sending.push_back(stream.channel);
        }
        for (const std::size_t s : streams_.of[task].incoming)
            message(streams_.incoming[s], false, streams_.incoming[s].first);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Streams& streams_;
    PlanParts& plan_;
};

}  // namespace

void make_requests(const PlanInputs& in, const Numbered& numbered, const Streams& streams, PlanParts& plan) {
    MakeRequests(in, numbered, streams, plan).all();
}

}  // namespace strata::graph::detail
