// What one process executes: operations in an order of preference for each thread, each with the flags that
// it must wait for. Nothing here knows of labels or patches' data; the plan is made by core/graph/expand and
// executed by core/graph/execute.
//
// Progress is told by epochs. Each operation belongs to a scope (the step, or a loop or condition within it);
// each scope counts how often it was begun, and a finished operation stores that count in its flag. So an
// operation may start when each of its waits holds: flag >= the count of the flag's scope, or, with a lag of
// k, what that operation was k rounds before. Nothing is reset between rounds, processes of a node read each
// other's flags in the arena, and neighbours may be a step apart where nothing forbids it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace strata::graph {

using Epoch = std::uint32_t;
using Flag = std::atomic<Epoch>;

class Worker;

/// `later`: what the operation waits for (a message, a file) has not come; it is asked again while others
/// run.
enum class Outcome : std::uint8_t { done, later };

/// For profiles: whose time it is. Everything but `task` is the runtime's.
enum class OpKind : std::uint8_t { task, copy, combine, reduce, send, receive, relocate };

struct Wait {
    const Flag* flag = nullptr;
    std::uint16_t scope = 0;  // whose epochs it counts
    std::uint16_t lag = 0;    // 0: in this round of that scope; k: k rounds before
    /// Whose flag it is, where that is an operation of this program: then it need not be looked at where the
    /// thread's own order implies it. -1, another process's: it is always looked at.
    std::int32_t op = -1;
};

struct Op {
    Outcome (*go)(void* what, Worker& worker) = nullptr;
    void* what = nullptr;
    Flag* flag = nullptr;
    std::uint32_t first_wait = 0, last_wait = 0;  // in Program::waits
    std::uint32_t name = 0;                       // in Program::names
    std::int32_t patch = -1;
    OpKind kind = OpKind::task;
    /// Only the thread that speaks MPI may run it.
    bool speaks_mpi = false;
    /// How many threads of the process it may use at once (1: it is not moldable).
    std::uint16_t threads = 1;
    /// What it declares to do and move, and for how many cells or particles; for profiles.
    double flops = 0, bytes = 0, values = 0;
};

/// Whether to go round again (asked after each round but the last that may be) or in (asked before). Reads
/// what an operation wrote, once `decided` holds; so all processes find the same. Each process asks once a
/// round, in one of its threads, and its other threads are told what that one found. Processes ask at
/// different moments: who writes the next answer but one where this one lies must wait for them (an operation
/// of each process that copies it, or a lag).
struct Decision {
    /// `epoch`: of the round whose answer is wanted, i.e. what the flag of `decided` had to reach.
    bool (*more)(const void* what, Epoch epoch) = nullptr;
    const void* what = nullptr;
    Wait decided;  // without a flag: nothing to wait for
};

/// Part of a program, gone through by each thread in turn; a thread goes on to the next when its own
/// operations of this one have been done (it steals others' first).
struct Block {
    enum class Kind : std::uint8_t {
        ops,       // the operations of this block
        sequence,  // blocks, one after the other
        repeat,    // `inside` until `more` says no, `most` times at most
        when,      // `inside` once, or not at all, as `more` says
        subcycle,  // `inside` `most` times
    };
    Kind kind = Kind::ops;
    std::uint16_t scope = 0;  // of what is inside (repeat, when, subcycle have one of their own)
    /// [thread] -> its operations, in the order in which it would like to run them: a topological order
    /// (waits with lag 0 within the block point backwards, or to other threads or processes).
    std::vector<std::vector<std::uint32_t>> order;
    std::vector<std::unique_ptr<Block>> inside;
    /// Repeat: whether to go round again; without one, `most` times. When: whether to go in.
    Decision decision;
    std::uint32_t most = 1;
};

struct Program {
    std::vector<Op> ops;
    std::vector<Wait> waits;
    std::vector<std::string> names;
    int threads = 1;
    std::uint16_t scopes = 1;  // scope 0 is the step
    Block step;                // kind sequence
};

}  // namespace strata::graph
