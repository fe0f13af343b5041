// Requests on their way to patches that are not known beforehand, and answers on their way back. For each set
// of requests a process has these operations in a round:
//
//   post     lists what its patches ask, by the process and patch that is asked, where others read it
//   pack, receive   one process of each node has the messages with one other node: what its node's processes
//            ask there, or are asked from there
//   arrived  lists what was received, in the same form
//   deliver  finds what its own patches are asked in the lists of all processes of the node
//   taken    all processes of the node have delivered: lists may be written again
//
// and for each kind of answers the same again: answered (its patches have), messages with answers in the
// order of their requests, arrived, return (each request knows where its answer is), taken. Two nodes that
// asked each other nothing exchange no answers.
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
#include "core/graph/expand/channel.hpp"
#include "core/graph/expand/members.hpp"
#include "core/graph/expand/particles.hpp"

namespace strata::graph {

/// Requests of a patch that follow each other and go to the same patch. Mostly there are far fewer of these
/// than of requests.
struct PostedRun {
    std::int32_t owner, to;  // the process and its patch that are asked
    std::int32_t from, number, count;
    std::int64_t question;  // the place of the first in the table,
    std::int64_t answer;    // and among the answers of `owner` or, of another node, in the message
};

/// In memory that all processes of the node read; by owner, asked patch, asking patch, number.
struct PostedTable {
    PostedRun* runs = nullptr;
    std::byte* questions = nullptr;
    std::int64_t count = 0, capacity = 0;  // of runs
    std::int64_t bytes = 0;                // room for questions

    /// Those for processes first .. last - 1.
    [[nodiscard]] std::span<PostedRun> between(int first, int last) const;
    /// Room for so many runs, and bytes of questions; the old contents are gone.
    void room(GrowingPool& pool, std::int64_t runs, std::int64_t question_bytes);
};

/// A node that this process exchanges messages with, for all of its own.
struct OtherNode {
    int first = 0, last = 0;      // its processes
    Channel* asks = nullptr;      // requests to that node,
    Channel* is_asked = nullptr;  // or from it: one of both
    PostedTable* received = nullptr;
    std::vector<PostedRun*> sent;                          // or received, in the order of the message
    std::int64_t requests = 0;                             // in it
    std::vector<std::pair<PostedRun, std::size_t>> order;  // of received ones, and places in the message
};

struct AnswersOnTheWay;

/// One set of requests in this process, in the start or in steps.
struct RequestsOnTheWay {
    struct Asker {
        std::int32_t patch;
        const std::int32_t *to, *count;
        const std::byte* questions;
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

    // Scratch, and what `seen` shows.
    struct Found {
        PostedRun* run;
        const std::byte* questions;
    };
    std::vector<Found> found;
    std::vector<std::int64_t> first_of;
    std::vector<std::int32_t> from;
    std::vector<std::byte> questions;
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
    /// [process of the node] -> [request that was delivered to it]; then, of each node, what it received.
    std::vector<SharedAnswers*> shared;
    std::vector<int> node_of;               // [process of the team]; empty: all are on one
    std::vector<int> asker_of;              // [node] -> the process of this node that has its messages
    std::vector<Channel*> sends, receives;  // [of->others], null where the other one is used
    AnswerRoom room;
    std::vector<std::byte> values;  // [asking patch of this process * most + number]
    ReturnedAnswers seen;

    /// Where those of a process's patches are: in its memory, or in what was received of its node.
    [[nodiscard]] const std::byte* answers_of(int process) const;
};

struct PostCall {
    RequestsOnTheWay* of = nullptr;
    static Outcome go(void* what, Worker& worker);

  private:
    std::vector<PostedRun> runs_;
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
