#include "core/graph/expand/requests.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace strata::graph {

namespace {

constexpr int kDomain = 0;  // tables are of the whole process: written by its first thread

/// Requests in a message: how many runs, the runs, the questions of all.
struct Sent {
    std::int32_t to, from, number, count;
};

bool by_way(const PostedRun& a, const PostedRun& b) {
    return std::tie(a.owner, a.to, a.from, a.number) < std::tie(b.owner, b.to, b.from, b.number);
}

/// Room for so many; where it is too small, for a quarter more. The old contents are gone.
template <class T>
void grow(GrowingPool& pool, T*& values, std::int64_t& capacity, std::int64_t wanted) {
    if (wanted <= capacity) return;
    const auto bytes = [&] { return static_cast<std::size_t>(capacity) * sizeof(T); };
    pool.give(reinterpret_cast<std::byte*>(values), bytes(), kDomain);
    capacity = wanted + wanted / 4;
    values = reinterpret_cast<T*>(pool.take(bytes(), kDomain));
}

std::size_t z(std::int64_t number) { return static_cast<std::size_t>(number); }

}  // namespace

std::span<PostedRun> PostedTable::between(int first_owner, int last_owner) const {
    const auto begin = [&](int owner) {
        return std::lower_bound(runs, runs + count, owner,
                                [](const PostedRun& each, int of) { return each.owner < of; });
    };
    return {begin(first_owner), begin(last_owner)};
}

void PostedTable::room(GrowingPool& pool, std::int64_t wanted, std::int64_t question_bytes) {
    grow(pool, runs, capacity, wanted);
    grow(pool, questions, bytes, question_bytes);
    count = wanted;
}

void SharedAnswers::room(GrowingPool& pool, std::int64_t bytes) { grow(pool, values, capacity, bytes); }

Outcome PostCall::go(void* what, Worker&) {
    auto& call = *static_cast<PostCall*>(what);
    RequestsOnTheWay& of = *call.of;
    std::vector<PostedRun>& runs = call.runs_;
    runs.clear();
    std::int64_t all = 0;
    for (std::size_t a = 0; a < of.askers.size(); ++a) {
        const RequestsOnTheWay::Asker& asker = of.askers[a];
        for (std::int32_t i = 0, end; i < *asker.count; i = end) {
            const std::int32_t to = asker.to[i];
            for (end = i + 1; end < *asker.count && asker.to[end] == to;) ++end;
            runs.push_back({of.owner[z(to)], to, asker.patch, i, end - i, static_cast<std::int64_t>(a), 0});
        }
        all += *asker.count;
    }
    std::sort(runs.begin(), runs.end(), by_way);
    PostedTable& table = of.own();
    const auto bytes = static_cast<std::int64_t>(of.set->question_bytes());
    table.room(*of.pool, static_cast<std::int64_t>(runs.size()), all * bytes);
    PostedRun* next = table.runs;
    std::int64_t first = 0;
    for (const PostedRun& run : runs) {
        const std::byte* questions = of.askers[z(run.question)].questions + run.number * bytes;
        *next = run;
        next++->question = first;
        std::memcpy(table.questions + first * bytes, questions, z(run.count * bytes));
        first += run.count;
    }
    return Outcome::done;
}

Outcome PackRequestsCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackRequestsCall*>(what);
    const RequestsOnTheWay& of = *call.of;
    OtherNode& node = *call.node;
    const std::size_t bytes = of.set->question_bytes();
    node.sent.clear(), node.requests = 0;
    for (const std::span<PostedTable>& of_process : of.tables)
        for (PostedRun& each : of_process.front().between(node.first, node.last)) {
            each.answer = node.requests;
            node.requests += each.count;
            node.sent.push_back(&each);
        }
    const auto runs = static_cast<std::int64_t>(node.sent.size());
    const Epoch round = worker.epoch(call.scope);
    node.asks->make_room(round, sizeof runs + z(runs) * sizeof(Sent) + z(node.requests) * bytes);
    std::byte* message = node.asks->room(round).data();
    std::memcpy(message, &runs, sizeof runs);
    message += sizeof runs;
    for (const PostedRun* each : node.sent) {
        const Sent sent{each->to, each->from, each->number, each->count};
        std::memcpy(message, &sent, sizeof sent);
        message += sizeof sent;
    }
    for (const std::span<PostedTable>& of_process : of.tables)
        for (const PostedRun& each : of_process.front().between(node.first, node.last)) {
            std::memcpy(message, of_process.front().questions + z(each.question) * bytes,
                        z(each.count) * bytes);
            message += z(each.count) * bytes;
        }
    return Outcome::done;
}

namespace {

/// A message with requests becomes a table.
void list_received(RequestsOnTheWay& of, OtherNode& node, std::span<const std::byte> message) {
    std::int64_t count = 0;
    std::memcpy(&count, message.data(), sizeof count);
    const std::byte* next = message.data() + sizeof count;
    node.order.clear(), node.requests = 0;
    for (std::int64_t i = 0; i < count; ++i, next += sizeof(Sent)) {
        Sent sent{};
        std::memcpy(&sent, next, sizeof sent);
        node.order.emplace_back(
            PostedRun{of.owner[z(sent.to)], sent.to, sent.from, sent.number, sent.count, node.requests, 0},
            z(i));
        node.requests += sent.count;
    }
    std::sort(node.order.begin(), node.order.end(),
              [](const auto& a, const auto& b) { return by_way(a.first, b.first); });
    PostedTable& table = *node.received;
    const std::size_t bytes = z(node.requests) * of.set->question_bytes();
    table.room(*of.pool, count, static_cast<std::int64_t>(bytes));
    node.sent.resize(node.order.size());
    for (std::size_t i = 0; i < node.order.size(); ++i) {
        table.runs[i] = node.order[i].first;
        node.sent[node.order[i].second] = table.runs + i;
    }
    if (bytes > 0) std::memcpy(table.questions, next, bytes);
}

}  // namespace

Outcome ArrivedCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const ArrivedCall*>(what);
    for (OtherNode& node : call.of->others)
        if (node.is_asked != nullptr)
            list_received(*call.of, node, node.is_asked->room(worker.epoch(call.scope)));
    return Outcome::done;
}

Outcome DeliverCall::go(void* what, Worker&) {
    RequestsOnTheWay& of = *static_cast<const DeliverCall*>(what)->of;
    const std::size_t bytes = of.set->question_bytes();
    of.found.clear();
    std::size_t all = 0;
    for (const std::span<PostedTable>& of_process : of.tables)
        for (const PostedTable& table : of_process)
            for (PostedRun& each : table.between(of.rank, of.rank + 1)) {
                of.found.push_back({&each, table.questions + z(each.question) * bytes});
                all += z(each.count);
            }
    std::sort(of.found.begin(), of.found.end(),
              [](const RequestsOnTheWay::Found& a, const RequestsOnTheWay::Found& b) {
                  return by_way(*a.run, *b.run);
              });
    of.from.resize(all);
    of.questions.resize(all * bytes);
    of.first_of.assign(z(of.patches) + 1, 0);
    std::int64_t first = 0;
    for (const RequestsOnTheWay::Found& each : of.found) {
        PostedRun& run = *each.run;
        run.answer = first;
        std::fill_n(of.from.begin() + first, run.count, run.from);
        std::memcpy(of.questions.data() + z(first) * bytes, each.questions, z(run.count) * bytes);
        of.first_of[z(of.local[z(run.to)]) + 1] += run.count;
        first += run.count;
    }
    for (std::size_t p = 1; p < of.first_of.size(); ++p) of.first_of[p] += of.first_of[p - 1];
    of.seen = {of.local.data(), of.first_of.data(), of.from.data(), of.questions.data()};
    for (AnswersOnTheWay* answers : of.answers) {
        SharedAnswers& shared = *answers->shared[z(of.rank - of.first)];
        const std::int64_t length = first * answers->bytes;
        shared.room(*of.pool, length);
        if (length > 0) std::memset(shared.values, 0, z(length));
        answers->room.values = shared.values;
    }
    return Outcome::done;
}

Outcome PackAnswersCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackAnswersCall*>(what);
    const AnswersOnTheWay& of = *call.of;
    const OtherNode& node = of.of->others[call.node];
    const Epoch round = worker.epoch(call.scope);
    Channel& channel = *of.sends[call.node];
    channel.make_room(round, z(node.requests * of.bytes));
    std::byte* message = channel.room(round).data();
    for (const PostedRun* each : node.sent) {
        const SharedAnswers& from = *of.shared[z(each->owner - of.of->first)];
        std::memcpy(message, from.values + each->answer * of.bytes, z(each->count * of.bytes));
        message += each->count * of.bytes;
    }
    return Outcome::done;
}

Outcome AnswersMessageCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const AnswersMessageCall*>(what);
    AnswersOnTheWay& of = *call.of;
    Channel& channel = *(call.sends ? of.sends : of.receives)[call.node];
    const Epoch round = worker.epoch(call.scope);
    const bool none = of.of->others[call.node].requests == 0;
    if (call.sends)
        return (none ? channel.pass(round) : channel.send(round)) ? Outcome::done : Outcome::later;
    if (none) return Outcome::done;
    if (!channel.receive(round)) return Outcome::later;
    const std::span<const std::byte> message = channel.room(round);
    SharedAnswers& here = of.shared[static_cast<std::size_t>(of.of->rank - of.of->first)][1 + call.number];
    here.room(*of.of->pool, static_cast<std::int64_t>(message.size()));
    std::memcpy(here.values, message.data(), message.size());
    return Outcome::done;
}

const std::byte* AnswersOnTheWay::answers_of(int process) const {
    if (process >= of->first && process < of->last) return shared[z(process - of->first)]->values;
    const int node = node_of[z(process)];
    return shared[z(asker_of[z(node)] - of->first)][1 + node].values;
}

Outcome ReturnCall::go(void* what, Worker& worker) {
    AnswersOnTheWay& of = *static_cast<const ReturnCall*>(what)->of;
    const PostedTable& table = of.of->own();
    const std::int64_t most = of.of->set->most();
    const auto some = [&](std::int64_t begin, std::int64_t end) {
        for (const PostedRun& each : std::span(table.runs + begin, table.runs + end))
            std::memcpy(of.values.data() + (of.seen.local[each.from] * most + each.number) * of.bytes,
                        of.answers_of(each.owner) + each.answer * of.bytes, z(each.count * of.bytes));
    };
    worker.parallel_for(0, table.count, some, 256);
    return Outcome::done;
}

}  // namespace strata::graph
