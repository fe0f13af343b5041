#include "core/launch/scratch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"
#include "core/launch/broadcast.hpp"
#include "core/launch/control_groups.hpp"
#include "core/launch/program.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/signal_process.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

namespace fs = std::filesystem;

std::string prefix_of_user() { return fmt::format("strata-{}-", getuid()); }

/// Locks a folder if nobody holds it: the lock of a living owner is what tells it from a leftover.
int lock_folder(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/// The run whose folder it is: the name without the letters that nobody could foresee.
std::string run_of(const std::string& folder) {
    size_t end = 0;
    for (int parts = 0; parts < 4 && end != std::string::npos; ++parts) end = folder.find('-', end + 1);
    return folder.substr(0, end);
}

/// srun, and the process beside it that ends its step on the nodes once it has died.
bool is_srun(int pid) { return machine::read_file(fmt::format("/proc/{}/comm", pid)) == "srun"; }

bool is_marked(int pid, const std::set<std::string>& runs) {
    if (!machine::is_own(pid)) return false;
    const auto run = machine::environment_of(pid, "STRATA_RUN");
    return run && runs.count(*run) > 0;
}

/// Ends this user's processes of dead runs. They carry the run's name in their environment; found only when
/// there is a leftover, since looking at environments costs milliseconds. Those of other users, which root
/// could read, may say anything.
int end_marked(const std::set<std::string>& runs) {
    constexpr int kRounds = 100, kRoundsForSrun = 60;  // each is longer than the one before: 5 s, 2 s
    std::set<int> ended;
    for (int round = 0; round < kRounds; ++round) {
        std::vector<int> found;
        bool to_end = false;
        for (const int pid : machine::all_processes()) {
            if (pid == getpid() || !is_marked(pid, runs)) continue;
            if (is_srun(pid) && round < kRoundsForSrun)
                to_end = true;
            else
                found.push_back(pid);
        }
        if (found.empty() && !to_end) break;
        for (const int number : {SIGSTOP, SIGKILL})
            for (const int pid : found)
                machine::signal_process(pid, number, [&] { return is_marked(pid, runs); });
        ended.insert(found.begin(), found.end());
        std::this_thread::sleep_for(std::chrono::milliseconds(1 + round));
    }
    return static_cast<int>(ended.size());
}

std::vector<std::string> entries(const std::string& folder, const std::string& prefix) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, failed), end;
         !failed && it != end; it.increment(failed)) {
        const std::string name = it->path().filename();
        if (name.compare(0, prefix.size(), prefix) == 0) names.push_back(name);
    }
    return names;
}

/// Whether the owner named by strata-UID-PID-STARTTIME still lives.
bool owner_lives(const std::string& name) {
    unsigned uid = 0;
    int pid = 0;
    unsigned long long start = 0;
    if (std::sscanf(name.c_str(), "strata-%u-%d-%llu", &uid, &pid, &start) != 3) return true;
    const auto stat = machine::read_stat(pid);
    return stat && stat->start_time == start && stat->state != 'Z';
}

/// Removes a file of this user's that was made since then, if nobody has it open or mapped. That is asked of
/// the file, by a lease (fcntl(2)) which the kernel grants only to a file's one opener: in /proc the
/// processes of other containers, which may share /dev/shm, are not seen. A kernel without leases keeps the
/// file.
void remove_unused(const std::string& path, double since) {
    const int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    struct stat about {};
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == getuid()) {
        const double changed =
            static_cast<double>(about.st_ctim.tv_sec) + 1e-9 * static_cast<double>(about.st_ctim.tv_nsec);
        // Whoever opens it meanwhile waits until it is closed here; of that this process is told by a signal,
        // and SIGIO would end it.
        if (changed >= since && fcntl(file, F_SETSIG, SIGURG) == 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0)
            unlink(path.c_str());
    }
    close(file);
}

}  // namespace

std::vector<std::string> Scratch::default_bases() {
    // Shared memory first: an MPI's segments must never be written to a disk, and the paths of its sockets
    // stay short.
    std::vector<std::string> bases = {"/dev/shm"};
    const std::string temporary = environment_value("TMPDIR");
    if (!temporary.empty() && temporary.size() < 40) bases.push_back(temporary);
    bases.emplace_back("/tmp");
    return bases;
}

Scratch::Scratch(const std::vector<std::string>& bases) {
    constexpr int kTries = 100;
    const auto self = machine::read_stat(getpid());
    name_ = fmt::format("{}{}-{}", prefix_of_user(), getpid(), self ? self->start_time : 0);
    for (const std::string& base : bases) {
        // Again where the sweep of another container, which does not see this process, came between making
        // and locking.
        for (int tries = 0; tries < kTries; ++tries) {
            const auto made = make_private_folder(base, name_ + "-");
            if (!made) break;
            path_ = *made;
            lock_ = lock_folder(path_);
            if (lock_ >= 0 && access(path_.c_str(), F_OK) == 0) return;
            if (lock_ >= 0) close(lock_);
            rmdir(path_.c_str());
        }
    }
    throw Error("no folder for the files of this run can be made")
        .given(fmt::format("{}", fmt::join(bases, ", ")))
        .allowed("one that this user may write, and in which others cannot rename what is not theirs")
        .remedy("TMPDIR=/a/folder/of/yours");
}

Scratch::~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    close(lock_);
}

std::vector<std::pair<std::string, std::string>> Scratch::settings(bool several_nodes) const {
    if (several_nodes) return {{"STRATA_RUN", name_}};
    return {{"OMPI_MCA_orte_tmpdir_base", path_},             // Open MPI 4: session folder
            {"OMPI_MCA_btl_vader_backing_directory", path_},  // Open MPI 4: segments between processes
            {"PRTE_MCA_prte_tmpdir_base", path_},             // Open MPI 5
            {"OMPI_MCA_btl_sm_backing_directory", path_},
            {"PMIX_SERVER_TMPDIR", path_},
            {"STRATA_RUN", name_}};
}

void remove_stray_segments(double since, const std::string& folder) {
    constexpr std::array kPrefixes = {"mpich_shar_tmp", "mpich_shm_", "vader_segment.", "sm_segment.",
                                      "ucx_shm_posix_"};
    for (const std::string& name : entries(folder, "")) {
        if (std::none_of(kPrefixes.begin(), kPrefixes.end(),
                         [&](const char* prefix) { return name.rfind(prefix, 0) == 0; }))
            continue;
        remove_unused(folder + "/" + name, since);
    }
}

std::vector<std::string> sweep_leftovers(const std::vector<std::string>& cgroup_folders,
                                         const std::vector<std::string>& bases) {
    std::vector<std::string> removed;
    std::set<std::string> dead;
    std::vector<std::pair<std::string, int>> folders;
    for (const std::string& base : bases) {
        for (const std::string& name : entries(base, prefix_of_user())) {
            const std::string path = base + "/" + name;
            if (!why_not_private(path).empty()) continue;
            const int lock = lock_folder(path);
            if (lock < 0) continue;
            // Made but not yet locked: its owner, alive, is between the two calls.
            if (owner_lives(name)) {
                close(lock);
                continue;
            }
            dead.insert(run_of(name));
            folders.emplace_back(path, lock);
        }
    }
    for (const auto& [path, lock] : folders) remove_broadcast(path);  // before their job is over
    if (!dead.empty()) {
        if (const int ended = end_marked(dead); ended > 0)
            removed.push_back(fmt::format("{} process(es) of a run whose supervisor was killed", ended));
    }
    for (const auto& [path, lock] : folders) {
        std::error_code ignored;
        fs::remove_all(path, ignored);
        close(lock);
        removed.push_back(path);
    }
    if (!dead.empty()) remove_stray_segments(0);
    for (const std::string& folder : cgroup_folders) {
        for (const std::string& name : entries(folder, prefix_of_user())) {
            if (owner_lives(name)) continue;
            // An empty cgroup is removed at once; one that still holds processes refuses, and stays theirs.
            if (remove_group(folder + "/" + name, 0)) removed.push_back(folder + "/" + name);
        }
    }
    return removed;
}

}  // namespace strata::launch
