#include "core/graph/expand/messages/requests.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

namespace strata::graph {

namespace {

constexpr int kDomain = 0;  // tables are of the whole process: written by its first thread

/// Requests in a message: how many runs (kSame: all are as in the message before), the runs, the questions of
/// all.
constexpr std::int64_t kSame = -1;
struct Sent {
    std::int32_t to, from, number, count;
};

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

void RunOrder::start(std::size_t runs) {
    order_.resize(runs), before_.resize(runs);
    std::iota(order_.begin(), order_.end(), 0);
}

template <class Value>
void RunOrder::by(Value value) {
    constexpr std::size_t kFew = 256;
    constexpr int kBits = 11, kDigits = 1 << kBits;
    const auto less = [&](std::int32_t a, std::int32_t b) { return value(z(a)) < value(z(b)); };
    if (std::is_sorted(order_.begin(), order_.end(), less)) return;
    if (order_.size() < kFew) return std::stable_sort(order_.begin(), order_.end(), less);
    std::int32_t most = 0;
    for (const std::int32_t run : order_) most = std::max(most, value(z(run)));
    for (int shift = 0; shift < 31 && most >> shift != 0; shift += kBits) {
        std::array<std::int32_t, kDigits> next{};
        const auto digit = [&](std::int32_t run) { return z((value(z(run)) >> shift) & (kDigits - 1)); };
        for (const std::int32_t run : order_) ++next[digit(run)];
        std::exclusive_scan(next.begin(), next.end(), next.begin(), 0);
        std::swap(order_, before_);
        for (const std::int32_t run : before_) order_[z(next[digit(run)]++)] = run;
    }
}

Outcome PostCall::go(void* what, Worker&) {
    RequestsOnTheWay& of = *static_cast<PostCall*>(what)->of;
    PostedTable& table = of.own();
    bool same = table.version > 0;
    std::int64_t requests = 0;
    for (RequestsOnTheWay::Asker& asker : of.askers) {
        same = same && asker.posted == asker.count->times_set;
        asker.posted = asker.count->times_set;
        requests += asker.count->requests;
    }
    if (same) return Outcome::done;
    of.posting.clear();
    std::int64_t first = 0;
    for (const RequestsOnTheWay::Asker& asker : of.askers) {
        const RequestCounts& count = *asker.count;
        const std::int64_t place = std::int64_t{asker.local} * of.set->most();
        for (std::int32_t r = 0; r < count.runs; ++r) {
            const std::int32_t to = asker.to[2 * r], number = asker.to[2 * r + 1],
                               end = r + 1 < count.runs ? asker.to[2 * r + 3] : count.requests;
            of.posting.push_back(
                {of.owner[z(to)], to, asker.patch, number, end - number, first + number, place + number, 0});
        }
        first += count.requests;
    }
    of.order.start(of.posting.size());
    of.order.by([&](std::size_t i) { return of.posting[i].to; });
    of.order.by([&](std::size_t i) { return of.posting[i].owner; });
    const std::size_t bytes = of.set->question_bytes();
    table.room(*of.pool, static_cast<std::int64_t>(of.posting.size()),
               requests * static_cast<std::int64_t>(bytes));
    PostedRun* next = table.runs;
    for (const std::int32_t i : of.order.order()) *next++ = of.posting[z(i)];
    std::byte* question = table.questions;
    for (const RequestsOnTheWay::Asker& asker : of.askers) {
        const std::size_t length = z(asker.count->requests) * bytes;
        if (length > 0) std::memcpy(question, asker.questions, length);
        question += length;
    }
    ++table.version;
    return Outcome::done;
}

Outcome PackRequestsCall::go(void* what, Worker& worker) {
    const auto& call = *static_cast<const PackRequestsCall*>(what);
    const RequestsOnTheWay& of = *call.of;
    OtherNode& node = *call.node;
    const std::size_t bytes = of.set->question_bytes();
    const Epoch round = worker.epoch(call.scope);
    bool same = true;
    node.packed.resize(of.tables.size());
    for (std::size_t i = 0; i < of.tables.size(); ++i) {
        same = same && node.packed[i] == of.tables[i].front().version;
        node.packed[i] = of.tables[i].front().version;
    }
    if (same) {
        node.asks->make_room(round, sizeof kSame);
        std::memcpy(node.asks->room(round).data(), &kSame, sizeof kSame);
        return Outcome::done;
    }
    node.sent.clear(), node.requests = 0;
    for (const std::span<PostedTable>& of_process : of.tables)
        for (PostedRun& each : of_process.front().between(node.first, node.last)) {
            each.answer = node.requests;
            node.requests += each.count;
            node.sent.push_back(&each);
        }
    const auto runs = static_cast<std::int64_t>(node.sent.size());
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
    if (count == kSame) return;
    const std::byte* next = message.data() + sizeof count;
    node.arrived.clear(), node.requests = 0;
    for (std::int64_t i = 0; i < count; ++i, next += sizeof(Sent)) {
        Sent sent{};
        std::memcpy(&sent, next, sizeof sent);
        node.arrived.push_back(
            {of.owner[z(sent.to)], sent.to, sent.from, sent.number, sent.count, node.requests, 0, 0});
        node.requests += sent.count;
    }
    of.order.start(z(count));
    of.order.by([&](std::size_t i) { return node.arrived[i].from; });
    of.order.by([&](std::size_t i) { return node.arrived[i].to; });
    of.order.by([&](std::size_t i) { return node.arrived[i].owner; });
    PostedTable& table = *node.received;
    const std::size_t bytes = z(node.requests) * of.set->question_bytes();
    table.room(*of.pool, count, static_cast<std::int64_t>(bytes));
    node.sent.resize(z(count));
    PostedRun* run = table.runs;
    for (const std::int32_t i : of.order.order()) {
        *run = node.arrived[z(i)];
        node.sent[z(i)] = run++;
    }
    if (bytes > 0) std::memcpy(table.questions, next, bytes);
    ++table.version;
}

/// Whether a table of the node has changed since this process looked at all of them.
bool any_changed(RequestsOnTheWay& of) {
    std::size_t number = 0;
    bool changed = of.looked_at.empty();
    for (const std::span<PostedTable>& of_process : of.tables)
        for (const PostedTable& table : of_process) {
            if (number == of.looked_at.size()) of.looked_at.push_back(-1);
            std::int64_t& version = of.looked_at[number++];
            changed = changed || version != table.version;
            version = table.version;
        }
    return changed;
}

/// The runs of requests to this process's patches, out of all tables of the node.
void find_own(RequestsOnTheWay& of) {
    const std::size_t bytes = of.set->question_bytes();
    of.found.clear();
    of.from_elsewhere = 0;
    for (std::size_t process = 0; process < of.tables.size(); ++process)
        for (std::size_t t = 0; t < of.tables[process].size(); ++t) {
            PostedTable& table = of.tables[process][t];
            for (PostedRun& each : table.between(of.rank, of.rank + 1)) {
                if (t > 0) {
                    each.answer = of.from_elsewhere;
                    of.from_elsewhere += each.count;
                }
                of.found.push_back({table.questions + z(each.question) * bytes, 0,
                                    t == 0 ? each.place : each.answer, each.from, each.to, each.count,
                                    static_cast<std::int32_t>(t == 0 ? process : of.tables.size())});
            }
        }
    of.order.start(of.found.size());
    of.order.by([&](std::size_t i) { return of.found[i].from; });  // all of one patch are in one table
    of.order.by([&](std::size_t i) { return of.local[z(of.found[i].to)]; });
    of.runs.resize(of.found.size());
    of.first_of.assign(z(of.patches) + 1, 0);
    DeliveredRun* next = of.runs.data();
    for (const std::int32_t i : of.order.order()) {
        *next = of.found[z(i)];
        if (next != of.runs.data() && next[-1].to == next->to) next->first = next[-1].first + next[-1].count;
        ++of.first_of[z(of.local[z(next++->to)]) + 1];
    }
    std::partial_sum(of.first_of.begin(), of.first_of.end(), of.first_of.begin());
    of.seen = {of.local.data(), of.first_of.data(), of.runs.data()};
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
    if (any_changed(of)) find_own(of);
    for (AnswersOnTheWay* answers : of.answers) {
        SharedAnswers& elsewhere = *answers->shared[z(of.rank - of.first)];
        elsewhere.room(*of.pool, of.from_elsewhere * answers->bytes);
        answers->bases.back() = elsewhere.values;
        if (answers->all) continue;
        for (const DeliveredRun& run : of.runs)
            std::memset(answers->bases[z(run.base)] + run.place * answers->bytes, 0,
                        z(run.count * answers->bytes));
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

Outcome ReturnCall::go(void* what, Worker& worker) {
    const AnswersOnTheWay& of = *static_cast<const ReturnCall*>(what)->of;
    const RequestsOnTheWay& requests = *of.of;
    std::byte* const own = of.bases[z(requests.rank - requests.first)];
    const auto take = [&](std::span<const PostedRun> runs) {
        const auto some = [&](std::int64_t begin, std::int64_t end) {
            for (const PostedRun& each : runs.subspan(z(begin), z(end - begin))) {
                const int node = of.node_of[z(each.owner)];
                const SharedAnswers* received = of.shared[z(of.asker_of[z(node)] - requests.first)];
                std::memcpy(own + each.place * of.bytes, received[1 + node].values + each.answer * of.bytes,
                            z(each.count * of.bytes));
            }
        };
        worker.parallel_for(0, static_cast<std::int64_t>(runs.size()), some, 256);
    };
    const PostedTable& table = requests.own();
    take(table.between(0, requests.first));
    take(table.between(requests.last, std::numeric_limits<int>::max()));
    return Outcome::done;
}

}  // namespace strata::graph
