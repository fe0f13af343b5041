#include "core/graph/expand/requests.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace strata::graph {

namespace {

constexpr int kDomain = 0;  // tables are of the whole process: written by its first thread

/// A request in a message. Its question lies behind all of these.
struct Sent {
    std::int32_t to, from, number;
};

bool by_way(const PostedRequest& a, const PostedRequest& b) {
    return std::tie(a.owner, a.to, a.from, a.number) < std::tie(b.owner, b.to, b.from, b.number);
}

}  // namespace

std::span<PostedRequest> PostedTable::between(int first_owner, int last_owner) const {
    const auto begin = [&](int owner) {
        return std::lower_bound(entries, entries + count, owner,
                                [](const PostedRequest& each, int of) { return each.owner < of; });
    };
    return {begin(first_owner), begin(last_owner)};
}

void PostedTable::room(GrowingPool& pool, std::int64_t wanted, std::size_t question_bytes) {
    count = wanted;
    if (wanted <= capacity) return;
    const auto bytes = [](std::int64_t number, std::size_t each) {
        return static_cast<std::size_t>(number) * each;
    };
    pool.give(reinterpret_cast<std::byte*>(entries), bytes(capacity, sizeof(PostedRequest)), kDomain);
    pool.give(questions, bytes(capacity, question_bytes), kDomain);
    capacity = wanted + wanted / 4;
    entries = reinterpret_cast<PostedRequest*>(pool.take(bytes(capacity, sizeof(PostedRequest)), kDomain));
    questions = pool.take(bytes(capacity, question_bytes), kDomain);
}

void SharedAnswers::room(GrowingPool& pool, std::int64_t bytes) {
    if (bytes <= capacity) return;
    pool.give(values, static_cast<std::size_t>(capacity), kDomain);
    capacity = bytes + bytes / 4;
    values = pool.take(static_cast<std::size_t>(capacity), kDomain);
}

/// A patch asks the same one several times in a row, mostly: so runs are sorted, not requests.
Outcome PostCall::go(void* what, Worker&) {
    auto& call = *static_cast<PostCall*>(what);
    RequestsOnTheWay& of = *call.of;
    std::vector<Run>& runs = call.runs_;
    runs.clear();
    std::int64_t all = 0;
    for (std::size_t a = 0; a < of.askers.size(); ++a) {
        const RequestsOnTheWay::Asker& asker = of.askers[a];
        for (std::int32_t i = 0, end; i < *asker.count; i = end) {
            const std::int32_t to = asker.to[i];
            for (end = i + 1; end < *asker.count && asker.to[end] == to;) ++end;
            runs.push_back(
                {of.owner[static_cast<std::size_t>(to)], to, static_cast<std::int32_t>(a), i, end - i});
        }
        all += *asker.count;
    }
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
        return std::tie(a.owner, a.to, a.asker, a.number) < std::tie(b.owner, b.to, b.asker, b.number);
    });
    PostedTable& table = of.own();
    const std::size_t bytes = of.set->question_bytes();
    table.room(*of.pool, all, bytes);
    PostedRequest* entry = table.entries;
    std::byte* question = table.questions;
    for (const Run& run : runs) {
        const RequestsOnTheWay::Asker& asker = of.askers[static_cast<std::size_t>(run.asker)];
        for (std::int32_t i = 0; i < run.count; ++i)
            *entry++ = {run.owner, run.to, asker.patch, run.number + i, 0};
        const std::size_t length = static_cast<std::size_t>(run.count) * bytes;
        std::memcpy(question, asker.questions + static_cast<std::size_t>(run.number) * bytes, length);
        question += length;
    }
    return Outcome::done;
}

Outcome PackRequestsCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackRequestsCall*>(what);
    const RequestsOnTheWay& of = *call.of;
    OtherNode& node = *call.node;
    const std::size_t bytes = of.set->question_bytes();
    node.sent.clear(), node.sent_questions.clear();
    for (const std::span<PostedTable>& of_process : of.tables) {
        const PostedTable& table = of_process.front();
        for (PostedRequest& each : table.between(node.first, node.last)) {
            each.answer = static_cast<std::int64_t>(node.sent.size());
            node.sent.push_back(&each);
            node.sent_questions.push_back(table.questions +
                                          static_cast<std::size_t>(&each - table.entries) * bytes);
        }
    }
    const Epoch round = worker.epoch(call.scope);
    node.asks->make_room(round, node.sent.size() * (sizeof(Sent) + bytes));
    std::byte* message = node.asks->room(round).data();
    for (const PostedRequest* each : node.sent) {
        const Sent sent{each->to, each->from, each->number};
        std::memcpy(message, &sent, sizeof sent);
        message += sizeof sent;
    }
    for (const std::byte* each : node.sent_questions) {
        std::memcpy(message, each, bytes);
        message += bytes;
    }
    return Outcome::done;
}

Outcome ArrivedCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const ArrivedCall*>(what);
    RequestsOnTheWay& of = *call.of;
    const std::size_t bytes = of.set->question_bytes();
    for (OtherNode& node : of.others) {
        if (node.is_asked == nullptr) continue;
        const std::span<const std::byte> message = node.is_asked->room(worker.epoch(call.scope));
        const std::size_t count = message.size() / (sizeof(Sent) + bytes);
        std::vector<std::pair<PostedRequest, std::size_t>>& order = node.order;
        order.clear();
        for (std::size_t i = 0; i < count; ++i) {
            Sent sent{};
            std::memcpy(&sent, message.data() + i * sizeof sent, sizeof sent);
            order.emplace_back(PostedRequest{of.owner[static_cast<std::size_t>(sent.to)], sent.to, sent.from,
                                             sent.number, 0},
                               i);
        }
        std::sort(order.begin(), order.end(),
                  [](const auto& a, const auto& b) { return by_way(a.first, b.first); });
        PostedTable& table = *node.received;
        table.room(*of.pool, static_cast<std::int64_t>(count), bytes);
        node.sent.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            table.entries[i] = order[i].first;
            node.sent[order[i].second] = table.entries + i;
            std::memcpy(table.questions + i * bytes,
                        message.data() + count * sizeof(Sent) + order[i].second * bytes, bytes);
        }
    }
    return Outcome::done;
}

Outcome DeliverCall::go(void* what, Worker&) {
    RequestsOnTheWay& of = *static_cast<const DeliverCall*>(what)->of;
    const std::size_t bytes = of.set->question_bytes();
    of.found.clear();
    for (const std::span<PostedTable>& of_process : of.tables)
        for (const PostedTable& table : of_process)
            for (PostedRequest& each : table.between(of.rank, of.rank + 1))
                of.found.push_back(
                    {&each, table.questions + static_cast<std::size_t>(&each - table.entries) * bytes});
    const auto before = [](const RequestsOnTheWay::Found& a, const RequestsOnTheWay::Found& b) {
        return by_way(*a.entry, *b.entry);
    };
    if (!std::is_sorted(of.found.begin(), of.found.end(), before))
        std::sort(of.found.begin(), of.found.end(), before);
    of.from.resize(of.found.size());
    of.questions.resize(of.found.size() * bytes);
    of.first_of.assign(static_cast<std::size_t>(of.patches) + 1, 0);
    for (std::size_t i = 0; i < of.found.size(); ++i) {
        PostedRequest& entry = *of.found[i].entry;
        entry.answer = static_cast<std::int64_t>(i);
        of.from[i] = entry.from;
        std::memcpy(of.questions.data() + i * bytes, of.found[i].question, bytes);
        ++of.first_of[static_cast<std::size_t>(of.local[static_cast<std::size_t>(entry.to)]) + 1];
    }
    for (std::size_t p = 1; p < of.first_of.size(); ++p) of.first_of[p] += of.first_of[p - 1];
    of.seen = {of.local.data(), of.first_of.data(), of.from.data(), of.questions.data()};
    for (AnswersOnTheWay* answers : of.answers) {
        SharedAnswers& shared = *answers->shared[static_cast<std::size_t>(of.rank - of.first)];
        const std::int64_t bytes_of_all = static_cast<std::int64_t>(of.found.size()) * answers->bytes;
        shared.room(*of.pool, bytes_of_all);
        if (bytes_of_all > 0) std::memset(shared.values, 0, static_cast<std::size_t>(bytes_of_all));
        answers->room.values = shared.values;
    }
    return Outcome::done;
}

Outcome PackAnswersCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackAnswersCall*>(what);
    const AnswersOnTheWay& of = *call.of;
    const OtherNode& node = of.of->others[call.node];
    const auto bytes = static_cast<std::size_t>(of.bytes);
    const Epoch round = worker.epoch(call.scope);
    Channel& channel = *of.sends[call.node];
    channel.make_room(round, node.sent.size() * bytes);
    std::byte* message = channel.room(round).data();
    for (const PostedRequest* each : node.sent) {
        const SharedAnswers& from = *of.shared[static_cast<std::size_t>(each->owner - of.of->first)];
        std::memcpy(message, from.values + each->answer * of.bytes, bytes);
        message += bytes;
    }
    return Outcome::done;
}

Outcome AnswersMessageCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const AnswersMessageCall*>(what);
    AnswersOnTheWay& of = *call.of;
    Channel& channel = *(call.sends ? of.sends : of.receives)[call.node];
    const Epoch round = worker.epoch(call.scope);
    const bool none = of.of->others[call.node].sent.empty();
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

Outcome ReturnCall::go(void* what, Worker&) {
    AnswersOnTheWay& of = *static_cast<const ReturnCall*>(what)->of;
    const RequestsOnTheWay& requests = *of.of;
    const PostedTable& table = requests.own();
    const auto bytes = static_cast<std::size_t>(of.bytes);
    const std::int64_t most = requests.set->most();
    for (std::int64_t i = 0; i < table.count; ++i) {
        const PostedRequest& each = table.entries[i];
        const std::byte* values = nullptr;
        if (each.owner >= requests.first && each.owner < requests.last) {
            values = of.shared[static_cast<std::size_t>(each.owner - requests.first)]->values;
        } else {
            const int node = of.node_of[static_cast<std::size_t>(each.owner)];
            const int by = of.asker_of[static_cast<std::size_t>(node)];
            values = of.shared[static_cast<std::size_t>(by - requests.first)][1 + node].values;
        }
        std::memcpy(of.values.data() +
                        static_cast<std::size_t>((of.seen.local[each.from] * most + each.number)) * bytes,
                    values + each.answer * of.bytes, bytes);
    }
    return Outcome::done;
}

}  // namespace strata::graph
