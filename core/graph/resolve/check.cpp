// Checks of declarations, each by itself.
#include <algorithm>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

class Check {
  public:
    Check(const Graph& graph, const TaskInfo& task, const Use& use) : graph_(graph), task_(task), use_(use) {}

    void all() {
        if (!graph_.labels().has(use_.version.label))
            throw refuse("uses a label that is not of this graph")
                .remedy("labels come from this graph's field, list, particle and scalar");
        label_ = &graph_.labels()[use_.version.label];
        version();
        if (task_.runs == Runs::once && label_->kind != Kind::scalar)
            throw refuse(fmt::format("runs once and uses {}, which has values on patches", name()))
                .allowed("scalars")
                .remedy("contribute what it needs of the patches to a scalar");
        if (label_->kind == Kind::scalar)
            scalar();
        else if (use_.relation != nullptr)
            relation();
        else
            own_patch();
    }

  private:
    [[nodiscard]] Error refuse(const std::string& why) const {
        return Error(fmt::format("graph '{}': task '{}' {}", graph_.name(), task_.name, why));
    }
    [[nodiscard]] std::string name() const { return fmt::format("'{}'", label_->name); }

    void version() const {
        const Version& v = use_.version;
        if (v.back < 0 || v.version < -1)
            throw refuse(fmt::format("uses a version of {} that cannot be", name()))
                .given(v.back < 0 ? fmt::format("previous({})", v.back) : fmt::format("at({})", v.version))
                .allowed("at(0) and later ones, previous(1) and earlier ones, last()");
        if (use_.access == Access::need) {
            if (v.back > label_->history)
                throw refuse(fmt::format("needs {} as it was {} before, which {} not kept", name(),
                                         counted(v.back, "round"), v.back == 1 ? "is" : "are"))
                    .given(fmt::format("previous({}) of a label with history {}", v.back, label_->history))
                    .remedy(fmt::format("declare {0} with {{.history = {1}}}, in Python with history={1}",
                                        name(), v.back));
            return;
        }
        const bool initial =
            use_.access == Access::make && task_.scope == kStart && v.back > 0 && v.version == -1;
        if (initial && v.back > label_->history)
            throw refuse(fmt::format("makes {} as it was {} before the first, which {} not kept", name(),
                                     counted(v.back, "round"), v.back == 1 ? "is" : "are"))
                .given(fmt::format("previous({}) of a label with history {}", v.back, label_->history))
                .remedy(fmt::format("declare {0} with {{.history = {1}}}, in Python with history={1}", name(),
                                    v.back));
        if (v.back > 0 && !initial)
            throw refuse(fmt::format("writes an earlier generation of {}", name()))
                .given(fmt::format("previous({})", v.back))
                .allowed("what this round makes: the label itself")
                .remedy("only a task of the start scope, graph.start(), makes what was there before");
        if (use_.access == Access::modify && v.version < 0)
            throw refuse(
                fmt::format("modifies the last version of {}: what it makes would come after the last",
                            name()))
                .given("modify(label.last())")
                .remedy("name the version that it takes: modify(label.at(v))");
        if (use_.access != Access::modify && v.version != 0 && !initial)
            throw refuse(fmt::format("makes version {} of {}", v.version, name()))
                .allowed("make, sum and contribute give version 0; each modify the next one")
                .remedy("modify the version before, or declare a label for what it makes");
    }

    void scalar() const {
        const bool once = task_.runs == Runs::once;
        if (once && use_.access != Access::need && use_.access != Access::make &&
            use_.access != Access::modify)
            throw refuse(fmt::format("contributes to the scalar {}, but runs once, not on patches", name()))
                .allowed("make(scalar) and modify(scalar)")
                .remedy("make it, or contribute to it in a task on patches");
        if (!once && use_.access != Access::need && use_.access != Access::contribute)
            throw refuse(fmt::format("writes the scalar {}", name()))
                .allowed("contribute(scalar); make and modify for a task that runs once")
                .remedy("contribute to it, or declare the task by once(name)");
        if (use_.access == Access::contribute && label_->reduce == Reduce::none)
            throw refuse(fmt::format("contributes to the scalar {}, which does not say how contributions are "
                                     "combined",
                                     name()))
                .allowed("a scalar with Reduce::min, max, sum, all or any");
        if (use_.relation != nullptr || use_.width != Int3{})
            throw refuse(
                fmt::format("needs the scalar {} through a relation, but it is the same everywhere", name()))
                .remedy("need(scalar), without a relation and without ghosts");
    }

    void relation() const {
        const Relation& r = *use_.relation;
        if (use_.access != Access::need && use_.access != Access::sum)
            throw refuse(fmt::format("writes {} through relation '{}'", name(), r.name()))
                .allowed("need and sum");
        if (&r.source() != label_->family)
            throw refuse(fmt::format("uses {} through relation '{}', which comes from another family", name(),
                                     r.name()))
                .given(fmt::format("from '{}'", r.source().name()))
                .allowed(fmt::format("from '{}', where {} lies", label_->family->name(), name()));
        if (task_.runs == Runs::in_processes || &r.target() != task_.family)
            throw refuse(fmt::format("uses {} through relation '{}', which does not lead to its patches",
                                     name(), r.name()))
                .given(fmt::format("to '{}'", r.target().name()))
                .allowed(task_.family != nullptr ? fmt::format("to '{}'", task_.family->name())
                                                 : "none: it runs once in each process");
        if (r.shape() == Shape::particles) return halo(static_cast<const ParticleHalo&>(r));
        if (label_->kind == Kind::particles)
            throw refuse(fmt::format("uses the particles {} through relation '{}'", name(), r.name()))
                .allowed("particles of its own patch, or with a halo (Graph::particle_halo)");
        if (label_->kind == Kind::object)
            throw refuse(fmt::format("uses the object {} through relation '{}'", name(), r.name()))
                .allowed("the object of its own patch")
                .remedy("make a list of what other patches need of it");
        if (label_->turns && static_cast<const Grid*>(label_->family)->turns() && r.shape() == Shape::window)
            throw refuse(fmt::format("uses the vectors {} in a window, across faces that turn them", name()))
                .allowed("ghosts of vectors")
                .remedy("declare a label without .turns, and turn what it shows in the task");
        if (r.shape() == Shape::window && label_->kind != Kind::field)
            throw refuse(fmt::format("needs {} in a window, but it is no field", name()))
                .allowed("fields on grids; a Gather takes single values of any label with patches");
    }

    void halo(const ParticleHalo& r) const {
        const ParticleSet& set = graph_.particle_sets()[r.set()];
        if (label_->particle_set != r.set())
            throw refuse(
                fmt::format("uses {} with the halo '{}', which is of other particles", name(), r.name()))
                .given(fmt::format("the halo of '{}'", set.name))
                .allowed(fmt::format("labels of '{}'", set.name));
        if (use_.access == Access::sum &&
            (label_->element == Element::u8 || label_->element == Element::bytes))
            throw refuse(fmt::format("adds to {}, whose values cannot be added", name()))
                .allowed("double, float, whole numbers of 4 or 8 bytes");
    }

    void own_patch() const {
        if (task_.runs == Runs::on_patches && label_->family != task_.family)
            throw refuse(fmt::format("runs on the patches of '{}', but {} lies on '{}'", task_.family->name(),
                                     name(), label_->family->name()))
                .remedy(fmt::format("name a relation from '{}' to '{}'", label_->family->name(),
                                    task_.family->name()));
        if (use_.access == Access::sum && label_->kind != Kind::field)
            throw refuse(
                fmt::format("adds to {} of its neighbours, but does not say which values are shared", name()))
                .remedy("sum(list, shared) with a Shared relation");
        if (use_.width == Int3{}) return;
        if (label_->kind != Kind::field || task_.runs == Runs::in_processes)
            throw refuse(fmt::format("uses {} with ghosts", name()))
                .allowed("ghosts of fields, for tasks that run on patches");
        const auto& grid = static_cast<const Grid&>(*label_->family);
        for (int axis = 0; axis < 3; ++axis) {
            width(grid, axis);
            const auto a = static_cast<std::size_t>(axis);
            for (const Int3& side : use_.unreached)
                if (side[a] < 0 || side[a] > use_.width[a])
                    throw refuse(
                        fmt::format("adds to {} on fewer layers of ghosts than none, or on more than "
                                    "it has",
                                    name()))
                        .allowed(fmt::format("0 to {} along {}", use_.width[a], "xyz"[a]));
        }
    }

    /// In a direction that is not there (one cell, not periodic) there are no ghosts, and any width is
    /// allowed.
    void width(const Grid& grid, int axis) const {
        const auto a = static_cast<std::size_t>(axis);
        const int asked = use_.width[a], most = std::max(kMostLayers, grid.widest(axis));
        if (asked < 0)
            throw refuse(fmt::format("uses {} with fewer ghosts than none", name()))
                .given(fmt::format("{} layers in {}", asked, "xyz"[a]))
                .allowed("0 or more");
        if (asked == 0 || grid.is_flat(axis)) return;
        if (grid.joined() && use_.access == Access::sum)
            throw refuse(fmt::format("adds to {} of its neighbours, which lies on joined zones", name()))
                .given(fmt::format("{} layers in {} on '{}'", asked, "xyz"[a], grid.name()))
                .allowed("sums over the patches of a single grid, or of zones that are not joined");
        if (grid.joined() && label_->on != On::cells)
            throw refuse(
                fmt::format("uses {} with ghosts, but it lies on nodes or faces of joined zones", name()))
                .given(fmt::format("{} layers in {} on '{}'", asked, "xyz"[a], grid.name()))
                .allowed("ghosts of labels on cells; nodes and faces of a join belong to both zones");
        if (asked > most)
            throw refuse(fmt::format("uses {} with more ghosts than there may be", name()))
                .given(fmt::format("{} layers in {}", asked, "xyz"[a]))
                .allowed(fmt::format("0 to {}", most))
                .remedy("an Overlap shows a window of any width");
    }

    static constexpr int kMostLayers = 1 << 10;
    const Graph& graph_;
    const TaskInfo& task_;
    const Use& use_;
    const LabelInfo* label_ = nullptr;
};

}  // namespace

void check_tasks(const Graph& graph) {
    for (const TaskInfo& task : graph.tasks()) {
        const auto refuse = [&](const std::string& why) {
            return Error(fmt::format("graph '{}': task '{}' {}", graph.name(), task.name, why));
        };
        if (!task.body)
            throw refuse("has nothing to do").remedy("give it a body: task.run([=](Here& here) {...})");
        if (task.threads < 1)
            throw refuse("can use no thread").given(std::to_string(task.threads)).allowed(">= 1");
        for (const Use& use : task.uses) Check(graph, task, use).all();
        for (const SetId set : task.moves) {
            if (!graph.particle_sets().has(set))
                throw refuse("moves particles of a set that is none of this graph")
                    .remedy("sets come from this graph's particles()");
            const ParticleSet& of = graph.particle_sets()[set];
            if (task.family != of.grid)
                throw refuse(fmt::format("moves particles of '{}', which are not on its patches", of.name))
                    .allowed(fmt::format("tasks on the patches of '{}'", of.grid->name()));
        }
        for (std::size_t i = 0; i < task.uses.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const Use &a = task.uses[j], &b = task.uses[i];
                if (a.version.label != b.version.label ||
                    (a.access == Access::need && b.access == Access::need))
                    continue;
                const std::string& name = graph.labels()[a.version.label].name;
                if (a.access != Access::need && b.access != Access::need && a.version.back == b.version.back)
                    throw refuse(fmt::format("writes '{}' twice", name)).remedy("declare it once");
                const Use& read = a.access == Access::need ? a : b;
                const Use& written = a.access == Access::need ? b : a;
                if (read.is_sided()) continue;  // check_sweeps()
                if (written.access == Access::modify && read.version == written.version)
                    throw refuse(fmt::format("needs version {} of '{}' and modifies it in place",
                                             read.version.version, name))
                        .remedy(
                            "modify alone gives what was there; where neighbours' values are needed too, "
                            "modify with ghosts or upwind, make "
                            "another label, or a generation of a label with {.history = 1}");
                const bool same =
                    read.version.back == 0 && written.version.back == 0 &&
                    (read.version.version < 0 ||
                     read.version.version == written.version.version + (written.access == Access::modify));
                if (same && written.access != Access::modify)
                    throw refuse(fmt::format("needs '{}', which it makes itself", name))
                        .remedy("what neighbours make is there for a task that comes after this one");
                if (same && read.version.version >= 0)
                    throw refuse(fmt::format("needs version {} of '{}', which it makes itself",
                                             read.version.version, name))
                        .remedy("what neighbours make is there for a task that comes after this one");
            }
    }
}

void check_relocations(const Graph& graph) {
    for (const Scope& scope : graph.scopes())
        for (const Scope::Relocation& relocation : scope.relocations()) {
            const ParticleSet& set = graph.particle_sets()[relocation.set];
            const LabelInfo& position = graph.labels()[relocation.position.label];
            const auto refuse = [&](const std::string& why) {
                return Error(fmt::format("particles '{}' cannot be relocated by '{}': {}", set.name,
                                         position.name, why));
            };
            if (position.element != Element::f64 && position.element != Element::f32)
                throw refuse("it is no position").allowed("double or float");
            if (position.components > 3)
                throw refuse("it has too many components")
                    .given(counted(position.components, "component"))
                    .allowed("1 to 3");
            for (int a = position.components; a < 3; ++a)
                if (set.grid->shape().cells.extent(a) > 1)
                    throw refuse(fmt::format("'{}' has cells in a direction that it has no component for",
                                             set.grid->name()))
                        .given(counted(position.components, "component"))
                        .allowed(fmt::format("{} or more", a + 1));
        }
}

}  // namespace strata::graph::resolving
