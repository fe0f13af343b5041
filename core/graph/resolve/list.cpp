// The tasks of a resolved graph: bodies, and the tasks that declarations imply: combinations of sums,
// reductions, relocations.
#include <algorithm>
#include <map>

#include "core/graph/declare/request_set.hpp"
#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

void list_bodies(Model& m) {
    for (const TaskInfo& info : m.graph.tasks()) {
        ResolvedTask task;
        task.name = info.name;
        task.task = info.id;
        task.scope = info.scope;
        m.out.tasks.push_back(std::move(task));
        std::vector<UseInfo> uses;
        for (const Use& use : info.uses)
            uses.push_back({use.access,
                            use.version.label,
                            use.version.version,
                            use.version.back,
                            use.relation,
                            use.access == Access::modify ? Int3{} : use.width,
                            {},
                            use.is_sided(),
                            use.faces_alone});
        m.uses.push_back(std::move(uses));
    }
}

/// Adds a combination or a reduction for each label and scope to which tasks contribute.
void list_sums(Model& m) {
    std::map<LabelId, std::map<ScopeId, std::vector<UseOfTask>>> of_label;  // by scope, in the order of names
    for (const TaskId t : m.tasks_by_name) {
        const std::vector<UseInfo>& uses = m.uses[t];
        for (std::size_t u = 0; u < uses.size(); ++u)
            if (uses[u].access == Access::sum || uses[u].access == Access::contribute)
                of_label[uses[u].label][m.task(t).scope].push_back({t, static_cast<int>(u)});
    }
    for (const LabelId label : m.labels_by_name) {
        const auto contributors = of_label.find(label);
        if (contributors == of_label.end()) continue;
        for (const auto& [scope, all] : contributors->second) {
            ResolvedTask task;
            const bool reduces = m.label(label).kind == Kind::scalar;
            task.what = reduces ? ResolvedTask::What::reduce : ResolvedTask::What::combine;
            const bool gate = request_role(m.graph, label).is_gate();
            task.name = fmt::format("{} of '{}'",
                                    gate      ? "exchange"
                                    : reduces ? "reduction"
                                              : "sum",
                                    m.label(label).name);
            if (scope > kStep) task.name += fmt::format(" in '{}'", m.scope(scope).name());
            if (scope == kStart) task.name += " at the start";
            task.scope = scope;
            task.completed = {label, 0, 0};
            std::vector<UseInfo> uses{{Access::make, label, 0, 0, nullptr, {}, {}}};
            for (const UseOfTask& from : all)
                uses.push_back({Access::need, label, 0, 0, m.use(from).relation, m.use(from).width, from});
            m.sum_of[m.key(scope, label)] = m.out.tasks.next();
            m.out.tasks.push_back(std::move(task));
            m.uses.push_back(std::move(uses));
        }
    }
}

/// Finds the labels that a relocation moves in a scope, and the tasks before and after it.
class Relocate {
  public:
    Relocate(Model& m, ScopeId scope, const Scope::Relocation& relocation)
        : m_(m), scope_(scope), relocation_(relocation), set_(m.graph.particle_sets()[relocation.set]) {}

    void list() {
        // Positions at a halo's renewal have no meaning after a relocation, until it is renewed.
        for (const LabelId label : m_.labels_by_name)
            if (m_.label(label).particle_set == relocation_.set && !m_.label(label).halo)
                labels_.push_back(label);
        for (const TaskId t : m_.tasks_by_name)
            if (m_.inside(m_.task(t).scope, scope_) && uses_set(t)) found_.tasks.push_back(t);
        find_made_later();
        for (const LabelId label : labels_)
            if (certain(label)) found_.moved.push_back(label);
        sort_out_the_others();
        list_sums_after();
        found_.task = m_.out.tasks.next();
        ResolvedTask task;
        task.what = ResolvedTask::What::relocate;
        task.name = fmt::format("relocation of '{}'", set_.name);
        if (scope_ > kStep) task.name += fmt::format(" in '{}'", m_.scope(scope_).name());
        task.scope = scope_;
        task.movers_named = movers_are_named();
        const std::vector<Scope::Relocation>& all = m_.scope(scope_).relocations();
        task.relocation = static_cast<int>(&relocation_ - all.data());
        std::vector<UseInfo> uses;
        for (const LabelId label : labels_)
            if (std::count(found_.moved.begin(), found_.moved.end(), label) > 0)
                uses.push_back({Access::modify, label, -1, 0, nullptr, {}, {}});
        m_.out.tasks.push_back(std::move(task));
        m_.uses.push_back(std::move(uses));
        m_.relocated.push_back(std::move(found_));
    }

  private:
    [[nodiscard]] bool uses_set(TaskId t) const {
        const std::vector<UseInfo>& uses = m_.uses[t];
        return std::any_of(uses.begin(), uses.end(), [&](const UseInfo& p) {
            return m_.label(p.label).particle_set == relocation_.set;
        });
    }
    [[nodiscard]] static bool makes(const UseInfo& p) {
        return p.access == Access::make || p.access == Access::sum;
    }

    /// A relocation within a scope (Scope::when, say) is one modification of the labels that move, to the
    /// scopes around. A label that such a scope makes anew, from what is there after it, does not move.
    ///   Example: each step relocates in a part of its own, and then makes forces from the new positions.
    void find_made_later() {
        for (ScopeId s = m_.scope(scope_).parent(); s; s = m_.scope(s).parent()) {
            std::vector<TaskId> after;
            for (bool again = true; again;) {
                again = false;
                for (const TaskId t : m_.tasks_by_name) {
                    if (m_.task(t).scope != s || is(after, t) || !follows(t, s)) continue;
                    after.push_back(t);
                    again = true;
                    for (const UseInfo& p : m_.uses[t])
                        if (makes(p) && is(labels_, p.label) && only_in(p.label, s))
                            made_later_.push_back(p.label);
                }
            }
            for (const TaskId t : after)
                if (uses_made_later(t)) found_.around.emplace_back(t, s);
        }
    }
    /// Whether a task of a scope around runs after this one: it uses what is there then.
    [[nodiscard]] bool follows(TaskId t, ScopeId s) const {
        const std::vector<Scope::Taken>& taken = m_.scope(m_.child_of(s, scope_)).taken();
        return std::any_of(m_.uses[t].begin(), m_.uses[t].end(), [&](const UseInfo& p) {
            if (is(made_later_, p.label)) return true;
            if (!is(labels_, p.label) || p.back > 0 || makes(p) || is_made_in(p.label, s)) return false;
            const auto from = std::find_if(taken.begin(), taken.end(),
                                           [&](const Version& v) { return v.label == p.label; });
            return p.version < 0 || p.version > (from == taken.end() ? 0 : from->version);
        });
    }
    [[nodiscard]] bool is_made_in(LabelId label, ScopeId s) const {
        return std::any_of(m_.tasks_by_name.begin(), m_.tasks_by_name.end(), [&](TaskId t) {
            return m_.task(t).scope == s &&
                   std::any_of(m_.uses[t].begin(), m_.uses[t].end(),
                               [&](const UseInfo& p) { return p.label == label && makes(p); });
        });
    }
    /// Whether tasks of this scope alone use the label, and of those within it none that the relocation's is
    /// part of.
    [[nodiscard]] bool only_in(LabelId label, ScopeId s) const {
        const ScopeId child = m_.child_of(s, scope_);
        for (const TaskId t : m_.tasks_by_name)
            for (const UseInfo& p : m_.uses[t]) {
                const ScopeId at = m_.task(t).scope;
                const bool start = m_.inside(at, kStart) && m_.inside(s, kStep);
                if (p.label == label && !start && (!m_.inside(at, s) || m_.inside(at, child))) return false;
            }
        return true;
    }
    [[nodiscard]] bool uses_made_later(TaskId t) const {
        return std::any_of(m_.uses[t].begin(), m_.uses[t].end(),
                           [&](const UseInfo& p) { return is(made_later_, p.label); });
    }
    /// Sums of contributions are made when their contributions are.
    void list_sums_after() {
        const auto total = [&](TaskId t, auto each) {
            for (const UseInfo& p : m_.uses[t])
                if (p.access == Access::sum && m_.label(p.label).particle_set == relocation_.set)
                    each(m_.sum_of[m_.key(m_.task(t).scope, p.label)]);
        };
        for (std::size_t i = 0, tasks = found_.tasks.size(); i < tasks; ++i)
            total(found_.tasks[i], [&, after = bool(found_.after[i])](TaskId sum) {
                if (is(found_.tasks, sum)) return;
                found_.tasks.push_back(sum);
                found_.after.push_back(after);
            });
        for (std::size_t i = 0, tasks = found_.around.size(); i < tasks; ++i) {
            const auto [task, scope] = found_.around[i];
            total(task, [&, s = scope](TaskId sum) { found_.around.emplace_back(sum, s); });
        }
    }

    /// Whether the label moves in any case: the position, the id, a label with values carried from round to
    /// round, or one used outside the scope.
    [[nodiscard]] bool certain(LabelId label) const {
        if (label == relocation_.position.label || label == set_.id_label) return true;
        if (is(made_later_, label)) return false;
        bool made = false, inside = false, outside = false;
        for (const TaskId t : m_.tasks_by_name)
            for (const UseInfo& p : m_.uses[t]) {
                if (p.label != label) continue;
                const ScopeId s = m_.task(t).scope;
                made = made || (s == scope_ && makes(p));
                inside = inside || m_.inside(s, scope_);
                // The start scope never reads values of the step: for a relocation in the step, uses in the
                // start scope do not count.
                outside =
                    outside || (!m_.inside(s, scope_) && !(m_.inside(scope_, kStep) && m_.inside(s, kStart)));
            }
        return outside || (inside && !made);
    }
    /// Whether all tasks of the steps that change positions or ids list the moved particles (Task::moves).
    /// Throws Error where only some do.
    [[nodiscard]] bool movers_are_named() const {
        TaskId say, others;
        for (const TaskId t : m_.tasks_by_name) {
            if (m_.inside(m_.task(t).scope, kStart)) continue;
            const std::vector<SetId>& moves = m_.graph.tasks()[t].moves;
            const bool says = is(moves, relocation_.set);
            const std::vector<UseInfo>& uses = m_.uses[t];
            const bool changes = std::any_of(uses.begin(), uses.end(), [&](const UseInfo& p) {
                return p.access != Access::need &&
                       (p.label == relocation_.position.label || p.label == set_.id_label);
            });
            if (says)
                say = t;
            else if (changes)
                others = t;
        }
        if (say && others)
            throw m_
                .refuse(
                    fmt::format("{} changes where the particles '{}' are, or how many there are, and does "
                                "not say which of them moved, as {} does",
                                m_.say(others), set_.name, m_.say(say)))
                .remedy("moves(set) in all tasks that do, or in none");
        return say && scope_ != kStart;
    }
    [[nodiscard]] int modifications(LabelId label) const {
        int count = 0;
        for (const TaskId t : m_.tasks_by_name)
            if (m_.task(t).scope == scope_)
                for (const UseInfo& p : m_.uses[t]) count += p.label == label && p.access == Access::modify;
        std::vector<ScopeId> children;
        for (const TaskId t : m_.tasks_by_name)
            if (m_.task(t).scope != scope_ && m_.inside(m_.task(t).scope, scope_))
                for (const UseInfo& p : m_.uses[t])
                    if (p.label == label && p.access != Access::need)
                        children.push_back(m_.child_of(scope_, m_.task(t).scope));
        std::sort(children.begin(), children.end());
        return count + static_cast<int>(std::unique(children.begin(), children.end()) - children.begin());
    }
    [[nodiscard]] bool sees_after(const UseInfo& p) const {
        return p.access == Access::need && p.back == 0 &&
               (p.version < 0 || p.version > modifications(p.label));
    }
    template <class Any>
    [[nodiscard]] static bool is(const std::vector<Any>& in, Any one) {
        return std::find(in.begin(), in.end(), one) != in.end();
    }

    /// Sorts labels that are made anew in each round. A label made from relocated values is made after the
    /// relocation and does not move. Another one moves if a task reads its version after the relocation.
    void sort_out_the_others() {
        std::vector<LabelId> later;
        found_.after.assign(found_.tasks.size(), false);
        for (bool again = true; again;) {
            again = false;
            for (std::size_t i = 0; i < found_.tasks.size(); ++i) {
                if (found_.after[i] || m_.task(found_.tasks[i]).scope != scope_) continue;
                for (const UseInfo& p : m_.uses[found_.tasks[i]])
                    if (is(later, p.label) || (is(found_.moved, p.label) && sees_after(p)))
                        found_.after[i] = again = true;
                if (!found_.after[i]) continue;
                for (const UseInfo& p : m_.uses[found_.tasks[i]])
                    if (makes(p) && m_.label(p.label).particle_set == relocation_.set)
                        later.push_back(p.label);
            }
            if (again) continue;
            for (const LabelId label : labels_) {
                if (is(found_.moved, label) || is(later, label)) continue;
                for (const TaskId t : found_.tasks)
                    for (const UseInfo& p : m_.uses[t])
                        if (p.label == label && m_.task(t).scope == scope_ && sees_after(p) &&
                            !is(found_.moved, label)) {
                            found_.moved.push_back(label);
                            again = true;
                        }
            }
        }
        for (std::size_t i = 0; i < found_.tasks.size(); ++i)
            if (found_.after[i]) check_side(found_.tasks[i], later);
    }

    void check_side(TaskId t, const std::vector<LabelId>& later) const {
        for (const UseInfo& p : m_.uses[t])
            if (m_.label(p.label).particle_set == relocation_.set && !is(later, p.label) && !sees_after(p))
                throw m_
                    .refuse(fmt::format(
                        "{} uses '{}' as it was before the particles '{}' are relocated, and other "
                        "labels as they are afterwards",
                        m_.say(t), m_.label(p.label).name, set_.name))
                    .remedy(
                        "need(label.last()) is what is there afterwards; or use the versions before in a "
                        "task of "
                        "their own");
    }

    Model& m_;
    ScopeId scope_;
    const Scope::Relocation& relocation_;
    const ParticleSet& set_;
    std::vector<LabelId> labels_;
    std::vector<LabelId> made_later_;  // by scopes around
    RelocatedSet found_;
};

}  // namespace

void list_tasks(Model& m) {
    const auto sorted = [](auto& order, const auto& all, const auto& before) {
        for (const auto id : all.ids()) order.push_back(id);
        std::sort(order.begin(), order.end(), [&](auto a, auto b) { return before(all[a], all[b]); });
    };
    sorted(m.labels_by_name, m.graph.labels(),
           [](const LabelInfo& a, const LabelInfo& b) { return a.name < b.name; });
    sorted(m.tasks_by_name, m.graph.tasks(), adds_before);
    m.sum_of.assign(m.graph.labels().size() * m.graph.scopes().size(), {});
    list_bodies(m);
    list_sums(m);
    for (const Scope& scope : m.graph.scopes()) {
        std::vector<SetId> sets;
        for (const Scope::Relocation& relocation : scope.relocations()) {
            const std::string& name = m.graph.particle_sets()[relocation.set].name;
            if (std::count(sets.begin(), sets.end(), relocation.set) > 0)
                throw m
                    .refuse(
                        fmt::format("the particles '{}' are relocated twice in {}", name, m.say(scope.id())))
                    .remedy("put one of them into a scope of its own: subcycle(name, 1)");
            sets.push_back(relocation.set);
            Relocate(m, scope.id(), relocation).list();
        }
    }
}

}  // namespace strata::graph::resolving
