// Requests to patches that are not known beforehand, with answers: donor searches, wall distances, lookups in
// tables that are divided among patches.
//
//   Requests<Point, Found> search(graph, "search", ring, background, 64);
//   Task ask = graph.step().task("ask", ring);
//   ask.run([=, asked = search.ask(ask)](Here& here) { here[asked].add(patch, point); ... });
//   Task find = graph.step().task("find", background);
//   find.run([=, got = search.answer(find)](Here& here) {
//       for (const auto& request : here[got]) request.answer() = find(request.question());
//   });
//   Task use = graph.step().task("use", ring);
//   use.run([=, found = search.answers(use)](Here& here) { ... here[found][i] ... });  // as it asked
//
// Requests of one round travel together: one message between two nodes, none between processes of a node. A
// patch may ask up to so many times in a round; what is left it asks in the next one (repeat). Requests come
// in the order of asking patch and of asking, so layouts do not change bits.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <span>
#include <string>
#include <type_traits>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/request_set.hpp"

namespace strata::graph {

/// What a patch asks in this round.
template <class Question>
class Asking {
  public:
    Asking(const Here& here, const RequestSet& set, ListView<std::int32_t> to, ListView<Question> questions,
           ListView<std::int32_t> count)
        : here_(here), set_(set), to_(to), questions_(questions), count_(count) {}

    /// Asks patch `to`. False: there is no room in this round; then left() counts it. Ends the run where the
    /// family has no such patch.
    bool add(int to, const Question& question) const {
        if (to < 0 || to >= set_.answerers().patches())
            here_.fail(fmt::format("'{}' asks patch {} of '{}', which has {}", set_.name(), to,
                                   set_.answerers().name(), set_.answerers().patches()));
        if (count_[0] == set_.most()) {
            ++count_[1];
            return false;
        }
        to_[count_[0]] = to;
        questions_[count_[0]++] = question;
        return true;
    }
    /// Requests of this round, and those that there was no room for.
    [[nodiscard]] int size() const { return count_[0]; }
    [[nodiscard]] int left() const { return count_[1]; }

  private:
    const Here& here_;
    const RequestSet& set_;
    ListView<std::int32_t> to_;
    ListView<Question> questions_;
    ListView<std::int32_t> count_;
};
template <class Question>
struct AskUse {
    const RequestSet* set = nullptr;
    ListUse<std::int32_t> to;
    ListUse<Question> questions;
    ListUse<std::int32_t> count;
    [[nodiscard]] Asking<Question> in(const Here& here) const {
        return {here, *set, here[to], here[questions], here[count]};
    }
};

/// A request to the patch of this call.
template <class Question, class Answer>
struct Request {
    int from;  // the patch that asks
    const Question* asked;
    Answer* answered;
    [[nodiscard]] const Question& question() const { return *asked; }
    /// To be written by one task; all bits are zero until then.
    [[nodiscard]] Answer& answer() const { return *answered; }
};
/// All of them, in the order of asking patch and of asking.
template <class Question, class Answer>
class Requested {
  public:
    Requested(const DeliveredRequests& all, const AnswerRoom& room, int patch)
        : first_(all.first[all.local[patch]]), last_(all.first[all.local[patch] + 1]) {
        from_ = all.from;
        questions_ = reinterpret_cast<const Question*>(all.questions);
        answers_ = reinterpret_cast<Answer*>(room.values);
    }
    [[nodiscard]] std::int64_t size() const { return last_ - first_; }
    [[nodiscard]] Request<Question, Answer> operator[](std::int64_t i) const {
        return {from_[first_ + i], questions_ + first_ + i, answers_ + first_ + i};
    }
    class Iterator {
      public:
        Iterator(const Requested& all, std::int64_t at) : all_(&all), at_(at) {}
        [[nodiscard]] Request<Question, Answer> operator*() const { return (*all_)[at_]; }
        Iterator& operator++() { return ++at_, *this; }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

      private:
        const Requested* all_;
        std::int64_t at_;
    };
    [[nodiscard]] Iterator begin() const { return {*this, 0}; }
    [[nodiscard]] Iterator end() const { return {*this, size()}; }

  private:
    std::int64_t first_, last_;
    const std::int32_t* from_;
    const Question* questions_;
    Answer* answers_;
};
template <class Question, class Answer>
struct AnswerUse {
    ScalarUse<const std::int64_t> delivered;
    ScalarUse<std::int64_t> answered;
    // The runtime puts what a gate shows in the place of the scalar's value (task_calls.cpp).
    [[nodiscard]] Requested<Question, Answer> in(const Here& here) const {
        return {reinterpret_cast<const DeliveredRequests&>(here[delivered]),
                reinterpret_cast<const AnswerRoom&>(here[answered]), here.patch};
    }
};

template <class Answer>
struct AnswersUse {
    int most = 0;
    ScalarUse<const std::int64_t> answered;
    ListUse<const std::int32_t> count;
    /// Answer i is that to the patch's i-th request.
    [[nodiscard]] std::span<const Answer> in(const Here& here) const {
        const auto& all = reinterpret_cast<const ReturnedAnswers&>(here[answered]);
        return {reinterpret_cast<const Answer*>(all.values) + std::int64_t{all.local[here.patch]} * most,
                static_cast<std::size_t>(here[count][0])};
    }
};

namespace detail {

/// Refuses a task on other patches than those that ask, or that answer.
void check_requester(const RequestSet& set, const TaskInfo& task, const Family& allowed, const char* what);
/// Refuses a number of requests below 1.
[[nodiscard]] int checked_most(const std::string& name, int most);

}  // namespace detail

/// Requests without answers yet: one asking task and any number of answers to the same requests.
template <class Question>
class Questions {
  public:
    static_assert(std::is_trivially_copyable_v<Question>);
    /// `most`: so many requests of a patch in a round. Throws Error where that is below 1, or the name taken.
    Questions(Graph& graph, const std::string& name, const Family& askers, const Family& answerers, int most)
        : to_(graph.list<std::int32_t>(name + ".to", askers,
                                       [n = detail::checked_most(name, most)](int) { return n; },
                                       {.about = "patches that are asked", .kept = true})),
          questions_(graph.list<Question>(name + ".questions", askers, [most](int) { return most; },
                                          {.kept = true})),
          count_(graph.list<std::int32_t>(
              name + ".count", askers, [](int) { return 2; },
              {.about = "requests, and those left for the next round", .kept = true})),
          delivered_(graph.scalar<std::int64_t>(name + ".delivered", Reduce::max)),
          set_(&graph.add<RequestSet>(
              name, askers, answerers, most,
              RequestSet::Labels{to_.id(), questions_.id(), count_.id(), delivered_.id()},
              sizeof(Question))) {}

    /// Says what its patch asks; its patch's answers come back in this order.
    [[nodiscard]] AskUse<Question> ask(Task& task) const {
        const AskUse<Question> use = list(task);
        task.contribute(delivered_);
        return use;
    }
    /// The same for a list that deliver() sends off, in this scope or in others, once or oftener.
    [[nodiscard]] AskUse<Question> list(Task& task) const {
        detail::check_requester(*set_, task.info(), set_->askers(), "asks");
        return {set_, task.make(to_), task.make(questions_), task.make(count_)};
    }
    void deliver(Task& task) const {
        detail::check_requester(*set_, task.info(), set_->askers(), "asks");
        (void)task.need(to_.last()), (void)task.need(questions_.last()), (void)task.need(count_.last());
        task.contribute(delivered_);
    }
    template <class Answer>
    [[nodiscard]] AnswerUse<Question, Answer> answer(Task& task, Scalar<std::int64_t> answered) const {
        static_assert(std::is_trivially_copyable_v<Answer>);
        detail::check_requester(*set_, task.info(), set_->answerers(), "answers");
        return {task.need(delivered_.last()), task.contribute(answered)};
    }
    template <class Answer>
    [[nodiscard]] AnswersUse<Answer> answers(Task& task, Scalar<std::int64_t> answered) const {
        detail::check_requester(*set_, task.info(), set_->askers(), "takes answers");
        return {set_->most(), task.need(answered.last()), task.need(count_.last())};
    }
    /// A kind of answers.
    template <class Answer>
    [[nodiscard]] Scalar<std::int64_t> kind(Graph& graph, const std::string& name) const {
        const auto made = graph.scalar<std::int64_t>(name, Reduce::max);
        set_->add({made.id(), sizeof(Answer)});
        return made;
    }
    [[nodiscard]] const RequestSet& set() const { return *set_; }

  private:
    List<std::int32_t> to_;
    List<Question> questions_;
    List<std::int32_t> count_;
    Scalar<std::int64_t> delivered_;
    RequestSet* set_;
};

/// Requests with answers of one kind. Cheap to copy; the graph owns what is behind it.
template <class Question, class Answer>
class Requests {
  public:
    Requests(Graph& graph, const std::string& name, const Family& askers, const Family& answerers, int most)
        : questions_(graph, name, askers, answerers, most),
          answered_(questions_.template kind<Answer>(graph, name + ".answered")) {}

    /// The task asks, on patches of the family that asks: here[use].add(patch, question).
    [[nodiscard]] AskUse<Question> ask(Task& task) const { return questions_.ask(task); }
    /// The task answers, on patches of the other family: for (const auto& request : here[use]).
    [[nodiscard]] AnswerUse<Question, Answer> answer(Task& task) const {
        return questions_.template answer<Answer>(task, answered_);
    }
    /// The task takes the answers to its patch: here[use][i] is that to request i.
    [[nodiscard]] AnswersUse<Answer> answers(Task& task) const {
        return questions_.template answers<Answer>(task, answered_);
    }

  private:
    Questions<Question> questions_;
    Scalar<std::int64_t> answered_;
};

}  // namespace strata::graph
