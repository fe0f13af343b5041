// Event counts of each task's operations: counted by the processor (PAPI), or simulated by callgrind.
//
//   auto counting = make_counting(*read_counters_wish("hardware"));
//   Simulation run(graph, members, {.meter = counting.get()});
//   run.start();
//   counting->begin();
//   run.advance(100);
//   const Counts counts = counting->end();
//
// Operations of steps are counted, each from its first instruction to its last, in the thread that runs it.
// The events of a thread between two of them (scheduling, waiting) are `Counts::runtime`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/execute/meter.hpp"

namespace strata::team {
class Team;
}

namespace strata::graph {

struct CountersWish {
    bool simulated = false;
    std::vector<std::string> events = {};  // of PAPI; empty: the usual ones that are available
};

/// "hardware", "hardware=EVENT,EVENT" or "simulated". Throws Error.
[[nodiscard]] CountersWish read_counters_wish(const std::string& word);

struct Counts {
    struct Row {
        std::string name;
        OpKind kind = OpKind::task;
        std::int64_t calls = 0;
        double values = 0;           // cells, entries or particles of all calls; 0: the operation has none
        std::vector<double> events;  // [event], of all calls
    };
    std::string mode;  // "measured" or "simulated"; empty: nothing was counted
    std::string from;  // the counting tool
    std::vector<std::string> events;
    std::vector<Row> rows;
    std::vector<double> runtime;  // [event]: between operations

    /// Adds another process's counts. Throws Error where they are of other events.
    void merge(const Counts& other);
    /// Tasks first, then the runtime's operations; each by the first event.
    [[nodiscard]] std::vector<Row> sorted() const;
};

class Counting : public Meter {
  public:
    ~Counting() override;
    /// Begin and end of the counted stretch. To be called by one thread while no step runs. Throws Error.
    virtual void begin() = 0;
    [[nodiscard]] virtual Counts end() = 0;

    void follow(const Program& program, int threads) override;

  protected:
    /// The counts of one thread; on cache lines of its own.
    struct alignas(128) Tally {
        std::vector<std::int64_t> calls, readings;  // [slot]: calls that were done; all calls
        std::vector<double> values;                 // [slot]
        std::vector<long long> events;              // [slot * events + event]
        std::vector<long long> all;                 // [event], including the time between operations
    };

    explicit Counting(std::size_t events);
    [[nodiscard]] std::uint32_t slot(std::uint32_t op) const { return slot_of_[op]; }
    [[nodiscard]] Tally& tally(int thread) { return *tallies_[static_cast<std::size_t>(thread)]; }
    [[nodiscard]] const std::vector<std::unique_ptr<Tally>>& tallies() const { return tallies_; }
    void count_call(Tally& of, std::uint32_t op, std::uint32_t slot) {
        ++of.calls[slot];
        of.values[slot] += values_of_[op];
    }
    /// One row for each slot: calls and values; the events are zero.
    [[nodiscard]] std::vector<Counts::Row> rows() const;
    /// Throws Error where so many slots are not possible.
    virtual void allow([[maybe_unused]] std::size_t slots) {}

  private:
    std::size_t events_;
    std::map<std::pair<OpKind, std::string>, std::uint32_t> slots_;  // of kinds and names of operations
    std::vector<std::uint32_t> slot_of_;                             // [op]
    std::vector<double> values_of_;                                  // [op]
    std::vector<std::unique_ptr<Tally>> tallies_;                    // [thread]
};

/// Throws Error, with a remedy, where this machine or this build cannot count in this way.
[[nodiscard]] std::unique_ptr<Counting> make_counting(const CountersWish& wish);

/// To be called before a team is started. Throws Error where make_counting() would. For a simulation, each
/// member starts once more with these arguments, under callgrind (start_simulation()); its parent does not.
void prepare_counting(const CountersWish& wish, bool simulable, const std::vector<std::string>& arguments);

/// The sum of all members' counts, in each of them. Collective.
[[nodiscard]] Counts gather_counts(const Counts& mine, team::Team& team);

/// The counts as a table: each event of each task, for all calls, for one call and for one cell.
[[nodiscard]] std::string counts_table(const Counts& counts);

}  // namespace strata::graph
