// The time of each task, in a table over all threads and processes.
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

/// The declared work of one call (Task::work times the values of the patch).
struct Work {
    double flops = 0, bytes = 0;
};

/// Sums over operations. Profiles of several processes or stretches are merged. The order of merging changes
/// only the rounding of sums.
class Profile {
  public:
    struct Row {
        std::string name;
        OpKind kind = OpKind::task;
        std::int64_t calls = 0;
        std::int64_t ns = 0, shortest_ns = 0, longest_ns = 0;
        double flops = 0, bytes = 0;                           // declared, of all calls; 0: none declared
        std::vector<std::pair<std::string, double>> counters;  // of the counted calls
        std::int64_t counted_calls = 0;
        double counted_values = 0;  // cells, entries or particles of the counted calls
    };

    Profile() = default;
    /// The profile of another process: its rows, its threads, and the time for which they ran.
    Profile(std::vector<Row> rows, int threads, std::int64_t ns)
        : rows_(std::move(rows)),
          thread_ns_(ns * threads),
          longest_ns_(ns),
          processes_(1),
          threads_(threads) {}

    /// Adds the records of one process; `work` returns the declared work of a record.
    void add(const ProcessRecords& records, const std::function<Work(const TimedOp&)>& work);
    void merge(const Profile& other);
    /// Adds counts to a task's row. `mode`: "measured" or "simulated".
    void count(const std::string& task, const std::string& counter, double value);
    void counted_by(std::string mode) { mode_ = std::move(mode); }
    /// Adds the counts of all processes.
    void count(const Counts& counts);
    /// Sets the measured roofline of the machine, with which rates are compared.
    void under(Roof roof) { roof_ = std::move(roof); }

    /// Sets the phases of member 0's time, in s: start values, steps, ...
    void in_all(std::vector<std::pair<std::string, double>> phases) { phases_ = std::move(phases); }

    /// Tasks first, then the runtime's own work; each by time.
    [[nodiscard]] std::vector<Row> rows() const;
    /// Threads' time: the sum of each process's threads times its stretch.
    [[nodiscard]] double thread_seconds() const { return 1e-9 * static_cast<double>(thread_ns_); }
    [[nodiscard]] double task_seconds() const;
    /// The share of the threads' time that is not task code: copies, messages, waiting, scheduling.
    [[nodiscard]] double runtime_share() const;
    /// The reached share of the rate that the roofline allows one thread for a row's operations and bytes.
    /// Above 1 where bytes come from caches. None where no roofline is known or no work is declared.
    [[nodiscard]] std::optional<double> roofline_share(const Row& row) const;

    /// A table as text.
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
