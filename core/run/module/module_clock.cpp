#include "core/run/module/module_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/steps.hpp"

namespace strata::graph {

CommonClock::CommonClock(Graph& graph)
    : labels(clock_labels(graph, 1)),
      task(graph.step().once("advance clock")),
      made{task.make(labels.time), task.make(labels.dt)} {}

Clock ModuleClock::labels(int history) const {
    if (common_ == nullptr) return clock_labels(*graph_, history);
    return own_->labels = steps_.own() ? clock_labels(*graph_, history) : common_->labels;
}

Task ModuleClock::task() const {
    if (common_ != nullptr && !steps_.own()) return common_->task;
    Task task = graph_->step().once("advance clock");
    if (common_ != nullptr) own_->made = {task.make(own_->labels.time), task.make(own_->labels.dt)};
    return task;
}

void ModuleClock::exact(double dt) const {
    if (common_ == nullptr) return;
    if (steps_.own())
        throw Error(fmt::format("'{}' takes one step in each common step", module_))
            .given(
                fmt::format("{}.substeps = {}, {}.rest = {}", module_, steps_.substeps, module_, steps_.rest))
            .allowed("1 and 1");
    common_->exact.emplace_back(module_, dt);
}

std::function<bool(Here&)> ModuleClock::first_step(Task& task, const Clock& clock) const {
    if (!steps_.own()) return [](Here& here) { return here.step == 1; };
    return [before = task.need(clock.time.previous())](Here& here) { return here[before] == 0; };
}

void ModuleClock::advance_own(Task& task, const Clock& clock, std::function<double(Here&)> length) const {
    const auto stable = graph_->scalar<double>("stable step", {.unit = "s"});
    const auto until = task.need(common_->labels.time);
    const auto before = task.need(clock.time.previous());
    const auto kept = task.make(stable), rest = task.make(left_);
    task.run([=, made = own_->made, most = steps_.most(), length = std::move(length),
              module = module_](Here& here) {
        const double left = here[until] - here[before], wanted = length(here);
        const bool last = goes_to_end(wanted, left);
        here[kept] = wanted;
        here[made.dt] = last ? left : wanted;
        here[made.time] = last ? here[until] : here[before] + wanted;
        here[rest] = last ? 0 : left - wanted;
        if (!last && here.round + 1 >= most)
            here.fail(
                fmt::format("'{}' has taken {} steps of its own in one common step, and {:.3g} s of it are "
                            "left (allowed: 1000 times {}.substeps)",
                            module, most, here[rest], module));
    });
    // The common step is bounded by what was stable in the one before; in the first one nothing is known.
    const auto last = common_->task.need(stable.at(0));
    const double times = static_cast<double>(steps_.substeps) / static_cast<double>(steps_.rest);
    common_->longest.push_back({module_, [last, times](Here& here) {
                                    return here[last] > 0 ? times * here[last]
                                                          : std::numeric_limits<double>::infinity();
                                }});
}

void advance_common(CommonClock& clock) {
    double exact = 0;
    for (const auto& [module, dt] : clock.exact) {
        if (exact != 0 && dt != exact)
            throw Error("two modules have steps of one length each, and not of the same one")
                .given(fmt::format("'{}': {} and '{}': {}", clock.exact.front().first, exact, module, dt))
                .allowed("one length for all that have such steps");
        exact = dt;
    }
    const auto before = clock.task.need(clock.labels.time.previous());
    clock.task.run([=, made = clock.made, longest = clock.longest, end = clock.end](Here& here) {
        double wanted = std::numeric_limits<double>::infinity();
        const CommonClock::Length* shortest = nullptr;
        for (const CommonClock::Length& each : longest)
            if (const double length = each.find(here); !(length >= wanted)) wanted = length, shortest = &each;
        if (exact != 0) {
            if (shortest != nullptr && wanted < exact * (1 - 1e-9))
                here.fail(
                    fmt::format("'{}' can take steps of at most {:.6g}, and another module takes steps of "
                                "{:.6g} (allowed: as long ones, or a larger {}.substeps)",
                                shortest->module, wanted, exact, shortest->module));
            // As such a module has it alone: no sum, which would lose a little in each step.
            here[made.dt] = exact;
            here[made.time] = static_cast<double>(here.step) * exact;
            return;
        }
        const double left = *end - here[before];
        const bool last = goes_to_end(wanted, left);
        here[made.dt] = last ? left : wanted;
        here[made.time] = last ? *end : here[before] + wanted;
    });
}

}  // namespace strata::graph
