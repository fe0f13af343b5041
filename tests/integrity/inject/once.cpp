#include "once.hpp"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <vector>

#include "tracee.hpp"

namespace inject {

namespace {

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void sleep_for(double seconds) {
    const timespec time{
        static_cast<time_t>(seconds),
        static_cast<long>(1e9 * (seconds - static_cast<double>(static_cast<time_t>(seconds))))};
    nanosleep(&time, nullptr);
}

void with_children(pid_t pid, std::vector<pid_t>& found) {
    found.push_back(pid);
    std::error_code gone;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
        std::ifstream file(task.path() / "children");
        for (pid_t child = 0; file >> child;) with_children(child, found);
    }
}

struct Page {
    pid_t pid = 0;
    std::uintptr_t address = 0;
    std::string name;
};

Page draw_page(pid_t program, std::mt19937_64& random) {
    std::vector<pid_t> processes;
    with_children(program, processes);
    std::vector<Page> pages;
    for (const pid_t pid : processes)
        for (const Mapping& each : mappings(pid))
            if (each.readable && each.writable)
                for (const std::uintptr_t page : resident_pages(pid, each))
                    pages.push_back({pid, page, each.name});
    if (pages.empty()) fail("process " + std::to_string(program) + " has no memory");
    return pages[std::uniform_int_distribution<std::size_t>(0, pages.size() - 1)(random)];
}

// All threads of a process, stopped.
std::vector<pid_t> stop_threads(pid_t pid) {
    std::vector<pid_t> stopped;
    for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        const pid_t thread = std::stoi(task.path().filename().string());
        if (ptrace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACECLONE) != 0 ||
            ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0)
            continue;
        int status = 0;
        if (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status)) stopped.push_back(thread);
    }
    return stopped;
}

void debug_registers(pid_t thread, std::uintptr_t address) {
    constexpr std::uintptr_t kWrites = 1 | 1U << 16, kAll = 4 | 3U << 20;  // registers 0 and 1, one byte each
    ptrace(PTRACE_POKEUSER, thread, offsetof(user, u_debugreg), address);
    ptrace(PTRACE_POKEUSER, thread, offsetof(user, u_debugreg) + 8, address);
    ptrace(PTRACE_POKEUSER, thread, offsetof(user, u_debugreg) + 56, address ? kWrites | kAll : 0);
}

void let_go(const std::vector<pid_t>& threads) {
    for (const pid_t thread : threads) {
        ptrace(PTRACE_INTERRUPT, thread, 0, 0);
        int status = 0;
        if (waitpid(thread, &status, __WALL) != thread || !WIFSTOPPED(status)) continue;
        debug_registers(thread, 0);
        const bool signal = status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP;
        ptrace(PTRACE_DETACH, thread, 0, signal ? WSTOPSIG(status) : 0);
    }
}

// "read" or "write", whichever comes first; "none" within the time, "ended" where the process ended
// meanwhile.
const char* first_access(std::vector<pid_t>& threads, double watch) {
    const double end = now() + watch;
    while (now() < end && !threads.empty()) {
        int status = 0;
        const pid_t thread = waitpid(-1, &status, __WALL | WNOHANG);
        if (thread <= 0) {
            sleep_for(0.001);
            continue;
        }
        if (!WIFSTOPPED(status)) {
            std::erase(threads, thread);
            continue;
        }
        int signal = 0;
        if (status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP) {
            const long hit = ptrace(PTRACE_PEEKUSER, thread, offsetof(user, u_debugreg) + 48, 0);
            if (hit & 3) {
                debug_registers(thread, 0);
                ptrace(PTRACE_CONT, thread, 0, 0);
                return hit & 1 ? "write" : "read";
            }
        } else if (status >> 16 == 0) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, thread, 0, signal);
    }
    return threads.empty() ? "ended" : "none";
}

}  // namespace

int once(pid_t program, double after, double watch, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    sleep_for(after);
    const Page page = draw_page(program, random);
    std::vector<pid_t> threads = stop_threads(page.pid);
    const std::uintptr_t address =
        page.address + std::uniform_int_distribution<std::uintptr_t>(0, 4095)(random);
    const unsigned bit = std::uniform_int_distribution<unsigned>(0, 7)(random);
    std::uint8_t byte = 0;
    read_memory(page.pid, address, &byte, 1);
    byte ^= static_cast<std::uint8_t>(1U << bit);
    write_memory(page.pid, address, &byte, 1);
    timespec wall{};
    clock_gettime(CLOCK_REALTIME, &wall);
    std::printf(R"({"event":"flipped","pid":%d,"name":"%s","address":"0x%llx","bit":%u,"time":%lld.%09ld})"
                "\n",
                page.pid, page.name.c_str(), static_cast<unsigned long long>(address), bit,
                static_cast<long long>(wall.tv_sec), wall.tv_nsec);
    std::fflush(stdout);
    for (const pid_t thread : threads) {
        debug_registers(thread, address);
        ptrace(PTRACE_CONT, thread, 0, 0);
    }
    const char* access = first_access(threads, watch);
    std::printf(R"({"event":"accessed","first":"%s"})"
                "\n",
                access);
    std::fflush(stdout);
    let_go(threads);
    return 0;
}

}  // namespace inject
