// Assigns a storage to each version. Temporaries of one shape share a storage if the order of tasks already
// implies that all users of the first are done before the second is made.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/graph/resolve/model.hpp"

namespace strata::graph {

std::vector<LabelId> Storage::labels() const {
    std::vector<LabelId> all{label};
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

bool Storage::holds(LabelId one) const {
    return label == one || std::find(others.begin(), others.end(), one) != others.end();
}

}  // namespace strata::graph

namespace strata::graph::resolving {

namespace {

/// Scopes with more nodes than this do not share storages: precedence is a matrix with a bit for each pair of
/// nodes.
constexpr std::size_t kMostNodes = 16384;

/// The precedence of a scope's tasks, by waits within a round. An inner scope counts as one node, though its
/// tasks need not wait for each other: "A before a task of the scope, another task of it before B" gives A
/// before B. So this says only that B comes after A in the order, and that sharing makes no circle; that B is
/// not too early is due to the waits which place() adds.
class Precedes {
  public:
    Precedes(const Model& m, ScopeId scope) {
        const ResolvedScope& it = m.out.scopes[scope];
        count_ = it.order.size();
        if (count_ > kMostNodes) return;
        words_ = (count_ + 63) / 64;
        bits_.assign(count_ * words_, 0);
        task_at_.assign(m.out.tasks.size(), 0);
        scope_at_.assign(m.out.scopes.size(), 0);
        for (std::size_t i = 0; i < count_; ++i)
            (it.order[i].scope ? scope_at_[it.order[i].scope] : task_at_[it.order[i].task]) = i;
        std::vector<std::vector<std::size_t>> from(count_);
        for (const TaskId t : m.edges.ids())
            for (const Edge& e : m.edges[t]) {
                if (e.level != scope || e.level_lag != 0) continue;
                const auto a = node(m, scope, e.before.task), b = node(m, scope, t);
                if (a != b) from[b].push_back(a);
            }
        for (std::size_t i = 0; i < count_; ++i)
            for (const std::size_t a : from[i]) {
                // A task that does not run on all patches does not make others wait for those before it.
                if (it.order[a].scope || !m.partial(it.order[a].task))
                    for (std::size_t w = 0; w < words_; ++w) bits_[i * words_ + w] |= bits_[a * words_ + w];
                bits_[i * words_ + a / 64] |= std::uint64_t{1} << (a % 64);
            }
    }
    /// Whether a is done before b begins; both are tasks directly in the scope.
    [[nodiscard]] bool operator()(TaskId a, TaskId b) const {
        if (bits_.empty()) return false;
        const std::size_t i = place(a), j = place(b);
        return (bits_[j * words_ + i / 64] >> (i % 64) & 1) != 0;
    }
    [[nodiscard]] std::size_t place(TaskId t) const { return task_at_.empty() ? 0 : task_at_[t]; }

  private:
    std::size_t node(const Model& m, ScopeId scope, TaskId t) const {
        const ScopeId s = m.task(t).scope;
        return s == scope ? place(t) : scope_at_[m.child_of(scope, s)];
    }
    std::size_t count_ = 0, words_ = 0;
    VectorBy<TaskId, std::size_t> task_at_;    // place in the order
    VectorBy<ScopeId, std::size_t> scope_at_;  // the same for inner scopes
    std::vector<std::uint64_t> bits_;
};

/// The lifetime of a storage's content from its first writer to its last reader, within a round of one scope.
/// The content is a temporary, or the contributions of a task.
struct Lifetime {
    LabelId label;
    UseOfTask maker;                 // the first writer
    UseOfTask contribution;          // the contributing use; none: a temporary
    std::vector<TaskId> users;       // all tasks that use it, including the maker
    std::vector<UseOfTask> readers;  // readers of the last version
    std::vector<UseOfTask> last;     // writers of the last version
    Int3 ghosts{};
    const Relation* onto = nullptr;  // contributions to another family
};

class Assign {
  public:
    explicit Assign(Model& m) : m_(m) {
        ghosts_.resize(m.graph.labels().size());
        for (const std::vector<UseInfo>& uses : m.uses)
            for (const UseInfo& p : uses)
                if (p.access == Access::need && p.relation == nullptr && !p.contribution.task)
                    for (std::size_t a = 0; a < 3; ++a) {
                        int& widest = ghosts_[p.label][a];
                        widest = std::max(widest, p.width[a]);
                    }
        storage_of_.assign(m.graph.labels().size(), {});
        frozen_.assign(m.graph.labels().size(), 0);
        for (const TaskInfo& task : m.graph.tasks())
            for (const Use& use : task.uses)
                if (is_frozen(use)) frozen_[use.version.label] = 1;
    }

    void all() {
        for (const ScopeId s : m_.scopes())
            if (!m_.inside(s, kStart)) share(s);
        const std::size_t of_steps = m_.out.storages.size();
        for (const ScopeId s : m_.scopes())
            if (m_.inside(s, kStart)) share(s, of_steps);
        for (const LabelId label : m_.labels_by_name)
            if (!storage_of_[label] && used(label)) own(label);
        name_uses();
    }

  private:
    using Shape = std::tuple<const Family*, SetId, Kind, On, Int3, std::size_t, int, Int3, bool, LabelId,
                             const Relation*, int>;

    [[nodiscard]] bool used(LabelId label) const {
        for (const ScopeId s : m_.scopes())
            if (m_.timeline(s, label) != nullptr) return true;
        return false;
    }
    [[nodiscard]] Shape shape(const Lifetime& life) const {
        const LabelInfo& l = m_.label(life.label);
        // Lists of two labels have equal lengths only if their `entries` functions are equal, and functions
        // cannot be compared. So lists share no storage with other labels.
        // Nor do objects, and those whose patches are stored apart.
        const bool shares = l.kind != Kind::list && l.kind != Kind::object && frozen_[life.label] == 0;
        const LabelId alone = shares ? LabelId() : life.label;
        return {l.family,     l.particle_set, l.kind,
                l.on,         l.border,       l.bytes,
                l.components, life.ghosts,    bool(life.contribution.task),
                alone,        life.onto,      l.turns ? l.vector + 1 : 0};
    }

    std::vector<Lifetime> lives(ScopeId scope) {
        std::vector<Lifetime> all;
        for (const LabelId label : m_.labels_by_name) {
            if (scope_of_temporary(m_, label) != scope) continue;
            const Timeline& t = *m_.timeline(scope, label);
            Lifetime life;
            life.label = label;
            life.maker = t.values[0].maker;
            life.ghosts = ghosts_[label];
            for (const Value& v : t.values) {
                life.users.push_back(v.maker.task);
                for (const UseOfTask& r : v.readers) life.users.push_back(r.task);
            }
            life.readers = t.values.back().readers;
            life.last = {t.values.back().maker};
            all.push_back(std::move(life));
        }
        for (const TaskId t : m_.uses.ids())
            for (std::size_t u = 0; u < m_.uses[t].size(); ++u) {
                const UseInfo& p = m_.uses[t][u];
                if (!p.contribution.task || m_.out.tasks[t].scope != scope) continue;
                Lifetime life;
                life.label = p.label;
                life.maker = life.contribution = p.contribution;
                life.users = {p.contribution.task, t};
                life.readers = {{t, static_cast<int>(u)}};
                life.last = {p.contribution};
                life.ghosts = p.width;
                if (p.relation != nullptr && p.relation->shape() == graph::Shape::window)
                    life.onto = p.relation;
                all.push_back(std::move(life));
            }
        return all;
    }

    /// Assigns storages to the temporaries of a scope. The first `before` storages, those of the steps, may
    /// be used as well: the start is over when the steps begin.
    void share(ScopeId scope, std::size_t before = 0) {
        const Precedes precedes(m_, scope);
        std::vector<Lifetime> all = lives(scope);
        std::sort(all.begin(), all.end(), [&](const Lifetime& a, const Lifetime& b) {
            const auto x = precedes.place(a.maker.task), y = precedes.place(b.maker.task);
            return x != y ? x < y : m_.label(a.label).name < m_.label(b.label).name;
        });
        std::map<Shape, std::vector<std::vector<const Lifetime*>>> pools;
        for (const Lifetime& life : all) {
            std::vector<std::vector<const Lifetime*>>& alike = pools[shape(life)];
            const auto free =
                std::find_if(alike.begin(), alike.end(), [&](const std::vector<const Lifetime*>& pool) {
                    return may_share(life) &&
                           std::all_of(pool.back()->users.begin(), pool.back()->users.end(),
                                       [&](TaskId user) { return precedes(user, life.maker.task); });
                });
            if (free != alike.end())
                free->push_back(&life);
            else
                alike.push_back({&life});
        }
        std::vector<bool> taken(before, false);
        for (const Lifetime& life : all)  // in an order that does not depend on addresses
            for (const std::vector<const Lifetime*>& pool : pools[shape(life)])
                if (pool.front() == &life) place(scope, pool, taken);
    }
    [[nodiscard]] bool may_share(const Lifetime& life) const {
        return m_.label(life.label).kind != Kind::scalar;
    }

    void place(ScopeId scope, const std::vector<const Lifetime*>& pool, std::vector<bool>& taken) {
        const Shape wanted = shape(*pool.front());
        std::size_t at = 0;
        const bool may = may_share(*pool.front());
        while (at < taken.size() && (taken[at] || !may || shapes_[StorageId(at)] != wanted)) ++at;
        if (at == taken.size()) at = m_.out.storages.size();
        if (at < taken.size()) {
            taken[at] = true;
        } else {
            Storage storage;
            storage.label = pool.front()->label;
            storage.scope = scope;
            storage.ghosts = pool.front()->ghosts;
            storage.contributions = bool(pool.front()->contribution.task);
            storage.onto = pool.front()->onto;
            storage.apart = frozen_[storage.label] != 0;
            m_.out.storages.push_back(storage);
            shapes_.push_back(wanted);
        }
        const StorageId id(at);
        Storage& storage = m_.out.storages[id];
        for (std::size_t i = 0; i < pool.size(); ++i) {
            const Lifetime& life = *pool[i];
            if (!storage.holds(life.label)) storage.others.push_back(life.label);
            if (life.contribution.task)
                contributions_[life.contribution] = id;
            else
                storage_of_[life.label] = id;
            // The maker waits for the users of the content before: of the lifetime before in this round, or,
            // for the first lifetime, of the last one in the round before.
            const Lifetime& there = *pool[i == 0 ? pool.size() - 1 : i - 1];
            const int lag = i == 0 ? 1 : 0;
            for (const UseOfTask& r : there.readers)
                add_edge(m_, life.maker.task, {r, scope, lag}, through(r), true, there.label);
            for (const UseOfTask& w : there.last)
                if (w.task != life.maker.task || lag == 0)
                    add_edge(m_, life.maker.task, {w, scope, lag}, {}, true, there.label);
        }
    }
    /// A combination reads through the use that contributes.
    [[nodiscard]] UseOfTask through(const UseOfTask& r) const {
        const UseInfo& p = m_.use(r);
        return p.contribution.task ? p.contribution : r;
    }

    void own(LabelId label) {
        const ScopeId home = m_.home[label];
        Storage storage;
        storage.label = label;
        storage.ghosts = ghosts_[label];
        storage.apart = frozen_[label] != 0;
        storage.depth = home ? m_.label(label).history + 1 : 1;
        storage.scope = home ? home : kStep;
        const Timeline* steps = m_.timeline(kStep, label);
        storage.kept = home == kStep || m_.label(label).kept || m_.kept_for_objects[label] != 0 ||
                       (steps != nullptr && steps->enters);
        storage_of_[label] = m_.out.storages.next();
        m_.out.storages.push_back(storage);
        shapes_.emplace_back();
    }

    void name_uses() {
        for (const TaskId t : m_.uses.ids()) {
            ResolvedTask& task = m_.out.tasks[t];
            for (std::size_t u = 0; u < m_.uses[t].size(); ++u) {
                const UseInfo& p = m_.uses[t][u];
                const UseOfTask here{t, static_cast<int>(u)};
                ResolvedUse use;
                use.label = p.label;
                use.back = p.back;
                use.storage = storage_of_[p.label];
                const bool contributes = p.access == Access::sum || p.access == Access::contribute;
                if (p.contribution.task || contributes) {
                    const UseOfTask by = contributes ? here : p.contribution;
                    use.storage = contributions_.at(by);
                    use.maker = by.task;
                } else if (p.access == Access::need) {
                    use.version = p.back > 0 ? m_.timeline(m_.home[p.label], p.label)->last() : p.version;
                    const ScopeId s = p.back > 0 ? m_.home[p.label] : task.scope;
                    const std::vector<UseInRound> writers = writers_of(m_, s, p.label, use.version, p.back);
                    use.maker = writers.empty() ? TaskId() : writers.front().at.task;
                } else {
                    use.version = p.access == Access::modify ? p.version + 1 : 0;
                    use.maker = here.task;
                }
                task.uses.push_back(use);
            }
        }
        for (ResolvedScope& s : m_.out.scopes)
            if (s.decision.label) s.decision.storage = storage_of_[s.decision.label];
    }

    Model& m_;
    VectorBy<LabelId, Int3> ghosts_;  // the widest of all needs
    VectorBy<LabelId, char> frozen_;  // some task changes it with frozen ghosts
    VectorBy<LabelId, StorageId> storage_of_;
    VectorBy<StorageId, Shape> shapes_;
    std::map<UseOfTask, StorageId> contributions_;
};

}  // namespace

ScopeId scope_of_temporary(Model& m, LabelId label) {
    const LabelInfo& info = m.label(label);
    if (info.history > 0 || info.kept || m.kept_for_objects[label] != 0 || info.kind == Kind::scalar)
        return {};
    ScopeId scope;
    for (const ScopeId s : m.scopes())
        if (const Timeline* t = m.timeline(s, label)) {
            if (scope || t->enters || !t->values[0].maker.task) return {};
            scope = s;
            for (const Value& v : t->values)
                if (v.scope || !v.scopes.empty()) return {};
        }
    return scope;
}

void assign_storages(Model& m) { Assign(m).all(); }

}  // namespace strata::graph::resolving
