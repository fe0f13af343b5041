#include "core/launch/supervise.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/launch/accounts.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/broadcast.hpp"
#include "core/launch/children.hpp"
#include "core/launch/control_groups.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/guardian.hpp"
#include "core/launch/node_readback.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/program.hpp"
#include "core/launch/readback.hpp"
#include "core/launch/record.hpp"
#include "core/launch/scratch.hpp"
#include "core/launch/signals.hpp"
#include "core/launch/verdict.hpp"
#include "core/machine/clock.hpp"

namespace strata::launch {

namespace {

using Clock = std::chrono::steady_clock;

/// When the program is looked at, in seconds after its start: early, for short runs; then rarely.
constexpr double kFirstReading = 0.03, kSecondReading = 0.15, kReadingInterval = 0.5;
/// And so rarely that looking costs at most this share of one CPU, whatever the number of threads; but for
/// the first readings, since a program may need a second until all of its processes have all of their
/// threads.
constexpr double kReadingBudget = 0.0025;
constexpr int kFreeReadings = 5;
/// The time that a program has to end after SIGINT, SIGTERM and the like before it is killed.
constexpr double kGrace = 5, kGraceAfterFailure = 2;
/// And how long srun has to end its step, which it does at SIGTERM, when all is to end at once.
constexpr double kSlurmsTurn = 5;

double seconds_between(Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double>(b - a).count();
}

double cpu_seconds_of_this() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The clock is a core's own: it is measured where the program will run.
double clock_on(int pu, const std::vector<int>& back_to) {
    bind_to({pu});
    const double ghz = machine::measure_clock_ghz();
    bind_to(back_to);
    return ghz;
}

/// The PUs of the supervisor itself: beside the placement when there is room.
std::vector<int> elsewhere(const std::vector<int>& allowed, const std::vector<int>& used) {
    std::vector<int> rest;
    std::set_difference(allowed.begin(), allowed.end(), used.begin(), used.end(), std::back_inserter(rest));
    return rest.empty() ? allowed : rest;
}

/// A run from its start to its end: signals, the time limit, readings.
class Supervision {
  public:
    Supervision(Children& children, const SignalEvents& signals, const Watch& watch, Readback* readback,
                NodeReaders& readers, bool by_srun)
        : children_(children),
          signals_(signals),
          watch_(watch),
          readback_(readback),
          readers_(readers),
          by_srun_(by_srun),
          step_to_end_(by_srun) {}

    void run();
    [[nodiscard]] bool timed_out() const { return timed_out_; }
    [[nodiscard]] bool orphaned() const { return orphaned_; }
    /// The first signal that asked this process to end; 0 for none.
    [[nodiscard]] int asked_by() const { return asked_by_; }

  private:
    [[nodiscard]] double now() const { return seconds_between(start_, Clock::now()); }
    [[nodiscard]] double until_next() const;
    void handle(int signal);
    void collect();
    void look();
    void end();
    void kill_after(double seconds) { kill_at_ = std::min(kill_at_.value_or(1e18), now() + seconds); }

    Children& children_;
    const SignalEvents& signals_;
    const Watch& watch_;
    Readback* readback_;
    NodeReaders& readers_;
    Clock::time_point start_ = Clock::now();
    double next_reading_ = kFirstReading;
    int looks_ = 0;
    std::optional<double> kill_at_;
    bool timed_out_ = false, orphaned_ = false;
    const bool by_srun_;
    bool step_to_end_;  // of Slurm: srun has not been asked yet
    int asked_by_ = 0;
};

double Supervision::until_next() const {
    double next = 1e18;
    if (readback_ != nullptr) next = next_reading_;
    if (watch_.timeout_s > 0 && !timed_out_) next = std::min(next, watch_.timeout_s);
    if (kill_at_) next = std::min(next, *kill_at_);
    return next > 1e17 ? -1 : std::max(0.0, next - now());
}

void Supervision::run() {
    while (!children_.all_ended()) {
        const auto lifeline = orphaned_ ? std::nullopt : watch_.lifeline;
        for (const int signal : signals_.wait(until_next(), lifeline, orphaned_)) handle(signal);
        collect();
        if (orphaned_ && !by_srun_) return;
        if (orphaned_ && step_to_end_) end();
        if (watch_.timeout_s > 0 && !timed_out_ && now() >= watch_.timeout_s && !children_.all_ended()) {
            timed_out_ = true;
            kill_at_ = now();
        }
        if (kill_at_ && now() >= *kill_at_) {
            if (orphaned_) return;
            end();
        }
        if (readback_ != nullptr && now() >= next_reading_ && !children_.all_ended()) look();
    }
}

void Supervision::end() {
    if (std::exchange(step_to_end_, false)) {
        children_.signal(SIGTERM);
        kill_at_ = now() + kSlurmsTurn;
        return;
    }
    children_.signal(SIGKILL);
    // Again, should one have forked out of its group's reach; the rest is done at the end.
    kill_at_ = now() + 1;
}

void Supervision::collect() {
    for (const Ended& ended : collect_ended()) children_.ended(ended.pid, ended.status);
    if (children_.any_failed() && !children_.all_ended() && asked_by_ == 0 && !kill_at_) {
        children_.signal(SIGTERM);
        kill_after(kGraceAfterFailure);
    }
}

void Supervision::handle(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGTSTP) return stop_with_descendants();
    children_.signal(signal);
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    kill_after(asked_by_ == 0 ? kGrace : 0);
    if (asked_by_ == 0) asked_by_ = signal;
}

void Supervision::look() {
    const double before = cpu_seconds_of_this();
    readback_->read(now());
    readers_.start_when_possible();
    const double cost = cpu_seconds_of_this() - before;
    ++looks_;
    if (readback_->in_doubt()) {
        next_reading_ = now() + readback_->confirm_after();
    } else {
        const double regular = now() < kSecondReading ? kSecondReading - now() : kReadingInterval;
        next_reading_ = now() + std::max(regular, looks_ >= kFreeReadings ? cost / kReadingBudget : 0.0);
    }
}

void take_usage(Record& record) {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    record.voluntary_switches = usage.ru_nvcsw;
    record.involuntary_switches = usage.ru_nivcsw;
    record.minor_faults = usage.ru_minflt;
    record.major_faults = usage.ru_majflt;
    record.max_rss_bytes = usage.ru_maxrss * 1024;
}

std::optional<std::int64_t> difference(std::optional<std::int64_t> after,
                                       std::optional<std::int64_t> before) {
    if (!after || !before) return std::nullopt;
    return *after - *before;
}

void record_usage(Record& record, const UsageSnapshot& before, const UsageSnapshot& after,
                  const std::vector<int>& pus) {
    record.cpu = settle(before, after, pus);
    record.cpu_pressure_us = difference(after.cpu_pressure_us, before.cpu_pressure_us);
    record.memory_pressure_us = difference(after.memory_pressure_us, before.memory_pressure_us);
    record.io_pressure_us = difference(after.io_pressure_us, before.io_pressure_us);
    if (getloadavg(record.load.data(), 3) != 3) record.load = {};
}

void take_status(Record& record, int status) {
    if (WIFEXITED(status)) record.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) record.signal = WTERMSIG(status);
}

/// A record that cannot be written is said before hours of computing, not after.
void check_record(const std::string& path) {
    const int error = why_not_named(path);
    if (error == 0) return;
    const std::string folder =
        path.find('/') == std::string::npos ? "." : path.substr(0, path.rfind('/') + 1);
    throw system_error("the record cannot be written", error, kBadInput)
        .given(fmt::format("--record {}", path))
        .allowed("a file in a folder that exists and may be written, or /dev/stdout")
        .remedy(error == ENOENT ? fmt::format("mkdir -p {}", folder) : "name a file that you may write");
}

Job with_settings(Job job, const Scratch& scratch, const Broadcast* broadcast, bool named) {
    std::vector<Setting> settings = {{"STRATA_LIFELINE_FD", "", true}};
    for (const auto& [name, value] : scratch.settings(job.several_nodes)) settings.push_back({name, value});
    // By which its readers find the job that srun gets for the run.
    if (named) settings.push_back({"SLURM_JOB_NAME", scratch.name()});
    if (broadcast != nullptr) {
        settings.push_back(broadcast->libraries());
        job.processes.front().arguments[job.program_word] = broadcast->copy();
    }
    for (Process& process : job.processes)
        process.environment = apply_settings(settings, std::move(process.environment));
    return job;
}

/// Whether the run failed for a reason that its own status may not show: a limit, or a placement that was not
/// kept. Each is said once.
bool say_what_went_wrong(const Enforcement& enforcement, const Job& job, const Watch& watch,
                         const Readback* readback, std::vector<NodeReading> nodes, Record& record) {
    record.limits = enforcement.lines();
    record.exceeded = enforcement.exceeded();
    if (record.exceeded) fmt::print(stderr, "{}", *record.exceeded);
    if (readback != nullptr) {
        take_readback(record, *readback);
        take_nodes(record, std::move(nodes));
    }
    if (watch.explain && readback != nullptr) fmt::print(stderr, "{}\n", verdict_text(record));
    if (!watch.check) return record.exceeded.has_value();
    if (record.disagreement)
        fmt::print(stderr, "{}", placement_not_kept(record).text());
    else if (!record.agrees)
        fmt::print(stderr, "strata: note: --check: {}\n", why_not_known(record, job.by_srun));
    return record.exceeded || record.disagreement;
}

/// The means of one run besides the program. Destructors remove all of them, in the reverse order.
struct RunResources {
    RunResources(const Limits& limits, bool own_share)
        : left_over(sweep_leftovers(all_group_parents())),
          groups(scratch.name()),
          enforcement(limits, groups),
          share(own_share, groups) {}
    Guardian guardian;
    std::vector<std::string> left_over;
    Scratch scratch;
    RunGroups groups;
    Enforcement enforcement;
    OwnShare share;
    SignalEvents signals;
};

/// The record of a run. The machine is looked at before and after it only where the record is to be written:
/// on hundreds of cores a look at their books takes a millisecond.
class Recording {
  public:
    Recording(const Job& job, const Watch& watch)
        : job_(job), watch_(watch), pus_(job.placement.pus()), place_(elsewhere(affinity_of(), pus_)) {}

    [[nodiscard]] Record& record() { return record_; }
    void begin(const RunResources& resources) {
        record_.command = job_.command;
        record_.placement = job_.placement;
        record_.share = resources.share.share();
        record_.left_over = resources.left_over;
    }
    void read_clock_before() {
        if (!watch_.record) return;
        record_.clock_before_ghz = clock_on(pus_.front(), place_);
        record_.started = utc_now();
    }
    void read_usage_before() { before_ = usage(); }
    void read_usage_after() { after_ = usage(); }
    /// Of the run's processes, once what the program left running has been collected, too.
    void count_own_time() { after_.own_s = children_cpu_s(); }
    void write(int status, bool timed_out);

  private:
    [[nodiscard]] UsageSnapshot usage() const { return watch_.record ? read_usage(pus_) : UsageSnapshot{}; }

    const Job& job_;
    const Watch& watch_;
    const std::vector<int> pus_, place_;  // the program's, and the supervisor's own
    Record record_;
    UsageSnapshot before_, after_;
};

void Recording::write(int status, bool timed_out) {
    if (!watch_.record) return;
    record_usage(record_, before_, after_, pus_);
    // Ranks that Slurm's daemons start are nobody's children here: whose time it was is not known.
    if (job_.by_srun) record_.cpu.others_s = record_.cpu.others_share = std::nullopt;
    take_usage(record_);
    record_.wall_s = seconds_between(before_.at, after_.at);
    record_.timed_out = timed_out;
    take_status(record_, status);
    record_.clock_after_ghz = clock_on(pus_.front(), place_);
    write_record(record_, *watch_.record);
}

/// How a run came to its end.
struct Ending {
    int status = 0;         // as wait() gives it
    int asked_by = 0;       // the first signal that asked for the end
    bool failed = false;    // for a reason that the status may not show
    bool orphaned = false;  // nobody is there who would be told
};

/// The run from its first resource to its last: all of them are gone when this returns.
Ending run_watched(const Job& job, const Watch& watch, Recording& recording) {
    RunResources resources(job.limits, watch.own_share);
    std::optional<Broadcast> broadcast;
    if (!job.broadcast.empty()) broadcast.emplace(job.sent, job.broadcast, resources.scratch.path());
    recording.begin(resources);
    std::unique_ptr<Readback> readback;
    if (watch.record || watch.check)
        readback = std::make_unique<Readback>(job.placement, job.launcher,
                                              job.by_srun ? resources.scratch.name() : "");
    recording.read_clock_before();
    const double wall_clock = static_cast<double>(time(nullptr)) - 1;
    recording.read_usage_before();
    NodeReaders readers(readback ? job.node_reader : std::vector<std::string>(), resources.scratch.name());
    const bool named = readback && !job.node_reader.empty() && environment_value("SLURM_JOB_ID").empty();
    Children children(with_settings(job, resources.scratch, broadcast ? &*broadcast : nullptr, named),
                      resources.groups, resources.share, resources.signals);
    Supervision supervision(children, resources.signals, watch, readback.get(), readers, job.by_srun);
    supervision.run();
    std::vector<NodeReading> nodes = readers.finish();
    recording.read_usage_after();
    broadcast.reset();  // before its step would be ended as what the run has left
    end_process_tree(resources.guardian.pid());
    recording.count_own_time();
    remove_stray_segments(wall_clock);
    if (supervision.orphaned()) return {.orphaned = true};
    const bool failed = say_what_went_wrong(resources.enforcement, job, watch, readback.get(),
                                            std::move(nodes), recording.record());
    if (supervision.timed_out())
        fmt::print(stderr, "strata: error: the run was ended after {} s (--timeout)\n", watch.timeout_s);
    recording.write(children.status(), supervision.timed_out());
    return {.status = children.status(), .asked_by = supervision.asked_by(), .failed = failed};
}

}  // namespace

int supervise(const Job& job, const Watch& watch) {
    if (watch.record) check_record(*watch.record);
    if (watch.lifeline) fcntl(*watch.lifeline, F_SETFD, FD_CLOEXEC);
    adopt_orphans();
    Recording recording(job, watch);
    const Ending ending = run_watched(job, watch, recording);
    if (ending.orphaned) return kFailure;
    // A shell stops its loop only when the command died of the key that its user pressed.
    if (ending.asked_by == SIGINT && WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGINT) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    return ending.failed && ending.status == 0 ? kFailure : exit_status(ending.status);
}

}  // namespace strata::launch
