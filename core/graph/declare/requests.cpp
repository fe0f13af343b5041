#include "core/graph/declare/requests.hpp"

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

const Questions<std::int32_t>& LocalGather::lists_in(Scope& scope) {
    if (const auto sent = sent_.find(scope.id()); sent != sent_.end()) return sent->second;
    const Questions<std::int32_t> lists =
        sent_.empty()
            ? entries_
            : Questions<std::int32_t>(*graph_, fmt::format("{} in '{}'", name_, scope.name()), entries_);
    const std::string what = name_ + ": lists";
    Task task = scope.task(scope.id() == kStep ? what : fmt::format("{} in '{}'", what, scope.name()),
                           lists.set().askers());
    lists.deliver(task);
    task.work(1e-3, 0).run([](Here&) {});
    return sent_.emplace(scope.id(), lists).first->second;
}

std::string LocalGather::name_of(const Version& version) const {
    std::string name = fmt::format("{}: '{}'", name_, graph_->labels()[version.label].name);
    if (version.version != 0)
        name += version.version < 0 ? ", last" : fmt::format(", version {}", version.version);
    if (version.back != 0) name += fmt::format(", {} before", version.back);
    return name;
}

}  // namespace strata::graph
