// A Program in the form that threads run: its blocks numbered, with a list of operations for each thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/execute/program.hpp"

namespace strata::graph::detail {

/// One thread's operations in one block.
struct OpList {
    const Op* ops = nullptr;               // the program's
    const std::uint32_t* order = nullptr;  // [entry]: number in `ops`
    /// [entry]: the last epoch in which a thread took it; null where there is one thread.
    std::atomic<Epoch>* claims = nullptr;
    std::uint32_t size = 0;

    [[nodiscard]] const Op& operator[](std::uint32_t entry) const { return ops[order[entry]]; }
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
    void place(const Program& program, const Block& block, int speaker);
    void fill(Program& program);
    void make_claims();
    /// The operation of this program that sets the flag; none: it is another process's, which is always read.
    [[nodiscard]] const std::uint32_t* setter(const Flag* flag) const;
    void find_setters(const Program& program);
    [[nodiscard]] bool implied(const Program& program, const Flag* flag, std::uint16_t lag,
                               const OpPosition& here) const;

    std::vector<std::vector<std::uint32_t>> merged_;              // lists that are none of the program's
    std::vector<OpPosition> positions_;                           // [operation]
    std::vector<std::pair<const Flag*, std::uint32_t>> setters_;  // by flag
    std::vector<std::uint32_t> by_place_;  // [flag from the first one]: 1 + its place in setters_; 0: none
    std::unique_ptr<std::atomic<Epoch>[]> claims_;  // of all threads
};

}  // namespace strata::graph::detail
