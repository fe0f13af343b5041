// Patches go to processes by measured costs. When they do is decided by balance::Decider (core/balance); the
// Balancer finds out what that has to know of all processes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/balance/rebalance.hpp"
#include "core/graph/execute/executor.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/moves.hpp"

namespace strata::graph {

/// CPU time of this thread, in which all costs are: neither waits for other processes nor interruptions
/// count.
[[nodiscard]] double cpu_seconds();

/// Combines the measurements of all members, so that all make the same decision. Steps are counted until the
/// next look; the last of them is timed, task by task, in a batch of its own.
class Balancer {
  public:
    /// On one process no patch moves; but where it has several threads, costs order their operations.
    Balancer(int processes, int threads, bool on);
    ~Balancer();

    /// The most steps of the next batch. Tells the plan whether they are timed.
    [[nodiscard]] std::int64_t steps_at_once(Plan& plan) const;
    /// To be called after each batch.
    void count(const Batch& batch);
    /// Whether a look is due: the last batch was timed.
    [[nodiscard]] bool due() const { return due_; }
    /// New owners, if patches are to move. Collective over the members. `serial`: a number that no other
    /// shared memory of these processes has in its name.
    [[nodiscard]] std::optional<balance::Decider::Move> look(Plan& plan, std::uint64_t serial, int threads);
    /// What planning and moving took (cpu_seconds()); at first an estimate.
    void planned(double seconds) { move_s_ = seconds; }
    /// [family][patch], smoothed; empty before the first look.
    [[nodiscard]] VectorBy<FamilyId, std::vector<double>> costs() const {
        return {decider_.costs().begin(), decider_.costs().end()};
    }
    /// The steps of which this time is half a percent.
    [[nodiscard]] std::int64_t steps_worth(double seconds) const;
    /// The plan is another now, in all members: costs of the last batch are lost.
    void forget();
    [[nodiscard]] BalanceRecord& record() { return record_; }
    [[nodiscard]] const BalanceRecord& record() const { return record_; }

  private:
    void make_room(const Plan& plan, std::uint64_t serial);
    void tell(Plan& plan, int threads);
    [[nodiscard]] std::vector<const double*> told(const Members& members);
    [[nodiscard]] std::size_t turn() const { return static_cast<std::size_t>(record_.looks % 2); }

    bool on_;
    balance::Decider decider_;
    std::int64_t left_ = 4;  // steps until a look; at first so many that the very first ones do not count
    bool due_ = false;
    std::int64_t steps_ = 0;  // since the last look, without the timed one
    double seconds_ = 0;      // of these
    double step_s_ = 0;       // of a step, at the last look
    double look_s_ = 0;       // of exchange and decision; smoothed
    double move_s_ = 0;
    bool room_ = true;  // the node has memory for another plan beside this one
    BalanceRecord record_;

    /// What a process tells the others, in one of two buffers in turn, for as long as the plan stays.
    struct Told {
        SharedMemory mine;
        std::uint64_t serial = 0;          // in its name
        std::vector<const std::byte*> of;  // [process]; null on other nodes
    };
    std::array<Told, 2> told_;
    std::vector<std::vector<std::byte>> from_afar_;  // [process]
};

}  // namespace strata::graph
