// Where the time went: a table by task, over all threads and processes.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/profile/counting.hpp"
#include "core/run/profile/record.hpp"
#include "core/run/profile/roof.hpp"

namespace strata::graph {

/// What a task declares to do in one call (Task::work times the values of the patch).
struct Work {
    double flops = 0, bytes = 0;
};

/// Sums of what ran. Those of several processes, or of several stretches, are merged; the order of merging
/// does not matter but for the rounding of sums.
class Profile {
  public:
    struct Row {
        std::string name;
        OpKind kind = OpKind::task;
        std::int64_t calls = 0;
        std::int64_t ns = 0, shortest_ns = 0, longest_ns = 0;
        double flops = 0, bytes = 0;                           // declared, of all calls; 0: none declared
        std::vector<std::pair<std::string, double>> counters;  // of the calls that were counted
        std::int64_t counted_calls = 0;
        double counted_values = 0;  // cells, entries or particles of those calls
    };

    Profile() = default;
    /// One of a process elsewhere: its rows, threads, and for how long they ran.
    Profile(std::vector<Row> rows, int threads, std::int64_t ns)
        : rows_(std::move(rows)),
          thread_ns_(ns * threads),
          longest_ns_(ns),
          processes_(1),
          threads_(threads) {}

    /// Adds the records of one process; `work` tells what was declared for a record.
    void add(const ProcessRecords& records, const std::function<Work(const TimedOp&)>& work);
    void merge(const Profile& other);
    /// Adds counts to a task's row. `mode` says where they come from: "measured" or "simulated".
    void count(const std::string& task, const std::string& counter, double value);
    void counted_by(std::string mode) { mode_ = std::move(mode); }
    /// Adds what was counted in all processes.
    void count(const Counts& counts);
    /// What the machine was measured to do, beside which rates stand.
    void under(Roof roof) { roof_ = std::move(roof); }

    /// What member 0's time went into from its first instruction on, in s: start values, steps, ...
    void in_all(std::vector<std::pair<std::string, double>> phases) { phases_ = std::move(phases); }

    /// Tasks first, then the runtime's own work; each by time.
    [[nodiscard]] std::vector<Row> rows() const;
    /// Threads' time: the sum of each process's threads times its stretch.
    [[nodiscard]] double thread_seconds() const { return 1e-9 * static_cast<double>(thread_ns_); }
    [[nodiscard]] double task_seconds() const;
    /// All that is not task code, as a share of the threads' time: copies, messages, waiting, scheduling.
    [[nodiscard]] double runtime_share() const;
    /// Of what the roofline allows one thread for a row's operations and bytes, the part that it reached:
    /// above 1 where bytes come from caches. None where no roof is known or nothing is declared.
    [[nodiscard]] std::optional<double> roofline_share(const Row& row) const;

    /// A table for people.
    [[nodiscard]] std::string table() const;
    /// The document strata.profile/1 (docs/run-output.md).
    void write_json(std::ostream& out) const;

  private:
    Row& row(OpKind kind, const std::string& name);

    std::vector<Row> rows_;
    std::int64_t thread_ns_ = 0, longest_ns_ = 0;
    int processes_ = 0, threads_ = 0;
    std::string mode_, counted_from_;
    std::optional<Roof> roof_;
    std::vector<std::pair<std::string, double>> runtime_counters_, phases_;
};

}  // namespace strata::graph
