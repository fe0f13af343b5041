// Runs a resolved graph on paper: every call of every task on every patch, in any order that `before` allows,
// with storages as they are assigned; and says where a call would find other values than the declarations
// promise.
//
// What is promised is worked out on its own, from the declarations alone: values are kept by scope, label and
// version, with nothing shared, and calls are made in the order of the scopes. A value is the number of the
// call that wrote it.
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/graph/resolve/resolved.hpp"

namespace strata::tests {

class Simulation {
  public:
    Simulation(const graph::Graph& graph, const graph::Resolved& resolved, int patches, std::uint64_t seed)
        : graph_(graph), it_(resolved), patches_(patches), random_(seed) {}

    /// Empty where all calls of the start and of `steps` steps find what they should.
    std::string run(int steps);

    std::size_t calls() const { return calls_.size(); }

  private:
    struct Expect {
        graph::StorageId storage;
        std::int64_t buffer;
        int patch, value;
    };
    struct Call {
        graph::TaskId task;
        int patch;
        graph::VectorBy<graph::ScopeId, std::int64_t> counts;  // rounds begun of each scope
        std::vector<Expect> reads, writes;
        std::vector<int> after;  // calls
    };
    using Values = std::vector<int>;  // [patch] -> call

    void round(graph::ScopeId scope);
    void task(graph::TaskId t);
    void waits(Call& call);
    std::vector<int> patches_read(graph::TaskId t, int use, int patch) const;
    [[nodiscard]] bool of_scalar(graph::TaskId t, int use) const;
    [[nodiscard]] std::vector<int> patches_of(graph::TaskId t) const;
    Values& value(graph::ScopeId scope, graph::LabelId label, int version) {
        return values_[{scope, label, version}];
    }
    int last_version(graph::ScopeId scope, graph::LabelId label);
    int taken(graph::ScopeId scope, graph::LabelId label) const;
    bool changes(graph::ScopeId scope, graph::LabelId label) const;
    [[nodiscard]] graph::Version version_of(graph::TaskId t, int use) const;
    std::string execute();

    const graph::Graph& graph_;
    const graph::Resolved& it_;
    int patches_;
    std::mt19937_64 random_;
    graph::VectorBy<graph::ScopeId, std::int64_t> counts_;
    std::vector<Call> calls_;
    std::map<std::tuple<graph::ScopeId, graph::LabelId, int>, Values> values_;  // (scope, label, version)
    std::map<graph::LabelId, std::vector<Values>> generations_;                 // label -> the last first
    std::map<std::pair<graph::TaskId, int>, Values> contributions_;             // (task, use)
    std::map<std::pair<graph::TaskId, int>, std::vector<int>> done_;  // (task, patch) -> calls, in order
};

}  // namespace strata::tests
