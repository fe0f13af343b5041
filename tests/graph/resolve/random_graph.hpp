// Graphs of any kind: tasks, scopes within scopes, all ways to read and write, added in any order.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"

namespace strata::tests {

inline constexpr int kRandomPatches = 5;

/// Notes declarations in an order that makes sense (each task reads versions that are there), and declares
/// them in another.
class RandomGraph {
  public:
    explicit RandomGraph(std::uint64_t seed) : random_(seed) {
        const int labels = pick(3, 8);
        for (int l = 0; l < labels; ++l) new_label(pick(0, 4));
        for (int l = 0; l < 3; ++l) new_label(local), new_label(ring);
        fill_scope(1, pick(3, 8), 0);
        for (std::size_t l = 0; l < labels_.size(); ++l)
            if (labels_[l].kind == carried || labels_[l].kind == history) start(l);
    }

    /// The same graph each time, but for the order in which its tasks are added. `named`: whether versions
    /// are named; else they follow from program order, which is order 0.
    std::unique_ptr<graph::Graph> graph(std::uint64_t order, bool named = true) const {
        auto made = std::make_unique<graph::Graph>("random");
        if (!named) made->in_program_order();
        const graph::GridShape shape{.cells = {{0, 0, 0}, {4 * kRandomPatches, 1, 1}},
                                     .patch_cells = {4, 1, 1},
                                     .periodic = {true, false, false}};
        graph::Grid& grid = made->grid("grid", shape);
        std::mt19937_64 table_random(7);
        graph::Gather::Table table(kRandomPatches);
        for (auto& row : table)
            for (int i = 0; i < 2; ++i) row.push_back({static_cast<int>(table_random() % kRandomPatches), i});
        auto& gather = made->add<graph::Gather>("donors", grid, grid, table);
        graph::VectorBy<graph::LabelId, graph::LabelId> ids;  // of what labels_ has -> the graph's
        for (const Label& l : labels_)
            ids.push_back(
                l.kind == scalar
                    ? made->scalar<double>(l.name, graph::Reduce::sum).id()
                    : made->field<double>(l.name, grid, graph::On::cells, {.history = l.history}).id());
        std::vector<graph::Scope*> scopes{&made->start(), &made->step()};
        for (const Inner& inner : inners_) {
            graph::Scope& parent = *scopes[static_cast<std::size_t>(inner.parent)];
            graph::TypedVersion<double, graph::Kind::scalar> by{{ids[graph::LabelId(inner.by)], 0, 0}};
            if (inner.form == graph::Scope::Form::subcycle)
                scopes.push_back(&parent.subcycle(inner.name, 3));
            else
                scopes.push_back(&parent.when<double>(inner.name, by, [](double) { return true; }));
            for (const auto& [label, version] : inner.takes)
                if (named) scopes.back()->takes({ids[graph::LabelId(label)], version, 0});
        }
        std::vector<Noted> tasks = tasks_;
        if (order > 0) {
            std::mt19937_64 mix(order);
            std::shuffle(tasks.begin(), tasks.end(), mix);
        }
        for (const Noted& noted : tasks) {
            graph::Task task = scopes[static_cast<std::size_t>(noted.scope)]->task(noted.name, grid);
            for (graph::Use use : noted.uses) {
                if (use.width[0] < 0) use.relation = &gather, use.width = {};
                use.version.label = ids[use.version.label];
                if (!named && use.version.back == 0 &&
                    (use.access == graph::Access::need || use.access == graph::Access::modify))
                    use.version = task.newest(graph::Field<double>(use.version.label));
                task.use(use);
            }
            task.run([](graph::Here&) {});
        }
        return made;
    }

  private:
    enum Kind {
        carried,    // made at the start, modified since
        history,    // made in each step
        temporary,  // made and used up in each step
        sum,
        scalar,
        local,  // made and used up in the rounds of one inner scope
        ring    // made in the step, and anew in each round of one inner scope
    };
    struct Label {
        std::string name;
        int kind = 0, history = 0;
        int owner = -1;  // local, ring: the scope
        bool started = false, earlier = false;
    };
    struct Noted {
        int scope;
        std::string name;
        std::vector<graph::Use> uses;
    };
    struct Inner {
        graph::Scope::Form form;
        std::string name;
        int parent, by = 0;
        std::vector<std::pair<int, int>> takes;
    };
    /// What a scope has so far: the version of each label (-1: none yet).
    struct State {
        std::vector<int> version;
        std::vector<bool> made, changed, touched;
    };

    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }
    void new_label(int kind) {
        Label l;
        l.kind = kind;
        l.name = std::string("abcdefghijklmnopqrstuvwxyz").substr(static_cast<std::size_t>(pick(0, 20)), 3) +
                 std::to_string(labels_.size());
        l.history = kind == history ? pick(1, 2) : kind == ring ? 1 : 0;
        labels_.push_back(l);
    }
    void start(std::size_t l) {
        if (labels_[l].started) return;
        labels_[l].started = true;
        Noted task{0, "start " + labels_[l].name, {}};
        const graph::LabelId label(l);
        task.uses.push_back({graph::Access::make, {label, 0, 0}, nullptr, {}});
        for (int k = 1; k < labels_[l].history; ++k)
            task.uses.push_back({graph::Access::make, {label, -1, k}, nullptr, {}});
        tasks_.push_back(task);
    }
    std::string name() {
        return std::string(1, static_cast<char>('a' + pick(0, 25))) + std::to_string(tasks_.size());
    }
    graph::Int3 reach(int label) {
        if (labels_[static_cast<std::size_t>(label)].kind == scalar) return {};
        const int how = pick(0, 3);
        return {how == 3 ? -1 : how == 0 ? 0 : how, 0, 0};
    }

    /// Tasks of a scope, and of scopes within it.
    State fill_scope(int scope, int tasks, int depth, const State* around = nullptr) {
        State state;
        const std::size_t n = labels_.size();
        state.version.assign(n, -1);
        state.made.assign(n, false);
        state.changed.assign(n, false);
        state.touched.assign(n, false);
        for (std::size_t l = 0; l < n; ++l)
            if (around != nullptr ? around->version[l] >= 0 : labels_[l].kind == carried)
                state.version[l] = labels_[l].kind == ring && labels_[l].owner == scope ? -1 : 0;
        for (int i = 0; i < tasks; ++i) {
            if (depth < 2 && pick(0, 4) == 0)
                add_inner(scope, depth, state);
            else
                add_task(scope, state, around == nullptr);
        }
        // Who needs generations of a label has somebody who makes them.
        for (std::size_t l = 0; l < n; ++l)
            if (labels_[l].earlier && state.version[l] < 0 &&
                labels_[l].owner == (around == nullptr ? -1 : scope)) {
                tasks_.push_back({scope, "close " + labels_[l].name, {}});
                tasks_.back().uses.push_back({graph::Access::make, {graph::LabelId(l), 0, 0}, nullptr, {}});
                state.version[l] = 0;
                state.changed[l] = state.touched[l] = true;
            }
        return state;
    }

    void add_task(int scope, State& state, bool is_step) {
        Noted task{scope, name(), {}};
        std::vector<bool> used(labels_.size(), false);
        const auto at = [](int l) { return static_cast<std::size_t>(l); };
        const int reads = pick(0, 3);
        for (int i = 0; i < reads; ++i) {
            const int l = pick(0, static_cast<int>(labels_.size()) - 1);
            if (used[at(l)]) continue;
            const bool own_ring = labels_[at(l)].kind == ring && labels_[at(l)].owner == scope;
            if ((own_ring || labels_[at(l)].kind == history) && pick(0, 1) == 0) {
                task.uses.push_back({graph::Access::need,
                                     {graph::LabelId(l), -1, pick(1, labels_[at(l)].history)},
                                     nullptr,
                                     reach(l)});
                labels_[at(l)].earlier = true;
            } else if (state.version[at(l)] >= 0) {
                task.uses.push_back(
                    {graph::Access::need, {graph::LabelId(l), state.version[at(l)], 0}, nullptr, reach(l)});
            } else
                continue;
            used[at(l)] = state.touched[at(l)] = true;
        }
        const int writes = pick(1, 2);
        for (int i = 0; i < writes; ++i) {
            const int l = pick(0, static_cast<int>(labels_.size()) - 1);
            if (used[at(l)]) continue;
            const Label& label = labels_[at(l)];
            int& version = state.version[at(l)];
            const bool own = label.owner == scope;
            const bool fresh = version < 0 && (own || (is_step && label.kind != local));
            if (fresh && label.kind == sum)
                task.uses.push_back(
                    {graph::Access::sum, {graph::LabelId(l), 0, 0}, nullptr, {pick(0, 2), 0, 0}});
            else if (fresh && label.kind == scalar)
                task.uses.push_back({graph::Access::contribute, {graph::LabelId(l), 0, 0}, nullptr, {}});
            else if (fresh)
                task.uses.push_back({graph::Access::make, {graph::LabelId(l), 0, 0}, nullptr, {}});
            else if (version >= 0 && label.kind != scalar)
                task.uses.push_back({graph::Access::modify, {graph::LabelId(l), version, 0}, nullptr, {}});
            else
                continue;
            ++version;
            used[at(l)] = state.changed[at(l)] = state.touched[at(l)] = true;
        }
        tasks_.push_back(task);
    }

    void add_inner(int parent, int depth, State& state) {
        Inner inner;
        inner.parent = parent;
        inner.name = "scope" + std::to_string(inners_.size());
        inner.form = graph::Scope::Form::subcycle;
        for (std::size_t l = 0; l < labels_.size(); ++l)
            if (labels_[l].kind == scalar && state.version[l] >= 0 && pick(0, 1) == 0) {
                inner.form = graph::Scope::Form::when;
                inner.by = static_cast<int>(l);
            }
        const std::size_t number = inners_.size();
        inners_.push_back(inner);
        // One that only this scope knows, and one of which its rounds are the generations.
        const int own_local = pick(0, 2), own_ring = pick(0, 2);
        int seen[2] = {0, 0};
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            Label& label = labels_[l];
            if (label.kind == local && seen[0]++ == own_local && label.owner < 0)
                label.owner = static_cast<int>(number) + 2;
            if (label.kind == ring && seen[1]++ == own_ring && label.owner < 0 && depth == 0 &&
                state.version[l] >= 0)
                label.owner = static_cast<int>(number) + 2;
        }
        const State within = fill_scope(static_cast<int>(number) + 2, pick(1, 4), depth + 1, &state);
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            if (!within.touched[l] || state.version[l] < 0) continue;
            state.touched[l] = true;
            if (state.version[l] > 0)
                inners_[number].takes.emplace_back(static_cast<int>(l), state.version[l]);
            if (within.changed[l]) ++state.version[l], state.changed[l] = true;
        }
    }

    std::mt19937_64 random_;
    std::vector<Label> labels_;
    std::vector<Noted> tasks_;
    std::vector<Inner> inners_;
};

}  // namespace strata::tests
