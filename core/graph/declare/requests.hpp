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

#include <algorithm>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/request_set.hpp"

namespace strata::graph {

/// What a patch asks in this round.
template <class Question>
class Asking {
  public:
    Asking(const Here& here, const RequestSet& set, ListView<std::int32_t> to, ListView<Question> questions,
           ListView<std::int32_t> count)
        : here_(here),
          set_(set),
          to_(to),
          questions_(questions),
          count_(count),
          patches_(set.answerers().patches()),
          most_(set.most()) {}

    /// Asks patch `to`. False: there is no room in this round; then left() counts it. Ends the run where the
    /// family has no such patch.
    bool add(int to, const Question& question) const {
        if (to < 0 || to >= patches_) refuse(to);
        const std::int32_t number = count_[0], runs = count_[2];
        if (number == most_) {
            ++count_[1];
            return false;
        }
        if (runs == 0 || to_[2 * runs - 2] != to) {
            to_[2 * runs] = to, to_[2 * runs + 1] = number;
            count_[2] = runs + 1;
        }
        questions_[number] = question;
        count_[0] = number + 1;
        return true;
    }
    /// Requests of this round, and those that there was no room for.
    [[nodiscard]] int size() const { return count_[0]; }
    [[nodiscard]] int left() const { return count_[1]; }

  private:
    [[noreturn]] void refuse(int to) const {
        here_.fail(fmt::format("'{}' asks patch {} of '{}', which has patches 0 to {}", set_.name(), to,
                               set_.answerers().name(), patches_ - 1));
    }
    const Here& here_;
    const RequestSet& set_;
    ListView<std::int32_t> to_;
    ListView<Question> questions_;
    ListView<std::int32_t> count_;
    int patches_, most_;
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
    /// `components`: an answer is so many values, one after the other.
    Requested(const DeliveredRequests& all, const AnswerRoom& room, int patch, int components)
        : runs_(all.runs + all.first[all.local[patch]], all.runs + all.first[all.local[patch] + 1]),
          bases_(room.bases),
          components_(components) {}
    [[nodiscard]] std::int64_t size() const {
        return runs_.empty() ? 0 : runs_.back().first + runs_.back().count;
    }
    [[nodiscard]] Request<Question, Answer> operator[](std::int64_t i) const {
        const auto after = std::upper_bound(runs_.begin(), runs_.end(), i,
                                            [](std::int64_t at, const auto& run) { return at < run.first; });
        return (*this)(*(after - 1), i - (after - 1)->first);
    }
    /// Calls call(request) for each of them, in their order.
    template <class Call>
    void each(Call call) const {
        for (const DeliveredRun& run : runs_) {
            Request<Question, Answer> request = (*this)(run, 0);
            for (std::int32_t i = 0; i < run.count; ++i, ++request.asked, request.answered += components_)
                call(std::as_const(request));
        }
    }
    class Iterator {
      public:
        Iterator(const Requested& all, const DeliveredRun* run) : all_(&all), run_(run) {}
        [[nodiscard]] Request<Question, Answer> operator*() const { return (*all_)(*run_, at_); }
        Iterator& operator++() {
            if (++at_ == run_->count) ++run_, at_ = 0;
            return *this;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) {
            return a.run_ == b.run_ && a.at_ == b.at_;
        }

      private:
        const Requested* all_;
        const DeliveredRun* run_;
        std::int64_t at_ = 0;
    };
    [[nodiscard]] Iterator begin() const { return {*this, runs_.data()}; }
    [[nodiscard]] Iterator end() const { return {*this, runs_.data() + runs_.size()}; }

  private:
    [[nodiscard]] Request<Question, Answer> operator()(const DeliveredRun& run, std::int64_t at) const {
        return {run.from, reinterpret_cast<const Question*>(run.questions) + at,
                reinterpret_cast<Answer*>(bases_[run.base]) + (run.place + at) * components_};
    }
    std::span<const DeliveredRun> runs_;
    std::byte* const* bases_;
    int components_;
};
template <class Question, class Answer>
struct AnswerUse {
    ScalarUse<const std::int64_t> delivered;
    ScalarUse<std::int64_t> answered;
    int components = 1;
    // The runtime puts what a gate shows in the place of the scalar's value (task_calls.cpp).
    [[nodiscard]] Requested<Question, Answer> in(const Here& here) const {
        return {reinterpret_cast<const DeliveredRequests&>(here[delivered]),
                reinterpret_cast<const AnswerRoom&>(here[answered]), here.patch, components};
    }
};

template <class Answer>
struct AnswersUse {
    int most = 0;
    ScalarUse<const std::int64_t> answered;
    ListUse<const std::int32_t> count;
    int components = 1;
    /// Answer i is that to the patch's i-th request; of several components these one after the other.
    [[nodiscard]] std::span<const Answer> in(const Here& here) const {
        const auto& all = reinterpret_cast<const ReturnedAnswers&>(here[answered]);
        return {reinterpret_cast<const Answer*>(all.values) +
                    std::int64_t{all.local[here.patch]} * most * components,
                static_cast<std::size_t>(here[count][0]) * static_cast<std::size_t>(components)};
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
        : to_(graph.list<std::int32_t>(
              name + ".to", askers, [n = detail::checked_most(name, most)](int) { return 2 * n; },
              {.about = "patches that are asked, and from which request on", .kept = true})),
          questions_(graph.list<Question>(name + ".questions", askers, [most](int) { return most; },
                                          {.kept = true})),
          count_(graph.list<std::int32_t>(
              name + ".count", askers, [](int) { return 4; },
              {.about = "requests, those left for the next round, runs, how often the list was set",
               .kept = true})),
          delivered_(graph.scalar<std::int64_t>(name + ".delivered", Reduce::max)),
          set_(&graph.add<RequestSet>(name, askers, answerers, most, labels(), sizeof(Question))) {}
    /// The same lists, sent off once more, in another scope: by deliver().
    Questions(Graph& graph, const std::string& name, const Questions& lists)
        : to_(lists.to_),
          questions_(lists.questions_),
          count_(lists.count_),
          delivered_(graph.scalar<std::int64_t>(name + ".delivered", Reduce::max)),
          set_(&graph.add<RequestSet>(name, lists.set().askers(), lists.set().answerers(), lists.set().most(),
                                      labels(), sizeof(Question))) {}

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
    [[nodiscard]] AnswerUse<Question, Answer> answer(Task& task, Scalar<std::int64_t> answered,
                                                     int components = 1) const {
        static_assert(std::is_trivially_copyable_v<Answer>);
        detail::check_requester(*set_, task.info(), set_->answerers(), "answers");
        return {task.need(delivered_.last()), task.contribute(answered), components};
    }
    template <class Answer>
    [[nodiscard]] AnswersUse<Answer> answers(Task& task, Scalar<std::int64_t> answered,
                                             int components = 1) const {
        detail::check_requester(*set_, task.info(), set_->askers(), "takes answers");
        return {set_->most(), task.need(answered.last()), task.need(count_.last()), components};
    }
    /// A kind of answers, of so many values each. `all`: tasks answer all requests, so none need be zero.
    template <class Answer>
    [[nodiscard]] Scalar<std::int64_t> kind(Graph& graph, const std::string& name, int components = 1,
                                            bool all = false) const {
        const auto made = graph.scalar<std::int64_t>(name, Reduce::max);
        set_->add({made.id(), sizeof(Answer) * static_cast<std::size_t>(components), all});
        return made;
    }
    [[nodiscard]] const RequestSet& set() const { return *set_; }

  private:
    [[nodiscard]] RequestSet::Labels labels() const {
        return {to_.id(), questions_.id(), count_.id(), delivered_.id()};
    }
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
