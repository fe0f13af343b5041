// From edges to `before`: each wait once, and no wait that others imply.
//
// Flags only grow, so "done k rounds ago" follows from "done j rounds ago" for j <= k. Let task W overwrite a
// value on its patch p, and let R read it on the patches N(p). W's wait for R on N(p) is implied by a chain
// of other waits W <- X <- ... <- R if its total lag is not greater, each wait covers at least the patch
// itself, and one of them covers all of N(p). Each patch of N(p) is then reached: that wait goes to it, and
// all others stay on their patch.
//   Example: R reads u with ghosts(1) and makes v, X reads v with ghosts(1) and makes w, W reads w and
//   overwrites u. W waits for X on p, and X for R on p and its neighbours: W need not wait for R.
//
// Ghosts are mutual: if q reads from p, p reads from q. So the direction of the wait that covers N(p) does
// not matter. Ghosts on some sides alone are not: their waits are implied by those of all around, and count
// as waits for the patch itself. If a wait of a chain is itself dropped as implied, its own chain takes its
// place.
#include <algorithm>
#include <tuple>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

constexpr int kMostHops = 4;
/// Chains that are followed for one wait. A superfluous wait costs less than an exhaustive search.
constexpr std::size_t kMostWays = 128;

/// The patches that a wait covers, where waits can be compared.
struct Patches {
    bool itself = false;   // at least the patch itself
    bool ghosts = false;   // and those that meet it within `width`,
    bool corners = false;  // or, without, that meet it beyond a face
    const Family* family = nullptr;
    On on = On::cells;
    Int3 border{}, width{};
};

class Settle {
  public:
    explicit Settle(Model& m) : m_(m), edges_(m.edges.size()) {}

    void all() {
        for (const TaskId t : edges_.ids()) once(t);
        for (const TaskId t : by_name_) {
            std::vector<Before>& own = edges_[t];
            for (std::size_t e = 0; e < own.size();)
                if (own[e].backward && implied(t, e))
                    own.erase(own.begin() + static_cast<std::ptrdiff_t>(e));
                else
                    ++e;
        }
        for (const TaskId t : edges_.ids()) m_.out.tasks[t].before = std::move(edges_[t]);
    }
    void sort_names() {
        for (const TaskId t : edges_.ids()) by_name_.push_back(t);
        std::sort(by_name_.begin(), by_name_.end(),
                  [&](TaskId a, TaskId b) { return m_.task(a).name < m_.task(b).name; });
        place_.resize(by_name_.size());
        for (std::size_t i = 0; i < by_name_.size(); ++i) place_[by_name_[i]] = static_cast<int>(i);
    }

  private:
    [[nodiscard]] int place(TaskId t) const { return t ? place_[t] : -1; }

    /// Keeps of equal waits the one with the least lag. Waits for data come before waits for overwriting,
    /// each in the order of names.
    void once(TaskId t) {
        std::vector<Before>& own = edges_[t];
        for (const Edge& e : m_.edges[t]) own.push_back(e.before);
        const auto key = [this](const Before& b) {
            return std::tuple(b.backward, place(b.task), place(b.through_task), b.through_use, b.lag);
        };
        std::sort(own.begin(), own.end(), [&](const Before& a, const Before& b) { return key(a) < key(b); });
        const auto same = [](const Before& a, const Before& b) {
            return a.task == b.task && a.through_task == b.through_task && a.through_use == b.through_use &&
                   a.backward == b.backward;
        };
        own.erase(std::unique(own.begin(), own.end(), same), own.end());
    }

    /// `needed`: the patches that it must cover, else those that it does.
    [[nodiscard]] Patches patches(TaskId t, const Before& b, bool needed = false) const {
        // Where one of them does not run, none waits for the other: others do not follow from that.
        if (m_.partial(t) || m_.partial(b.task)) return {};
        const ResolvedTask &to = m_.task(t), &from = m_.task(b.task);
        // Alone: one call for all patches, or patches that are only known at run time.
        const auto alone = [&](const ResolvedTask& task, TaskId id) {
            return task.what == ResolvedTask::What::reduce || task.what == ResolvedTask::What::relocate ||
                   m_.in_processes(id);
        };
        if (b.through_use < 0)
            return {!m_.in_processes(t) && !m_.in_processes(b.task), false, false, nullptr, {}, {}, {}};
        if (alone(to, t) || alone(from, b.task)) return {};
        const UseInfo& p = m_.use({b.through_task, b.through_use});
        const LabelInfo& label = m_.label(p.label);
        if (p.relation != nullptr || label.kind == Kind::scalar) return {};
        if (p.sided && !needed) return {t != b.task, false, false, nullptr, {}, {}, {}};
        return {true, true, !p.faces_alone, label.family, label.on, label.border, p.width};
    }
    [[nodiscard]] static bool takes_in(const Patches& a, const Patches& b) {
        if (b.itself && !b.ghosts) return a.itself;
        if (!a.ghosts || !b.ghosts || (b.corners && !a.corners) || a.family != b.family || a.on != b.on ||
            a.border != b.border)
            return false;
        for (std::size_t d = 0; d < 3; ++d)
            if (a.width[d] < b.width[d]) return false;
        return true;
    }

    /// Whether wait `e` of task t follows from the other waits.
    [[nodiscard]] bool implied(TaskId t, std::size_t e) const {
        const Before& wait = edges_[t][e];
        const Patches needed = patches(t, wait, true);
        if (!needed.itself || m_.task(wait.task).scope != m_.task(t).scope) return false;
        struct State {
            TaskId task;
            int lag, hops;
            bool covered;
        };
        std::vector<State> ways{{t, 0, 0, false}};
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const State at = ways[i];
            const std::vector<Before>& own = edges_[at.task];
            for (std::size_t k = 0; k < own.size(); ++k) {
                if (at.task == t && k == e) continue;
                const Before& b = own[k];
                const Patches here = patches(at.task, b);
                if (!here.itself || at.lag + b.lag > wait.lag || m_.task(b.task).scope != m_.task(t).scope)
                    continue;
                const State next{b.task, at.lag + b.lag, at.hops + 1, at.covered || takes_in(here, needed)};
                if (next.task == wait.task && next.covered) return true;
                const bool known = std::any_of(ways.begin(), ways.end(), [&](const State& s) {
                    return s.task == next.task && s.lag <= next.lag && s.hops <= next.hops &&
                           s.covered >= next.covered;
                });
                if (next.hops < kMostHops && !known && ways.size() < kMostWays) ways.push_back(next);
            }
        }
        return false;
    }

    Model& m_;
    VectorBy<TaskId, std::vector<Before>> edges_;
    std::vector<TaskId> by_name_;
    VectorBy<TaskId, int> place_;
};

}  // namespace

void settle_edges(Model& m) {
    Settle settle(m);
    settle.sort_names();
    settle.all();
}

}  // namespace strata::graph::resolving
