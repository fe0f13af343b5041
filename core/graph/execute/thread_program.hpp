// A Program in the form that threads run: each thread's operations lie one after the other in memory, with
// only the data that is needed between two of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/execute/program.hpp"

namespace strata::graph::detail {

/// An operation in a thread's list.
struct OpEntry {
    Outcome (*go)(void* what, Worker& worker);
    void* what;
    Flag* flag;
    std::uint32_t first_wait;  // in Program::waits
    std::uint32_t foreign;     // number of waits (the first ones) that the list's order does not imply: its
                               // owner reads only these
    std::uint32_t waits;       // number of all waits: other threads read them all
    std::uint32_t op;          // in Program::ops
    std::uint16_t threads;
    bool speaks_mpi;
};

/// One thread's operations in one block.
struct OpList {
    const OpEntry* entries = nullptr;
    std::atomic<Epoch>* claims = nullptr;  // [entry]: the last epoch in which a thread took it
    std::uint32_t size = 0;
};

/// A block of the Program. Blocks are numbered in the order in which threads go through them.
struct ThreadBlock {
    Block::Kind kind = Block::Kind::ops;
    std::uint16_t scope = 0;
    std::uint32_t most = 1;
    int decision = -1;  // number of its decision; -1: none
    Decision ask;
    std::vector<int> inside;
    std::vector<OpList> lists;  // [thread]
};

struct ThreadProgram {
    /// `threads`: of this process. With fewer than the program was made for, lists are merged. With more,
    /// some threads have no list and only take over others' operations. Puts the waits of each operation that
    /// its list does not imply before its others. Throws Error where the program cannot be executed.
    ThreadProgram(Program& program, int threads, int speaker);

    int threads;
    int scopes;
    int decisions = 0;
    std::vector<ThreadBlock> blocks;  // 0: the step
    const Waits* waits;               // the program's

  private:
    struct OpPosition {
        std::int32_t block = -1, thread = -1;
        std::uint32_t at = 0;
    };
    int number(const Program& program, const Block& block, int speaker);
    void place(const Program& program, const Block& block, int number, int speaker);
    void fill(Program& program);
    /// The operation of this program that sets the flag; none: it is another process's, which is always read.
    [[nodiscard]] const std::uint32_t* setter(const Flag* flag) const;
    void find_setters(const Program& program);
    [[nodiscard]] bool implied(const Program& program, const Flag* flag, std::uint16_t lag,
                               const OpPosition& here) const;

    std::vector<std::vector<std::vector<std::uint32_t>>> order_;  // [block][thread]
    std::vector<OpPosition> positions_;                           // [operation]
    std::vector<std::pair<const Flag*, std::uint32_t>> setters_;  // by flag
    std::vector<std::uint32_t> by_place_;  // [flag from the first one]: 1 + its place in setters_; 0: none
    std::vector<std::vector<OpEntry>> entries_;                  // [thread]
    std::vector<std::unique_ptr<std::atomic<Epoch>[]>> claims_;  // [thread]
};

}  // namespace strata::graph::detail
