#include "core/graph/declare/requests.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/graph/declare/local_gather.hpp"

namespace strata::graph {

RequestRole request_role(const Graph& graph, LabelId label) {
    for (const auto& relation : graph.relations()) {
        const auto* set = dynamic_cast<const RequestSet*>(relation.get());
        if (set == nullptr) continue;
        if (label == set->labels().to) return {RequestRole::to, set, 0};
        if (label == set->labels().count) return {RequestRole::count, set, 0};
        if (label == set->labels().delivered) return {RequestRole::delivered, set, 0};
        for (std::size_t i = 0; i < set->answers().size(); ++i)
            if (label == set->answers()[i].label) return {RequestRole::answered, set, i};
    }
    return {};
}

namespace detail {

void check_requester(const RequestSet& set, const TaskInfo& task, const Family& allowed, const char* what) {
    if (task.family == &allowed) return;
    throw Error(fmt::format("task '{}' of graph '{}' {} in '{}', but does not run where it may", task.name,
                            task.graph->name(), what, set.name()))
        .given(task.family == nullptr ? std::string("no patches")
                                      : fmt::format("the patches of '{}'", task.family->name()))
        .allowed(fmt::format("the patches of '{}'", allowed.name()));
}

int checked_most(const std::string& name, int most) {
    if (most < 1)
        throw Error(fmt::format("requests '{}' have no room", name))
            .given(fmt::format("at most {} of a patch in a round", most))
            .allowed("1 or more");
    return most;
}

}  // namespace detail

void LocalGather::tell_owners(Scope& scope) {
    if (std::find(told_.begin(), told_.end(), scope.id()) != told_.end()) return;
    told_.push_back(scope.id());
    const std::string what = name_ + ": lists";
    Task task = scope.task(scope.id() == kStep ? what : fmt::format("{} in '{}'", what, scope.name()),
                           entries_.set().askers());
    entries_.deliver(task);
    task.work(1e-3, 0).run([](Here&) {});
}

void LocalGather::refuse_components(const LabelInfo& label) const {
    throw Error(fmt::format("'{}' gathers '{}', which has several components", name_, label.name))
        .given(fmt::format("{} components", label.components))
        .allowed("labels of one component")
        .remedy("a list of values with all of them, field<std::array<double, 3>>, is one component");
}

}  // namespace strata::graph
