#include "core/launch/node_readback.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/program.hpp"
#include "core/launch/record.hpp"
#include "core/launch/verdict.hpp"
#include "core/machine/proc.hpp"

namespace strata::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 1e-3;
/// How long a reader waits for ranks, how often it asks whether they still run, how often it reads them.
constexpr double kPatience = 60, kGlance = 20 * kSeconds, kRegular = 0.5, kSecond = 0.15;
/// How long the supervisor waits for readers after the run has ended.
constexpr double kLastWords = 3;
/// How often Slurm is asked for the run's job, at most.
constexpr int kMostTries = 64;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

volatile std::sig_atomic_t asked_to_end = 0;

std::string own_node() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

/// Processes of the run on this node that have become the program.
std::vector<int> ranks_here(const std::string& mark, const std::string& launcher) {
    std::vector<int> found;
    for (const int pid : machine::all_processes()) {
        if (!machine::is_own(pid) || machine::environment_of(pid, "STRATA_RUN") != mark) continue;
        if (!machine::environment_of(pid, "STRATA_RANK")) continue;
        char exe[4096];
        const ssize_t n = readlink(fmt::format("/proc/{}/exe", pid).c_str(), exe, sizeof exe);
        if (n > 0 && std::string_view(exe, static_cast<size_t>(n)) != launcher) found.push_back(pid);
    }
    return found;
}

bool any_lives(const std::vector<int>& pids) {
    return std::any_of(pids.begin(), pids.end(), [](int pid) {
        const auto stat = machine::read_stat(pid);
        return stat && stat->state != 'Z';
    });
}

/// As many as Slurm gave this node, by the environment of one of them.
int number_of_ranks(const std::vector<int>& ranks) {
    const auto tasks = machine::environment_of(ranks.front(), "SLURM_STEP_TASKS_PER_NODE");
    const auto node = machine::environment_of(ranks.front(), "SLURM_NODEID");
    const auto said = tasks && node ? slurm_tasks_on(*tasks, std::atoi(node->c_str())) : std::nullopt;
    return said.value_or(static_cast<int>(ranks.size()));
}

void write_reading(const Record& record, size_t processes) {
    std::ostringstream out;
    Json j(out);
    j.object().member("node", own_node()).member("processes", processes);
    write_threads(j, record.threads);
    j.member("threads_agree", record.threads_agree).member("agrees", record.agrees);
    j.member("pages", record.pages.verdict).member("disagreement", record.disagreement).end();
    std::string text = out.str();
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::cout << text << std::endl;
}

std::optional<bool> truth(const JsonValue& object, const char* name) {
    const JsonValue& found = object.member(name);
    if (found.type() == JsonValue::Type::null) return std::nullopt;
    return found.boolean();
}

NodeReading parsed(const std::string& line) {
    const JsonValue all = JsonValue::parse(line, "a node's reading");
    NodeReading reading;
    reading.node = all.member("node").string();
    reading.processes = static_cast<size_t>(all.member("processes").integer());
    for (const JsonValue& one : all.member("threads").items()) {
        ThreadReading t;
        t.pid = static_cast<int>(one.member("pid").integer());
        t.tid = static_cast<int>(one.member("tid").integer());
        if (one.member("rank").type() == JsonValue::Type::number)
            t.rank = static_cast<int>(one.member("rank").integer());
        t.name = one.member("name").string();
        t.allowed = parse_cpulist(one.member("allowed").string());
        t.last_cpu = static_cast<int>(one.member("last_cpu").integer());
        t.cpu_s = one.member("cpu_s").number();
        reading.threads.push_back(std::move(t));
    }
    reading.threads_agree = truth(all, "threads_agree");
    reading.agrees = truth(all, "agrees");
    reading.pages = all.member("pages").string();
    if (all.member("disagreement").type() == JsonValue::Type::string)
        reading.disagreement = all.member("disagreement").string();
    return reading;
}

/// Slurm's words for a job: its number, and how many nodes it has.
struct SlurmJob {
    std::string id, nodes;
};

/// Of the job that this process is in; else of the one that srun got for the run, whose name is its mark:
/// another user's job may have that name too.
std::optional<SlurmJob> job_of(const std::string& mark) {
    SlurmJob job{environment_value("SLURM_JOB_ID"), environment_value("SLURM_JOB_NUM_NODES")};
    if (!job.id.empty()) return job;
    const std::string ask = fmt::format(
        "squeue --noheader --states=RUNNING --user={} --name={} --format='%A %D'", geteuid(), mark);
    const std::unique_ptr<FILE, int (*)(FILE*)> said(popen((ask + " 2>/dev/null").c_str(), "re"), pclose);
    char id[32] = {}, nodes[32] = {};
    if (!said || std::fscanf(said.get(), "%31s %31s", id, nodes) != 2) return std::nullopt;
    return SlurmJob{id, nodes};
}

}  // namespace

int read_this_node(const std::string& mark, const std::string& launcher,
                   const std::function<Placement(int ranks)>& place) {
    std::signal(SIGTERM, [](int) { asked_to_end = 1; });
    const auto began = Clock::now();
    std::vector<int> ranks;
    while ((ranks = ranks_here(mark, launcher)).empty()) {
        if (asked_to_end != 0 || seconds_since(began) > kPatience) return kSuccess;
        sleep_for(kGlance);
    }
    const int processes = number_of_ranks(ranks);
    Readback readback(place(processes), launcher, mark);
    const auto seen = Clock::now();
    double next = 0;
    while (asked_to_end == 0) {
        if (const double now = seconds_since(seen); now >= next) {
            readback.read(now);
            next = readback.in_doubt() ? now + readback.confirm_after()
                                       : now + (now < kSecond ? kSecond - now : kRegular);
            ranks = ranks_here(mark, launcher);
        }
        if (!any_lives(ranks)) break;
        sleep_for(std::min(kGlance, std::max(kSeconds, next - seconds_since(seen))));
    }
    Record record;
    take_readback(record, readback);
    write_reading(record, static_cast<size_t>(processes));
    return kSuccess;
}

NodeReaders::NodeReaders(std::vector<std::string> reader, std::string mark)
    : reader_(std::move(reader)), mark_(std::move(mark)) {}

NodeReaders::~NodeReaders() {
    if (output_ >= 0) close(output_);
}

void NodeReaders::start_when_possible() {
    if (reader_.empty() || pid_ != 0 || tries_++ > kMostTries) return;
    const auto job = job_of(mark_);
    if (!job) return;
    std::vector<std::string> words = {"srun",
                                      "--quiet",
                                      fmt::format("--jobid={}", job->id),
                                      "--overlap",
                                      fmt::format("--nodes={}", job->nodes),
                                      fmt::format("--ntasks={}", job->nodes),
                                      "--ntasks-per-node=1",
                                      "--cpu-bind=none",
                                      "--mpi=none",
                                      "--input=none"};
    words.insert(words.end(), reader_.begin(), reader_.end());
    // Before "--", and the program behind it, which the launcher's options end with.
    words.insert(std::find(words.begin(), words.end(), "--"), {"--read-node", mark_});
    output_ = memfd_create("strata-nodes", MFD_CLOEXEC);
    int report[2];
    if (output_ < 0 || pipe2(report, O_CLOEXEC) != 0) return;
    const std::string path = find_command("srun", environment_value("PATH"));
    // One reader on each node, also where a file deals out the ranks otherwise.
    const std::vector<std::string> environment = apply_settings(
        {{"STRATA_RUN", "", true}, {"STRATA_LIFELINE_FD", "", true}, {"SLURM_HOSTFILE", "", true}},
        own_environment());
    const Started started = start_process(report, [&] {
        setsid();
        close_input();
        dup2(output_, STDOUT_FILENO);
        const int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDERR_FILENO);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        return become(path, words, environment);
    });
    pid_ = started.error == 0 ? started.pid : -1;
}

bool NodeReaders::ended() const { return pid_ <= 0 || !any_lives({pid_}); }

std::vector<NodeReading> NodeReaders::finish() {
    std::vector<NodeReading> readings;
    if (pid_ <= 0) return readings;
    const auto began = Clock::now();
    bool asked = false;
    while (!ended() && seconds_since(began) < kLastWords) {
        // Nodes of the job that had no ranks still wait for some.
        if (!asked && seconds_since(began) > kLastWords / 3) asked = kill(pid_, SIGTERM) == 0;
        sleep_for(kGlance);
    }
    std::string text(static_cast<size_t>(std::max<off_t>(0, lseek(output_, 0, SEEK_END))), '\0');
    const ssize_t n = pread(output_, text.data(), text.size(), 0);
    text.resize(static_cast<size_t>(std::max<ssize_t>(0, n)));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() != '{') continue;  // srun's own words
        NodeReading reading = parsed(line);
        if (reading.node != own_node()) readings.push_back(std::move(reading));
    }
    std::sort(readings.begin(), readings.end(),
              [](const NodeReading& a, const NodeReading& b) { return a.node < b.node; });
    return readings;
}

}  // namespace strata::launch
