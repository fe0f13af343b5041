// The readers and writers of a version's value. The same value has other version numbers in the scopes around
// and within, and in the round before.
#include <set>
#include <tuple>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

class Walk {
  public:
    Walk(Model& m, LabelId label, bool readers) : m_(m), label_(label), readers_(readers) {}

    /// Follows the value of version v of scope s, `lag` rounds of `level` ago; s is `level` or within it.
    void content(ScopeId s, int v, ScopeId level, int lag, ScopeId but) {
        if (!seen_.insert({s, v, level, lag}).second) return;
        const Timeline& t = *m_.timeline(s, label_);
        const Value& value = t.values[static_cast<std::size_t>(v)];
        if (readers_) {
            for (const UseOfTask& r : value.readers) found.push_back({r, level, lag});
            for (const ScopeId c : value.scopes)
                if (c != but) entering(c, level, lag);
        }
        if (value.maker.task) {
            if (!readers_) found.push_back({value.maker, level, lag});
        } else if (value.scope) {
            const Timeline& within = *m_.timeline(value.scope, label_);
            content(value.scope, within.last(), level, lag, {});
            if (m_.may_not_run(value.scope)) content(s, within.taken, level, lag, but);
        } else if (s != level) {  // not changed in s: the value with which the scope began
            const ScopeId around = m_.scope(s).parent();
            if (m_.timeline(around, label_) != nullptr) content(around, t.taken, level, lag, but);
        } else {
            if (lag == 0 && t.last() > 0) content(s, t.last(), level, 1, {});
            outside(s);
        }
    }
    /// Follows the value that the scope around gives to the first round of s.
    void outside(ScopeId s) {
        const ScopeId around = m_.scope(s).parent();
        if (around && m_.timeline(around, label_) != nullptr)
            content(around, m_.timeline(s, label_)->taken, around, 0, s);
    }

    std::vector<UseInRound> found;

  private:
    /// Readers in scope c of the value with which its first round begins.
    void entering(ScopeId c, ScopeId level, int lag) {
        if (!seen_.insert({c, -1, level, lag}).second) return;
        const Timeline& t = *m_.timeline(c, label_);
        for (const Timeline::Earlier& e : t.earlier) found.push_back({e.reader, level, lag});
        if (t.values[0].maker.task) return;  // each round makes it anew: only earlier generations enter
        for (std::size_t v = 0;;) {
            for (const UseOfTask& r : t.values[v].readers) found.push_back({r, level, lag});
            for (const ScopeId within : t.values[v].scopes) entering(within, level, lag);
            if (v + 1 == t.values.size()) return;
            const ScopeId maker = t.values[v + 1].scope;
            if (!maker || !m_.may_not_run(maker)) return;
            ++v;
        }
    }

    Model& m_;
    LabelId label_;
    bool readers_;
    std::set<std::tuple<ScopeId, int, ScopeId, int>> seen_;
};

}  // namespace

std::vector<UseInRound> readers_of(Model& m, ScopeId scope, LabelId label, int v, int lag, ScopeId but) {
    Walk walk(m, label, true);
    walk.content(scope, v, scope, lag, but);
    return walk.found;
}

std::vector<UseInRound> writers_of(Model& m, ScopeId scope, LabelId label, int v, int lag) {
    Walk walk(m, label, false);
    walk.content(scope, v, scope, lag, {});
    return walk.found;
}

void add_edge(Model& m, TaskId to, const UseInRound& reach, UseOfTask through, bool backward, LabelId label) {
    Edge edge;
    edge.level = reach.level;
    edge.level_lag = reach.lag;
    edge.label = label;
    const ScopeId from_scope = m.task(reach.at.task).scope;
    if (m.inside(reach.level, kStart) && reach.lag > 0) return;  // the start has one round
    const ScopeId common = m.common_scope(from_scope, m.task(to).scope);
    if (common != reach.level) {
        // Both tasks are in `common`, a scope within `level` that counts its rounds on. The round before its
        // first one in a round of `level` is its last one in the round of `level` before.
        //   Example: `common` has three rounds in each step: 1 to 3 in step 1, 4 to 6 in step 2. "One step
        //   ago" becomes "one round ago": round 4 waits for round 3.
        edge.level = common;
        edge.level_lag = reach.lag > 0 ? 1 : 0;
    }
    // A lag counts rounds of the scope that is waited for. A scope within edge.level has any number of
    // rounds: the wait is for its latest one.
    edge.before.lag = from_scope == edge.level ? edge.level_lag : 0;
    edge.before.task = reach.at.task;
    edge.before.backward = backward;
    if (through.task) {
        const UseInfo& part = m.use(through);
        const bool plain = part.relation == nullptr && part.width == Int3{} && !part.contribution.task &&
                           m.label(part.label).kind != Kind::scalar && !m.in_processes(to) &&
                           !m.in_processes(reach.at.task);
        if (!plain) {
            edge.before.through_task = through.task;
            edge.before.through_use = through.use;
        }
    }
    // Calls of one task on one patch run one after the other in any case.
    if (to == reach.at.task && edge.level_lag > 0 && !edge.before.through_task) return;
    m.edges[to].push_back(edge);
}

void add_overwritten(Model& m, TaskId writer, LabelId label, int depth) {
    const ScopeId s = m.task(writer).scope;
    const Timeline& t = *m.timeline(s, label);
    const Value& made = t.values[0];
    for (const UseInRound& r : readers_of(m, s, label, t.last(), depth))
        add_edge(m, writer, r, r.at, true, label);
    for (const Timeline::Earlier& e : t.earlier)
        add_edge(m, writer, {e.reader, s, depth - e.back}, e.reader, true, label);
    const auto after = [&](const std::vector<UseInRound>& writers) {
        for (const UseInRound& w : writers)
            if (w.at.task != writer) add_edge(m, writer, w, made.maker, true, label);
    };
    after(writers_of(m, s, label, t.last(), depth));
    const ScopeId around = m.scope(s).parent();
    if (!around || m.timeline(around, label) == nullptr) return;
    for (const UseInRound& r : readers_of(m, around, label, t.taken, 0, s))
        add_edge(m, writer, r, r.at, true, label);
    after(writers_of(m, around, label, t.taken, 0));
}

}  // namespace strata::graph::resolving
