// Tasks: functions on a patch, with declared inputs and results. A task does not mention processes, messages
// or order: these follow from its declarations. The order in which tasks are added never matters, except that
// in a graph in program order (Graph::in_program_order) it says which version a label alone means.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/graph/declare/access.hpp"
#include "core/graph/declare/collect.hpp"
#include "core/graph/declare/ghost_copies.hpp"
#include "core/graph/declare/label.hpp"
#include "core/graph/declare/relation.hpp"
#include "core/graph/declare/shared.hpp"
#include "core/graph/declare/upwind.hpp"

namespace strata::graph {

/// How a task uses a version.
enum class Access : std::uint8_t {
    need,    // reads it: on its own patch, with ghosts, or through a relation
    make,    // writes all of it; the values before are undefined
    modify,  // takes version v and makes v + 1 in the same storage, once all readers of v are done
    sum,  // adds to its patch's own values and to those of neighbours within `width`, or to another family's
          // in a window; contributions are added in the order of patches
    contribute,  // adds a value to the reduction of a scalar
};

struct Use {
    Access access = Access::need;
    Version version;
    const Relation* relation = nullptr;  // null: own patch, with `width`
    Int3 width{};                        // need, modify: ghosts; sum: how far contributions reach
    std::array<Int3, 2> unreached{};     // sum: layers of `width` without contributions, below and above
    bool accepts_missing = false;        // need: also of patches where no task makes the version
    Int3 towards{};            // need: ghosts upwind alone (Upwind::towards); modify: the order of patches
    bool corners = false;      // with those beyond edges and corners
    bool faces_alone = false;  // need: of ghosts all around those beyond faces
    bool in_zone = false;      // with `towards`: neither order nor ghosts go beyond joined faces

    /// sum: the box to which a patch that owns `owned` adds.
    [[nodiscard]] Box reached(const Box& owned) const {
        Box all = owned.grown(width);
        for (std::size_t a = 0; a < 3; ++a) all.lo[a] += unreached[0][a], all.hi[a] -= unreached[1][a];
        return all;
    }
    /// sum: into the patches of another family, each of which gets what the windows of the task's patches
    /// have of it (Relation::pieces, from the target to the source).
    [[nodiscard]] bool is_scattered() const {
        return access == Access::sum && relation != nullptr && relation->shape() == Shape::window;
    }
    /// Need: ghosts on some sides alone.
    [[nodiscard]] bool is_sided() const { return access == Access::need && towards != Int3{}; }
    /// Need: not all ghosts within `width`.
    [[nodiscard]] bool lacks_some() const { return is_sided() || faces_alone; }
};

/// in_processes: once in each process, for libraries that are collective over processes, and for files.
/// once: scalars from scalars. Each process finds them out for itself, from the same bits to the same bits.
enum class Runs : std::uint8_t { on_patches, in_processes, once };

class Graph;
class Scope;

struct TaskInfo {
    const Graph* graph = nullptr;  // the graph of the task and of the labels that it uses
    std::string name;
    int part = 0;  // of the graph, counted from 1 in the order in which they were begun; 0: of none
    TaskId id;
    ScopeId scope;
    const Family* family = nullptr;
    Runs runs = Runs::on_patches;
    std::vector<Use> uses;
    std::function<bool(Here&)> body;  // returns false: not complete, call it again (files, devices)
    int threads = 1;                  // the most that one call can use
    double flops = 0, bytes = 0;      // for each cell of a grid's patch (other families: for each call)
    SetId worked_set;                 // and for each particle of this set on the patch:
    double particle_flops = 0, particle_bytes = 0;
    std::vector<SetId> moves;  // sets of which it lists the particles that left their cells
    HaloId renews;             // Scope::renew: the halo whose members it finds; it has no function
    std::vector<bool> where;   // [patch] whether it runs there; empty: on all
    bool modifies = false;

    [[nodiscard]] bool runs_on(int patch) const {
        return where.empty() || where[static_cast<std::size_t>(patch)];
    }
    /// Whether the other patches have no operation of it. They do where it modifies: who waits for the
    /// version that it makes so waits for what it would have waited for, and finds the version before.
    [[nodiscard]] bool partial() const { return !where.empty() && !modifies; }
    [[nodiscard]] bool left_out(int patch) const { return partial() && !runs_on(patch); }
};

class Task {
  public:
    Task(TaskInfo& info, Scope& scope) : info_(&info), scope_(&scope) {}

    /// Reads a field on its own patch, or with ghosts around it.
    template <class T>
    FieldUse<const T> need(TypedVersion<T, Kind::field> v, Ghosts around = {}) {
        return {use({Access::need, v, nullptr, around.width, {}, false, {}, false, !around.corners}),
                info_->id};
    }
    /// Reads what the task itself makes, on its own patch and upwind of it: a patch begins when its
    /// neighbours there are done. `v` is the version that the task makes: 0 of make(u), 1 of modify(u.at(0)).
    template <class T>
    FieldUse<const T> need(TypedVersion<T, Kind::field> v, const Upwind& from) {
        return {use(sided(Access::need, v, from)), info_->id};
    }
    /// A label alone means its version 0, or the newest one (Graph::in_program_order). Label() is a quantity
    /// that the case does not have: nothing is declared, and the handle shows an empty view (of a scalar,
    /// none). The same holds for all functions here that take a label.
    template <class T, Kind K, class... How>
    auto need(Label<T, K> label, How&&... how) {
        return need(newest(label), std::forward<How>(how)...);
    }
    /// Reads another family's field in a window.
    template <class T>
    FieldUse<const T> need(TypedVersion<T, Kind::field> v, const Overlap& window) {
        return {use({Access::need, v, &window, {}}), info_->id};
    }
    /// Reads values of other patches as a list.
    template <class T, Kind K>
    ListUse<const T> need(TypedVersion<T, K> v, const Gather& from) {
        static_assert(K == Kind::field || K == Kind::list);
        return {use({Access::need, v, &from, {}}), info_->id};
    }
    /// Reads all values of other patches, one patch after the other.
    template <class T, Kind K>
    CollectUse<const T> need(TypedVersion<T, K> v, const Collect& from) {
        static_assert(K == Kind::field || K == Kind::list);
        return {use({Access::need, v, &from, {}}), info_->id, &from};
    }
    /// Reads the neighbours' values of the entries that patches share, in the order of Shared::links.
    template <class T>
    ListUse<const T> need(TypedVersion<T, Kind::list> v, const Shared& from) {
        return {use({Access::need, v, &from, {}}), info_->id};
    }
    template <class T, Kind K>
    requires(K == Kind::list || K == Kind::particles) ListUse<const T> need(TypedVersion<T, K> v) {
        return {use({Access::need, v, nullptr, {}}), info_->id};
    }
    /// Reads values of the patch's own particles, and behind them in the same list those of the particles in
    /// its halo (ParticleHalo).
    template <class T>
    ListUse<const T> need(TypedVersion<T, Kind::particles> v, HaloId halo) {
        return {through(Access::need, v, halo), info_->id};
    }
    /// Who is in such lists: their lengths, and the place of a particle by its number.
    HaloUse need(HaloId halo) { return {members(halo, true), info_->id}; }
    /// Their lengths alone. Where no task needs more, no table of numbers is made (50 bytes a particle).
    HaloUse sizes(HaloId halo) { return {members(halo, false), info_->id}; }
    template <class T>
    ScalarUse<const T> need(TypedVersion<T, Kind::scalar> v) {
        return {use({Access::need, v, nullptr, {}}), info_->id};
    }

    template <class T>
    ScalarsUse<const T> need(TypedVersion<UpTo<T>, Kind::scalar> v) {
        return {use({Access::need, v, nullptr, {}}), info_->id};
    }

    /// The object of its own patch.
    template <class T>
    ObjectUse<const T> need(TypedVersion<T, Kind::object> v) {
        return {use({Access::need, v, nullptr, {}}), info_->id};
    }

    template <class T>
    FieldUse<T> make(TypedVersion<T, Kind::field> v) {
        return {use({Access::make, v, nullptr, {}}), info_->id};
    }
    /// Scalars are made and modified by tasks that run once (Scope::once).
    template <class T>
    ScalarUse<T> make(TypedVersion<T, Kind::scalar> v) {
        return {use({Access::make, v, nullptr, {}}), info_->id};
    }
    template <class T>
    ScalarsUse<T> make(TypedVersion<UpTo<T>, Kind::scalar> v) {
        return {use({Access::make, v, nullptr, {}}), info_->id};
    }
    template <class T, Kind K>
    auto make(Label<T, K> label) {
        return make(label.at(0));
    }
    template <class T, Kind K>
    requires(K == Kind::list || K == Kind::particles) ListUse<T> make(TypedVersion<T, K> v) {
        return {use({Access::make, v, nullptr, {}}), info_->id};
    }

    template <class T>
    ObjectUse<T> make(TypedVersion<T, Kind::object> v) {
        return {use({Access::make, v, nullptr, {}}), info_->id};
    }

    /// Takes version v and makes v + 1 in the same storage.
    template <class T, Kind K, class... How>
    auto modify(Label<T, K> label, How&&... how) {
        return modify(newest(label), std::forward<How>(how)...);
    }
    template <class T>
    FieldUse<T> modify(TypedVersion<T, Kind::field> v) {
        return {use({Access::modify, v, nullptr, {}}), info_->id};
    }
    /// In place, with frozen ghosts: they are as they were before the task began on any patch, in whatever
    /// order patches run. For orders by colours. Each patch of such a label is stored by itself.
    template <class T>
    FieldUse<T> modify(TypedVersion<T, Kind::field> v, Ghosts frozen) {
        freeze(v, frozen.width);
        return {use({Access::modify, v, nullptr, frozen.width}), info_->id};
    }
    /// In place and in order (Gauss-Seidel): ghosts upwind are as the task has left them, ghosts on the other
    /// sides of the same axes as they were before.
    template <class T>
    FieldUse<T> modify(TypedVersion<T, Kind::field> v, const Upwind& from) {
        const Upwind other = from.reversed();
        TypedVersion<T, Kind::field> made = v;
        ++made.version;
        const int own = use(sided(Access::modify, v, from));
        use(sided(Access::need, made, from));
        use(sided(Access::need, v, other));
        return {own, info_->id};
    }
    template <class T, Kind K>
    requires(K == Kind::list || K == Kind::particles) ListUse<T> modify(TypedVersion<T, K> v) {
        return {use({Access::modify, v, nullptr, {}}), info_->id};
    }

    template <class T>
    ObjectUse<T> modify(TypedVersion<T, Kind::object> v) {
        return {use({Access::modify, v, nullptr, {}}), info_->id};
    }
    template <class T>
    ScalarUse<T> modify(TypedVersion<T, Kind::scalar> v) {
        return {use({Access::modify, v, nullptr, {}}), info_->id};
    }
    template <class T>
    ScalarsUse<T> modify(TypedVersion<UpTo<T>, Kind::scalar> v) {
        return {use({Access::modify, v, nullptr, {}}), info_->id};
    }

    /// Adds to a field's version on the own patch and `reach` layers around it. ghosts(1): one layer on every
    /// side. Sides({0, 0, 0}, {1, 1, 1}): one layer on the upper sides only, e.g. to add from particles to
    /// the nodes at the corners of their cells. The view is zero at first and holds this patch's
    /// contributions only.
    template <class T>
    FieldUse<T> sum(TypedVersion<T, Kind::field> v, const Sides& reach) {
        Use use{Access::sum, v, nullptr, {}};
        for (std::size_t a = 0; a < 3; ++a) {
            use.width[a] = std::max(reach.below[a], reach.above[a]);
            use.unreached[0][a] = use.width[a] - reach.below[a];
            use.unreached[1][a] = use.width[a] - reach.above[a];
        }
        return {this->use(use), info_->id};
    }
    template <class T, Kind K, class... How>
    auto sum(Label<T, K> label, How&&... how) {
        return sum(label.at(0), std::forward<How>(how)...);
    }
    /// Adds to a field of another grid, `onto.source()`, in the window that the relation shows of it (its
    /// ghosts are how far contributions reach). The view is zero at first, in the source's indices. Windows
    /// are added up in the order of this task's patches, also through the source's periodic borders. What is
    /// added at indices without an owner is lost. Example: charges of particles onto a mesh with other
    /// patches.
    template <class T>
    FieldUse<T> sum(TypedVersion<T, Kind::field> v, const Overlap& onto) {
        return {use({Access::sum, v, &onto, {}}), info_->id};
    }
    /// Adds to a list's version. Entries that other patches share get the contributions of those patches too.
    template <class T>
    ListUse<T> sum(TypedVersion<T, Kind::list> v, const Shared& shared) {
        return {use({Access::sum, v, &shared, {}}), info_->id};
    }

    /// Adds to values of the patch's own particles and, behind them in the same list, of those in its halo.
    /// The list is zero at first. Each particle gets the contributions of its own patch, then those of the
    /// others in the order of patches.
    template <class T>
    ListUse<T> sum(TypedVersion<T, Kind::particles> v, HaloId halo) {
        return {through(Access::sum, v, halo), info_->id};
    }

    /// Contributes to a reduction. The value is the operation's neutral element at first (0 for a sum). Of a
    /// scalar of several numbers each is reduced by itself, and all travel in one message.
    template <class T>
    ScalarUse<T> contribute(TypedVersion<T, Kind::scalar> v) {
        return {use({Access::contribute, v, nullptr, {}}), info_->id};
    }
    /// There are none at first: Numbers::resize says how many. The result has as many as the longest
    /// contribution.
    template <class T>
    ScalarsUse<T> contribute(TypedVersion<UpTo<T>, Kind::scalar> v) {
        return {use({Access::contribute, v, nullptr, {}}), info_->id};
    }
    template <class T>
    auto contribute(Scalar<T> label) {
        return contribute(label.at(0));
    }

    /// For kernels in other languages: declares a use without types. Returns the index of the use; -1 where
    /// the version is none of a label.
    int use(const Use& use);

    /// The task lists in Here::moved() the particles of the set that left their cells or are deleted. The
    /// cell of a particle at x is floor((x - origin) / spacing), computed by multiplication with 1 / spacing.
    ///
    /// If all tasks of the steps that change the set's positions or ids call this, a relocation looks at the
    /// listed particles only. A step in which no particle leaves its cell then costs next to nothing. Listing
    /// too many is no mistake. Leaving one out is: the particle stays in the wrong place in the order of
    /// cells (a checking build finds it).
    Task& moves(SetId set);

    /// The task runs on these patches of its family only, e.g. those at a boundary. What it makes is there on
    /// them alone; what it modifies stays as it was on the others; sums and reductions take what there is.
    /// The patches must follow from the case, as all that is declared. Throws Error where a patch is none of
    /// the family's.
    Task& on(const std::vector<int>& patches);
    /// Those for which runs(patch) holds. It is asked here, once for each patch.
    template <std::predicate<int> Runs>
    Task& on(const Runs& runs) {
        std::vector<int> patches;
        for (int patch = 0; info_->family != nullptr && patch < info_->family->patches(); ++patch)
            if (runs(patch)) patches.push_back(patch);
        return on(patches);
    }
    /// The task also runs where no task makes what this use needs, on its own patch or on those that it
    /// reaches; the values mean nothing there. Otherwise such a need is an error.
    template <class HowUsed>
    Task& accept_missing(const HowUsed& need) {
        if (need.index >= 0) info_->uses[static_cast<std::size_t>(need.index)].accepts_missing = true;
        return *this;
    }

    /// The task's function, body(Here&). A body that returns bool is called again, while other operations
    /// run, until it returns true.
    template <class Body, bool checked = kChecked>
    Task& run(Body body) {
        info_->body = [body = std::move(body)](Here& here) mutable {
            const auto call = [&] {
                if constexpr (std::is_same_v<std::invoke_result_t<Body&, Here&>, bool>) return body(here);
                body(here);
                return true;
            };
            if constexpr (checked) {
                const GhostCopies before(here);
                const bool done = call();
                before.compare();
                return done;
            } else {
                return call();
            }
        };
        return *this;
    }
    /// Up to n threads of the process may work on one call (Here::parallel_for).
    Task& threads(int n) {
        info_->threads = n;
        return *this;
    }
    /// Declares the work of a call, for profiles, rooflines and the order of tasks: for each cell of a grid's
    /// patch; on other families for the whole call.
    Task& work(double flops, double bytes) {
        info_->flops = flops;
        info_->bytes = bytes;
        return *this;
    }
    /// The same for each particle of a set on the patch, in addition to work().
    Task& work_of(SetId set, double flops, double bytes) {
        info_->worked_set = set;
        info_->particle_flops = flops;
        info_->particle_bytes = bytes;
        return *this;
    }
    [[nodiscard]] const TaskInfo& info() const { return *info_; }

    /// The version that a label alone means here and now.
    template <class T, Kind K>
    [[nodiscard]] TypedVersion<T, K> newest(Label<T, K> label) const {
        return label.at(newest_of(label.id()));
    }

  private:
    [[nodiscard]] int newest_of(LabelId label) const;
    [[nodiscard]] static Use sided(Access access, const Version& v, const Upwind& from) {
        return {access, v, nullptr, from.width(), {}, false, from.towards, from.corners, false, from.in_zone};
    }
    /// Adds a task before this one: when it is done on a patch, the patch has its ghosts, so its neighbours
    /// may change their values.
    void freeze(const Version& v, const Int3& width);
    /// Uses of particles with a halo, and of its members: the last ones that were found.
    int through(Access access, const Version& v, HaloId halo);
    int members(HaloId halo, bool by_number);

    TaskInfo* info_;
    Scope* scope_;
};

/// The order in which tasks add to a sum: that of parts, and within one that of names, so that it does not
/// matter in which order tasks are declared.
[[nodiscard]] inline bool adds_before(const TaskInfo& a, const TaskInfo& b) {
    return a.part != b.part ? a.part < b.part : a.name < b.name;
}

/// The version of a label that a use makes; -1: it makes none.
[[nodiscard]] inline int made_by(const Use& use) {
    if (use.access == Access::modify) return use.version.version + 1;
    return use.access == Access::make && use.version.back == 0 ? use.version.version : -1;
}
/// Whether a use changes values with ghosts as they were before.
[[nodiscard]] inline bool is_frozen(const Use& use) {
    return use.access == Access::modify && use.width != Int3{} && use.towards == Int3{};
}
/// Whether a use of the task needs what the task itself makes, upwind.
[[nodiscard]] inline bool is_ordered_by(const TaskInfo& task, const Use& use) {
    return use.is_sided() && std::any_of(task.uses.begin(), task.uses.end(), [&](const Use& by) {
               return by.version.label == use.version.label && made_by(by) == use.version.version;
           });
}
/// The order in which the task goes over patches, with all layers and corners that its uses have in it.
/// Towards nowhere: any order.
[[nodiscard]] inline Upwind order_of(const TaskInfo& task) {
    Upwind order;
    order.in_zone = true;
    for (const Use& use : task.uses) {
        if (!is_ordered_by(task, use)) continue;
        for (std::size_t a = 0; a < 3; ++a)
            if (use.towards[a] != 0) order.towards[a] = use.towards[a];
        order.layers = std::max({order.layers, use.width[0], use.width[1], use.width[2]});
        order.corners = order.corners || use.corners;
        order.in_zone = order.in_zone && use.in_zone;
    }
    return order;
}
/// Whether the task changes values in that order, with ghosts on the other sides as they were before.
[[nodiscard]] inline bool is_ordered_in_place(const TaskInfo& task) {
    return std::any_of(task.uses.begin(), task.uses.end(),
                       [](const Use& use) { return use.access == Access::modify && use.towards != Int3{}; });
}

}  // namespace strata::graph
