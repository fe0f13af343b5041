#include "core/graph/declare/access.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/counted.hpp"
#include "core/base/error.hpp"
#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/inside_here.hpp"

namespace strata::graph {

namespace {

/// "task 'diffuse', patch 3 of 'grid', step 12".
std::string description_of(const Here& here) {
    const CallData& call = InsideHere::of(here);
    std::string text = call.task != nullptr ? fmt::format("task '{}'", call.task->name) : "a task";
    if (here.patch >= 0)
        text += call.family != nullptr ? fmt::format(", patch {} of '{}'", here.patch, call.family->name())
                                       : fmt::format(", process {}", here.patch);
    return text + fmt::format(", step {}", here.step);
}

/// The declared use that a view shows; null for a view without a call.
const Use* use_of(const ViewSource& shown) {
    const TaskInfo* task = shown.here == nullptr ? nullptr : InsideHere::of(*shown.here).task;
    if (task == nullptr) return nullptr;
    const auto& uses = task->uses;
    const auto at = static_cast<std::size_t>(shown.use);
    return at < uses.size() ? &uses[at] : nullptr;
}

std::string name_of(const Graph& graph, const Use& use) {
    return fmt::format("'{}'", graph.labels()[use.version.label].name);
}
std::string name_of(const ViewSource& shown) {
    const Use* use = use_of(shown);
    return use == nullptr ? "a label" : name_of(*InsideHere::of(*shown.here).task->graph, *use);
}
std::string caller(const ViewSource& shown) {
    const Here* here = shown.here != nullptr ? shown.here : current_call;
    return here != nullptr ? description_of(*here) : "outside of any task";
}
const char* verb(const ViewSource& shown) {
    const Use* use = use_of(shown);
    if (use == nullptr) return "touches";
    if (use->access == Access::modify && use->width != Int3{}) return "touches";
    return use->access == Access::need ? "reads" : use->access == Access::sum ? "adds to" : "writes";
}

std::string triple(const Int3& at) { return fmt::format("({}, {}, {})", at[0], at[1], at[2]); }

}  // namespace

void refuse_index(const ViewSource& shown, const Int3& at, const Box& allowed) {
    const Use* use = use_of(shown);
    std::string outside = "outside what is there", remedy = "stay inside the view's box()";
    if (use != nullptr && use->access != Access::make && use->relation != nullptr) {
        outside = fmt::format("outside the window that '{}' shows", use->relation->name());
        remedy = "let the relation show more, or stay inside the view's box()";
    } else if (use != nullptr && (use->access == Access::need || use->access == Access::sum)) {
        outside = use->width == Int3{}
                      ? "outside its own values, without ghosts declared"
                      : fmt::format("outside the ghosts that it declared, {} layers", triple(use->width));
        remedy = fmt::format("declare {0} with wider ghosts, or stay inside the view's box()",
                             use->access == Access::need ? "the need" : "the sum");
        if (use->in_zone) remedy += "; a sweep within zones sees nothing beyond joined faces";
    } else if (use != nullptr && use->access == Access::modify && use->width != Int3{}) {
        outside = fmt::format("outside its patch's own values and its ghosts, {} layers", triple(use->width));
        remedy = "declare wider ghosts, or stay inside the view's box()";
    } else if (use != nullptr) {
        outside = "outside its patch's own values";
        remedy = "each patch writes its own values; what is to be added to others' is a sum(label, ghosts)";
    }
    const auto is_around = [&] {
        return InsideHere::of(*shown.here).use_data[static_cast<std::size_t>(shown.use)].box.contains(at);
    };
    if (use != nullptr && use->faces_alone && is_around()) {
        outside = "beyond an edge or a corner of its patch, where it declared no ghosts";
        remedy = "declare the need with ghosts(...), without without_corners()";
    }
    if (use != nullptr && use->towards != Int3{} && is_around()) {
        outside = use->corners ? "which is neither upwind nor, along the same axes, on the other side"
                               : "between the axes along which it declared ghosts";
        remedy = use->corners ? "what is upwind along one axis and ahead along another has no value"
                              : "upwind(...).with_corners() shows what is upwind along each of its axes";
    }
    throw Error(
        fmt::format("{}: {} {} at {}, {}", caller(shown), verb(shown), name_of(shown), triple(at), outside),
        kFailure)
        .given(triple(at))
        .allowed(fmt::format("from {} up to, but without, {}", triple(allowed.lo), triple(allowed.hi)))
        .remedy(remedy);
}

void refuse_ghost(const ViewSource& shown, const Int3& at, const Box& own) {
    throw Error(
        fmt::format("{}: writes {} at {}, which is a ghost", caller(shown), name_of(shown), triple(at)),
        kFailure)
        .given(triple(at))
        .allowed(fmt::format("from {} up to, but without, {}", triple(own.lo), triple(own.hi)))
        .remedy("ghosts are other patches' values: each patch writes its own");
}

SeenBoxes seen_by(const Here& here, int use) {
    const CallData& call = InsideHere::of(here);
    const Use& declared = call.task->uses[static_cast<std::size_t>(use)];
    SeenBoxes seen;
    if (!declared.lacks_some() && declared.towards == Int3{}) return seen;
    const LabelInfo& label = call.task->graph->labels()[declared.version.label];
    const Box own = static_cast<const Grid&>(*label.family).owned(here.patch, label.on, label.border);
    const auto add = [&](const Box& box) {
        seen.all[seen.count++] = common(box, call.use_data[static_cast<std::size_t>(use)].box);
    };
    if (declared.faces_alone) {
        for (const Box& side : beyond_faces(own, declared.width)) add(side);
        return seen;
    }
    // A need upwind alone shows the patch's own values too: the handle of make(s) and need(s, upwind).
    add(own);
    for (const Box& side : upwind_of(own, declared.width, declared.towards, declared.corners)) add(side);
    if (declared.access != Access::modify) return seen;
    for (const Box& side : downwind_of(own, declared.width, declared.towards, declared.corners)) add(side);
    return seen;
}

void refuse_entry(const ViewSource& shown, std::int64_t entry, std::int64_t count) {
    throw Error(fmt::format("{}: {} value {} of {}, which has {} there", caller(shown), verb(shown), entry,
                            name_of(shown), count),
                kFailure)
        .given(std::to_string(entry))
        .allowed(count > 0 ? fmt::format("0 to {}", count - 1) : "none: the list is empty");
}

void refuse_component(const ViewSource& shown, int component, int components) {
    throw Error(fmt::format("{}: {} component {} of {}, which has {}", caller(shown), verb(shown), component,
                            name_of(shown), components),
                kFailure)
        .given(std::to_string(component))
        .allowed(components > 1 ? fmt::format("0 to {}", components - 1) : "0");
}

void refuse_part(int patch, std::span<const int> collected) {
    throw Error(fmt::format("{}: there is nothing of patch {} in what it collects", caller({}), patch),
                kFailure)
        .given(std::to_string(patch))
        .allowed(collected.empty()       ? "none: no patch is collected"
                 : collected.size() == 1 ? fmt::format("patch {} alone", collected.front())
                                         : fmt::format("{} patches, from {} to {}", collected.size(),
                                                       collected.front(), collected.back()))
        .remedy("name the patch among the sources of the Collect, or ask for its patches()");
}

void refuse_numbers(const char* what, std::int64_t asked, std::int64_t most) {
    throw Error(fmt::format("{}: a scalar of several numbers has no {} {}", caller({}), what, asked),
                kFailure)
        .given(std::to_string(asked))
        .allowed(most < 0 ? "none: it has no numbers yet" : fmt::format("0 to {}", most))
        .remedy("declare more with Graph::scalars, or resize() it first");
}

namespace {

/// "'u', 'v'": each once, in the order of declaration.
std::string declared_labels(const Graph& graph, const TaskInfo& task) {
    std::vector<std::string> names;
    for (const Use& use : task.uses)
        if (std::string name = name_of(graph, use);
            std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const LabelInfo& check_use(const Here& here, TaskId task, int use, bool writes, std::size_t bytes) {
    const CallData& call = InsideHere::of(here);
    const TaskInfo& self = *call.task;
    const Graph& graph = *self.graph;
    const auto refuse = [&](const std::string& what) {
        return Error(fmt::format("{}: {}", description_of(here), what), kFailure);
    };
    if (task && task != self.id) {
        const TaskInfo& other = graph.tasks()[task];
        throw refuse(fmt::format("{} {}, which it did not declare", writes ? "writes" : "reads",
                                 name_of(graph, other.uses.at(static_cast<std::size_t>(use)))))
            .given(fmt::format("what task '{}' declared", other.name))
            .remedy("declare for this task what it uses (need, make, modify, sum, contribute)");
    }
    if (use < 0 || static_cast<std::size_t>(use) >= self.uses.size())
        throw refuse("uses a label that it did not declare")
            .given("what none of the task's declarations has returned")
            .allowed(self.uses.empty() ? std::string("none: the task declares no label")
                                       : declared_labels(graph, self))
            .remedy("keep what need, make, modify, sum and contribute return, and use that: here[...]");
    const Use& declared = self.uses[static_cast<std::size_t>(use)];
    const LabelInfo& label = graph.labels()[declared.version.label];
    if (writes && declared.access == Access::need)
        throw refuse(fmt::format("writes '{}', which it only needs", label.name))
            .remedy("declare that it makes or modifies it");
    const auto components = static_cast<std::size_t>(label.components);
    const bool whole = label.kind == Kind::scalar && !label.counted && bytes == label.bytes * components;
    if (bytes != label.bytes && !whole)
        throw refuse(fmt::format("uses '{}' as values of another type than it has", label.name))
            .given(fmt::format("a type of {}", counted(static_cast<std::int64_t>(bytes), "byte")))
            .allowed(fmt::format("{} a value, as the label was declared",
                                 counted(static_cast<std::int64_t>(label.bytes), "byte")))
            .remedy("keep what need, make, modify, sum and contribute return: it knows the type");
    if (label.kind == Kind::field && call.use_data[static_cast<std::size_t>(use)].origin == nullptr)
        throw refuse(fmt::format("uses '{}', which is not there for this family's patches", label.name));
    return label;
}

std::span<const Here> Here::own(const Family& of) const {
    for (const CallData::Own& each : data_.owns)
        if (each.family == &of) return each.patches;
    return {};
}

void Here::create(SetId set, std::int64_t count) const {
    if (data_.creates == nullptr)
        fail("creates particles, which only a task on patches in the start scope may (graph.start())");
    data_.creates(data_.call, set, count);
}

Moved& Here::find_moved(SetId set) const {
    for (const CallData::MovedOfSet& each : data_.moves)
        if (each.set == set) return *each.moved;
    fail("says which particles moved, and was not declared with Task::moves(set) for these particles");
}

void Here::fail(std::string_view message) const {
    throw Error(fmt::format("{}: {}", description_of(*this), message), kFailure);
}

}  // namespace strata::graph
