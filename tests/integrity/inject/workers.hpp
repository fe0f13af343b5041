// The processes that do a round together: one, or the two sides of a kernel for two cores.
#pragma once

#include <string>
#include <vector>

#include "difference.hpp"
#include "tracee.hpp"

namespace inject {

// How a round ended: as the first that crashed or went on for ever, else with a write of each.
struct Ended {
    Stop stop = Stop::kWrite;
    std::vector<std::string> reports;  // of those that came to a write
    bool touched = false;              // the watched byte
};

class Workers {
  public:
    // Takes hold of running processes, which end with this one.
    static Workers seize(const std::vector<pid_t>& pids);

    // The one that gets the fault: the first. After turn() the next one is.
    Tracee& struck() { return each_.front(); }
    const Tracee& struck() const { return each_.front(); }
    void turn();

    void go();
    // All of them in their own code. What is shared is then at rest. False where a side has no work and
    // sleeps, since the other one is stopped: then all run on, until another instant is taken.
    bool stop_in_user_code();
    void reap();
    // Others in exactly this state, which share among themselves what these share.
    Workers twins();
    // Notices the next access of the struck one to a byte; of what they share, of all.
    void watch(std::uintptr_t address);
    Ended run_to_write(std::uint64_t limit);
    void leave_write_out();
    void kill();

    // CPU time in nanoseconds of all since they began.
    std::uint64_t cpu_time() const;
    Difference difference(const Workers& others, const Noise& noise) const;
    // Inverts the words of these that differ from those of the others, each in the process that has it.
    void invert_what_differs(const Workers& others, const Noise& noise);

  private:
    bool touched() const;
    bool shared(std::uintptr_t address) const;

    std::vector<Tracee> each_;
};

}  // namespace inject
