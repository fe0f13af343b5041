// Runs the plans of all processes on paper and finds operations that touch the same memory, one of them
// writing, without an order between them.
//
// An operation comes after those that it waits for, after itself in the round before, after the decision that
// its part of the step runs at all, and, where it receives a message, after the sending. The order of a
// thread's list counts for nothing: another thread may take over any operation of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/plans/plan_accesses.hpp"

namespace strata::tests {

/// What is tried where a graph leaves it open.
struct PlayedRounds {
    int steps = 3;
    unsigned met = 1;  // bit i: whether the i-th time a condition is met; then again from bit 0
    int repeats = 2;   // rounds of a repeat, at most
};

class PlanOrder {
  public:
    /// `phase`: 0 the start, 1 the step. The plans stay as long as this is used. Throws std::logic_error
    /// where operations wait for each other, and where the kind of one is not known.
    PlanOrder(std::span<graph::Plan* const> plans, int phase, const PlayedRounds& rounds);

    /// The waits of operations by whose they are and for what.
    using WaitKind = std::pair<std::string, std::string>;
    [[nodiscard]] const std::set<WaitKind>& wait_kinds() const { return kinds_; }
    [[nodiscard]] std::size_t instances() const { return nodes_.size(); }

    struct Found {
        std::set<std::string> conflicts;  // "'diffuse' writes what 'ghosts of u' reads"
        bool implied = true;              // all that was left out follows from other waits
    };
    /// Without these waits, as if they had been forgotten.
    [[nodiscard]] Found find(const WaitKind& without = {}) const;

  private:
    struct Node {
        int process = 0;
        std::uint32_t op = 0;  // kDecision: of no operation
        std::size_t visit = 0;
        std::vector<MemoryAccess> accesses;
    };
    struct Edge {
        std::uint32_t from = 0;
        std::uint32_t kind = 0;  // in kind_numbers_; 0: no wait of an operation
    };
    struct Walk;
    static constexpr std::uint32_t kDecision = 0xffffffffU;

    void walk(Walk& walk, const graph::Block& block);
    void decide(Walk& walk, const graph::Block& block);
    void connect();
    void connect_messages();
    void add_edge(std::size_t to, std::uint32_t from, std::uint32_t kind) {
        edges_[to].push_back({from, kind});
    }
    void add_wait(std::size_t to, const graph::Wait& wait, bool of_operation);
    void sort();
    void touch();
    [[nodiscard]] const graph::Program& program(int process) const;
    [[nodiscard]] std::string name(const Node& node) const;

    std::vector<graph::Plan*> plans_;
    int phase_;
    PlayedRounds rounds_;
    std::vector<Node> nodes_;
    std::vector<std::vector<graph::Epoch>> visits_;                   // counts of scopes
    std::vector<std::vector<Edge>> edges_;                            // [node]
    std::vector<std::vector<std::vector<std::uint32_t>>> rounds_of_;  // [process][op] -> nodes
    std::vector<std::vector<graph::Epoch>> first_;  // [process][op]: the round of the first one
    std::map<const graph::Flag*, std::pair<int, std::uint32_t>> flags_;
    std::map<WaitKind, std::uint32_t> kind_numbers_;
    std::set<WaitKind> kinds_;
    std::vector<std::uint32_t> order_;             // nodes, as they may run
    std::vector<std::uint32_t> decided_;           // [node]: the last decision before it, or kDecision
    std::vector<const graph::DecideCall*> asked_;  // [node] of decisions
    std::vector<std::pair<std::size_t, const graph::Wait*>> decisions_;
};

}  // namespace strata::tests
