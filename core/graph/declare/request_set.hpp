// Requests to patches that are not known beforehand, as the runtime knows them; requests.hpp has what a
// solver writes.
//
// Requests are values of the patches that ask: lists of up to so many, which tasks make. Two gates without
// values of their own are declared as scalars, so that makers and readers are ordered as those of a
// reduction: `delivered` (all requests to this process's patches are here) and, for each kind of answers,
// `answered` (all answers to this process's patches are here).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/label.hpp"
#include "core/graph/declare/relation.hpp"

namespace strata::graph {

/// What a patch's list of counts holds.
struct RequestCounts {
    std::int32_t requests, left;  // and those that there was no room for
    std::int32_t runs;            // of requests to the same patch
    std::int32_t times_set;       // the list; who has sent it off need not do so again while this stays
};
/// Requests that one patch made one after the other to the same patch.
struct DeliveredRun {
    const std::byte* questions = nullptr;
    std::int64_t first = 0;  // of its first request, among those to the patch
    std::int64_t place = 0;  // of the first answer, counted in answers from AnswerRoom::bases[base] on
    std::int32_t from = -1, to = -1, count = 0;
    std::int32_t base = 0;
};
/// Requests that have come to the patches of a process: patch by patch, in the order of asking patch and of
/// asking.
struct DeliveredRequests {
    const std::int32_t* local = nullptr;  // [patch] -> its number in its process
    const std::int64_t* first = nullptr;  // [number] -> its first run, and one more
    const DeliveredRun* runs = nullptr;
};
/// Where their answers go: straight to the patches that asked, or, to those of other nodes, into one buffer.
struct AnswerRoom {
    std::byte* const* bases = nullptr;
};
/// Answers that have come back to the patches of a process.
struct ReturnedAnswers {
    const std::int32_t* local = nullptr;  // [patch] -> its number in its process
    const std::byte* values = nullptr;    // [number * most + request]
};

class RequestSet final : public Relation {
  public:
    struct Labels {
        LabelId to;         // lists on the asking patches: of each run the patch that is asked, and the
                            // number of its first request
        LabelId questions;  // `most` of them
        LabelId count;      // RequestCounts
        LabelId delivered;
    };
    RequestSet(std::string name, const Family& askers, const Family& answerers, int most,
               const Labels& labels, std::size_t question_bytes)
        : Relation(std::move(name), answerers, askers, Shape::list),
          most_(most),
          labels_(labels),
          question_bytes_(question_bytes) {}

    struct Answers {
        LabelId label;
        std::size_t bytes = 0;  // of one
        bool all = false;       // tasks answer all requests; otherwise those without an answer get zeros
    };
    void add(const Answers& answers) { answers_.push_back(answers); }

    [[nodiscard]] const Family& askers() const { return target(); }
    [[nodiscard]] const Family& answerers() const { return source(); }
    [[nodiscard]] int most() const { return most_; }
    [[nodiscard]] const Labels& labels() const { return labels_; }
    [[nodiscard]] std::size_t question_bytes() const { return question_bytes_; }
    [[nodiscard]] const std::vector<Answers>& answers() const { return answers_; }
    /// What a patch receives is known when it has asked.
    [[nodiscard]] std::vector<Piece> pieces(int, On) const override { return {}; }

  private:
    int most_;
    Labels labels_;
    std::size_t question_bytes_;
    std::vector<Answers> answers_;
};

class Graph;

/// What a label is to a set of requests.
struct RequestRole {
    enum What : std::uint8_t { none, to, count, delivered, answered } what = none;
    const RequestSet* set = nullptr;
    std::size_t answers = 0;  // answered: which of RequestSet::answers()
    [[nodiscard]] bool is_gate() const { return what == delivered || what == answered; }
};
[[nodiscard]] RequestRole request_role(const Graph& graph, LabelId label);

}  // namespace strata::graph
