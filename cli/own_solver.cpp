#include "cli/own_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "cli/programs.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"
#include "core/base/units.hpp"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string short_sum(const std::string& text) {
    return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(text))));
}

/// The first of these that PATH has, or that lies beside this program, as after `pip install cmake`.
std::optional<std::string> find_tool(std::initializer_list<const char*> names) {
    for (const char* name : names) {
        std::istringstream folders(variable("PATH") + ":" + own_folder());
        for (std::string folder; std::getline(folders, folder, ':');)
            if (const std::string file = folder + "/" + name;
                access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file))  // else a closed folder throws
                return file;
    }
    return std::nullopt;
}

/// The prefix of this front's tree, by the name that stays when another tree takes its place: set-up has left
/// that in the tree.
fs::path own_prefix() {
    const fs::path prefix = fs::path(own_folder()).parent_path();
    const std::string said = contents(prefix / "share" / "strata" / "prefix");
    const fs::path named = said.substr(0, said.find('\n'));
    std::error_code failed;
    return fs::equivalent(named, prefix, failed) ? named : prefix;
}

/// Where the package may be below a prefix.
std::optional<std::string> package_in(const fs::path& prefix) {
    for (const char* library : {"lib", "lib64"})
        if (const fs::path folder = prefix / library / "cmake" / "strata";
            fs::exists(folder / "strataConfig.cmake"))
            return folder.string();
    return std::nullopt;
}

/// What a build was made for: with anything else of this it is made from nothing. Strata's tree in full,
/// which a link names: objects that were compiled with the headers of another must not be linked with its
/// libraries, whatever the times of the files are.
std::string identity_of(const std::string& folder, const std::string& package) {
    const fs::path config = fs::canonical(fs::path(package) / "strataConfig.cmake");
    struct stat about {};
    (void)stat(config.c_str(), &about);
    return fmt::format("solver {}\nstrata {} {}\ncompiler {} {} {}\n", folder, config.string(),
                       about.st_mtim.tv_sec, variable("CXX"), variable("CXXFLAGS"),
                       variable("CMAKE_BUILD_TYPE"));
}

/// Makes the folder, if it can be written, and if it and the one above it are this user's: in a folder such
/// as /tmp another user may have made either first, and would have written the program that is run.
bool can_build_in(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    return !failed && access(folder.c_str(), W_OK) == 0 &&
           why_not_private(folder.parent_path(), true).empty() && why_not_private(folder, true).empty();
}

fs::path build_folder(const std::string& folder, const std::string& name, const std::string& package) {
    const std::string sum = short_sum(package);  // unlike machines have unlike builds of Strata, side by side
    const fs::path beside = fs::path(folder) / "build" / sum;
    if (can_build_in(beside)) return beside;
    const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
    const fs::path base = !cache.empty() && cache[0] == '/' ? fs::path(cache) : fs::path(home) / ".cache";
    const fs::path away = base / "strata" / "solvers" / (name + "-" + short_sum(folder + "\n" + package));
    if (can_build_in(away)) return away;
    throw Error("the solver cannot be built: no folder of this user's for it can be written", kFailure)
        .given(beside.string() + ", " + away.string())
        .remedy("XDG_CACHE_HOME=FOLDER names another one");
}

/// One process builds at a time; what it starts holds the lock as well. Nobody else can open it: whoever may
/// read a file can hold its lock. A group may write in the folder, so what another user has put there, a link
/// as well, is refused.
class Lock {
  public:
    explicit Lock(const fs::path& folder)
        : file_(open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600)) {
        const std::string path = (folder / "lock").string();
        struct stat about {};
        if (file_ < 0 || fstat(file_, &about) != 0)
            throw system_error("the solver cannot be built", errno).at(path);
        if (!S_ISREG(about.st_mode) || about.st_uid != geteuid() || about.st_nlink != 1) {
            close(file_);
            throw Error("the solver cannot be built: its lock may be another user's", kFailure)
                .at(path)
                .given(fmt::format("a file of user {}, with {} names", about.st_uid, about.st_nlink))
                .allowed("a plain file of this user's, with one name")
                .remedy("look at it, and move it away");
        }
        if (fchmod(file_, 0600) != 0) throw system_error("the solver cannot be built", errno).at(path);
        if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
        std::fputs("strata: another process builds this solver, waiting\n", stderr);
        while (flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
    }
    ~Lock() { close(file_); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

  private:
    int file_;
};

/// What is said while a solver is built: that it is, once it takes a moment, and how long it took.
class Progress {
  public:
    explicit Progress(std::string name) : name_(std::move(name)) {}
    void say(const std::string& why) {
        if (said_) return;
        fmt::print(stderr, "strata: building {}{}\n", name_, why);
        said_ = true;
    }
    void done() const {
        const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        if (said_) fmt::print(stderr, "strata: {} was built in {}\n", name_, print_duration(seconds));
    }

  private:
    std::string name_;
    Clock::time_point begin_ = Clock::now();
    bool said_ = false;
};

/// Runs a command to its end, with all that it says added to the log. Whether it succeeded.
bool succeeds(Words command, const fs::path& log, Progress& progress) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int refused = posix_spawn(&child, argv.front(), &files, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (refused != 0) throw system_error("the program cannot be started", refused).given(command.front());
    // A build that has nothing to do is over within this time, and nothing is said of it.
    const auto silent_until = Clock::now() + std::chrono::milliseconds(300);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        const bool silent = Clock::now() < silent_until;
        if (!silent) progress.say(": its sources changed");
        std::this_thread::sleep_for(std::chrono::milliseconds(silent ? 2 : 20));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// What the tools say of the sources, without the build's own talk: its steps, and the command after FAILED.
std::string complaints(const fs::path& log) {
    std::ifstream in(log);
    std::string text;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("FAILED: ")) {
            std::getline(in, line);
            continue;
        }
        bool talk = false;
        for (const char* begin : {"[", "-- ", "ninja: ", "make", "gmake", "loading initial cache file"})
            talk = talk || line.starts_with(begin);
        if (!talk) text += line + '\n';
    }
    return text;
}

void configure(const std::string& folder, const fs::path& build, const std::string& cmake,
               const std::string& package, Progress& progress) {
    for (const auto& entry : fs::directory_iterator(build))
        if (entry.path().filename() != "lock") fs::remove_all(entry.path());
    progress.say(", for the first time or for another Strata or compiler; about 5 s");
    Words command = {cmake,          "-C",      package + "/strataStart.cmake", "-S", folder, "-B",
                     build.string(), "-Wno-dev"};
    if (const auto ninja = find_tool({"ninja", "ninja-build"}))
        command.insert(command.end(), {"-G", "Ninja", "-DCMAKE_MAKE_PROGRAM=" + *ninja});
    const fs::path log = build / "log";
    if (succeeds(command, log, progress)) return;
    std::fputs(complaints(log).c_str(), stderr);
    throw Error("CMake does not understand the solver's folder", kFailure)
        .at(folder + "/CMakeLists.txt")
        .given("what is printed above")
        .remedy("all that CMake says is in " + log.string());
}

}  // namespace

std::string cmake_package() {
    need_part("solver");
    if (const auto found = package_in(own_prefix())) return *found;
    std::error_code failed;
    for (const auto& python : fs::directory_iterator(own_prefix() / "lib", failed))
        for (const char* packages : {"site-packages", "dist-packages"})
            if (const auto found = package_in(python.path() / packages / "strata" / "prefix")) return *found;
    throw Error("the libraries and headers for solvers of one's own are not installed", kFailure)
        .given("nothing of lib/cmake/strata beside " + own_folder())
        .remedy("./strata setup --all in the checkout, or pip install . into a virtual environment");
}

std::string cmake_prefix() {
    return fs::path(cmake_package()).parent_path().parent_path().parent_path().string();
}

bool is_own_solver(const std::string& folder) {
    return contents(fs::path(folder) / "CMakeLists.txt").find("find_package(strata") != std::string::npos;
}

std::string built_solver(const std::string& where, const std::string& name) {
    const std::string folder = fs::canonical(where).string();
    const std::string package = cmake_package();
    const auto cmake = find_tool({"cmake", "cmake3"});
    if (!cmake)
        throw Error("a solver in C++ is built with CMake, which was not found", kFailure)
            .given(folder)
            .remedy("sudo apt-get install cmake ninja-build g++; or pip install cmake ninja");
    const fs::path build = build_folder(folder, name, package), log = build / "log";
    const Lock lock(build);
    Progress progress(name);
    const std::string identity = identity_of(folder, package);
    if (contents(build / "made-for") != identity) {
        configure(folder, build, *cmake, package, progress);
        std::ofstream(build / "made-for") << identity;
    }
    fs::remove(log);
    const bool built = succeeds({*cmake, "--build", build.string()}, log, progress);
    const std::string said = complaints(log);
    if (!built || said.find("warning: ") != std::string::npos) std::fputs(said.c_str(), stderr);
    if (!built)
        throw Error("the solver does not compile", kFailure)
            .at(folder)
            .given("what is printed above")
            .remedy("with the compiler's command line: " + log.string());
    progress.done();
    const std::string program = (build / name).string();
    if (access(program.c_str(), X_OK) != 0)
        throw Error("the solver's folder builds no program of its name", kFailure)
            .at(folder + "/CMakeLists.txt")
            .given("no " + program)
            .allowed("strata_solver(" + name + " SOURCES...)");
    return program;
}

}  // namespace strata::cli
