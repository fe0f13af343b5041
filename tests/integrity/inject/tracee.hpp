// A process under ptrace: stopped, read, changed, doubled. Shares no code with what it is used to test.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>
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

    // Lets it run, and stops it where it is in its own code, not in the kernel.
    void go();
    void stop_in_user_code();

    Registers registers() const;
    void set(const Registers& registers);
    void step();  // one instruction; false where that one ended the program or raised a signal
    bool stepped() const { return stepped_; }

    // Another process in exactly this state, with memory of its own in place of what is shared.
    Tracee twin();

    // Takes note that twins have ended, as their parent must, which knows nothing of them.
    void reap();

    // Runs to the next write(2), which it has not made then, or to its end. `limit`: nanoseconds of CPU time.
    Ran run_to_write(std::uint64_t limit);

    // At a write: it is made, or it is left out and the program believes that it was made.
    void leave_write_out();

    // Notices the next access to a byte (a debug register of the processor).
    void watch(std::uintptr_t address);
    bool touched() const { return touched_; }

    void kill();
    void let_go();

  private:
    explicit Tracee(pid_t pid) : pid_(pid) {}
    int wait_stop();
    std::uint64_t call(std::uint64_t number, const std::array<std::uint64_t, 6>& given);

    pid_t pid_;
    bool at_write_ = false, touched_ = false, stepped_ = true;
    std::uintptr_t syscall_instruction_ = 0;
};

}  // namespace inject
