// The program of one process: operations in an order of preference for each thread, each with the flags that
// it waits for. It knows nothing of labels or patches' data. core/graph/expand makes it, core/graph/execute
// runs it.
//
// Progress is counted in epochs. Each operation belongs to a scope (the step, or a loop or condition within
// it). A scope counts its rounds, and a finished operation stores the round's number in its flag. An
// operation may start when each of its waits holds: flag >= the number of the current round, or, with a lag
// of k, of the one k rounds before.
//   Example: in step 7, an operation that waits for A with lag 0 needs flag(A) >= 7; with lag 1, flag(A)
//   >= 6.
// Nothing is reset between rounds. Processes of a node read each other's flags in the arena, and may be a
// step apart where no wait forbids it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/execute/waits.hpp"

namespace strata::graph {

class Worker;

/// `later`: a message or a file has not come yet; the operation is called again while others run.
enum class Outcome : std::uint8_t { done, later };

/// The kind of work, for profiles. Everything but `task` is the runtime's own.
enum class OpKind : std::uint8_t { task, copy, combine, reduce, send, receive, relocate };

/// Threads go through these themselves, by their lists: what they need between two operations comes first.
struct Op {
    Outcome (*go)(void* what, Worker& worker) = nullptr;
    void* what = nullptr;
    Flag* flag = nullptr;
    std::uint32_t first_wait = 0, last_wait = 0;  // in Program::waits
    /// Of these the number (the first ones) that the order of its list does not imply: its owner reads only
    /// them. An executor sets it.
    std::uint32_t foreign = 0;
    std::uint32_t name = 0;  // in Program::names
    std::int32_t patch = -1;
    OpKind kind = OpKind::task;
    /// Only the thread that calls MPI may run it.
    bool speaks_mpi = false;
    /// How many threads of the process it may use at once (1: it is not moldable).
    std::uint16_t threads = 1;
};
static_assert(sizeof(Op) == 48);

/// Operations and bytes that an operation's task declares, and the number of cells or particles; for
/// profiles.
struct OpWork {
    float flops = 0, bytes = 0, values = 0;
};

/// Whether a repeat has another round (asked after each round but the last possible one), or a condition is
/// met (asked before). `more` reads a value that an operation wrote, once `decided` holds, so all processes
/// find the same answer. One thread of each process asks, once a round, and shares the answer with the
/// others. Processes ask at different moments: the operation that overwrites the value must wait until all
/// have read it (each process copies it, or a lag gives them time).
struct Decision {
    /// `epoch`: the round that is decided on, which the flag of `decided` has reached.
    bool (*more)(const void* what, Epoch epoch) = nullptr;
    const void* what = nullptr;
    Wait decided;  // without a flag: nothing to wait for
};

/// Part of a program. Each thread goes through all blocks in order. It goes on to the next one when its own
/// operations of this one are done, and takes over other threads' operations before that.
struct Block {
    enum class Kind : std::uint8_t {
        ops,       // the operations of this block
        sequence,  // blocks, one after the other
        repeat,    // `inside` until `more` says no, `most` times at most
        when,      // `inside` once, or not at all, as `more` says
        subcycle,  // `inside` `most` times
    };
    Kind kind = Kind::ops;
    std::uint16_t scope = 0;  // of the content (repeat, when and subcycle have a scope of their own)
    /// [thread] -> its operations in the preferred order. It is a topological order: a wait with lag 0 within
    /// the block points to an earlier operation, another thread or another process.
    std::vector<std::vector<std::uint32_t>> order;
    std::vector<std::unique_ptr<Block>> inside;
    /// Repeat: whether there is another round (none: `most` rounds). When: whether the condition is met.
    Decision decision;
    std::uint32_t most = 1;
};

struct Program {
    std::vector<Op> ops;
    Waits waits;
    std::vector<std::string> names;
    int threads = 1;
    std::uint16_t scopes = 1;  // scope 0 is the step
    Block step;                // kind sequence
    /// What the task of an operation declares.
    OpWork (*work_of)(const Op& op) = [](const Op&) { return OpWork{}; };
};

}  // namespace strata::graph
