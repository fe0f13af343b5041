// Requests on their way to patches that are not known beforehand, and answers on their way back. For each set
// of requests a process has these operations in a round:
//
//   post     lists what its patches ask, by the process and patch that is asked, where others read it: runs
//            of requests to the same patch, of which there are mostly far fewer than of requests
//   pack, receive   one process of each node has the messages with one other node: what its node's processes
//            ask there, or are asked from there
//   arrived  lists what was received, in the same form
//   deliver  finds what its own patches are asked in the lists of all processes of the node
//   taken    all processes of the node have delivered: lists may be written again
//
// and for each kind of answers the same again: answered (its patches have), messages with answers in the
// order of their requests, arrived, return, taken. Tasks write answers to patches of their node straight to
// where these read them, so `return` copies those from other nodes alone. Two nodes that asked each other
// nothing exchange no answers.
//
// Lists that no task has set since the round before are not listed, sent or looked through again: tables
// have versions, and a message says that its sender's are the same.
//
// So nobody knows more than what his own patches ask and are asked; waits are between processes of a node,
// whoever asks whom.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/declare/request_set.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/messages/channel.hpp"
#include "core/graph/expand/particles/particles.hpp"

namespace strata::graph {

/// Requests of a patch that follow each other and go to the same patch.
struct PostedRun {
    std::int32_t owner, to;  // the process and its patch that are asked
    std::int32_t from, number, count;
    std::int64_t question;  // the place of the first in the table
    std::int64_t place;     // of the first answer among those to the asking process's patches,
    std::int64_t answer;    // between nodes: in the message, or among the answers to other nodes
};

/// In memory that all processes of the node read; by owner, asked patch, asking patch, number.
struct PostedTable {
    PostedRun* runs = nullptr;
    std::byte* questions = nullptr;
    std::int64_t count = 0, capacity = 0;  // of runs
    std::int64_t bytes = 0;                // room for questions
    std::int64_t version = 0;              // how often it was written

    /// Those for processes first .. last - 1.
    [[nodiscard]] std::span<PostedRun> between(int first, int last) const;
    /// Room for so many runs, and bytes of questions; the old contents are gone.
    void room(GrowingPool& pool, std::int64_t runs, std::int64_t question_bytes);
};

/// Sorts runs by several numbers that are not negative, the last one first; each pass keeps the order of
/// equal ones (a radix sort). Its time grows with the number of runs alone.
class RunOrder {
  public:
    void start(std::size_t runs);
    /// value(i): of run i.
    template <class Value>
    void by(Value value);
    /// The runs in their order.
    [[nodiscard]] std::span<const std::int32_t> order() const { return order_; }

  private:
    std::vector<std::int32_t> order_, before_;
};

/// A node that this process exchanges messages with, for all of its own.
struct OtherNode {
    int first = 0, last = 0;      // its processes
    Channel* asks = nullptr;      // requests to that node,
    Channel* is_asked = nullptr;  // or from it: one of both
    PostedTable* received = nullptr;
    std::vector<PostedRun*> sent;      // or received, in the order of the message
    std::int64_t requests = 0;         // in it
    std::vector<std::int64_t> packed;  // the versions of the tables
    std::vector<PostedRun> arrived;    // as the message has them
};

struct AnswersOnTheWay;

/// One set of requests in this process, in the start or in steps.
struct RequestsOnTheWay {
    struct Asker {
        std::int32_t patch, local;
        const std::int32_t* to;
        const RequestCounts* count;
        const std::byte* questions;
        std::int32_t posted = -1;  // RequestCounts::times_set then
    };
    const RequestSet* set = nullptr;
    int rank = 0, first = 0, last = 0;  // of this process, of those of the node
    std::span<const int> owner;         // [patch that may be asked]
    std::span<const int> local;
    int patches = 0;  // of this process that may be asked
    GrowingPool* pool = nullptr;
    std::vector<Asker> askers;
    /// [process of the node] -> its own table, then those received by it.
    std::vector<std::span<PostedTable>> tables;
    std::vector<OtherNode> others;
    std::vector<AnswersOnTheWay*> answers;
    DeliveredRequests seen;

    [[nodiscard]] PostedTable& own() const { return tables[static_cast<std::size_t>(rank - first)].front(); }

    std::vector<std::int64_t> looked_at;  // the versions of all tables
    std::vector<std::int64_t> first_of;   // what `seen` shows
    std::vector<DeliveredRun> runs;
    std::int64_t from_elsewhere = 0;  // requests from other nodes

    std::vector<PostedRun> posting;  // scratch
    std::vector<DeliveredRun> found;
    RunOrder order;
};

/// Answers in memory that all processes of the node read.
struct SharedAnswers {
    std::byte* values = nullptr;
    std::int64_t capacity = 0;  // in bytes
    /// Room for so many bytes; the old contents are gone.
    void room(GrowingPool& pool, std::int64_t bytes);
};

struct AnswersOnTheWay {
    RequestsOnTheWay* of = nullptr;
    std::int64_t bytes = 0;  // of one
    bool all = false;        // all are written by tasks
    /// [process of the node] -> answers to requests that came to it from other nodes; then, of each node,
    /// what it received.
    std::vector<SharedAnswers*> shared;
    std::vector<int> node_of;               // [process of the team]; empty: all are on one
    std::vector<int> asker_of;              // [node] -> the process of this node that has its messages
    std::vector<Channel*> sends, receives;  // [of->others], null where the other one is used
    /// [process of the node] -> the answers to its patches: [its patch * most + number]; then those to other
    /// nodes.
    std::vector<std::byte*> bases;
    AnswerRoom room;
    ReturnedAnswers seen;
};

struct PostCall {
    RequestsOnTheWay* of = nullptr;
    static Outcome go(void* what, Worker& worker);
};
struct PackRequestsCall {
    RequestsOnTheWay* of = nullptr;
    OtherNode* node = nullptr;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};
struct ArrivedCall {
    RequestsOnTheWay* of = nullptr;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};
struct DeliverCall {
    RequestsOnTheWay* of = nullptr;
    static Outcome go(void* what, Worker& worker);
};

struct PackAnswersCall {
    AnswersOnTheWay* of = nullptr;
    std::size_t node = 0;  // of RequestsOnTheWay::others
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};
/// Sends or receives answers, if there are any.
struct AnswersMessageCall {
    AnswersOnTheWay* of = nullptr;
    std::size_t node = 0;
    int number = 0;  // of the node
    bool sends = false;
    std::uint16_t scope = 0;
    static Outcome go(void* what, Worker& worker);
};
struct ReturnCall {
    AnswersOnTheWay* of = nullptr;
    static Outcome go(void* what, Worker& worker);
};

}  // namespace strata::graph
