// A simulation as a graph of tasks: what a solver writes.
//
//   strata::graph::Graph graph("heat");
//   Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {256, 256, 256}}, .patch_cells = {32, 32, 32}});
//   auto u = graph.field<double>("temperature", grid, On::cells, {.history = 1});
//   {
//       Task task = graph.start().task("initial", grid);
//       auto now = task.make(u);
//       task.run([=](Here& here) { ... here[now](i, j, k) = ...; });
//   }
//   {
//       Task task = graph.step().task("diffuse", grid);
//       auto old = task.need(u.previous(), ghosts(1));
//       auto now = task.make(u);
//       task.run([=](Here& here) { diffuse(here.cells(), here[old], here[now]); });
//   }
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/graph/declare/particle_halo.hpp"
#include "core/graph/declare/task.hpp"

namespace strata::graph {

class Graph;

/// The two outermost scopes, which every graph has.
inline constexpr ScopeId kStart{0}, kStep{1};

/// A set of tasks that run together: the start (once, before the first step), the step, or a part of the step
/// that is repeated or left out. Each run of a scope is a round.
///
/// Versions are counted within a scope. A label of the scope around enters each round of an inner scope as
/// version 0. To the scope around, all rounds together are one modification: they begin with the version that
/// takes() names (0 without it) and leave the next one.
///   Example: the step makes x, version 0. A repeat within it modifies x from version 0 to 1, five rounds.
///   Each round's version 0 is the version 1 of the round before; afterwards the step sees x as version 1.
/// A label with a history that is made in an inner scope has one generation for each round of that scope.
/// In a graph in program order no version need be named, nor takes() be called (Graph::in_program_order).
class Scope {
  public:
    /// A task that runs on every patch of the family.
    Task task(std::string name, const Family& family);
    /// A task that makes a version of a field: value(x), for the place x of each cell, node or face, border
    /// layers included.
    template <class T, std::invocable<const Real3&> Value>
    Task fill(std::string name, const TypedVersion<T, Kind::field>& v, Value value);
    template <class T, std::invocable<const Real3&> Value>
    Task fill(std::string name, Field<T> label, Value value) {
        return fill(std::move(name), newest(label), std::move(value));
    }
    /// A task that runs once in each process. Tasks of this kind run in the same order in all processes, so a
    /// library that is collective over MPI may be called. Such a task starts when all patches of its process
    /// have the values that it needs.
    Task team_task(std::string name);
    /// A task that runs once in a round, not on patches: it makes and modifies scalars from scalars, as a
    /// clock, a sum over all steps or the coefficients of a Krylov method. Every process calls its function
    /// with the same bits, and so has the result without a message. The function may therefore depend on what
    /// the task declared and on nothing else, and what it does beside runs in every process.
    Task once(std::string name);

    /// A part that is repeated until `stop` holds for the scalar (asked after each round), at most `most`
    /// times.
    template <class T>
    Scope& repeat(std::string name, TypedVersion<T, Kind::scalar> scalar, std::function<bool(T)> stop,
                  std::int64_t most) {
        return inner(Form::repeat, std::move(name), scalar, erase<T>(std::move(stop)), most);
    }
    template <class T>
    Scope& repeat(std::string name, Scalar<T> scalar, std::function<bool(T)> stop, std::int64_t most);
    /// A part that runs in the rounds in which `go` holds for the scalar.
    template <class T>
    Scope& when(std::string name, TypedVersion<T, Kind::scalar> scalar, std::function<bool(T)> go) {
        return inner(Form::when, std::move(name), scalar, erase<T>(std::move(go)), 1);
    }
    template <class T>
    Scope& when(std::string name, Scalar<T> scalar, std::function<bool(T)> go) {
        return when(std::move(name), newest(scalar), std::move(go));
    }
    /// A part that runs `times` times.
    Scope& subcycle(std::string name, std::int64_t times) {
        return inner(Form::subcycle, std::move(name), {}, {}, times);
    }
    /// The version of an outer label with which the first round begins, where that is not version 0.
    Scope& takes(const Version& outer);

    /// Moves particles to the patches in which they now are. It runs when `position` (a label of three
    /// components, or of one for each direction) has its last version, and gives all labels of the set their
    /// next one, in order of cell and id. `hops`: the most patches that a particle may cross in one step; a
    /// particle that crosses more is an error that names it. 0: any number of patches.
    void relocate(SetId set, const Version& position, int hops = 1);
    template <class T>
    void relocate(SetId set, Particles<T> position, int hops = 1) {
        relocate(set, position.last(), hops);
    }
    /// Finds anew which particles are in the halo of each patch (ParticleHalo), by their positions' last
    /// version. In the scope that relocates them, after that; or in the start scope.
    void renew(HaloId halo);

    /// The version that a label alone means here and now.
    template <class T, Kind K>
    [[nodiscard]] TypedVersion<T, K> newest(Label<T, K> label) const {
        return label.at(newest_of(label.id()));
    }

    enum class Form : std::uint8_t { start, step, repeat, when, subcycle };
    [[nodiscard]] Form form() const { return form_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] ScopeId id() const { return id_; }
    [[nodiscard]] ScopeId parent() const { return parent_; }
    [[nodiscard]] const Version& decided_by() const { return scalar_; }
    [[nodiscard]] const std::function<bool(const void*)>& decision() const { return decision_; }
    [[nodiscard]] std::int64_t most() const { return most_; }
    /// `if_used`: from program order; it means nothing where no task of the scope uses the label.
    struct Taken : Version {
        bool if_used = false;
    };
    [[nodiscard]] const std::vector<Taken>& taken() const { return takes_; }

    struct Relocation {
        SetId set;
        Version position;
        int hops;
    };
    [[nodiscard]] const std::vector<Relocation>& relocations() const { return relocations_; }
    [[nodiscard]] const std::vector<HaloId>& renewals() const { return renewals_; }

  private:
    friend class Graph;
    friend class Task;
    friend class ProgramOrder;
    Scope(Graph& graph, Form form, std::string name, ScopeId id, ScopeId parent)
        : graph_(&graph), form_(form), name_(std::move(name)), id_(id), parent_(parent) {}
    template <class T>
    static std::function<bool(const void*)> erase(std::function<bool(T)> on) {
        return [on = std::move(on)](const void* value) { return on(*static_cast<const T*>(value)); };
    }
    Scope& inner(Form form, std::string name, const Version& scalar,
                 std::function<bool(const void*)> decision, std::int64_t most);
    Task add_task(std::string name, Runs runs, const Family* family);
    [[nodiscard]] int newest_of(LabelId label) const;

    Graph* graph_;
    Form form_;
    std::string name_;
    ScopeId id_, parent_;
    Version scalar_;
    std::function<bool(const void*)> decision_;
    std::int64_t most_ = 1;
    bool decided_by_newest_ = false;  // scalar_ follows program order within the scope
    std::vector<Taken> takes_;
    std::vector<Relocation> relocations_;
    std::vector<HaloId> renewals_;
};

/// Particles beyond a border of their grid that is not periodic: a mistake, or the patches at the border own
/// all that lies beyond it, up to 2^30 cells from cell 0.
enum class Beyond : std::uint8_t { refused, owned };

/// Particles on the patches of a grid. Their number on each patch changes as they move.
struct ParticleSet {
    std::string name;
    SetId id;
    const Grid* grid = nullptr;
    LabelId id_label;  // "<name>.id", std::int64_t: made with the set
    Beyond beyond = Beyond::refused;
};

/// A number that a user may change while the program runs: tasks read it, and it changes between steps, in
/// all processes before the same one.
struct Parameter {
    std::string name, unit = {}, about = {};
    double value = 0, least = 0, most = 0;
};

class Graph {
  public:
    explicit Graph(std::string name);
    ~Graph();
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    /// Families and relations that the graph owns; their addresses stay. In a part (GraphPart), grid() gives
    /// a grid of another part where that has the same shape: values of both parts then lie on the same
    /// patches.
    Grid& grid(std::string name, const GridShape& shape);
    template <class F, class... Arguments>
    F& add(Arguments&&... arguments) {
        auto made = std::make_shared<F>(std::forward<Arguments>(arguments)...);
        F& it = *made;
        if constexpr (std::is_base_of_v<Family, F>) {
            Family& family = it;
            family.name_ = named(std::move(family.name_));
            families_.push_back(std::move(made));
        } else {
            Relation& relation = it;
            relation.name_ = named(std::move(relation.name_));
            relations_.push_back(std::move(made));
        }
        return it;
    }

    /// A label with a value for each cell, node or face of a grid. Throws Error where the name is taken.
    template <class T>
    Field<T> field(std::string name, const Grid& grid, On on, const LabelOptions& options = {}) {
        LabelInfo info = described<T>(std::move(name), Kind::field, options);
        info.family = &grid;
        info.on = on;
        return Field<T>(label(std::move(info)));
    }
    /// A label with `entries(patch)` values on each patch of any family, e.g. the unknowns of a subdomain.
    template <class T>
    List<T> list(std::string name, const Family& family, std::function<std::int64_t(int patch)> entries,
                 const LabelOptions& options = {}) {
        LabelInfo info = described<T>(std::move(name), Kind::list, options);
        info.family = &family;
        info.entries = std::move(entries);
        return List<T>(label(std::move(info)));
    }
    /// A set of particles on a grid; particle() gives it labels.
    SetId particles(std::string name, const Grid& grid, Beyond beyond = Beyond::refused);
    /// A label with a value for each particle of a set.
    template <class T>
    Particles<T> particle(SetId set, std::string name, const LabelOptions& options = {}) {
        LabelInfo info = described<T>(std::move(name), Kind::particles, options);
        info.particle_set = set;
        return Particles<T>(label(std::move(info)));
    }
    /// The label that is made with a set: the number that each particle keeps for life.
    [[nodiscard]] Particles<std::int64_t> particle_id(SetId set) const {
        return Particles<std::int64_t>(sets_[set].id_label);
    }
    /// For each patch the particles of other patches that are closer to it than `distance`, in units of
    /// length; `position`: a label of the set, with a component for each direction. Scope::renew finds them.
    /// Throws Error where the distance is not positive. HaloSide::half: of two patches one alone sees the
    /// other.
    template <class T>
    requires std::is_floating_point_v<T> HaloId particle_halo(std::string name, Particles<T> position,
                                                              double distance,
                                                              HaloSide side = HaloSide::both) {
        return halo_of(std::move(name), position.id(), distance, side);
    }
    /// The label with the positions that the set's particles had when the halo was last renewed.
    template <class T>
    [[nodiscard]] Particles<T> renewed(HaloId halo) const {
        return Particles<T>(halos_[halo]->renewed());
    }
    /// A label with one value for all patches, reduced from their contributions; `first` until then. T is a
    /// number, or several of one type that are reduced together, each by itself: std::array<double, 6> for a
    /// tensor.
    template <class T>
    Scalar<T> scalar(std::string name, Reduce reduce, typename NumbersOf<T>::Type first = {},
                     const LabelOptions& options = {}) {
        LabelInfo info = described<typename NumbersOf<T>::Type>(std::move(name), Kind::scalar, options);
        info.components = NumbersOf<T>::count;
        info.reduce = reduce;
        info.first = static_cast<double>(first);
        return Scalar<T>(label(std::move(info)));
    }
    /// A scalar that tasks which run once make (Scope::once), and no reduction; 0 until then.
    template <class T>
    Scalar<T> scalar(std::string name, const LabelOptions& options = {}) {
        return scalar<T>(std::move(name), Reduce::none, {}, options);
    }
    /// Up to `most` numbers that are reduced together, each by itself; how many there are may change from
    /// round to round, as the products of a new Krylov vector with all before it do.
    template <class T>
    Scalars<T> scalars(std::string name, Reduce reduce, int most, const LabelOptions& options = {}) {
        static_assert(element_of<T>() != Element::u8 && element_of<T>() != Element::bytes);
        LabelInfo info = described<T>(std::move(name), Kind::scalar, options);
        info.components = 1 + most;
        info.counted = true;
        info.reduce = reduce;
        return Scalars<T>(label(std::move(info)));
    }
    /// An object on each patch of any family: a T that tasks make, need and modify on its own patch. T is any
    /// type that is default constructible and movable; each patch has a T{} at first. Where a patch moves to
    /// another process, or a run goes on from a checkpoint, objects that live from step to step are packed
    /// and unpacked, or else made again by the task that made them. Throws Error where only one of `pack` and
    /// `unpack` is given.
    template <class T>
    Object<T> object(std::string name, const Family& family, ObjectOptions<T> options = {}) {
        LabelInfo info;
        info.name = std::move(name);
        info.kind = Kind::object;
        info.family = &family;
        info.element = Element::bytes;
        info.bytes = sizeof(T);
        info.unit = options.unit;
        info.about = options.about;
        info.object = object_type(std::move(options));
        return Object<T>(label(std::move(info)));
    }
    /// Returns the address of its value, which tasks may read.
    const double* parameter(Parameter parameter);

    /// From here on tasks and inner scopes are declared in the order in which a program would run them: a
    /// label alone, where a task needs or modifies it, is the newest version that was declared so far in the
    /// scope, and an inner scope begins with the newest versions of the scope around it. What is declared is
    /// the same as with .at(v) and takes(), which may still be used.
    ///   Example: task.modify(u) twice, then task.need(u), are modify(u.at(0)), modify(u.at(1)),
    ///   need(u.at(2)).
    /// What was there before the step is label.previous(): a task that needs a label alone, which a later
    /// task of the scope makes, is an Error. To be called before the first task.
    void in_program_order();

    [[nodiscard]] Scope& start() { return scopes_[kStart]; }
    /// In a part (GraphPart): the scope that is its step.
    [[nodiscard]] Scope& step() { return scopes_[step_]; }
    /// Called by every process before each step (from 1), for relations and tables that change with it.
    void before_step(std::function<void(std::int64_t step)> call);

    /// A graph with the same families, relations, labels and sets of particles, under the same ids, and
    /// without tasks. It shares families and relations with this one. Its objects are packed as nothing: they
    /// stay in their process.
    [[nodiscard]] std::unique_ptr<Graph> without_tasks() const;

    /// Any label, without its type; particles have the family of their set. Throws Error where the name is
    /// taken, or the label cannot be. Returns its id.
    LabelId label(LabelInfo info);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const DequeBy<LabelId, LabelInfo>& labels() const { return labels_; }
    [[nodiscard]] const DequeBy<TaskId, TaskInfo>& tasks() const { return tasks_; }
    [[nodiscard]] const DequeBy<ScopeId, Scope>& scopes() const { return scopes_; }
    [[nodiscard]] const DequeBy<SetId, ParticleSet>& particle_sets() const { return sets_; }
    [[nodiscard]] const VectorBy<HaloId, ParticleHalo*>& particle_halos() const { return halos_; }
    [[nodiscard]] std::deque<Parameter>& parameters() { return parameters_; }
    [[nodiscard]] const VectorBy<FamilyId, std::shared_ptr<Family>>& families() const { return families_; }
    [[nodiscard]] const std::vector<std::shared_ptr<Relation>>& relations() const { return relations_; }
    [[nodiscard]] const std::vector<std::function<void(std::int64_t)>>& calls_before_step() const {
        return before_step_;
    }

  private:
    friend class Scope;
    friend class Task;
    friend class ProgramOrder;
    friend class GraphPart;
    /// Of the present part (TaskInfo::part).
    int number_of_part();
    void take_name(const char* what, const std::string& name);
    /// As it is called in the graph: in a part with the part's name before it.
    [[nodiscard]] std::string named(std::string name) const {
        return part_.empty() || name.empty() ? name : part_ + '.' + name;
    }
    HaloId halo_of(std::string name, LabelId position, double distance, HaloSide side);
    template <class T>
    static LabelInfo described(std::string name, Kind kind, const LabelOptions& options) {
        LabelInfo info;
        info.name = std::move(name);
        info.kind = kind;
        info.element = element_of<T>();
        info.bytes = sizeof(T);
        info.components = options.components;
        info.history = options.history;
        info.border = options.border;
        info.unit = options.unit;
        info.about = options.about;
        info.kept = options.kept;
        info.turns = options.turns;
        info.vector = options.vector;
        return info;
    }

    std::string name_;
    std::vector<std::string> parts_;         // in the order in which they were begun
    std::string part_;                       // "": none
    ScopeId step_ = kStep;                   // of the part
    std::unordered_set<std::string> names_;  // "label u", "task diffuse", ...
    // Deques: their elements keep their addresses.
    DequeBy<LabelId, LabelInfo> labels_;
    DequeBy<TaskId, TaskInfo> tasks_;
    DequeBy<ScopeId, Scope> scopes_;
    DequeBy<SetId, ParticleSet> sets_;
    VectorBy<HaloId, ParticleHalo*> halos_;  // among the relations
    std::deque<Parameter> parameters_;
    VectorBy<FamilyId, std::shared_ptr<Family>> families_;
    std::vector<std::shared_ptr<Relation>> relations_;
    std::vector<std::function<void(std::int64_t)>> before_step_;
    std::unique_ptr<class ProgramOrder> order_;  // null: none
};

/// A part of a graph with a name of its own, e.g. one of two solvers in one graph. What is declared while it
/// lives has names that begin with "NAME." (families, relations, labels, sets, tasks, scopes, parameters),
/// and Graph::step() is `step`: the step itself, or a scope within it. Sums add up what tasks of a part
/// contribute after what those of parts that were begun before it do. No name: as if it were not there.
///   Example: GraphPart metal(graph, "metal", graph.step()); then graph.scalar<double>("time") is
///   "metal.time".
class GraphPart {
  public:
    GraphPart(Graph& graph, std::string name, const Scope& step)
        : graph_(&graph),
          outer_(std::exchange(graph.part_, std::move(name))),
          outer_step_(std::exchange(graph.step_, step.id())) {
        graph.number_of_part();
    }
    ~GraphPart() {
        graph_->part_ = std::move(outer_);
        graph_->step_ = outer_step_;
    }
    GraphPart(const GraphPart&) = delete;
    GraphPart& operator=(const GraphPart&) = delete;

  private:
    Graph* graph_;
    std::string outer_;
    ScopeId outer_step_;
};

template <class T>
Scope& Scope::repeat(std::string name, Scalar<T> scalar, std::function<bool(T)> stop, std::int64_t most) {
    Scope& made = repeat(std::move(name), scalar.at(0), std::move(stop), most);
    made.decided_by_newest_ = bool(graph_->order_);
    return made;
}

template <class T, std::invocable<const Real3&> Value>
Task Scope::fill(std::string name, const TypedVersion<T, Kind::field>& v, Value value) {
    const LabelInfo& label = graph_->labels()[v.label];
    const auto& grid = static_cast<const Grid&>(*label.family);
    Task task = this->task(std::move(name), grid);
    task.run([made = task.make(v), on = label.on, &grid, value = std::move(value)](Here& here) {
        const auto view = here[made];
        for_each(view.box(), [&](int i, int j, int k) { view(i, j, k) = value(grid.place({i, j, k}, on)); });
    });
    return task;
}

}  // namespace strata::graph
