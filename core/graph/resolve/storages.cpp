// Which memory every version lies in. Temporaries of one shape share it where the order of tasks already says
// that all who use the first are done before the second is made.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

/// Scopes of more nodes than this do without sharing: who precedes whom is a matrix of bits.
constexpr std::size_t kMostNodes = 16384;

/// Which tasks of a scope come before which, by edges of the same round.
class Precedes {
  public:
    Precedes(const Model& m, int scope) {
        const ResolvedScope& it = m.out.scopes[static_cast<std::size_t>(scope)];
        count_ = it.order.size();
        if (count_ > kMostNodes) return;
        words_ = (count_ + 63) / 64;
        bits_.assign(count_ * words_, 0);
        task_at_.assign(m.out.tasks.size(), 0);
        scope_at_.assign(m.out.scopes.size(), 0);
        for (std::size_t i = 0; i < count_; ++i)
            (it.order[i].first ? scope_at_ : task_at_)[static_cast<std::size_t>(it.order[i].second)] = i;
        std::vector<std::vector<std::size_t>> from(count_);
        for (std::size_t t = 0; t < m.edges.size(); ++t)
            for (const Edge& e : m.edges[t]) {
                if (e.level != scope || e.level_lag != 0) continue;
                const auto a = node(m, scope, e.before.task), b = node(m, scope, static_cast<int>(t));
                if (a != b) from[b].push_back(a);
            }
        for (std::size_t i = 0; i < count_; ++i)
            for (const std::size_t a : from[i]) {
                for (std::size_t w = 0; w < words_; ++w) bits_[i * words_ + w] |= bits_[a * words_ + w];
                bits_[i * words_ + a / 64] |= std::uint64_t{1} << (a % 64);
            }
    }
    /// Tasks directly in the scope.
    [[nodiscard]] bool operator()(int a, int b) const {
        if (bits_.empty()) return false;
        const std::size_t i = place(a), j = place(b);
        return (bits_[j * words_ + i / 64] >> (i % 64) & 1) != 0;
    }
    [[nodiscard]] std::size_t place(int t) const {
        return task_at_.empty() ? 0 : task_at_[static_cast<std::size_t>(t)];
    }

  private:
    std::size_t node(const Model& m, int scope, int t) const {
        const int s = m.task(t).scope;
        return s == scope ? place(t) : scope_at_[static_cast<std::size_t>(m.child_of(scope, s))];
    }
    std::size_t count_ = 0, words_ = 0;
    std::vector<std::size_t> task_at_, scope_at_;  // places in the order
    std::vector<std::uint64_t> bits_;
};

/// What lies in a storage from one task to others, within a round of one scope: a temporary, or the
/// contributions of a task.
struct Life {
    int label = -1;
    Reader maker;                 // who writes it first
    Reader contribution;          // where it is that
    std::vector<int> users;       // all tasks that touch it, the maker too
    std::vector<Reader> readers;  // of what it holds at last
    std::vector<Reader> last;     // who wrote that
    Int3 ghosts{};
};

class Assign {
  public:
    explicit Assign(Model& m) : m_(m) {
        for (std::size_t l = 0; l < m.graph.labels().size(); ++l) ghosts_.emplace_back();
        for (const std::vector<Part>& parts : m.parts)
            for (const Part& p : parts)
                if (p.access == Access::need && p.relation == nullptr && p.contribution.task < 0)
                    for (std::size_t a = 0; a < 3; ++a) {
                        int& widest = ghosts_[static_cast<std::size_t>(p.label)][a];
                        widest = std::max(widest, p.width[a]);
                    }
        storage_of_.assign(m.graph.labels().size(), -1);
    }

    void all() {
        for (int s = 1; s < m_.scopes(); ++s)
            if (!m_.inside(s, 0)) share(s);
        const std::size_t of_steps = m_.out.storages.size();
        for (int s = 0; s < m_.scopes(); ++s)
            if (m_.inside(s, 0)) share(s, of_steps);
        for (const int label : m_.labels_by_name)
            if (storage_of_[static_cast<std::size_t>(label)] < 0 && used(label)) own(label);
        name_uses();
    }

  private:
    using Shape = std::tuple<const Family*, int, Kind, On, Int3, std::size_t, int, Int3, bool, int>;

    [[nodiscard]] bool used(int label) const {
        for (int s = 0; s < m_.scopes(); ++s)
            if (m_.timeline(s, label) != nullptr) return true;
        return false;
    }
    [[nodiscard]] Shape shape(const Life& life) const {
        const LabelInfo& l = m_.label(life.label);
        // Lists of two labels have one length only where they say so by one function, which cannot be
        // compared.
        const int alone = l.kind == Kind::list ? life.label : -1;
        return {l.family,     l.particle_set, l.kind,
                l.on,         l.border,       l.bytes,
                l.components, life.ghosts,    life.contribution.task >= 0,
                alone};
    }

    std::vector<Life> lives(int scope) {
        std::vector<Life> all;
        for (const int label : m_.labels_by_name) {
            if (scope_of_temporary(m_, label) != scope) continue;
            const Timeline& t = *m_.timeline(scope, label);
            Life life;
            life.label = label;
            life.maker = {t.values[0].task, t.values[0].use};
            life.ghosts = ghosts_[static_cast<std::size_t>(label)];
            for (const Value& v : t.values) {
                life.users.push_back(v.task);
                for (const Reader& r : v.readers) life.users.push_back(r.task);
            }
            life.readers = t.values.back().readers;
            life.last = {{t.values.back().task, t.values.back().use}};
            all.push_back(std::move(life));
        }
        for (std::size_t t = 0; t < m_.parts.size(); ++t)
            for (std::size_t u = 0; u < m_.parts[t].size(); ++u) {
                const Part& p = m_.parts[t][u];
                if (p.contribution.task < 0 || m_.out.tasks[t].scope != scope) continue;
                Life life;
                life.label = p.label;
                life.maker = life.contribution = p.contribution;
                life.users = {p.contribution.task, static_cast<int>(t)};
                life.readers = {{static_cast<int>(t), static_cast<int>(u)}};
                life.last = {p.contribution};
                life.ghosts = p.width;
                all.push_back(std::move(life));
            }
        return all;
    }

    /// Storages for the temporaries of a scope; the first `before` storages may be used as well (the start is
    /// over when the steps begin).
    void share(int scope, std::size_t before = 0) {
        const Precedes precedes(m_, scope);
        std::vector<Life> all = lives(scope);
        std::sort(all.begin(), all.end(), [&](const Life& a, const Life& b) {
            const auto x = precedes.place(a.maker.task), y = precedes.place(b.maker.task);
            return x != y ? x < y : m_.label(a.label).name < m_.label(b.label).name;
        });
        std::map<Shape, std::vector<std::vector<const Life*>>> pools;
        for (const Life& life : all) {
            std::vector<std::vector<const Life*>>& alike = pools[shape(life)];
            const auto free =
                std::find_if(alike.begin(), alike.end(), [&](const std::vector<const Life*>& pool) {
                    return may_share(life) &&
                           std::all_of(pool.back()->users.begin(), pool.back()->users.end(),
                                       [&](int user) { return precedes(user, life.maker.task); });
                });
            if (free != alike.end())
                free->push_back(&life);
            else
                alike.push_back({&life});
        }
        std::vector<bool> taken(before, false);
        for (const Life& life : all)  // in an order that does not depend on addresses
            for (const std::vector<const Life*>& pool : pools[shape(life)])
                if (pool.front() == &life) place(scope, pool, taken);
    }
    [[nodiscard]] bool may_share(const Life& life) const { return m_.label(life.label).kind != Kind::scalar; }

    void place(int scope, const std::vector<const Life*>& pool, std::vector<bool>& taken) {
        const Shape wanted = shape(*pool.front());
        std::size_t at = 0;
        const bool may = may_share(*pool.front());
        while (at < taken.size() && (taken[at] || !may || shapes_[at] != wanted)) ++at;
        if (at == taken.size()) at = m_.out.storages.size();
        if (at < taken.size()) {
            taken[at] = true;
        } else {
            Storage storage;
            storage.label = pool.front()->label;
            storage.scope = scope;
            storage.ghosts = pool.front()->ghosts;
            storage.contributions = pool.front()->contribution.task >= 0;
            m_.out.storages.push_back(storage);
            shapes_.push_back(wanted);
        }
        Storage& storage = m_.out.storages[at];
        for (std::size_t i = 0; i < pool.size(); ++i) {
            const Life& life = *pool[i];
            if (std::count(storage.labels.begin(), storage.labels.end(), life.label) == 0)
                storage.labels.push_back(life.label);
            if (life.contribution.task >= 0)
                contributions_[{life.contribution.task, life.contribution.use}] = static_cast<int>(at);
            else
                storage_of_[static_cast<std::size_t>(life.label)] = static_cast<int>(at);
            // Who makes it waits for those who used what was there: the life before in this round, or for the
            // first the last one of the round before.
            const Life& there = *pool[i == 0 ? pool.size() - 1 : i - 1];
            const int lag = i == 0 ? 1 : 0;
            for (const Reader& r : there.readers)
                add_edge(m_, life.maker.task, {r.task, r.use, scope, lag}, through(r), true, there.label);
            for (const Reader& w : there.last)
                if (w.task != life.maker.task || lag == 0)
                    add_edge(m_, life.maker.task, {w.task, w.use, scope, lag}, {}, true, there.label);
        }
    }
    /// A combination reads through the use of who contributed.
    [[nodiscard]] Reader through(const Reader& r) const {
        const Part& p = m_.part(r);
        return p.contribution.task >= 0 ? p.contribution : r;
    }

    void own(int label) {
        const int home = m_.home[static_cast<std::size_t>(label)];
        Storage storage;
        storage.label = label;
        storage.labels = {label};
        storage.ghosts = ghosts_[static_cast<std::size_t>(label)];
        storage.depth = home >= 0 ? m_.label(label).history + 1 : 1;
        storage.scope = home >= 0 ? home : 1;
        const Timeline* steps = m_.timeline(1, label);
        storage.kept = home == 1 || (steps != nullptr && steps->enters);
        storage_of_[static_cast<std::size_t>(label)] = static_cast<int>(m_.out.storages.size());
        m_.out.storages.push_back(storage);
        shapes_.emplace_back();
    }

    void name_uses() {
        for (std::size_t t = 0; t < m_.parts.size(); ++t) {
            ResolvedTask& task = m_.out.tasks[t];
            for (std::size_t u = 0; u < m_.parts[t].size(); ++u) {
                const Part& p = m_.parts[t][u];
                const Reader here{static_cast<int>(t), static_cast<int>(u)};
                ResolvedUse use;
                use.label = p.label;
                use.back = p.back;
                use.storage = storage_of_[static_cast<std::size_t>(p.label)];
                const bool contributes = p.access == Access::sum || p.access == Access::contribute;
                if (p.contribution.task >= 0 || contributes) {
                    const Reader by = contributes ? here : p.contribution;
                    use.storage = contributions_.at({by.task, by.use});
                    use.maker = by.task;
                } else if (p.access == Access::need) {
                    use.version =
                        p.back > 0 ? m_.timeline(m_.home[static_cast<std::size_t>(p.label)], p.label)->last()
                                   : p.version;
                    const int s = p.back > 0 ? m_.home[static_cast<std::size_t>(p.label)] : task.scope;
                    const std::vector<Reach> writers = writers_of(m_, s, p.label, use.version, p.back);
                    use.maker = writers.empty() ? -1 : writers.front().task;
                } else {
                    use.version = p.access == Access::modify ? p.version + 1 : 0;
                    use.maker = here.task;
                }
                task.uses.push_back(use);
            }
        }
        for (ResolvedScope& s : m_.out.scopes)
            if (s.decision.label >= 0)
                s.decision.storage = storage_of_[static_cast<std::size_t>(s.decision.label)];
    }

    Model& m_;
    std::vector<Int3> ghosts_;                          // [label] widest
    std::vector<int> storage_of_;                       // [label]
    std::vector<Shape> shapes_;                         // [storage]
    std::map<std::pair<int, int>, int> contributions_;  // (task, use) -> storage
};

}  // namespace

int scope_of_temporary(Model& m, int label) {
    const LabelInfo& info = m.label(label);
    if (info.history > 0 || info.kind == Kind::scalar) return -1;
    int scope = -1;
    for (int s = 0; s < m.scopes(); ++s)
        if (const Timeline* t = m.timeline(s, label)) {
            if (scope >= 0 || t->enters || t->values[0].task < 0) return -1;
            scope = s;
            for (const Value& v : t->values)
                if (v.scope >= 0 || !v.scopes.empty()) return -1;
        }
    return scope;
}

void assign_storages(Model& m) { Assign(m).all(); }

}  // namespace strata::graph::resolving
