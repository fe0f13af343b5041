#include "core/launch/broadcast.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/program.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/signal_process.hpp"

namespace strata::launch {
namespace {

/// As sbcast names the folder beside the copy.
std::string libraries_of(const std::string& copy) { return copy + "_libs"; }

std::string note_in(const std::string& scratch) { return scratch + "/broadcast"; }

/// What holds a copy on a node: it says that it is there, waits for any signal, and removes the copy. So the
/// copy also goes with a job that is cancelled or whose time is over: Slurm's daemons send its steps SIGTERM
/// first. What is being sent then may still come: it is removed for five seconds more. A node that crashed
/// has kept its copies: those of this user from before the node's start go at the next.
///
/// It has the copy's name from its environment: whoever reads it in a command line makes that file first, and
/// nothing can be sent there any more.
constexpr const char* kName = "STRATA_COPY";
constexpr const char* kHold =
    ": \"${STRATA_COPY:?}\"; later=; trap : USR1; trap 'later=\"0.2 0.3 0.5 1 1 2\"' TERM INT HUP; "
    "find \"${STRATA_COPY%/*}\" -maxdepth 1 -user \"$(id -u)\" -name 'bcast-strata-*' "
    "! -newerct \"@$(sed -n 's/^btime //p' /proc/stat)\" -exec rm -rf -- {} + 2>/dev/null; "
    "echo held $SLURM_JOB_ID.$SLURM_STEP_ID; sleep 2147483647 & wait; "
    "rm -rf -- \"$STRATA_COPY\" \"${STRATA_COPY}_libs\"; "
    "for pause in $later; do sleep $pause; rm -rf -- \"$STRATA_COPY\" \"${STRATA_COPY}_libs\"; done";
constexpr std::string_view kHeld = "held ";
/// The signal that srun passes on to its tasks; at SIGTERM it would kill them.
constexpr int kLetGo = SIGUSR1;
/// And without srun, where the copy may still be on its way.
constexpr const char* kLetGoByName = "--signal=HUP";
/// How long copies are waited for: seconds until holders must be there, and until they must have let go.
constexpr int kUntilHeld = 60, kUntilGone = 10;

/// Starts a command of Slurm's, apart from the run: without its input, keys, mark and end.
int start_apart(const std::vector<std::string>& words, int output, const std::string& copy = "") {
    const std::string path = find_command(words.front(), environment_value("PATH"));
    const auto environment = apply_settings(
        {{"STRATA_RUN", "", true}, {"STRATA_LIFELINE_FD", "", true}, {kName, copy, copy.empty()}},
        own_environment());
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setsid();
    close_input();
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    become(path, words, environment);
    _exit(kNotFound);
}

std::string text_of(int file) {
    std::string text(static_cast<size_t>(std::max<off_t>(0, lseek(file, 0, SEEK_END))), '\0');
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0))));
    return text;
}

bool lives(int pid, unsigned long long start_time) {
    const auto stat = machine::read_stat(pid);
    return stat && stat->start_time == start_time && stat->state != 'Z';
}

/// Whether it came true in so many seconds.
template <class Condition>
bool comes(int seconds, Condition condition) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
         std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(std::chrono::milliseconds(2)))
        if (condition()) return true;
    return condition();
}

size_t times(std::string_view word, const std::string& text) {
    size_t found = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size()))
        ++found;
    return found;
}

/// The step of the holders, as it is noted: srun's process, and the number of job and step.
struct Holders {
    int srun = 0;
    unsigned long long start_time = 0;
    std::string step;

    [[nodiscard]] bool live() const { return lives(srun, start_time); }
    void signal(int number) const {
        machine::signal_process(srun, number, [&] { return live(); });
    }
};

Holders noted(const std::string& scratch) {
    std::ifstream note(note_in(scratch));
    Holders holders;
    note >> holders.srun >> holders.start_time >> holders.step;
    return holders;
}

void take_note(const std::string& scratch, const Holders& holders) {
    std::ofstream(note_in(scratch)) << holders.srun << ' ' << holders.start_time << ' ' << holders.step
                                    << '\n';
}

/// By their srun, which is there until they have let go.
void let_go(const Holders& holders) {
    holders.signal(kLetGo);
    holders.signal(SIGCONT);
    comes(kUntilGone, [&] { return !holders.live(); });
}

/// By Slurm itself, where the job may be ending: then srun, which is not to know of it, would kill them.
void let_go_without_srun(const Holders& holders) {
    // The process below it first, which ends the step of a srun that was killed; before anything is sent, as
    // is right.
    if (!holders.step.empty()) {
        const std::vector<int> below = machine::descendants_of(holders.srun);
        // Children before their parents, without whom they would descend from another process.
        for (auto pid = below.rbegin(); pid != below.rend(); ++pid)
            machine::signal_descendant(*pid, SIGKILL, holders.srun);
    }
    holders.signal(SIGKILL);
    if (holders.step.empty()) return;
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int told = start_apart({"scancel", kLetGoByName, holders.step}, nothing);
    while (waitpid(told, nullptr, 0) < 0 && errno == EINTR) {
    }
    close(nothing);
}

Error not_sent(const std::string& what, std::string said) {
    std::replace(said.begin(), said.end(), '\n', ' ');
    return Error("the program could not be sent to the nodes", kFailure)
        .given(fmt::format("{}: {}", what, said))
        .allowed("a folder that each node has, that may be written and has room")
        .remedy("--bcast=FOLDER with another folder, or without --bcast");
}

}  // namespace

void need_broadcast(const std::string& folder) {
    if (folder.empty() || folder.front() != '/')
        throw Error("a folder on other nodes is not counted from the current one")
            .given("--bcast=" + folder)
            .allowed("a path that begins with '/', to a folder that each node has for itself")
            .remedy("--bcast, which is --bcast=/tmp");
    if (environment_value("SLURM_JOB_ID").empty())
        throw Error("a program is sent to the nodes of a job, and this is none", kFailure)
            .given("--bcast outside of a job of Slurm's")
            .allowed("--bcast in a job")
            .remedy(
                "salloc --nodes N --exclusive strata launch ..., or strata submit --nodes N -- launch ...");
    if (!on_path("sbcast"))
        throw Error("Slurm's sbcast is not here", kFailure)
            .given("--bcast, and no sbcast on PATH")
            .remedy("leave out --bcast: the nodes then read the program from where it lies");
}

Broadcast::Broadcast(const std::string& program, const std::string& folder, const std::string& scratch)
    : copy_(fmt::format("{}/bcast-{}-{}", folder, scratch.substr(scratch.rfind('/') + 1),
                        program.substr(program.rfind('/') + 1))),
      scratch_(scratch),
      output_(memfd_create("strata-broadcast", MFD_CLOEXEC)) {
    try {
        hold();
        send(program);
    } catch (...) {
        end();
        throw;
    }
}

Broadcast::~Broadcast() { end(); }

void Broadcast::end() {
    const Holders holders = noted(scratch_);
    if (holders.live()) let_go(holders);
    if (holders.live()) let_go_without_srun(holders);
    unlink(note_in(scratch_).c_str());
    close(output_);
}

void Broadcast::hold() {
    const std::string nodes = environment_value("SLURM_JOB_NUM_NODES");
    Holders holders;
    holders.srun = start_apart({"srun", "--quiet", "--overlap", "--overcommit", "--nodes=" + nodes,
                                "--ntasks=" + nodes, "--ntasks-per-node=1", "--cpu-bind=none", "--mpi=none",
                                "--input=none", "--export=ALL", "sh", "-c", kHold},
                               output_, copy_);
    const auto stat = machine::read_stat(holders.srun);
    holders.start_time = stat ? stat->start_time : 0;
    // Before anything is sent, so that somebody knows of it whatever happens to this process.
    take_note(scratch_, holders);
    const auto expected = static_cast<size_t>(std::atoi(nodes.c_str()));
    const auto held = [&] { return times(kHeld, text_of(output_)) >= expected; };
    comes(kUntilHeld, [&] { return held() || !holders.live(); });
    const std::string said = text_of(output_);
    if (!held()) throw not_sent("srun, which is to hold it there", said);
    std::istringstream(said.substr(said.find(kHeld) + kHeld.size())) >> holders.step;
    // Else it would kill them as soon as it hears that the job is over, before Slurm's daemons ask them to
    // end.
    holders.signal(SIGSTOP);
    take_note(scratch_, holders);
}

void Broadcast::send(const std::string& program) {
    const off_t before = lseek(output_, 0, SEEK_END);
    const int sender = start_apart({"sbcast", "--preserve", "--send-libs", program, copy_}, output_);
    int status = -1;
    while (waitpid(sender, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0)
        throw not_sent(fmt::format("sbcast {} {}", program, copy_),
                       text_of(output_).substr(static_cast<size_t>(before)));
}

Setting Broadcast::libraries() const {
    const std::string others = environment_value("LD_LIBRARY_PATH");
    return {"LD_LIBRARY_PATH", libraries_of(copy_) + (others.empty() ? "" : ":" + others)};
}

void remove_broadcast(const std::string& scratch) {
    const Holders holders = noted(scratch);
    if (holders.live()) let_go_without_srun(holders);
}

}  // namespace strata::launch
