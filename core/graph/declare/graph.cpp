#include "core/graph/declare/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "core/graph/declare/program_order.hpp"

namespace strata::graph {

namespace {

/// Of a scalar. A reduction has some 600 bytes for each in every process.
constexpr int kMostNumbers = 1 << 16;

}  // namespace

Graph::Graph(std::string name) : name_(std::move(name)) {
    take_name("scope", "start");
    take_name("scope", "step");
    scopes_.push_back(Scope(*this, Scope::Form::start, "start", scopes_.next(), {}));
    scopes_.push_back(Scope(*this, Scope::Form::step, "step", scopes_.next(), {}));
}

Graph::~Graph() = default;

namespace {

constexpr const char* kSetsOfThisGraph = "sets come from this graph's particles()";

/// "labels", "sets of particles".
std::string several(const std::string& what) {
    const std::size_t first = std::min(what.find(' '), what.size());
    return what.substr(0, first) + 's' + what.substr(first);
}

}  // namespace

int Graph::number_of_part() {
    if (part_.empty()) return 0;
    auto known = std::find(parts_.begin(), parts_.end(), part_);
    if (known == parts_.end()) known = parts_.insert(parts_.end(), part_);
    return 1 + static_cast<int>(known - parts_.begin());
}

void Graph::take_name(const char* what, const std::string& name) {
    if (name.empty()) throw Error(fmt::format("graph '{}': a {} without a name", name_, what));
    if (!names_.insert(fmt::format("{} {}", what, name)).second)
        throw Error(fmt::format("graph '{}' has two {} of one name", name_, several(what)))
            .given(name)
            .remedy(fmt::format("give each {} of the graph a name of its own", what));
}

void Graph::before_step(std::function<void(std::int64_t step)> call) {
    before_step_.push_back(std::move(call));
}

Scope& Scope::takes(const Version& outer) {
    takes_.push_back({outer});
    return *this;
}

Grid& Graph::grid(std::string name, const GridShape& shape) {
    const auto of_another_part = [&](const Grid& grid) {
        return grid.regular() && grid.zones() == 1 && grid.shape() == shape &&
               !grid.name().starts_with(part_ + '.');
    };
    if (!part_.empty())
        for (const auto& family : families_)
            if (auto* grid = dynamic_cast<Grid*>(family.get()); grid != nullptr && of_another_part(*grid))
                return *grid;
    return add<Grid>(std::move(name), shape);
}

LabelId Graph::label(LabelInfo info) {
    info.name = named(std::move(info.name));
    const auto refuse = [&](std::string why) {
        return Error(fmt::format("label '{}' of graph '{}': {}", info.name, name_, why));
    };
    if (info.kind == Kind::particles) {
        if (!sets_.has(info.particle_set))
            throw refuse("its set of particles is none of this graph").remedy(kSetsOfThisGraph);
        info.family = sets_[info.particle_set].grid;
        if (info.history != 0)
            throw refuse("particles keep no earlier generations, as their order changes")
                .remedy("keep what is needed of them in a label of its own");
    }
    if (info.kind != Kind::scalar && info.family == nullptr)
        throw refuse("has no family of patches")
            .remedy("name the grid, or the other family, that it lies on");
    if (info.kind == Kind::field && dynamic_cast<const Grid*>(info.family) == nullptr)
        throw refuse(fmt::format("a field lies on a grid, and '{}' is none", info.family->name()))
            .remedy("declare it as a list, which any family can have");
    if (info.kind == Kind::list && !info.entries)
        throw refuse("does not say how many values each patch has")
            .remedy("give a function: the number of values of a patch");
    if (info.kind == Kind::object && info.object == nullptr)
        throw refuse("does not say what its objects are").remedy("declare it by Graph::object<T>");
    if (info.kind == Kind::object && bool(info.object->pack) != bool(info.object->unpack))
        throw refuse("is packed or unpacked, but not both")
            .given(info.object->pack ? "pack without unpack" : "unpack without pack")
            .allowed("both, or neither");
    if (info.kind == Kind::object && info.history != 0)
        throw refuse("objects keep no earlier generations")
            .remedy("keep what is needed of them in a label of its own");
    if (info.kind == Kind::scalar && info.element == Element::bytes)
        throw refuse("a scalar is a number").allowed("a number type, or a std::array of one");
    if (info.counted && (info.components < 2 || info.components > kMostNumbers))
        throw refuse("cannot have that many numbers")
            .given(std::to_string(info.components - 1))
            .allowed(fmt::format("1 to {}", kMostNumbers - 1));
    if (info.components < 1)
        throw refuse("has no components").given(std::to_string(info.components)).allowed(">= 1");
    if (info.history < 0)
        throw refuse("keeps a negative number of earlier generations")
            .given(fmt::format("history = {}", info.history))
            .allowed("0 or more");
    if (info.bytes == 0) throw refuse("has values of no size");
    if (std::any_of(info.border.begin(), info.border.end(), [](int layers) { return layers < 0; }))
        throw refuse("has a border of negative width")
            .given(fmt::format("({}, {}, {}) layers", info.border[0], info.border[1], info.border[2]))
            .allowed("0 or more in each direction");
    if (info.turns && (info.kind != Kind::field || info.vector < 0 || info.components < info.vector + 3 ||
                       (info.element != Element::f64 && info.element != Element::f32)))
        throw refuse("cannot be turned as a vector in space")
            .given(fmt::format("{} components, the vector from number {} on", info.components, info.vector))
            .allowed("fields of double or float with three components from .vector on");
    if (info.kind != Kind::field && info.border != Int3{})
        throw refuse("only fields have layers beyond the domain's border");
    take_name("label", info.name);
    info.id = labels_.next();
    labels_.push_back(std::move(info));
    return labels_.back().id;
}

std::unique_ptr<Graph> Graph::without_tasks() const {
    auto graph = std::make_unique<Graph>(name_);
    graph->families_ = families_;
    graph->relations_ = relations_;
    graph->labels_ = labels_;
    graph->sets_ = sets_;
    graph->halos_ = halos_;
    for (LabelInfo& label : graph->labels_) {
        if (label.kind != Kind::object) continue;
        auto type = std::make_shared<ObjectType>(*label.object);
        type->pack = [](const void*) { return std::vector<std::byte>(); };
        type->unpack = [](std::span<const std::byte>, void*) {};
        label.object = std::move(type);
    }
    return graph;
}

SetId Graph::particles(std::string name, const Grid& grid, Beyond beyond) {
    if (grid.zones() > 1 || grid.joined())
        throw Error(fmt::format("graph '{}': the particles '{}' cannot lie on zones", name_, name))
            .given(fmt::format("'{}', of {} zones", grid.name(), grid.zones()))
            .allowed("a grid (Graph::grid())");
    const SetId id = sets_.next();
    sets_.push_back({named(name), id, &grid, {}, beyond});
    take_name("set of particles", sets_.back().name);
    LabelOptions options;
    options.about = "the number that a particle keeps all its life";
    sets_.back().id_label = particle<std::int64_t>(id, name + ".id", options).id();
    return id;
}

const double* Graph::parameter(Parameter parameter) {
    parameter.name = named(std::move(parameter.name));
    take_name("parameter", parameter.name);
    if (parameter.least < parameter.most &&
        !(parameter.value >= parameter.least && parameter.value <= parameter.most))  // nor is no number
        throw Error(fmt::format("parameter '{}' of graph '{}' is out of its range", parameter.name, name_))
            .given(fmt::format("{}", without_nan_sign(parameter.value)))
            .allowed(fmt::format("{} to {}", parameter.least, parameter.most));
    parameters_.push_back(std::move(parameter));
    return &parameters_.back().value;
}

Task Scope::add_task(std::string name, Runs runs, const Family* family) {
    TaskInfo info;
    info.graph = graph_;
    info.name = graph_->named(std::move(name));
    info.part = graph_->number_of_part();
    graph_->take_name("task", info.name);
    info.id = graph_->tasks_.next();
    info.scope = id_;
    info.family = family;
    info.runs = runs;
    graph_->tasks_.push_back(std::move(info));
    return Task(graph_->tasks_.back(), *this);
}

namespace {

Error refuse_patches(const TaskInfo& task, const std::string& why) {
    return Error(fmt::format("task '{}' of graph '{}' {}", task.name, task.graph->name(), why));
}

}  // namespace

int Task::use(const Use& use) {
    if (!use.version.label) return -1;
    if (scope_->graph_->order_) scope_->graph_->order_->declared(*info_, use);
    info_->uses.push_back(use);
    info_->modifies = info_->modifies || use.access == Access::modify;
    return static_cast<int>(info_->uses.size()) - 1;
}

Task& Task::moves(SetId set) {
    info_->moves.push_back(set);
    return *this;
}

Task& Task::on(const std::vector<int>& patches) {
    if (info_->family == nullptr)
        throw refuse_patches(*info_, "is limited to some patches, but does not run on patches");
    info_->where.assign(static_cast<std::size_t>(info_->family->patches()), false);
    for (const int patch : patches) {
        if (patch < 0 || patch >= info_->family->patches())
            throw refuse_patches(
                *info_, fmt::format("shall run on a patch that '{}' does not have", info_->family->name()))
                .given(std::to_string(patch))
                .allowed(fmt::format("0 to {}", info_->family->patches() - 1));
        info_->where[static_cast<std::size_t>(patch)] = true;
    }
    return *this;
}

Task Scope::task(std::string name, const Family& family) {
    return add_task(std::move(name), Runs::on_patches, &family);
}

Task Scope::team_task(std::string name) { return add_task(std::move(name), Runs::in_processes, nullptr); }

Task Scope::once(std::string name) { return add_task(std::move(name), Runs::once, nullptr); }

void Task::freeze(const Version& v, const Int3& width) {
    const Graph& graph = *info_->graph;
    if (info_->family == nullptr || !graph.labels().has(v.label) || width == Int3{}) return;  // resolve()
    Task before = scope_->task(
        fmt::format("ghosts of '{}' for '{}'", graph.labels()[v.label].name, info_->name), *info_->family);
    before.use({Access::need, v, nullptr, width});
    before.work(1e-3, 0).run([](Here&) {});
}

Scope& Scope::inner(Form form, std::string name, const Version& scalar,
                    std::function<bool(const void*)> decision, std::int64_t most) {
    name = graph_->named(std::move(name));
    graph_->take_name("scope", name);
    if (most < 1)
        throw Error(fmt::format("scope '{}' of graph '{}' would never run", name, graph_->name_))
            .given(std::to_string(most))
            .allowed("1 round or more");
    Scope made(*graph_, form, std::move(name), graph_->scopes_.next(), id_);
    made.scalar_ = scalar;
    made.decision_ = std::move(decision);
    made.most_ = most;
    graph_->scopes_.push_back(std::move(made));
    return graph_->scopes_.back();
}

void Scope::relocate(SetId set, const Version& position, int hops) {
    const auto refuse = [&](const std::string& why) {
        return Error(
            fmt::format("scope '{}' of graph '{}' relocates particles: {}", name_, graph_->name_, why));
    };
    if (!graph_->sets_.has(set)) throw refuse("their set is none of this graph").remedy(kSetsOfThisGraph);
    if (!graph_->labels_.has(position.label) || graph_->labels_[position.label].particle_set != set)
        throw refuse(fmt::format("the position is no label of '{}'", graph_->sets_[set].name))
            .given(graph_->labels_.has(position.label)
                       ? fmt::format("'{}'", graph_->labels_[position.label].name)
                       : std::string("a label of another graph"))
            .allowed(fmt::format("labels of '{}' with 1 to 3 components", graph_->sets_[set].name));
    if (hops < 0)
        throw refuse("they cannot cross fewer patches than none in a step")
            .given(std::to_string(hops))
            .allowed("0 or more; 0: wherever they go");
    relocations_.push_back({set, position, hops});
    if (graph_->order_) graph_->order_->relocated(*this, set);
}

}  // namespace strata::graph
