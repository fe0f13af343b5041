// The clock of a module: its own where it runs alone, or that of the company it is in.
//
//   const Clock clock = graph.clock().labels();
//   graph.clock().advance(graph.clock().task(), clock, settings.end, [&](Task& task) {
//       return [rate = task.need(stable_rate)](Here& here) { return 0.5 / here[rate]; };
//   });
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/clock.hpp"

namespace strata::graph {

/// Of the task that makes a clock's labels. It says that it makes them where it is declared: tasks may need
/// dt before it is known what it follows from.
struct ClockUses {
    ScalarUse<double> time, dt;
};

/// The step that all modules of a company have in common, while they are declared.
struct CommonClock {
    struct Length {
        std::string module;
        std::function<double(Here&)> find;
    };
    /// Declares them: before anything that needs them.
    explicit CommonClock(Graph& graph);
    Clock labels;
    Task task;  // makes them; it runs once in a step
    ClockUses made;
    std::vector<Length> longest;                        // that modules can take
    std::vector<std::pair<std::string, double>> exact;  // the only one that they can take
    /// Of the run: known when all modules are declared.
    std::shared_ptr<double> end = std::make_shared<double>(0);
};

/// How many steps of its own a module takes in a common one.
struct OwnSteps {
    /// A common step is at most so many stable steps of the module long, as they were in the one before.
    /// Where they have become shorter, the module takes more.
    std::int64_t substeps = 1;
    std::int64_t rest = 1;  // it acts in every so many common steps, and in the last one

    [[nodiscard]] bool own() const { return substeps > 1 || rest > 1; }
    /// So many in one common step are an error: the module's stable step has shrunk to nothing.
    [[nodiscard]] std::int64_t most() const { return 1000 * substeps; }
};

class ModuleClock {
  public:
    /// Of a module alone.
    explicit ModuleClock(Graph& graph) : graph_(&graph) {}
    /// Of one in a company. `left`: of the common step, for a module with steps of its own: 0 after the last.
    ModuleClock(Graph& graph, std::string module, CommonClock& common, OwnSteps steps, Scalar<double> left)
        : graph_(&graph), module_(std::move(module)), common_(&common), steps_(steps), left_(left) {}

    /// "time" and "dt" of the module's steps. To be called once. `history`: of dt; in company the common one
    /// has 1.
    [[nodiscard]] Clock labels(int history = 0) const;
    /// The task of the step that makes them. To be called once, after that.
    [[nodiscard]] Task task() const;
    /// What the task does: steps as long as the function that declare(task) returns says (advance_clock in
    /// core/graph/declare/clock.hpp), of which the last one ends exactly at `end`. In company the common step
    /// is as long as all modules allow; one with steps of its own takes as many as lead to its end.
    template <std::invocable<Task&> Declare>
    void advance(Task task, const Clock& clock, double end, Declare declare) const {
        if (common_ == nullptr) return advance_clock(std::move(task), clock, end, std::move(declare));
        auto length = declare(task);
        own_->advanced = true;
        if (!steps_.own()) {
            common_->longest.push_back({module_, std::move(length)});
            return;
        }
        advance_own(task, clock, std::move(length));
    }
    /// The module's steps have one length, which its numbers know, and there is one in each common step.
    /// Throws Error where the case gives it steps of its own.
    void exact(double dt) const;

    /// Whether the module has said how long its steps are; one that has no clock takes no steps of its own.
    [[nodiscard]] bool advanced() const { return own_->advanced; }
    /// Whether this is the first step of the module: for a task of its step.
    [[nodiscard]] std::function<bool(Here&)> first_step(Task& task, const Clock& clock) const;

  private:
    void advance_own(Task& task, const Clock& clock, std::function<double(Here&)> length) const;

    Graph* graph_;
    std::string module_;
    CommonClock* common_ = nullptr;
    OwnSteps steps_;
    Scalar<double> left_;
    struct Own {
        Clock labels;
        ClockUses made;
        bool advanced = false;
    };
    std::shared_ptr<Own> own_ = std::make_shared<Own>();
};

/// What the task of a common clock does, once all modules have said what they allow: dt and time, up to the
/// end.
void advance_common(CommonClock& clock);

}  // namespace strata::graph
