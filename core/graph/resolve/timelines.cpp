// The versions of each label in each scope, with their makers and readers.
#include <algorithm>
#include <set>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

/// One label in all scopes. An inner scope has a greater number than the scopes around it.
class Label {
  public:
    Label(Model& m, LabelId label, const VectorBy<ScopeId, std::vector<UseOfTask>>& uses)
        : m_(m), label_(label), uses_(uses), scopes_(m.graph.scopes().size()) {}

    void make() {
        look();
        find_home();
        find_where_it_exists();
        for (const ScopeId s : m_.scopes())
            if (exists(s)) make_versions(s);
        for (const ScopeId s : m_.scopes())
            if (exists(s)) add_readers(s);
        for (const ScopeId s : m_.scopes())
            if (exists(s)) check_entry(s);
    }

  private:
    struct LabelInScope {
        bool mentioned = false;  // used by a task of this scope
        bool below = false;      // used by a task of this scope or an inner one
        bool made = false;       // version 0 is made by a task of this scope
        bool makes = false;      // some version is made in this scope or an inner one
        bool changes = false;    // versions beyond 0
        bool exists = false;
        bool enters = false;  // its first round begins with a value from before
        int taken = 0;
    };
    [[nodiscard]] LabelInScope& in(ScopeId s) { return scopes_[s]; }
    [[nodiscard]] bool exists(ScopeId s) { return in(s).exists; }
    [[nodiscard]] const std::vector<UseOfTask>& uses(ScopeId s) const { return uses_[s]; }
    [[nodiscard]] const LabelInfo& info() const { return m_.label(label_); }
    [[nodiscard]] ScopeId parent(ScopeId s) const { return m_.scope(s).parent(); }
    template <class Do>
    void each_child(ScopeId s, Do&& what) {
        for (const ScopeId c : m_.scopes())
            if (parent(c) == s && in(c).below) what(c);
    }
    /// For loops over inner scopes first.
    [[nodiscard]] ScopeId inmost() const { return ScopeId(scopes_.size() - 1); }
    [[nodiscard]] static ScopeId before(ScopeId s) { return ScopeId(s.number() - 1); }
    static bool writes(const UseInfo& p) { return p.access != Access::need; }

    void look() {
        for (ScopeId s = inmost(); s; s = before(s)) {
            LabelInScope& it = in(s);
            for (const UseOfTask& use : uses(s)) {
                const UseInfo& p = m_.use(use);
                it.mentioned = true;
                it.made =
                    it.made || (p.version == 0 && (p.access == Access::make || p.access == Access::sum ||
                                                   p.access == Access::contribute));
                it.changes = it.changes || p.access == Access::modify;
                it.makes = it.makes || writes(p);
            }
            it.below = it.below || it.mentioned;
            for (const Scope::Taken& taken : m_.scope(s).taken())
                if (taken.label == label_ && (!taken.if_used || it.below)) take(s, taken);
            const ScopeId around = parent(s);
            if (!around) continue;
            in(around).below = in(around).below || it.below;
            in(around).makes = in(around).makes || it.makes;
            in(around).changes = in(around).changes || it.makes;
            // The scalar of a condition counts as used by the scope around it.
            if (m_.scope(s).form() == Scope::Form::when && m_.scope(s).decided_by().label == label_)
                in(around).mentioned = in(around).below = true;
        }
        for (const ScopeId s : m_.scopes())
            if (m_.scope(s).form() == Scope::Form::repeat && m_.scope(s).decided_by().label == label_)
                in(s).mentioned = in(s).below = true;
    }

    void take(ScopeId s, const Scope::Taken& taken) {
        if (!parent(s))
            throw m_.refuse(fmt::format("{} takes {}, but no scope is around it", m_.say(s),
                                        m_.say(label_, taken.version)));
        if (taken.back != 0 || taken.version < 0)
            throw m_
                .refuse(
                    fmt::format("{} takes a version of {} that is not named", m_.say(s), m_.say(label_, -1)))
                .remedy("takes(label.at(v))");
        if (!in(s).below)
            throw m_.refuse(fmt::format("{} takes {}, but nothing in it uses that label", m_.say(s),
                                        m_.say(label_, taken.version)));
        in(s).taken = taken.version;
        if (!taken.if_used) in(parent(s)).mentioned = in(parent(s)).below = true;
    }

    /// Generations are rounds of the innermost scope that makes the label.
    void find_home() {
        ScopeId home;
        if (info().history > 0)
            for (const ScopeId s : m_.scopes()) {
                if (!in(s).made || m_.inside(s, kStart)) continue;
                if (home && !m_.inside(s, home))
                    throw m_
                        .refuse(fmt::format("{} keeps earlier generations, but both {} and {} make it",
                                            m_.say(label_, -1), m_.say(home), m_.say(s)))
                        .remedy("let one of them make it, or declare a label for each");
                home = s;
            }
        m_.home[label_] = home;
        for (const ScopeId s : m_.scopes())
            for (const UseOfTask& use : uses(s)) {
                const UseInfo& p = m_.use(use);
                if (p.back == 0 || p.access != Access::need) continue;
                if (!home)
                    throw m_
                        .refuse(fmt::format("{} needs {} as it was {} before, but no task makes it anew",
                                            m_.say(use.task), m_.say(label_, -1), counted(p.back, "round")))
                        .remedy(
                            "earlier generations are kept of labels that are made in each step, not of those "
                            "that "
                            "are modified in place");
                if (!m_.inside(s, home))
                    throw m_
                        .refuse(fmt::format("{} needs {} as it was {} before, but its rounds are those of {}",
                                            m_.say(use.task), m_.say(label_, -1), counted(p.back, "round"),
                                            m_.say(home)))
                        .remedy(fmt::format(
                            "need the label itself, which after {0} is what its last round made, or move "
                            "the task into {0}",
                            m_.say(home)));
            }
    }

    /// A label exists in a scope that uses it, and in one that gives a value to an inner scope. If inner
    /// scopes each make it and read only their own values, it does not exist in the scope around them.
    void find_where_it_exists() {
        const ScopeId home = m_.home[label_];
        for (bool again = true; again;) {
            again = false;
            const auto set = [&again](bool& flag) { again = again || !flag, flag = true; };
            for (ScopeId s = inmost(); s; s = before(s)) {
                LabelInScope& it = in(s);
                if (!it.below) continue;
                bool enters = false, exists = it.mentioned;
                for (const UseOfTask& use : uses(s)) {
                    const UseInfo& p = m_.use(use);
                    if (p.back > 0) continue;
                    if (!it.made && !writes(p))
                        enters = enters || p.version == 0 || (p.version < 0 && !it.changes);
                    else if (!it.made && p.access == Access::modify)
                        enters = enters || p.version == 0 || p.version < 0;
                }
                each_child(s, [&](ScopeId c) {
                    exists = exists || in(c).enters;
                    const bool reads = in(c).enters || (in(c).makes && m_.may_not_run(c) && it.exists);
                    if (!it.made && in(c).taken == 0 && reads) enters = true;
                });
                if (s == home) enters = enters || needs_generations(s);
                enters = enters || (it.mentioned && !it.made && decides_with_what_was_there(s));
                if (enters) set(it.enters);
                if (exists) set(it.exists);
                if (parent(s) && exists_around(s)) set(it.exists);
            }
        }
    }
    [[nodiscard]] bool needs_generations(ScopeId home) {
        for (const ScopeId s : m_.scopes())
            if (m_.inside(s, home))
                for (const UseOfTask& use : uses(s))
                    if (m_.use(use).back > 0 && m_.use(use).access == Access::need) return true;
        return false;
    }
    [[nodiscard]] bool exists_around(ScopeId s) { return in(parent(s)).exists; }
    [[nodiscard]] bool decides_with_what_was_there(ScopeId s) {
        for (const ScopeId c : m_.scopes()) {
            const Version& v = m_.scope(c).decided_by();
            if (parent(c) == s && m_.may_not_run(c) && v.label == label_ && v.back == 0 &&
                (v.version == 0 || !in(s).changes))
                return true;
        }
        return false;
    }

    void put(Timeline& t, int version, const Value& maker) {
        if (t.values.size() <= static_cast<std::size_t>(version))
            t.values.resize(static_cast<std::size_t>(version) + 1);
        Value& value = t.values[static_cast<std::size_t>(version)];
        if (value.maker.task || value.scope)
            throw m_
                .refuse(fmt::format("two makers of {}: {} and {}", m_.say(label_, version), maker_of(value),
                                    maker_of(maker)))
                .remedy(
                    version == 0
                        ? "let one of them modify the version that the other makes, or give it a label of "
                          "its own"
                        : "name the versions in their order: modify(label.at(v)) makes version v + 1, and a "
                          "scope that changes a label does so too (Scope::takes)");
        value.maker = maker.maker;
        value.scope = maker.scope;
    }
    [[nodiscard]] std::string maker_of(const Value& v) const {
        return v.maker.task ? m_.say(v.maker.task) : m_.say(v.scope);
    }

    void make_versions(ScopeId s) {
        m_.timeline_at[m_.key(s, label_)] = static_cast<int>(m_.timelines.size());
        Timeline t;
        t.scope = s;
        t.label = label_;
        t.taken = parent(s) && exists(parent(s)) ? in(s).taken : 0;
        t.enters = in(s).enters;
        t.values.resize(1);
        const TaskId sum = m_.sum_of[m_.key(s, label_)];
        if (sum) put(t, 0, {{sum, 0}, {}, {}, {}});
        for (const UseOfTask& use : uses(s)) {
            const UseInfo& p = m_.use(use);
            if (p.access == Access::make && p.back == 0) put(t, 0, {use, {}, {}, {}});
            if (p.access == Access::modify && p.version >= 0) put(t, p.version + 1, {use, {}, {}, {}});
        }
        each_child(s, [&](ScopeId c) {
            if (in(c).makes && exists(c)) put(t, in(c).taken + 1, {{}, c, {}, {}});
        });
        for (const UseOfTask& use : uses(s))  // relocations come last
            if (m_.use(use).access == Access::modify && m_.use(use).version < 0) {
                UseInfo& p = m_.use(use);
                p.version = t.last();
                put(t, t.last() + 1, {use, {}, {}, {}});
            }
        for (std::size_t v = 1; v < t.values.size(); ++v)
            if (!t.values[v].maker.task && !t.values[v].scope)
                throw m_
                    .refuse(fmt::format("nobody makes {} in {}, which {} takes",
                                        m_.say(label_, static_cast<int>(v)), m_.say(s),
                                        maker_of(t.values[v + 1])))
                    .remedy("the versions of a label are 0, 1, 2, ... in the order in which tasks modify it");
        m_.timelines.push_back(std::move(t));
    }

    void add_readers(ScopeId s) {
        Timeline& t = *m_.timeline(s, label_);
        for (const UseOfTask& use : uses(s)) {
            UseInfo& p = m_.use(use);
            if (p.access != Access::need) continue;
            if (p.back > 0) {
                m_.timeline(m_.home[label_], label_)->earlier.push_back({use, p.back});
                continue;
            }
            if (p.version < 0) p.version = t.last();
            if (p.version > t.last()) throw beyond(m_.say(use.task), s, p.version, t.last());
            t.values[static_cast<std::size_t>(p.version)].readers.push_back(use);
        }
        each_child(s, [&](ScopeId c) {
            if (!exists(c)) return;
            if (in(c).taken > t.last()) throw beyond(m_.say(c), s, in(c).taken, t.last());
            if (in(c).enters) t.values[static_cast<std::size_t>(in(c).taken)].scopes.push_back(c);
        });
    }
    [[nodiscard]] Error beyond(const std::string& who, ScopeId s, int version, int last) const {
        Error error =
            m_.refuse(fmt::format("{} needs {}, which nobody makes", who, m_.say(label_, version)))
                .allowed(fmt::format("versions 0 to {} of {} in {}", last, m_.say(label_, -1), m_.say(s)));
        if (parent(s))
            error.remedy(
                "within a scope versions are counted anew: 0 is what the scope takes of the scope around it");
        return error;
    }

    /// A value that a step or the start reads from before must have been made: only the start scope can do
    /// that, for the step.
    void check_entry(ScopeId s) {
        if (parent(s) || !in(s).enters || info().kind == Kind::scalar) return;
        Timeline* start = s == kStep ? m_.timeline(kStart, label_) : nullptr;
        if (start != nullptr && (start->values[0].maker.task || start->last() > 0))
            return check_generations();
        const std::string reader = first_reader(s);
        if (info().halo)
            throw m_
                .refuse(fmt::format("{} needs the halo '{}', but nobody finds out who is in it", reader,
                                    info().name))
                .remedy(
                    "scope.renew(halo): in the start scope, and in each scope that relocates the particles");
        if (s == kStart)
            throw m_
                .refuse(fmt::format("{} needs {} in the start scope, where nobody makes it", reader,
                                    m_.say(label_, 0)))
                .remedy("make it in a task of the start scope");
        throw m_
            .refuse(
                fmt::format("{} needs {} as it was before the step, but nobody makes it in the first place",
                            reader, m_.say(label_, -1)))
            .remedy(fmt::format(
                "make '{0}' in a task of the start scope (graph.start()), or, where it is made in each "
                "step, need a version that a task of the step makes",
                info().name));
    }
    /// In the first step, previous(2) is the value that the start scope made as previous(1), and so on.
    void check_generations() {
        const ScopeId home = m_.home[label_];
        if (home != kStep) return;
        std::set<int> made;
        for (const UseOfTask& use : uses(kStart))
            if (m_.use(use).access == Access::make) made.insert(m_.use(use).back);
        for (const Timeline::Earlier& e : m_.timeline(home, label_)->earlier)
            for (int k = 1; k < e.back; ++k)
                if (made.count(k) == 0)
                    throw m_
                        .refuse(fmt::format(
                            "{} needs {} as it was {} before, but the start scope makes only what was "
                            "there at most {} before",
                            m_.say(e.reader.task), m_.say(label_, -1), counted(e.back, "step"),
                            counted(k, "step")))
                        .remedy(fmt::format(
                            "let a task of the start scope make it: task.make(label.previous({}))", k));
    }
    [[nodiscard]] std::string first_reader(ScopeId s) {
        for (const UseOfTask& use : uses(s)) {
            const UseInfo& p = m_.use(use);
            if ((p.access == Access::need && (p.back > 0 || p.version == 0)) ||
                (p.access == Access::modify && p.version == 0))
                return m_.say(use.task);
        }
        std::string name;
        each_child(s, [&](ScopeId c) {
            if (name.empty() && exists(c) && (in(c).enters || in(c).makes)) name = first_reader(c);
        });
        return name.empty() ? m_.say(s) : name;
    }

    Model& m_;
    LabelId label_;
    const VectorBy<ScopeId, std::vector<UseOfTask>>& uses_;
    VectorBy<ScopeId, LabelInScope> scopes_;
};

}  // namespace

void make_timelines(Model& m) {
    const std::size_t scopes = m.graph.scopes().size();
    m.timeline_at.assign(m.graph.labels().size() * scopes, -1);
    m.home.assign(m.graph.labels().size(), {});
    VectorBy<LabelId, VectorBy<ScopeId, std::vector<UseOfTask>>> uses(
        m.graph.labels().size(), VectorBy<ScopeId, std::vector<UseOfTask>>(scopes));
    const auto add = [&](TaskId t) {
        const std::vector<UseInfo>& of_task = m.uses[t];
        for (std::size_t u = 0; u < of_task.size(); ++u)
            uses[of_task[u].label][m.task(t).scope].push_back({t, static_cast<int>(u)});
    };
    for (const TaskId t : m.tasks_by_name) add(t);
    for (const TaskId t : m.out.tasks.ids())
        if (m.out.tasks[t].what == ResolvedTask::What::relocate) add(t);
    for (const LabelId label : m.labels_by_name) Label(m, label, uses[label]).make();
    for (const Scope& scope : m.graph.scopes())
        for (const Version& taken : scope.taken())
            if (!m.graph.labels().has(taken.label))
                throw m.refuse(fmt::format("{} takes a version of a label that is not of this graph",
                                           m.say(scope.id())));
    for (const RelocatedSet& r : m.relocated) {
        const ResolvedTask& task = m.task(r.task);
        const Version& position =
            m.scope(task.scope).relocations()[static_cast<std::size_t>(task.relocation)].position;
        const int last = m.timeline(task.scope, position.label)->last() - 1;
        if (position.back != 0 || (position.version >= 0 && position.version != last))
            throw m
                .refuse(fmt::format("the {} goes by {}, which is not its last version", task.name,
                                    m.say(position.label, position.version)))
                .given(fmt::format("version {}", position.version))
                .allowed(fmt::format("version {}, or last()", last));
    }
}

}  // namespace strata::graph::resolving
