// Starts a program under callgrind.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <sstream>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/run/profile/cache_geometry.hpp"
#include "core/run/profile/simulated.hpp"

namespace strata::graph {

namespace {

std::string find_valgrind() {
    const char* path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string file = folder + "/valgrind";
        if (access(file.c_str(), X_OK) == 0) return file;
    }
    throw Error("the simulated mode needs valgrind, and there is none on PATH", kNotFound)
        .given("--counters simulated")
        .remedy(
            "Debian, Ubuntu: sudo apt-get install valgrind; Fedora: sudo dnf install valgrind; Spack: spack "
            "install valgrind");
}

std::string find_program(bool simulable) {
    char own[PATH_MAX] = "";
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        throw system_error("this program's own file cannot be found", errno);
    const std::string other = std::string(own) + "-simulated";
    if (access(other.c_str(), X_OK) == 0) return other;
    if (simulable) return own;
    throw Error("this program has instructions that valgrind does not know (AVX-512, SVE)", kFailure)
        .given(own)
        .allowed(other + ", the same for a processor without them")
        .remedy(
            "./strata, set up with valgrind there, builds it; or STRATA_PRESET=portable ./strata run ...");
}

/// The core on which this process runs, by its number in the machine's description.
int own_core(const machine::Machine& machine) {
    const int cpu = sched_getcpu();
    for (const machine::Core& core : machine.cores)
        if (std::find(core.pus.begin(), core.pus.end(), cpu) != core.pus.end()) return core.index;
    return 0;
}

}  // namespace

void check_simulation(bool simulable) {
    static_cast<void>(find_valgrind());
    static_cast<void>(find_program(simulable));
}

void start_simulation(bool simulable, const std::vector<std::string>& arguments) {
    const std::string valgrind = find_valgrind(), program = find_program(simulable);
    const machine::Machine machine = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const SimulatedCaches caches = simulated_caches(machine, own_core(machine));
    // Callgrind inherits the descriptors and opens its output anew by name whenever it writes.
    const int output = memfd_create("callgrind", 0), log = memfd_create("valgrind", 0);
    if (output < 0 || log < 0) throw system_error("memory for callgrind's output cannot be had", errno);
    std::vector<std::string> words = {valgrind, "--tool=callgrind", "-q",
                                      "--vgdb=no",  // it would leave pipes behind in /tmp
                                      "--fair-sched=yes", "--instr-atstart=no", "--cache-sim=yes",
                                      "--combine-dumps=yes", "--compress-strings=no", "--compress-pos=no",
                                      fmt::format("--callgrind-out-file=/proc/self/fd/{}", output),
                                      // Valgrind warns where the caches differ.
                                      fmt::format("--log-file=/proc/self/fd/{}", log)};
    for (std::string& option : caches.options()) words.push_back(std::move(option));
    words.push_back(program);
    words.insert(words.end(), arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
    const auto environment = launch::apply_settings(
        {{kSimulatedVariable, fmt::format("{} {}", output, fmt::join(caches.changed, "; "))}},
        launch::own_environment());
    throw system_error("valgrind cannot be started", launch::become(valgrind, words, environment))
        .given(valgrind);
}

}  // namespace strata::graph
