// The waits between tasks: readers wait for the makers of their data, overwriting tasks for the readers of
// the old values.
#include <algorithm>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

void needs(Model& m, TaskId t, int use, const UseInfo& p) {
    const ScopeId s = m.task(t).scope;
    const UseOfTask own{t, use};
    if (p.back == 0) {
        for (const UseInRound& w : writers_of(m, s, p.label, p.version))
            add_edge(m, t, w, own, false, p.label);
        return;
    }
    const ScopeId home = m.home[p.label];
    const Timeline& generations = *m.timeline(home, p.label);
    for (const UseInRound& w : writers_of(m, home, p.label, generations.last(), p.back))
        add_edge(m, t, w, own, false, p.label);
    const ScopeId around = m.scope(home).parent();
    if (around && m.timeline(around, p.label) != nullptr)
        for (const UseInRound& w : writers_of(m, around, p.label, generations.taken))
            add_edge(m, t, w, own, false, p.label);
}

/// A modification waits for the writers of the value and for its readers. What the task itself reads upwind
/// in this round follows the order of its patches.
void modifies(Model& m, TaskId t, int use, const UseInfo& p) {
    const ScopeId s = m.task(t).scope;
    for (const UseInRound& w : writers_of(m, s, p.label, p.version))
        add_edge(m, t, w, {t, use}, false, p.label);
    for (const UseInRound& r : readers_of(m, s, p.label, p.version)) {
        if (r.at.task != t || r.lag > 0) add_edge(m, t, r, r.at, true, p.label);
        if (m.label(p.label).halo) add_sums_through_halo(m, t, r, p.label);
    }
}

/// A relocation waits for all tasks that use the set's lists before it. All tasks that use them after it wait
/// for the relocation.
///
/// Tasks that see the set with a halo read it on other patches: the relocation waits for them there, too.
void relocates(Model& m, const RelocatedSet& r) {
    const ScopeId s = m.task(r.task).scope;
    const LabelId label = m.uses[r.task].front().label;
    const auto waits_for = [&](TaskId t, ScopeId level, int lag) {
        add_edge(m, r.task, {{t}, level, lag}, {}, true, label);
        for (std::size_t u = 0; u < m.uses[t].size(); ++u) {
            const UseInfo& p = m.uses[t][u];
            if (p.access == Access::need && p.relation != nullptr && !p.contribution.task &&
                m.label(p.label).kind == Kind::particles)
                add_edge(m, r.task, {{t}, level, lag}, {t, static_cast<int>(u)}, true, label);
        }
    };
    for (std::size_t i = 0; i < r.tasks.size(); ++i) {
        const TaskId t = r.tasks[i];
        waits_for(t, s, r.after[i] ? 1 : 0);
        if (r.after[i])
            add_edge(m, t, {{r.task}, s, 0}, {}, true, label);
        else
            add_edge(m, t, {{r.task}, s, 1}, {}, true, label);
    }
    for (const auto& [t, level] : r.around) {
        add_edge(m, t, {{r.task}, level, 0}, {}, true, label);
        waits_for(t, level, 1);
    }
}

/// In the start scope, the maker of a set's ids sets the number of particles. All other tasks that use the
/// set wait for it.
void creates(Model& m, const ParticleSet& set) {
    const Timeline* t = m.timeline(kStart, set.id_label);
    const TaskId maker = t == nullptr ? TaskId() : t->values[0].maker.task;
    if (!maker) return;
    for (const TaskId other : m.out.tasks.ids()) {
        if (other == maker || !m.inside(m.task(other).scope, kStart)) continue;
        for (const UseInfo& p : m.uses[other])
            if (m.label(p.label).particle_set == set.id) {
                add_edge(m, other, {{maker}, kStart, 0}, {}, false, set.id_label);
                break;
            }
    }
}

}  // namespace

void find_edges(Model& m) {
    m.edges.assign(m.out.tasks.size(), {});
    for (const TaskId t : m.out.tasks.ids()) {
        const std::vector<UseInfo>& uses = m.uses[t];
        for (std::size_t u = 0; u < uses.size(); ++u) {
            const UseInfo& p = uses[u];
            const int use = static_cast<int>(u);
            if (p.contribution.task)
                add_edge(m, t, {p.contribution, m.task(t).scope, 0}, p.contribution, false, p.label);
            else if (p.access == Access::need)
                needs(m, t, use, p);
            else if (p.access == Access::modify)
                modifies(m, t, use, p);
        }
    }
    for (const RelocatedSet& r : m.relocated) relocates(m, r);
    for (const ParticleSet& set : m.graph.particle_sets()) creates(m, set);
    // Labels that live longer than a round, or that scopes share: the maker of a new value waits for the
    // readers of the old one. (For temporaries assign_storages() adds these waits.)
    for (const Timeline& t : m.timelines) {
        const TaskId maker = t.values[0].maker.task;
        if (!maker || scope_of_temporary(m, t.label)) continue;
        const ScopeId home = m.home[t.label];
        add_overwritten(m, maker, t.label, home == t.scope ? m.label(t.label).history + 1 : 1);
    }
}

void find_decisions(Model& m) {
    for (const Scope& scope : m.graph.scopes()) {
        const bool repeats = scope.form() == Scope::Form::repeat, when = scope.form() == Scope::Form::when;
        if (!repeats && !when) continue;
        const Version& v = scope.decided_by();
        const auto refuse = [&](const std::string& why) {
            return m.refuse(fmt::format("{} {}", m.say(scope.id()), why));
        };
        if (!m.graph.labels().has(v.label))
            throw refuse("is decided by a label that is not of this graph")
                .remedy("let it be decided by a scalar of this graph");
        if (m.label(v.label).kind != Kind::scalar)
            throw refuse(fmt::format("is decided by {}, which is no scalar", m.say(v.label, -1)))
                .remedy("contribute what decides to a scalar");
        const ScopeId s = repeats ? scope.id() : scope.parent();
        const Timeline* t = m.timeline(s, v.label);
        const ScopeId home = m.home[v.label];
        if (v.back > 0 && home != s)
            throw refuse(fmt::format("is decided by {} as it was {} before, which is not kept there",
                                     m.say(v.label, -1), counted(v.back, "round")))
                .remedy(fmt::format(
                    "declare it with {{.history = {0}}}, in Python with history={0}, and contribute "
                    "to it in {1}",
                    v.back, m.say(s)));
        const int version = v.back > 0 || v.version < 0 ? t->last() : v.version;
        if (version > t->last())
            throw refuse(fmt::format("is decided by {}, which no task makes", m.say(v.label, v.version)))
                .remedy(fmt::format("contribute to it, or make it in a task that runs once(name), in {}",
                                    m.say(s)));
        if (repeats && !t->values[0].maker.task && t->last() == 0)
            throw refuse(fmt::format("is repeated until {} says so, but nothing in it contributes to that",
                                     m.say(v.label, -1)))
                .remedy("contribute to it in a task of the scope");
        ResolvedScope& it = m.out.scopes[scope.id()];
        it.decision.label = v.label;
        it.decision.back = v.back;
        it.decision.version = version;
        const std::vector<UseInRound> writers = writers_of(m, s, v.label, version, v.back);
        for (const UseInRound& w : writers) {
            if (it.decided_by && m.task(it.decided_by).scope != m.task(w.at.task).scope)
                throw refuse(fmt::format("is decided by {}, which both {} and {} make",
                                         m.say(v.label, version), m.say(it.decided_by), m.say(w.at.task)))
                    .remedy(
                        "let it be decided by a scalar of which one scope makes the version that is meant");
            if (it.decided_by) continue;
            it.decided_by = w.at.task;
            it.decided_lag = m.task(w.at.task).scope == w.level ? w.lag : 0;
        }
        it.decision.maker = it.decided_by;
    }
}

}  // namespace strata::graph::resolving
