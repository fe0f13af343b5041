// Programs put together by hand, for one or more processes that share flags: threads of the test in the role
// of processes, since ThreadSanitizer sees threads only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/graph/execute/executor.hpp"
#include "core/graph/execute/worker.hpp"

namespace strata::graph::testing {

using Body = std::function<Outcome(Worker&)>;

inline constexpr int kNowhere = -1;

/// A net of operations, numbered over all processes, and the blocks that they are in.
class Net {
  public:
    explicit Net(int processes = 1, int threads = 1) : processes_(processes), threads_(threads) {
        blocks_.push_back({Block::Kind::sequence, 0, kNowhere, {}, 1});
    }

    /// A new block within another (0: the step), in the order of adding.
    int block(Block::Kind kind, int within = 0, std::uint16_t scope = 0, std::uint32_t most = 1,
              const Decision& decision = {}) {
        blocks_.push_back({kind, scope, within, decision, most});
        scopes_ = std::max<std::uint16_t>(scopes_, static_cast<std::uint16_t>(scope + 1));
        return static_cast<int>(blocks_.size()) - 1;
    }
    int op(int block, int process, int thread, Body body, const std::string& name = "work", int patch = -1) {
        ops_.push_back({block, process, thread, std::move(body), name, patch, {}, 1, OpKind::task, false});
        flags_.emplace_back(0);
        return static_cast<int>(ops_.size()) - 1;
    }
    void wait(int op, int other, std::uint16_t lag = 0) {
        ops_[static_cast<std::size_t>(op)].waits.push_back({other, lag});
    }
    [[nodiscard]] Body& body(int op) { return ops_[static_cast<std::size_t>(op)].body; }
    void moldable(int op, std::uint16_t threads) { ops_[static_cast<std::size_t>(op)].most = threads; }
    void speaks_mpi(int op) { ops_[static_cast<std::size_t>(op)].speaks = true; }
    [[nodiscard]] Wait decided_by(int op, std::uint16_t lag = 0) {
        return {&flags_[static_cast<std::size_t>(op)], scope_of(op), lag};
    }
    void decide(int block, const Decision& decision) {
        blocks_[static_cast<std::size_t>(block)].decision = decision;
    }
    [[nodiscard]] std::uint16_t scope_of(int op) const {
        return blocks_[static_cast<std::size_t>(ops_[static_cast<std::size_t>(op)].block)].scope;
    }

    /// What one process executes.
    [[nodiscard]] Program program(int process) {
        Program program;
        program.threads = threads_;
        program.scopes = scopes_;
        std::vector<std::int32_t> local(ops_.size(), -1);
        std::int32_t count = 0;
        for (std::size_t i = 0; i < ops_.size(); ++i)
            if (ops_[i].process == process) local[i] = count++;
        for (std::size_t i = 0; i < ops_.size(); ++i) {
            OneOp& from = ops_[i];
            if (from.process != process) continue;
            Op op;
            op.go = [](void* what, Worker& worker) { return (*static_cast<Body*>(what))(worker); };
            op.what = &from.body;
            op.flag = &flags_[i];
            op.patch = from.patch;
            op.threads = from.most;
            op.speaks_mpi = from.speaks;
            op.name = static_cast<std::uint32_t>(program.names.size());
            program.names.push_back(from.name);
            op.first_wait = static_cast<std::uint32_t>(program.waits.size());
            for (const auto& [other, lag] : from.waits)
                program.waits.push_back({&flags_[static_cast<std::size_t>(other)], scope_of(other), lag});
            op.last_wait = static_cast<std::uint32_t>(program.waits.size());
            program.ops.push_back(op);
        }
        fill(program.step, 0, process, local);
        return program;
    }

  private:
    struct OneOp {
        int block, process, thread;
        Body body;
        std::string name;
        int patch;
        std::vector<std::pair<int, std::uint16_t>> waits;
        std::uint16_t most;
        OpKind kind;
        bool speaks;
    };
    struct OneBlock {
        Block::Kind kind;
        std::uint16_t scope;
        int within;
        Decision decision;
        std::uint32_t most;
    };

    void fill(Block& block, int number, int process, const std::vector<std::int32_t>& local) {
        const OneBlock& from = blocks_[static_cast<std::size_t>(number)];
        block.kind = from.kind;
        block.scope = from.scope;
        block.decision = from.decision;
        block.most = from.most;
        if (block.kind == Block::Kind::ops) {
            block.order.resize(static_cast<std::size_t>(threads_));
            for (std::size_t i = 0; i < ops_.size(); ++i)
                if (ops_[i].block == number && ops_[i].process == process)
                    block.order[static_cast<std::size_t>(ops_[i].thread)].push_back(
                        static_cast<std::uint32_t>(local[i]));
        }
        for (std::size_t child = 1; child < blocks_.size(); ++child)
            if (blocks_[child].within == number) {
                block.inside.push_back(std::make_unique<Block>());
                fill(*block.inside.back(), static_cast<int>(child), process, local);
            }
    }

    int processes_, threads_;
    std::uint16_t scopes_ = 1;
    std::deque<OneOp> ops_;
    std::deque<Flag> flags_;
    std::vector<OneBlock> blocks_;
};

/// Options for more threads than CPUs.
inline ExecutorOptions crowded() {
    ExecutorOptions options;
    options.patience = team::Patience::crowded(nullptr);
    return options;
}

/// Runs each process's program in a thread; rethrows the first exception by number of process.
inline void run_all(Net& net, int processes, std::uint32_t steps, ExecutorOptions options,
                    std::uint32_t batches = 1, const Decision& go_on = {}) {
    std::atomic<std::uint32_t> sleepers{0};
    options.sleepers = &sleepers;
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(processes));
    std::vector<std::thread> threads;
    for (int process = 0; process < processes; ++process)
        threads.emplace_back([&, process] {
            try {
                Program program = net.program(process);
                ExecutorOptions own = options;
                if (own.shuffle.seed != 0) own.shuffle.seed += static_cast<std::uint64_t>(process);
                Executor executor(program, own);
                for (std::uint32_t batch = 0; batch < batches; ++batch)
                    static_cast<void>(executor.run(steps, go_on));
            } catch (...) {
                thrown[static_cast<std::size_t>(process)] = std::current_exception();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& exception : thrown)
        if (exception) std::rethrow_exception(exception);
}

}  // namespace strata::graph::testing
