// A process under ptrace: stopped, read, changed, doubled. Shares no code with what it is used to test.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace inject {

// What a thread holds in registers: the general ones, and the vector ones as XSAVE lays them out.
struct Registers {
    user_regs_struct general{};
    std::vector<std::byte> vectors;
};

struct Mapping {
    std::uintptr_t begin = 0, end = 0;
    bool readable = false, writable = false, executable = false, shared = false;
    std::string name;
};

// Why a thread that ran on stopped.
enum class Stop { kWrite, kCrash, kExit, kHang };

struct Ran {
    Stop stop = Stop::kHang;
    int number = 0;        // of the signal, or the exit status
    std::string text;      // what it was about to write
    bool touched = false;  // whether the watched byte was accessed on the way
};

[[noreturn]] void fail(const std::string& what);

std::vector<Mapping> mappings(pid_t pid);

// Addresses of those pages of the mapping that are in memory or swapped out.
std::vector<std::uintptr_t> resident_pages(pid_t pid, const Mapping& mapping);

// CPU time in nanoseconds since the process began.
std::uint64_t cpu_time(pid_t pid);

void read_memory(pid_t pid, std::uintptr_t address, void* to, std::size_t bytes);
void write_memory(pid_t pid, std::uintptr_t address, const void* from, std::size_t bytes);

class Tracee {
  public:
    // Takes hold of a running thread. It is killed when this process ends, if `kills`.
    static Tracee seize(pid_t pid, bool kills);

    pid_t pid() const { return pid_; }

    // Lets it run, and stops it where it is in its own code, not in the kernel. False where it was not there
    // in so many tries: then it runs on. `waiting`: at the end of a sched_yield will do, too: one that waits
    // for another gives its core to this program there, so it is seldom met elsewhere.
    void go();
    bool stop_in_user_code(int tries = std::numeric_limits<int>::max(), bool waiting = false);

    Registers registers() const;
    void set(const Registers& registers);
    void step();  // one instruction; false where that one ended the program or raised a signal
    bool stepped() const { return stepped_; }

    // Another process in exactly this state, with memory of its own in place of what is shared: or, of twins
    // of processes that share it, with that of `file`, which shared_copy() made.
    Tracee twin(int file = -1);

    // A file in memory with what this process shares and may write, one mapping after another.
    int shared_copy() const;

    // Takes note that twins have ended, as their parent must, which knows nothing of them.
    void reap();

    // Runs to the next write(2), which it has not made then, or to its end. `limit`: nanoseconds of CPU time.
    // So many system calls that this takes ten seconds are too many as well: one that waits for another by
    // sched_yield stops at each, and takes hardly any CPU time.
    Ran run_to_write(std::uint64_t limit);

    // The same in two parts, for processes that need each other: it begins to run; whether it is there.
    void run(std::uint64_t limit);
    std::optional<Ran> there();

    // At a write: it is made, or it is left out and the program believes that it was made.
    void leave_write_out();

    // Notices the next access to a byte (a debug register of the processor).
    void watch(std::uintptr_t address);
    bool touched() const { return touched_; }

    // Where the kernel writes the number of the core it runs on (rseq(2)); 0: nowhere.
    std::uintptr_t number_of_core() const;

    void kill();
    void let_go();

  private:
    explicit Tracee(pid_t pid) : pid_(pid) {}
    int wait_stop();
    std::uint64_t call(std::uint64_t number, const std::array<std::uint64_t, 6>& given);
    std::uint64_t open_file_of_this_process(int file);
    void go_to_next_stop(std::uintptr_t signal);
    std::optional<Ran> reached(int status);

    pid_t pid_;
    bool touched_ = false, stepped_ = true;
    std::uintptr_t syscall_instruction_ = 0;
    // Of the run to the next write.
    std::uint64_t limit_ = 0, began_ = 0, used_ = 0;  // nanoseconds of CPU time
    double seen_ = 0;                                 // when it was seen to use any
    int stops_ = 0;                                   // at the begin and the end of a system call
    bool asked_ = false;                              // to stop, since it went on for too long
};

}  // namespace inject
