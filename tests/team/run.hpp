// The program that starts its own team, run as a user runs it, and what is left of it.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/launch/environment.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::team::testing {

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline int count(const std::string& text, const std::string& part) {
    int n = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
}

struct Done {
    int status = -1;  // as of waitpid
    std::string out, err;
};

/// A run of the program, in an environment in which nothing of a launcher's is set but what is given.
class Run {
  public:
    Run(std::vector<std::string> words, std::vector<launch::Setting> settings,
        const std::string& program = TEST_MEMBER)
        : Run(std::move(words), std::move(settings), std::vector<std::string>{program}) {}
    /// `command`: another program that starts it, with its path first.
    Run(std::vector<std::string> words, std::vector<launch::Setting> settings,
        const std::vector<std::string>& command) {
        words.insert(words.begin(), command.begin(), command.end());
        // By this word its processes are found, whatever they do.
        token_ = fmt::format("token-{}-{}", getpid(), std::random_device{}());
        words.push_back(token_);
        for (const char* name :
             {"STRATA_LAYOUT", "STRATA_SIZE", "STRATA_RANK", "STRATA_BIND", "STRATA_STRIDE"})
            settings.insert(settings.begin(), {name, "", true});
        const auto environment = launch::apply_settings(settings, launch::own_environment());
        if (pipe2(out_, O_CLOEXEC) != 0 || pipe2(err_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        pid_ = fork();
        if (pid_ == 0) {
            dup2(out_[1], STDOUT_FILENO);
            dup2(err_[1], STDERR_FILENO);
            std::vector<char*> argv, envp;
            for (auto& word : words) argv.push_back(word.data());
            argv.push_back(nullptr);
            for (const auto& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
            envp.push_back(nullptr);
            execve(argv[0], argv.data(), envp.data());
            _exit(127);
        }
        close(out_[1]);
        close(err_[1]);
    }
    ~Run() {
        for (const int pid : alive()) kill(pid, SIGKILL);
        close(out_[0]);
        close(err_[0]);
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Done wait() {
        read_until([](const Done&) { return false; });
        waitpid(pid_, &done_.status, 0);
        return done_;
    }
    /// Reads what is written until that says enough, or until its end.
    template <class Enough>
    bool read_until(Enough enough) {
        pollfd ends[2] = {{out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}};
        while (ends[0].fd >= 0 || ends[1].fd >= 0) {
            if (enough(done_)) return true;
            poll(ends, 2, -1);
            for (int i = 0; i < 2; ++i) {
                if (ends[i].fd < 0 || ends[i].revents == 0) continue;
                char piece[4096];
                const ssize_t n = read(ends[i].fd, piece, sizeof piece);
                if (n <= 0)
                    ends[i].fd = -1;
                else
                    (i == 0 ? done_.out : done_.err).append(piece, static_cast<size_t>(n));
            }
        }
        return enough(done_);
    }
    [[nodiscard]] int pid() const { return pid_; }
    /// What has been read.
    [[nodiscard]] const Done& so_far() const { return done_; }
    /// Processes of this run, those that are dead but not collected left out.
    [[nodiscard]] std::vector<int> alive() const {
        std::vector<int> found;
        for (const int pid : machine::all_processes()) {
            const auto words = machine::read_file(fmt::format("/proc/{}/cmdline", pid));
            if (words && has(*words, token_) && pid != getpid()) found.push_back(pid);
        }
        return found;
    }
    /// Whether all have gone; asked until then or for half a minute.
    [[nodiscard]] bool nobody_left() const {
        for (int i = 0; i < 3000; ++i) {
            if (alive().empty()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }

  private:
    std::string token_;
    int out_[2], err_[2];
    pid_t pid_ = -1;
    Done done_;
};

inline std::vector<launch::Setting> layout(const std::string& text, bool bound = false) {
    std::vector<launch::Setting> settings = {{"STRATA_LAYOUT", text}};
    if (!bound) settings.push_back({"STRATA_BIND", "none"});
    return settings;
}

/// Shared memory that is there now: the names in /dev/shm, and the arenas of teams that a process has open or
/// mapped, by their inodes.
inline std::set<std::string> shared_memory() {
    namespace fs = std::filesystem;
    std::set<std::string> found;
    std::error_code error;
    for (const auto& file : fs::directory_iterator("/dev/shm", error)) found.insert(file.path().filename());
    constexpr const char* arena = "/memfd:strata-arena";
    for (const auto& process : fs::directory_iterator("/proc", error)) {
        // A process that ends meanwhile has no more of it.
        for (fs::directory_iterator open(process.path() / "fd", error), end; !error && open != end;
             open.increment(error)) {
            struct stat status {};
            std::error_code gone;
            if (has(fs::read_symlink(open->path(), gone).string(), arena) &&
                stat(open->path().c_str(), &status) == 0)
                found.insert(fmt::format("{} {}", arena, status.st_ino));
        }
        std::ifstream maps(process.path() / "maps");  // "begin-end rights offset device inode path"
        for (std::string line; std::getline(maps, line);)
            if (has(line, arena)) {
                std::istringstream words(line);
                std::string word;
                for (int i = 0; i < 5; ++i) words >> word;
                found.insert(fmt::format("{} {}", arena, word));
            }
    }
    return found;
}

/// Whether all of it was there `before`; waits for who is about to end, half a minute at most.
inline bool no_shared_memory_left(const std::set<std::string>& before) {
    for (int i = 0; i < 300; ++i) {
        const std::set<std::string> now = shared_memory();
        if (std::includes(before.begin(), before.end(), now.begin(), now.end())) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
}

}  // namespace strata::team::testing
