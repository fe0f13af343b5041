#include "core/observe/trace.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <thread>

#include "core/base/error.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/signal_process.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::observe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr timespec kPause{0, 50'000'000};
constexpr long kOptions = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

/// The thread group of a thread.
int process_of(int tid) {
    const std::string status = machine::read_file("/proc/" + std::to_string(tid) + "/status").value_or("");
    const int process = std::atoi(std::string(machine::field(status, "Tgid")).c_str());
    return process > 0 ? process : tid;
}

class Tracer {
  public:
    Tracer(const TraceRequest& request, const std::function<void(const std::vector<Process>&)>& reading)
        : request_(request), reading_(reading) {}
    TraceResult run();

  private:
    void start();
    void wait();
    void stopped(int tid, int status);
    void leaving(int tid);
    void note_thread(int pid, int tid);
    void read_all();
    void readings_due();
    [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    const TraceRequest& request_;
    const std::function<void(const std::vector<Process>&)>& reading_;
    Clock::time_point start_ = Clock::now();
    int child_ = 0;
    bool traced_ = true;
    int status_ = 0;
    double next_reading_ = 0;
    std::map<int, Process> known_;
    sigset_t found_{}, child_signal_{};
};

/// The child: waits until it is traced, then becomes the program.
[[noreturn]] void become(const TraceRequest& request, int go, int report, int parent, const sigset_t& mask) {
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(128 + SIGKILL);
    char word = 0;
    if (read(go, &word, 1) != 1) _exit(kNotFound);
    std::vector<char*> words;
    for (const std::string& each : request.command) words.push_back(const_cast<char*>(each.c_str()));
    words.push_back(nullptr);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
    execv(request.path.c_str(), words.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t n = write(report, &why, sizeof why);
    _exit(kNotFound);
}

void Tracer::start() {
    int go[2], report[2];
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0)
        throw system_error("a pipe cannot be made", errno);
    const int self = getpid();
    child_ = fork();
    if (child_ == 0) become(request_, go[0], report[1], self, found_);
    close(go[0]);
    close(report[1]);
    if (child_ < 0) throw system_error("a process cannot be started", errno);
    traced_ = ptrace(PTRACE_SEIZE, child_, nullptr, kOptions) == 0;
    [[maybe_unused]] const ssize_t told = write(go[1], "", 1);
    close(go[1]);
    // The write end closes when the program starts; until then the child's stops must be answered.
    int why = 0;
    fcntl(report[0], F_SETFL, O_NONBLOCK);
    while (true) {
        const ssize_t n = read(report[0], &why, sizeof why);
        if (n >= 0) break;
        int status = 0;
        const int tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid > 0 && WIFSTOPPED(status)) stopped(tid, status);
        if (tid <= 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    close(report[0]);
    if (why == 0) return;
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, __WALL) > 0) {
    }
    throw system_error("the command cannot be run", why, kNotFound)
        .given(request_.path)
        .allowed("a program of this machine, or a script whose first line names its interpreter")
        .remedy("check that its interpreter or loader exists (file, ldd)");
}

void Tracer::leaving(int tid) {
    const int pid = process_of(tid);
    if (tid == pid) {
        if (auto process = read_process(pid, request_.method)) {
            process->ended = true;
            if (const auto before = known_.find(pid); before != known_.end())
                keep_threads(*process, before->second);
            known_[pid] = std::move(*process);
        }
        return;
    }
    note_thread(pid, tid);
}

/// Keeps the last reading of a thread until its process's end, since the thread may end earlier.
void Tracer::note_thread(int pid, int tid) {
    if (auto thread = read_thread(pid, tid)) {
        Process& process = known_[pid];
        process.pid = pid;
        std::erase_if(process.threads, [&](const Thread& other) { return other.tid == tid; });
        process.threads.push_back(std::move(*thread));
    }
}

void Tracer::stopped(int tid, int status) {
    const int number = WSTOPSIG(status);
    const int event = status >> 16;
    if (event == PTRACE_EVENT_EXIT) leaving(tid);
    // Reads a thread at its first stop: one that is killed by its process's end may not stop again.
    if (event == PTRACE_EVENT_STOP && number == SIGTRAP)
        if (const int pid = process_of(tid); pid != tid) note_thread(pid, tid);
    if (event == PTRACE_EVENT_EXEC) known_.erase(tid);  // another program from here on
    if (event == PTRACE_EVENT_STOP &&
        (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)) {
        ptrace(PTRACE_LISTEN, tid, nullptr, nullptr);
        return;
    }
    const std::intptr_t deliver = event == 0 ? number : 0;
    ptrace(PTRACE_CONT, tid, nullptr, reinterpret_cast<void*>(deliver));
}

void Tracer::read_all() {
    std::vector<int> pids = machine::descendants_of(getpid());
    for (const int pid : pids) {
        auto process = read_process(pid, request_.method);
        if (!process) continue;
        if (const auto before = known_.find(pid);
            before != known_.end() && before->second.program == process->program)
            keep_threads(*process, before->second);
        known_[pid] = std::move(*process);
    }
}

void Tracer::readings_due() {
    if (next_reading_ <= 0 || now() < next_reading_) return;
    read_all();
    std::vector<Process> now_there;
    for (const int pid : machine::descendants_of(getpid()))
        if (const auto at = known_.find(pid); at != known_.end()) now_there.push_back(at->second);
    reading_(now_there);
    next_reading_ = request_.every_s > 0 ? now() + request_.every_s : 0;
}

void Tracer::wait() {
    const bool readings = request_.after_s > 0 || request_.every_s > 0;
    next_reading_ = request_.after_s > 0 ? request_.after_s : request_.every_s;
    while (true) {
        int status = 0;
        // Without readings to take, waits for the next stop.
        const bool poll = !traced_ || (readings && next_reading_ > 0);
        const int tid = waitpid(-1, &status, __WALL | (poll ? WNOHANG : 0));
        if (tid < 0 && errno == EINTR) continue;
        if (tid < 0) break;  // no child is left
        if (tid == 0) {
            if (!traced_) read_all();
            readings_due();
            // Waits for the next stop, which must be answered at once, or for the next reading.
            sigtimedwait(&child_signal_, nullptr, &kPause);
        } else if (WIFSTOPPED(status)) {
            stopped(tid, status);
        } else if (tid == child_) {
            status_ = status;
            // Processes that the command left running end with it.
            for (const int pid : machine::descendants_of(getpid()))
                machine::signal_descendant(pid, SIGKILL, getpid());
        }
    }
}

TraceResult Tracer::run() {
    // Interrupts go to the command only; this process waits for its end.
    std::map<int, sighandler_t> before;
    for (const int number : {SIGINT, SIGQUIT}) before[number] = signal(number, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigemptyset(&child_signal_);
    sigaddset(&child_signal_, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_signal_, &found_);
    start();
    wait();
    sigprocmask(SIG_SETMASK, &found_, nullptr);
    for (const auto& [number, handler] : before) signal(number, handler);
    TraceResult seen;
    seen.status = status_;
    seen.traced = traced_;
    for (auto& [pid, process] : known_)
        if (!process.program.empty()) seen.processes.push_back(std::move(process));
    return seen;
}

}  // namespace

TraceResult trace(const TraceRequest& request,
                  const std::function<void(const std::vector<Process>&)>& reading) {
    return Tracer(request, reading).run();
}

}  // namespace strata::observe
