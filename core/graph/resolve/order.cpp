// Ranks, the order within scopes, and cycles.
#include <algorithm>
#include <map>
#include <queue>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

/// The mean number of values on a family's patch, for costs that are declared per value.
double values_per_patch(const Model& m, const TaskInfo& task) {
    if (task.family == nullptr || task.family->patches() == 0) return 1;
    if (const auto* grid = dynamic_cast<const Grid*>(task.family)) {
        if (grid->regular() || grid->zones() > 1)
            return static_cast<double>(grid->all_cells()) / task.family->patches();
        return static_cast<double>(grid->box(0).volume());
    }
    std::int64_t most = 1;
    for (const Use& use : task.uses) {
        const LabelInfo& label = m.label(use.version.label);
        if (label.kind == Kind::list && label.family == task.family) most = std::max(most, label.entries(0));
    }
    return static_cast<double>(most);
}

/// The estimated seconds of a call: the time of one core for the declared work at 4 Gflop/s and 8 GB/s. A
/// task without declared work costs the mean of the others. Only the proportions matter.
VectorBy<TaskId, double> costs(const Model& m) {
    VectorBy<TaskId, double> cost(m.out.tasks.size(), 0);
    double known = 0;
    int count = 0;
    for (const TaskId t : m.graph.tasks().ids()) {
        const TaskInfo& info = m.graph.tasks()[t];
        if (info.runs == Runs::once) continue;  // see below
        cost[t] = values_per_patch(m, info) * std::max(info.flops / 4e9, info.bytes / 8e9);
        known += cost[t];
        count += cost[t] > 0;
    }
    const double mean = count > 0 ? known / count : 1;
    for (const TaskId t : cost.ids()) {
        const auto what = m.out.tasks[t].what;
        if (what == ResolvedTask::What::combine || what == ResolvedTask::What::reduce ||
            (what == ResolvedTask::What::body && m.graph.tasks()[t].runs == Runs::once))
            cost[t] = 0.1 * mean;  // works on a patch's rim, or on one number
        else if (cost[t] <= 0)
            cost[t] = mean;
    }
    return cost;
}

/// The tasks and scopes directly in a scope.
class ScopeContents {
  public:
    struct Cause {
        int from, to;  // nodes
        TaskId task_from, task_to;
        LabelId label;
        bool backward;
    };

    ScopeContents(Model& m, ScopeId scope, const VectorBy<TaskId, double>& cost,
                  VectorBy<ScopeId, double>& round_cost, VectorBy<ScopeId, std::vector<TaskId>>& path)
        : m_(m), scope_(scope), cost_(cost), round_cost_(round_cost), path_(path) {
        ResolvedScope& it = m_.out.scopes[scope];
        for (const TaskId t : it.tasks) nodes_.push_back({t, {}});
        for (const ScopeId s : it.inside) nodes_.push_back({{}, s});
        for (std::size_t i = 0; i < nodes_.size(); ++i) at_[nodes_[i]] = static_cast<int>(i);
        next_.resize(nodes_.size());
        waits_.assign(nodes_.size(), 0);
    }

    void add(TaskId from_task, TaskId to_task, LabelId label, bool backward) {
        add_nodes(node_of(from_task), node_of(to_task), from_task, to_task, label, backward);
    }
    void add_nodes(int from, int to, TaskId from_task, TaskId to_task, LabelId label, bool backward) {
        if (from == to) return;
        next_[static_cast<std::size_t>(from)].push_back(static_cast<int>(why_.size()));
        ++waits_[static_cast<std::size_t>(to)];
        why_.push_back({from, to, from_task, to_task, label, backward});
    }
    [[nodiscard]] int node_of(TaskId task) const {
        const ScopeId s = m_.task(task).scope;
        return at_.at(s == scope_ ? TaskOrScope{task, {}} : TaskOrScope{{}, m_.child_of(scope_, s)});
    }
    [[nodiscard]] int node_of(ScopeId s) const { return at_.at({{}, s}); }

    void order() {
        const std::vector<int> some = sorted([](int a, int b) { return a > b; });
        if (some.size() < nodes_.size()) throw cycle(some);
        rank_.assign(nodes_.size(), 0);
        std::vector<int> follows(nodes_.size(), -1);
        for (std::size_t i = some.size(); i-- > 0;) {
            const int node = some[i];
            double longest = 0;
            for (const int w : next_[static_cast<std::size_t>(node)]) {
                const int to = why_[static_cast<std::size_t>(w)].to;
                const double r = rank_[static_cast<std::size_t>(to)];
                int& best = follows[static_cast<std::size_t>(node)];
                if (r > longest || (r == longest && best >= 0 && name(to) < name(best)))
                    longest = r, best = to;
            }
            rank_[static_cast<std::size_t>(node)] = longest + cost(node);
        }
        ResolvedScope& it = m_.out.scopes[scope_];
        const std::vector<int> by_rank = sorted([this](int a, int b) { return later(a, b); });
        for (const int node : by_rank) it.order.push_back(nodes_[static_cast<std::size_t>(node)]);
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].task) m_.task(nodes_[i].task).rank = rank_[i];
        int node = -1;
        for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
            if (node < 0 || later(node, n)) node = n;
        round_cost_[scope_] = node < 0 ? 0 : rank_[static_cast<std::size_t>(node)];
        std::vector<TaskId>& path = path_[scope_];
        for (; node >= 0; node = follows[static_cast<std::size_t>(node)]) {
            const auto& [task, inner] = nodes_[static_cast<std::size_t>(node)];
            if (inner)
                path.insert(path.end(), path_[inner].begin(), path_[inner].end());
            else
                path.push_back(task);
        }
    }

  private:
    [[nodiscard]] const std::string& name(int node) const {
        const auto& [task, inner] = nodes_[static_cast<std::size_t>(node)];
        return inner ? m_.scope(inner).name() : m_.task(task).name;
    }
    [[nodiscard]] double cost(int node) const {
        const auto& [task, inner] = nodes_[static_cast<std::size_t>(node)];
        if (!inner) return cost_[task];
        const Scope& s = m_.scope(inner);
        const double rounds = s.form() == Scope::Form::subcycle ? static_cast<double>(s.most()) : 1;
        return rounds * round_cost_[inner];
    }
    /// Whether b goes first.
    [[nodiscard]] bool later(int a, int b) const {
        const double ra = rank_[static_cast<std::size_t>(a)], rb = rank_[static_cast<std::size_t>(b)];
        if (ra != rb) return ra < rb;
        return name(a) != name(b) ? name(a) > name(b)
                                  : bool(nodes_[static_cast<std::size_t>(a)].scope) >
                                        bool(nodes_[static_cast<std::size_t>(b)].scope);
    }
    template <class Later>
    std::vector<int> sorted(Later&& later) const {
        std::vector<int> waits = waits_, result;
        std::priority_queue<int, std::vector<int>, Later> ready(later);
        for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
            if (waits[static_cast<std::size_t>(n)] == 0) ready.push(n);
        while (!ready.empty()) {
            const int node = ready.top();
            ready.pop();
            result.push_back(node);
            for (const int w : next_[static_cast<std::size_t>(node)]) {
                const int to = why_[static_cast<std::size_t>(w)].to;
                if (--waits[static_cast<std::size_t>(to)] == 0) ready.push(to);
            }
        }
        return result;
    }

    [[nodiscard]] std::string who(TaskId task, int node) const {
        const auto& [own, inner] = nodes_[static_cast<std::size_t>(node)];
        return task ? m_.say(task) : inner ? m_.say(inner) : m_.say(own);
    }

    /// Describes a cycle. Goes back along waits from a node that could not be ordered, until it comes to a
    /// node for the second time.
    [[nodiscard]] Error cycle(const std::vector<int>& ordered) const {
        std::vector<bool> done(nodes_.size(), false);
        for (const int n : ordered) done[static_cast<std::size_t>(n)] = true;
        std::vector<int> into(nodes_.size(), -1), step_of(nodes_.size(), -1);
        for (int w = 0; w < static_cast<int>(why_.size()); ++w) {
            const Cause& why = why_[static_cast<std::size_t>(w)];
            int& known = into[static_cast<std::size_t>(why.to)];
            if (done[static_cast<std::size_t>(why.from)]) continue;
            if (known < 0 || name(why.from) < name(why_[static_cast<std::size_t>(known)].from)) known = w;
        }
        int node = -1;
        for (int n = 0; n < static_cast<int>(nodes_.size()); ++n)
            if (!done[static_cast<std::size_t>(n)] && (node < 0 || name(n) < name(node))) node = n;
        std::vector<int> way;
        while (step_of[static_cast<std::size_t>(node)] < 0) {
            step_of[static_cast<std::size_t>(node)] = static_cast<int>(way.size());
            way.push_back(into[static_cast<std::size_t>(node)]);
            node = why_[static_cast<std::size_t>(way.back())].from;
        }
        way.erase(way.begin(), way.begin() + step_of[static_cast<std::size_t>(node)]);
        std::string text;
        for (const int w : way) {
            const Cause& why = why_[static_cast<std::size_t>(w)];
            if (!text.empty()) text += "; ";
            const std::string from = who(why.task_from, why.from), to = who(why.task_to, why.to);
            const std::string& label = m_.label(why.label).name;
            text += why.backward ? fmt::format("{} overwrites '{}', which {} reads before", to, label, from)
                                 : fmt::format("{} needs '{}', which {} makes", to, label, from);
        }
        return m_.refuse(fmt::format("tasks wait for each other: {}", text))
            .remedy(
                "one of them must take what was there before: previous() of a label with a history, or an "
                "earlier "
                "version");
    }

    Model& m_;
    ScopeId scope_;
    const VectorBy<TaskId, double>& cost_;
    VectorBy<ScopeId, double>& round_cost_;
    VectorBy<ScopeId, std::vector<TaskId>>& path_;
    std::vector<TaskOrScope> nodes_;
    std::map<TaskOrScope, int> at_;
    std::vector<Cause> why_;
    std::vector<std::vector<int>> next_;  // [node] -> whys
    std::vector<int> waits_;
    std::vector<double> rank_;
};

}  // namespace

void order_scopes(Model& m) {
    const VectorBy<TaskId, double> cost = costs(m);
    VectorBy<ScopeId, double> round_cost(m.graph.scopes().size(), 0);
    VectorBy<ScopeId, std::vector<TaskId>> paths(m.graph.scopes().size());
    VectorBy<ScopeId, std::vector<std::pair<TaskId, const Edge*>>> edges(m.graph.scopes().size());
    for (const TaskId t : m.edges.ids())
        for (const Edge& e : m.edges[t])
            if (e.level_lag == 0) edges[e.level].emplace_back(t, &e);
    for (std::size_t left = m.graph.scopes().size(); left-- > 0;) {  // inner scopes first
        const ScopeId s(left);
        ScopeContents level(m, s, cost, round_cost, paths);
        for (const auto& [to, e] : edges[s]) level.add(e->before.task, to, e->label, e->before.backward);
        for (const ScopeId c : m.out.scopes[s].inside) {
            // The maker of the deciding scalar comes before the scope, and the maker of its next version
            // after it.
            const ResolvedScope& it = m.out.scopes[c];
            if (m.scope(c).form() != Scope::Form::when || it.decision.back > 0) continue;
            const Timeline& t = *m.timeline(s, it.decision.label);
            const auto node = [&](const Value& v) {
                return v.maker.task ? level.node_of(v.maker.task) : v.scope ? level.node_of(v.scope) : -1;
            };
            const auto v = static_cast<std::size_t>(it.decision.version);
            const int by = node(t.values[v]);
            if (by >= 0) level.add_nodes(by, level.node_of(c), {}, {}, it.decision.label, false);
            if (v + 1 < t.values.size())
                level.add_nodes(level.node_of(c), node(t.values[v + 1]), {}, {}, it.decision.label, true);
        }
        level.order();
    }
    m.out.critical_path = paths[kStep];
}

}  // namespace strata::graph::resolving
