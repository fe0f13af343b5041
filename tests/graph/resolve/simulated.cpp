#include "tests/graph/resolve/simulated.hpp"

#include <algorithm>

namespace strata::tests {

using namespace graph;

namespace {

std::size_t z(int i) { return static_cast<std::size_t>(i); }

}  // namespace

Version Simulation::version_of(TaskId t, int use) const {
    return graph_.tasks()[it_.tasks[t].task].uses[z(use)].version;
}

bool Simulation::of_scalar(TaskId t, int use) const {
    return graph_.labels()[it_.tasks[t].uses[z(use)].label].kind == Kind::scalar;
}

std::vector<int> Simulation::patches_of(TaskId t) const {
    if (it_.tasks[t].what == ResolvedTask::What::reduce) return {0};
    std::vector<int> all;
    for (int p = 0; p < patches_; ++p) all.push_back(p);
    return all;
}

/// Which patches of the label a use reaches from `patch`; grids here are one row, periodic, and ghosts and
/// sums are narrower than a patch.
std::vector<int> Simulation::patches_read(TaskId t, int use, int patch) const {
    if (of_scalar(t, use)) return {0};
    const Use& u = graph_.tasks()[it_.tasks[t].task].uses[z(use)];
    std::set<int> found{patch};
    if (u.relation != nullptr) {
        found.clear();
        for (const Piece& piece : u.relation->pieces(patch, On::cells)) found.insert(piece.from);
    } else if (u.width[0] > 0) {
        found.insert({(patch + 1) % patches_, (patch + patches_ - 1) % patches_});
    }
    return {found.begin(), found.end()};
}

/// Whether a scope as a whole gives the label, which the scope around knows, its next version.
bool Simulation::changes(ScopeId scope, LabelId label) const {
    for (const TaskInfo& task : graph_.tasks())
        for (const Use& use : task.uses) {
            if (use.version.label != label || use.access == Access::need) continue;
            for (ScopeId s = task.scope; s; s = graph_.scopes()[s].parent())
                if (s == scope) return true;
        }
    return false;
}

int Simulation::taken(ScopeId scope, LabelId label) const {
    for (const Version& v : graph_.scopes()[scope].taken())
        if (v.label == label) return v.version;
    return 0;
}

int Simulation::last_version(ScopeId scope, LabelId label) {
    int count = 0;
    for (const TaskInfo& task : graph_.tasks())
        if (task.scope == scope)
            for (const Use& use : task.uses)
                count += use.version.label == label && use.access == Access::modify;
    for (const Scope& inner : graph_.scopes())
        if (inner.parent() == scope) count += changes(inner.id(), label);
    return count;
}

void Simulation::task(TaskId t) {
    const ResolvedTask& task = it_.tasks[t];
    const ScopeId s = task.scope;
    const int first = static_cast<int>(calls_.size());
    for (const int p : patches_of(t)) {
        Call call{t, p, counts_, {}, {}, {}};
        const int me = static_cast<int>(calls_.size());
        const auto buffer = [&](const ResolvedUse& use) {
            const Storage& storage = it_.storages[use.storage];
            const std::int64_t count = counts_[storage.scope] - use.back;
            return (count % storage.depth + storage.depth) % storage.depth;
        };
        for (std::size_t u = 0; u < task.uses.size(); ++u) {
            const ResolvedUse& use = task.uses[u];
            if (task.what == ResolvedTask::What::combine || task.what == ResolvedTask::What::reduce) {
                if (u == 0) {
                    call.writes.push_back({use.storage, buffer(use), p, me});
                    continue;
                }
                // Which use of its maker it is: the one with this storage.
                const std::vector<ResolvedUse>& theirs = it_.tasks[use.maker].uses;
                int their = 0;
                while (theirs[z(their)].storage != use.storage || theirs[z(their)].label != use.label)
                    ++their;
                std::vector<int> from = patches_of(use.maker);
                if (task.what == ResolvedTask::What::combine) from = patches_read(use.maker, their, p);
                for (const int q : from)
                    call.reads.push_back(
                        {use.storage, buffer(use), q, contributions_[{use.maker, their}][z(q)]});
                continue;
            }
            const Use& declared = graph_.tasks()[task.task].uses[u];
            if (declared.access == Access::sum || declared.access == Access::contribute) {
                call.writes.push_back({use.storage, buffer(use), p, me});
                continue;
            }
            const LabelId label = declared.version.label;
            if (declared.access == Access::need || declared.access == Access::modify) {
                const int v =
                    declared.version.version < 0 ? last_version(s, label) : declared.version.version;
                const Values& there = declared.version.back > 0
                                          ? generations_[label][z(declared.version.back) - 1]
                                          : value(s, label, v);
                for (const int q : patches_read(t, static_cast<int>(u), p))
                    call.reads.push_back({use.storage, buffer(use), q, there.empty() ? -1 : there[z(q)]});
            }
            if (declared.access != Access::need) call.writes.push_back({use.storage, buffer(use), p, me});
        }
        waits(call);
        calls_.push_back(std::move(call));
    }
    const auto mine = [&] {
        Values all;
        for (std::size_t i = 0; i < patches_of(t).size(); ++i) all.push_back(first + static_cast<int>(i));
        return all;
    };
    if (task.what != ResolvedTask::What::body) {
        value(s, task.completed.label, 0) = mine();
        return;
    }
    for (std::size_t u = 0; u < task.uses.size(); ++u) {
        const Use& use = graph_.tasks()[task.task].uses[u];
        const LabelId label = use.version.label;
        if (use.access == Access::make && use.version.back == 0) value(s, label, 0) = mine();
        if (use.access == Access::make && use.version.back > 0) {
            auto& all = generations_[label];
            all.resize(std::max(all.size(), z(use.version.back + 1)));
            all[z(use.version.back)] = mine();  // moves by none until the first step has begun
        }
        if (use.access == Access::modify) value(s, label, use.version.version + 1) = mine();
        if (use.access == Access::sum || use.access == Access::contribute)
            contributions_[{t, static_cast<int>(u)}] = mine();
    }
}

void Simulation::waits(Call& call) {
    for (const Before& b : it_.tasks[call.task].before) {
        const std::int64_t needed = call.counts[it_.tasks[b.task].scope] - b.lag;
        std::set<int> from;
        if (b.through_use < 0)
            from = {call.patch};
        else if (of_scalar(b.through_task, b.through_use)) {
            const std::vector<int> all = patches_of(b.task);
            from = {all.begin(), all.end()};
        } else
            for (int q = 0; q < patches_; ++q) {
                const std::vector<int> reached =
                    patches_read(b.through_task, b.through_use, b.backward ? q : call.patch);
                if (std::count(reached.begin(), reached.end(), b.backward ? call.patch : q) > 0)
                    from.insert(q);
            }
        for (const int q : from)
            for (const int other : done_[{b.task, q}])
                if (calls_[z(other)].counts[it_.tasks[b.task].scope] <= needed) call.after.push_back(other);
    }
    // Calls of one task on one patch follow each other.
    std::vector<int>& own = done_[{call.task, call.patch}];
    if (!own.empty()) call.after.push_back(own.back());
    own.push_back(static_cast<int>(calls_.size()));
}

void Simulation::round(ScopeId scope) {
    ++counts_[scope];
    for (const auto& [own, id] : it_.scopes[scope].order) {
        if (own) {
            task(own);
            continue;
        }
        const Scope& s = graph_.scopes()[id];
        std::int64_t rounds = s.most();
        if (s.form() == Scope::Form::when) rounds = static_cast<std::int64_t>(random_() % 2);
        if (s.form() == Scope::Form::repeat)
            rounds = 1 + static_cast<std::int64_t>(random_() % z(static_cast<int>(s.most())));
        for (std::int64_t r = 0; r < rounds; ++r) {
            for (const LabelId l : graph_.labels().ids()) {
                value(id, l, 0) = r == 0 ? value(scope, l, taken(id, l)) : value(id, l, last_version(id, l));
                // A label with generations of these rounds begins with what the scope around has.
                bool made = false;
                for (const TaskInfo& t : graph_.tasks())
                    for (const Use& u : t.uses)
                        made = made || (t.scope == id && u.version.label == l && u.access != Access::need &&
                                        u.access != Access::modify);
                if (!made || graph_.labels()[l].history == 0) continue;
                auto& all = generations_[l];
                all.insert(all.begin(), value(id, l, 0));
            }
            round(id);
        }
        for (const LabelId l : graph_.labels().ids())
            if (changes(id, l))
                value(scope, l, taken(id, l) + 1) =
                    rounds > 0 ? value(id, l, last_version(id, l)) : value(scope, l, taken(id, l));
    }
}

std::string Simulation::run(int steps) {
    counts_.assign(graph_.scopes().size(), 0);
    round(kStart);
    const int of_start = static_cast<int>(calls_.size());
    std::map<std::tuple<ScopeId, LabelId, int>, Values> started = values_;
    for (int step = 0; step < steps; ++step) {
        for (const LabelId l : graph_.labels().ids()) {
            const Values begin = step == 0 ? started[{kStart, l, last_version(kStart, l)}]
                                           : value(kStep, l, last_version(kStep, l));
            value(kStep, l, 0) = begin;
            auto& all = generations_[l];
            if (step == 0 && !all.empty())
                all[0] = begin;
            else
                all.insert(all.begin(), begin);
        }
        round(kStep);
    }
    for (std::size_t c = static_cast<std::size_t>(of_start); c < calls_.size();
         ++c)  // the start is over by then
        for (int s = 0; s < of_start; ++s) calls_[c].after.push_back(s);
    return execute();
}

std::string Simulation::execute() {
    std::vector<std::vector<int>> next(calls_.size());
    std::vector<int> waits(calls_.size(), 0), ready;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
        for (const int a : calls_[c].after) next[z(a)].push_back(static_cast<int>(c));
        waits[c] = static_cast<int>(calls_[c].after.size());
        if (waits[c] == 0) ready.push_back(static_cast<int>(c));
    }
    std::map<std::tuple<StorageId, std::int64_t, int>, int> memory;
    std::size_t done = 0;
    const bool hurry = random_() % 2 == 0;  // those far ahead first: what runs early overwrites most
    const int slow = static_cast<int>(random_() % z(patches_));
    while (!ready.empty()) {
        std::size_t pick = random_() % ready.size();
        if (hurry)
            for (std::size_t i = 0; i < ready.size(); ++i) {
                const auto key = [&](int c) { return std::pair(calls_[z(c)].patch != slow, c); };
                if (key(ready[i]) > key(ready[pick])) pick = i;
            }
        const int c = ready[pick];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(pick));
        const Call& call = calls_[z(c)];
        for (const Expect& e : call.reads) {
            const auto at = memory.find({e.storage, e.buffer, e.patch});
            const int found = at == memory.end() ? -1 : at->second;
            if (e.value < 0 || found == e.value) continue;
            const auto who = [&](int n) {
                return n < 0 ? std::string("nobody")
                             : it_.tasks[calls_[z(n)].task].name + " of step " +
                                   std::to_string(calls_[z(n)].counts[kStep]);
            };
            return it_.tasks[call.task].name + ", step " + std::to_string(call.counts[kStep]) + ", patch " +
                   std::to_string(call.patch) + ": reads patch " + std::to_string(e.patch) + " by " +
                   who(found) + " instead of " + who(e.value);
        }
        for (const Expect& e : call.writes) memory[{e.storage, e.buffer, e.patch}] = e.value;
        ++done;
        for (const int n : next[z(c)])
            if (--waits[z(n)] == 0) ready.push_back(n);
    }
    return done == calls_.size() ? "" : "calls wait for each other for ever";
}

}  // namespace strata::tests
