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

/// Requests that have come to the patches of a process: patch by patch, in the order of asking patch and of
/// asking.
struct DeliveredRequests {
    const std::int32_t* local = nullptr;  // [patch] -> its number in its process
    const std::int64_t* first = nullptr;  // [number] -> its first request, and one more
    const std::int32_t* from = nullptr;   // [request] -> the patch that asks
    const std::byte* questions = nullptr;
};
/// Where their answers go.
struct AnswerRoom {
    std::byte* values = nullptr;  // [request]
};
/// Answers that have come back to the patches of a process.
struct ReturnedAnswers {
    const std::int32_t* local = nullptr;  // [patch] -> its number in its process
    const std::byte* values = nullptr;    // [number * most + request]
};

class RequestSet final : public Relation {
  public:
    struct Labels {
        LabelId to, questions;  // lists on the asking patches, of `most` values
        LabelId count;          // requests of a patch, and those that it had no room for
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
