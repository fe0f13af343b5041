#include "core/run/checkpoint/makers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

struct Call {
    std::int64_t task, step, round;
};

/// Of a checkpoint, before the name.
constexpr std::size_t kNumbers = 2 * sizeof(std::int64_t);
constexpr int kFirstFormat = 1;

void append(std::vector<std::byte>& bytes, const void* from, std::size_t count) {
    const auto* first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + count);
}

bool is_at_start(const Graph& graph, ScopeId scope) {
    while (graph.scopes()[scope].parent()) scope = graph.scopes()[scope].parent();
    return scope == kStart;
}

/// The tasks that make the object.
std::vector<const TaskInfo*> makers_of(const Graph& graph, LabelId object) {
    std::vector<const TaskInfo*> makers;
    const auto makes = [&](const Use& use) {
        return use.version.label == object && use.access == Access::make;
    };
    for (const TaskInfo& task : graph.tasks())
        if (std::any_of(task.uses.begin(), task.uses.end(), makes)) makers.push_back(&task);
    return makers;
}

std::string names_of(const std::vector<const TaskInfo*>& tasks) {
    std::vector<std::string> names;
    for (const TaskInfo* task : tasks) names.push_back(fmt::format("'{}'", task->name));
    return fmt::format("{}", fmt::join(names, ", "));
}

Error refuse(const LabelInfo& object, const std::string& why) {
    return Error(fmt::format("the object '{}' of the checkpoint cannot be made again: {}", object.name, why))
        .remedy("restart with the version of the solver that wrote it, or start anew, without --restart");
}

}  // namespace

bool is_made_again(const LabelInfo& label) { return label.kind == Kind::object && !label.object->packs(); }

void name_maker(const Graph& graph, std::vector<std::byte>& call) {
    Call made{};
    std::memcpy(&made, call.data(), sizeof made);
    call.erase(call.begin(), call.begin() + sizeof made.task);
    const TaskId task(made.task);
    if (!task) return;  // none has made it so far
    const std::string& name = graph.tasks()[task].name;
    append(call, name.data(), name.size());
}

void number_maker(const Graph& graph, const LabelInfo& object, int format, std::vector<std::byte>& call) {
    Call made{};
    if (format == kFirstFormat ? call.size() != sizeof made : call.size() < kNumbers)
        throw refuse(object, "it is not known which task made it")
            .given(fmt::format("{} bytes", call.size()));
    std::vector<const TaskInfo*> makers = makers_of(graph, object.id);
    if (format == kFirstFormat) {
        std::memcpy(&made, call.data(), sizeof made);
        if (made.task < 0) return;
        const bool at_start = made.step == 0;
        std::erase_if(makers, [&](const auto* task) { return is_at_start(graph, task->scope) != at_start; });
        if (makers.size() != 1)
            throw refuse(object,
                         "an earlier version of Strata wrote the number alone of the task that made it")
                .given(fmt::format("task {}, in step {}", made.task, made.step))
                .allowed(makers.empty() ? std::string("a step in which a task makes it")
                                        : "the name of one of " + names_of(makers));
        made.task = makers.front()->id.number();
    } else {
        std::memcpy(&made.step, call.data(), kNumbers);
        const std::string name(reinterpret_cast<const char*>(call.data()) + kNumbers, call.size() - kNumbers);
        const auto is_it = [&](const TaskInfo* task) { return task->name == name; };
        const auto found = std::find_if(makers.begin(), makers.end(), is_it);
        if (found == makers.end() && !name.empty())
            throw refuse(object, "no task of the name of the one that made it does so here")
                .given(fmt::format("'{}'", name))
                .allowed(names_of(makers));
        made.task = name.empty() ? TaskId().number() : (*found)->id.number();
    }
    call.clear();
    append(call, &made, sizeof made);
}

}  // namespace strata::graph
