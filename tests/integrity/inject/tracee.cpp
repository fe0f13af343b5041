#include "tracee.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

namespace inject {

namespace {

constexpr std::size_t kPage = 4096;
constexpr int kMostStops = 50'000;

long trace(__ptrace_request request, pid_t pid, std::uintptr_t address, std::uintptr_t data,
           const char* what) {
    const long found = ptrace(request, pid, address, data);
    if (found == -1 && errno != 0)
        fail(std::string(what) + " of process " + std::to_string(pid) + ": " + std::strerror(errno));
    return found;
}

void debug_register(pid_t pid, int number, std::uintptr_t value) {
    trace(PTRACE_POKEUSER, pid, offsetof(user, u_debugreg) + 8 * static_cast<std::size_t>(number), value,
          "watching");
}

void nap() {
    const timespec time{0, 200'000};
    nanosleep(&time, nullptr);
}

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

char state(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t at = text.rfind(')');
    return at == std::string::npos || at + 2 >= text.size() ? 'X' : text[at + 2];
}

bool fatal(int signal) {
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
           signal == SIGABRT || signal == SIGSYS;
}

std::uintptr_t find_syscall_instruction(pid_t pid) {
    for (const Mapping& each : mappings(pid)) {
        if (!each.executable || !each.readable || each.name == "[vsyscall]") continue;
        std::string code(each.end - each.begin, '\0');
        read_memory(pid, each.begin, code.data(), code.size());
        if (const std::size_t at = code.find("\x0f\x05"); at != std::string::npos) return each.begin + at;
    }
    fail("no system call in the code of process " + std::to_string(pid));
}

}  // namespace

void fail(const std::string& what) {
    std::fprintf(stderr, "integrity_inject: %s\n", what.c_str());
    std::exit(2);
}

std::vector<Mapping> mappings(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
    std::vector<Mapping> found;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string range, rights, skipped;
        Mapping one;
        in >> range >> rights >> skipped >> skipped >> skipped >> one.name;
        const std::size_t dash = range.find('-');
        one.begin = std::stoull(range.substr(0, dash), nullptr, 16);
        one.end = std::stoull(range.substr(dash + 1), nullptr, 16);
        one.readable = rights[0] == 'r';
        one.writable = rights[1] == 'w';
        one.executable = rights[2] == 'x';
        one.shared = rights[3] == 's';
        found.push_back(one);
    }
    return found;
}

std::vector<std::uintptr_t> resident_pages(pid_t pid, const Mapping& mapping) {
    const std::string path = "/proc/" + std::to_string(pid) + "/pagemap";
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path + ": " + std::strerror(errno));
    std::vector<std::uint64_t> entries((mapping.end - mapping.begin) / kPage);
    const ssize_t got =
        pread(file, entries.data(), 8 * entries.size(), static_cast<off_t>(mapping.begin / kPage * 8));
    close(file);
    std::vector<std::uintptr_t> found;
    for (std::size_t i = 0; got > 0 && i < static_cast<std::size_t>(got) / 8; ++i)
        if (entries[i] >> 62)  // bit 63: in memory, bit 62: swapped out
            found.push_back(mapping.begin + i * kPage);
    return found;
}

std::uint64_t cpu_time(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    std::uint64_t time = 0;
    file >> time;
    return time;
}

void read_memory(pid_t pid, std::uintptr_t address, void* to, std::size_t bytes) {
    const iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(bytes))
        fail("cannot read memory of process " + std::to_string(pid) + ": " + std::strerror(errno));
}

void write_memory(pid_t pid, std::uintptr_t address, const void* from, std::size_t bytes) {
    const iovec here{const_cast<void*>(from), bytes}, there{reinterpret_cast<void*>(address), bytes};
    if (process_vm_writev(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(bytes))
        fail("cannot write memory of process " + std::to_string(pid) + ": " + std::strerror(errno));
}

Tracee Tracee::seize(pid_t pid, bool kills) {
    const std::uintptr_t options =
        PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | (kills ? static_cast<unsigned>(PTRACE_O_EXITKILL) : 0U);
    trace(PTRACE_SEIZE, pid, 0, options, "taking hold");
    // A worker gives way to everybody: on a busy machine no campaign would come to an end.
    const sched_param none{};
    sched_setscheduler(pid, SCHED_OTHER, &none);
    // Each fault takes dozens of turns between the two; where that is allowed, neither waits long for its
    // turn.
    setpriority(PRIO_PROCESS, static_cast<id_t>(pid), -15);
    setpriority(PRIO_PROCESS, 0, -15);
    return Tracee(pid);
}

int Tracee::wait_stop() {
    int status = 0;
    while (waitpid(pid_, &status, __WALL) < 0)
        if (errno != EINTR) fail("process " + std::to_string(pid_) + " is gone");
    return status;
}

void Tracee::go() { trace(PTRACE_CONT, pid_, 0, 0, "going on"); }

bool Tracee::stop_in_user_code(int tries, bool waiting) {
    for (int n = 0; n < tries; ++n) {
        int status = 0;
        // Asked twice, it would stop twice.
        if (waitpid(pid_, &status, __WALL | WNOHANG) == 0) {
            trace(PTRACE_INTERRUPT, pid_, 0, 0, "stopping");
            status = wait_stop();
        }
        if (!WIFSTOPPED(status)) fail("process " + std::to_string(pid_) + " ended by itself");
        const bool ours = status >> 16 == PTRACE_EVENT_STOP;
        Registers here = registers();
        const auto call = static_cast<std::int64_t>(here.general.orig_rax);
        if (ours && call < 0) return true;
        if (ours && waiting && call == SYS_sched_yield) {
            here.general.orig_rax = ~0ULL;  // that call is over
            set(here);
            return true;
        }
        const int signal = ours || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        trace(PTRACE_CONT, pid_, 0, static_cast<std::uintptr_t>(signal), "going on");
        nap();
    }
    return false;
}

Registers Tracee::registers() const {
    Registers found;
    trace(PTRACE_GETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&found.general), "reading registers");
    found.vectors.resize(std::size_t{1} << 16);
    iovec place{found.vectors.data(), found.vectors.size()};
    trace(PTRACE_GETREGSET, pid_, NT_X86_XSTATE, reinterpret_cast<std::uintptr_t>(&place),
          "reading vector registers");
    found.vectors.resize(place.iov_len);
    return found;
}

void Tracee::set(const Registers& registers) {
    iovec place{const_cast<std::byte*>(registers.vectors.data()), registers.vectors.size()};
    trace(PTRACE_SETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&registers.general), "writing registers");
    trace(PTRACE_SETREGSET, pid_, NT_X86_XSTATE, reinterpret_cast<std::uintptr_t>(&place),
          "writing vector registers");
}

void Tracee::step() {
    trace(PTRACE_SINGLESTEP, pid_, 0, 0, "stepping");
    const int status = wait_stop();
    stepped_ = WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
    // A signal is pending then: it is delivered when the process goes on, so that its end is seen as that of
    // any other.
    if (WIFSTOPPED(status) && !stepped_) ::kill(pid_, WSTOPSIG(status));
}

std::uint64_t Tracee::call(std::uint64_t number, const std::array<std::uint64_t, 6>& given) {
    if (syscall_instruction_ == 0) syscall_instruction_ = find_syscall_instruction(pid_);
    const Registers kept = registers();
    Registers asking = kept;
    user_regs_struct& general = asking.general;
    general.rip = syscall_instruction_;
    general.rax = number;
    general.orig_rax = ~0ULL;
    general.rdi = given[0], general.rsi = given[1], general.rdx = given[2];
    general.r10 = given[3], general.r8 = given[4], general.r9 = given[5];
    set(asking);
    for (int stops = 0; stops < 2;) {
        trace(PTRACE_SYSCALL, pid_, 0, 0, "calling the system");
        const int status = wait_stop();
        if (!WIFSTOPPED(status)) fail("process " + std::to_string(pid_) + " ended in a system call");
        stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
    }
    const std::uint64_t answer = registers().general.rax;
    set(kept);
    if (number != SYS_wait4 && static_cast<std::int64_t>(answer) < 0 &&
        static_cast<std::int64_t>(answer) > -4096)
        fail("a system call of process " + std::to_string(pid_) + ": " +
             std::strerror(-static_cast<int>(answer)));
    return answer;
}

void Tracee::reap() {
    while (static_cast<std::int64_t>(call(SYS_wait4, {~0ULL, 0, WNOHANG | __WALL, 0})) > 0) {
    }
}

namespace {

std::vector<Mapping> shared_memory(pid_t pid) {
    std::vector<Mapping> found = mappings(pid);
    std::erase_if(found, [](const Mapping& each) { return !each.shared || !each.writable; });
    return found;
}

}  // namespace

int Tracee::shared_copy() const {
    const int file = memfd_create("twins", MFD_CLOEXEC);
    off_t at = 0;
    for (const Mapping& each : shared_memory(pid_)) {
        std::vector<std::byte> all(each.end - each.begin);
        read_memory(pid_, each.begin, all.data(), all.size());
        if (file < 0 || pwrite(file, all.data(), all.size(), at) != static_cast<ssize_t>(all.size()))
            fail(std::string("cannot copy shared memory: ") + std::strerror(errno));
        at += static_cast<off_t>(all.size());
    }
    return file;
}

std::uint64_t Tracee::open_file_of_this_process(int file) {
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
    const std::uint64_t page =
        call(SYS_mmap, {0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0});
    write_memory(pid_, page, path.c_str(), path.size() + 1);
    const std::uint64_t opened = call(SYS_open, {page, O_RDWR | O_CLOEXEC});
    call(SYS_munmap, {page, kPage});
    return opened;
}

Tracee Tracee::twin(int file) {
    // A clone without a signal at its end: the original shall not notice.
    const Registers kept = registers();
    Tracee other(static_cast<pid_t>(call(SYS_clone, {})));
    other.syscall_instruction_ = syscall_instruction_;
    other.wait_stop();
    // The kernel may leave parts of the vector state out of a new process.
    other.set(kept);
    if (other.registers().vectors != kept.vectors) fail("a doubled process has other vector registers");
    const std::uint64_t opened = file < 0 ? ~0ULL : other.open_file_of_this_process(file);
    // Populated: faults are drawn over the pages that a process has.
    const std::uint64_t kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
    std::uint64_t at = 0;
    for (const Mapping& each : shared_memory(pid_)) {
        // It shall not write what the other one reads: a copy takes the place of what they share.
        const std::size_t bytes = each.end - each.begin;
        other.call(SYS_mmap, {each.begin, bytes, PROT_READ | PROT_WRITE, kind | MAP_FIXED, opened, at});
        if (file >= 0) {
            at += bytes;
            continue;
        }
        std::vector<std::byte> all(bytes);
        read_memory(pid_, each.begin, all.data(), bytes);
        write_memory(other.pid_, each.begin, all.data(), bytes);
    }
    if (file >= 0) other.call(SYS_close, {opened});
    return other;
}

Ran Tracee::run_to_write(std::uint64_t limit) {
    run(limit);
    for (;; nap())
        if (const std::optional<Ran> ran = there()) return *ran;
}

void Tracee::run(std::uint64_t limit) {
    limit_ = limit;
    began_ = used_ = cpu_time(pid_);
    seen_ = now();
    stops_ = 0;
    asked_ = false;
    go_to_next_stop(0);
}

void Tracee::go_to_next_stop(std::uintptr_t signal) { trace(PTRACE_SYSCALL, pid_, 0, signal, "running"); }

std::optional<Ran> Tracee::there() {
    int status = 0;
    while (waitpid(pid_, &status, __WALL | WNOHANG) != 0)
        if (std::optional<Ran> ran = reached(status)) return ran;
    const std::uint64_t time = cpu_time(pid_);
    if (time != used_ || state(pid_) == 'R') used_ = time, seen_ = now();
    if (!asked_ && (time - began_ > limit_ || now() - seen_ > 20)) {
        trace(PTRACE_INTERRUPT, pid_, 0, 0, "stopping");
        asked_ = true;
    }
    return std::nullopt;
}

// What a stop means. Where it is not the end of the run, the process goes on.
std::optional<Ran> Tracee::reached(int status) {
    if (WIFEXITED(status)) return Ran{Stop::kExit, WEXITSTATUS(status), "", touched_};
    if (WIFSIGNALED(status)) return Ran{Stop::kCrash, WTERMSIG(status), "", touched_};
    const int number = WSTOPSIG(status);
    if (number == (SIGTRAP | 0x80)) {
        __ptrace_syscall_info info{};
        trace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof info, reinterpret_cast<std::uintptr_t>(&info), "running");
        const bool entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
        if (entry && info.entry.nr == SYS_exit_group)
            return Ran{Stop::kExit, static_cast<int>(info.entry.args[0]), "", touched_};
        if (entry && info.entry.nr == SYS_write) {
            Ran ran{Stop::kWrite, 0, "", touched_};
            ran.text.resize(std::min<std::size_t>(info.entry.args[2], 1 << 16));
            // A flipped pointer or length: then the system refuses it, and the worker ends itself.
            const iovec here{ran.text.data(), ran.text.size()};
            const iovec there{reinterpret_cast<void*>(info.entry.args[1]), ran.text.size()};
            const ssize_t got = process_vm_readv(pid_, &here, 1, &there, 1, 0);
            if (got != static_cast<ssize_t>(ran.text.size())) return Ran{Stop::kCrash, SIGABRT, "", touched_};
            return ran;
        }
        // What was asked to stop in a system call stops at its end, and then is not asked again.
        if (asked_ || ++stops_ == kMostStops) return Ran{Stop::kHang, 0, "", touched_};
        go_to_next_stop(0);
        return std::nullopt;
    }
    if (status >> 16 == PTRACE_EVENT_STOP) {
        if (asked_) return Ran{Stop::kHang, 0, "", touched_};
        go_to_next_stop(0);
        return std::nullopt;
    }
    if (number == SIGTRAP && status >> 16 == 0) {
        const long hit = trace(PTRACE_PEEKUSER, pid_, offsetof(user, u_debugreg) + 8 * 6, 0, "watching");
        if (hit & 1) {
            touched_ = true;
            debug_register(pid_, 7, 0);
            debug_register(pid_, 6, 0);
            go_to_next_stop(0);
            return std::nullopt;
        }
    }
    if (fatal(number) || number == SIGTRAP) return Ran{Stop::kCrash, number, "", touched_};
    go_to_next_stop(static_cast<std::uintptr_t>(number));
    return std::nullopt;
}

void Tracee::leave_write_out() {
    user_regs_struct general{};
    trace(PTRACE_GETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&general), "leaving a write out");
    const std::uint64_t bytes = general.rdx;
    general.orig_rax = ~0ULL;
    trace(PTRACE_SETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&general), "leaving a write out");
    trace(PTRACE_SYSCALL, pid_, 0, 0, "leaving a write out");
    wait_stop();
    trace(PTRACE_GETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&general), "leaving a write out");
    general.rax = bytes;
    trace(PTRACE_SETREGS, pid_, 0, reinterpret_cast<std::uintptr_t>(&general), "leaving a write out");
}

void Tracee::watch(std::uintptr_t address) {
    debug_register(pid_, 0, address);
    debug_register(pid_, 7, 1 | 3U << 16);  // reads and writes of one byte
}

std::uintptr_t Tracee::number_of_core() const {
#ifdef PTRACE_GET_RSEQ_CONFIGURATION
    __ptrace_rseq_configuration about{};
    const long got = ptrace(PTRACE_GET_RSEQ_CONFIGURATION, pid_, sizeof about, &about);
    return got < 0 ? 0 : about.rseq_abi_pointer;
#else
    return 0;  // a C library that does not know of it does not ask for it either
#endif
}

void Tracee::kill() {
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, __WALL) >= 0 && WIFSTOPPED(status)) {
    }
}

void Tracee::let_go() { trace(PTRACE_DETACH, pid_, 0, 0, "letting go"); }

}  // namespace inject
