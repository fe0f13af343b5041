// A Program as the threads go through it: each thread's operations one after the other in memory, with what
// is looked at between two of them and nothing else.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/graph/execute/program.hpp"

namespace strata::graph::detail {

/// An operation in a thread's list.
struct OpEntry {
    Outcome (*go)(void* what, Worker& worker);
    void* what;
    Flag* flag;
    std::uint32_t first_wait;  // in Plan::waits; first those that everybody must look at, then
    std::uint32_t foreign;     // (after so many) those that the owner's order implies
    std::uint32_t waits;       // all of them
    std::uint32_t op;          // in Program::ops
    std::uint16_t threads;
    bool speaks_mpi;
};

/// One thread's operations in one block.
struct OpList {
    const OpEntry* entries = nullptr;
    std::atomic<Epoch>* claims = nullptr;  // [entry]: the last epoch in which somebody took it
    std::uint32_t size = 0;
};

/// A block of the Program; they are numbered in the order in which they are gone through.
struct ThreadBlock {
    Block::Kind kind = Block::Kind::ops;
    std::uint16_t scope = 0;
    std::uint32_t most = 1;
    int decision = -1;  // which one, for those that have one
    Decision ask;
    std::vector<int> inside;
    std::vector<OpList> lists;  // [thread]
};

struct ThreadProgram {
    /// For so many threads of this process, which may be fewer or more than the program was made for: lists
    /// too many are merged, threads too many have none and take over others' operations. Throws Error where
    /// the program cannot be executed.
    ThreadProgram(const Program& program, int threads, int speaker);

    int threads;
    int scopes;
    int decisions = 0;
    std::vector<ThreadBlock> blocks;  // 0: the step
    std::vector<Wait> waits;

  private:
    struct OpPosition {
        std::int32_t block = -1, thread = -1;
        std::uint32_t at = 0;
    };
    int number(const Program& program, const Block& block, int speaker);
    void place(const Program& program, const Block& block, int number, int speaker);
    void fill(const Program& program);
    [[nodiscard]] bool implied(const Program& program, const Wait& wait, const OpPosition& here) const;

    std::vector<std::vector<std::vector<std::uint32_t>>> order_;  // [block][thread]
    std::vector<OpPosition> positions_;                           // [operation]
    std::vector<std::vector<OpEntry>> entries_;                   // [thread]
    std::vector<std::unique_ptr<std::atomic<Epoch>[]>> claims_;   // [thread]
};

}  // namespace strata::graph::detail
