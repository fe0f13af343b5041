// Computes with some threads, each for some seconds of a processor: busy SECONDS THREADS
// [same|late|leave|deaf|exit:N|die:N]...
//   same    all threads held by hand on the first PU that the process may use
//   late    the threads start only after half as many seconds, for the other half
//   leave   first leaves behind a process that has escaped by double fork and setsid and computes for ever
//   deaf    ignores SIGINT and SIGTERM
//   exit:N  ends with status N;   die:N  ends by signal N
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

static double own_cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// On a busy machine it takes longer, and has computed as much.
static void compute(double seconds) {
    volatile double x = 1;
    while (own_cpu_seconds() < seconds)
        for (int i = 0; i < 10000; ++i) x = x * 1.0000001 + 1e-9;
}

static void hold_on_first() {
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &set)) continue;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        break;
    }
    sched_setaffinity(0, sizeof set, &set);
}

static void leave_one_behind() {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGHUP, SIG_IGN);
    for (volatile long i = 0;; i = i + 1) {
    }
}

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
    const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
    bool same = false, late = false;
    int status = 0, signal = 0;
    for (int i = 3; i < argc; ++i) {
        const char* word = argv[i];
        if (std::strcmp(word, "same") == 0) same = true;
        if (std::strcmp(word, "late") == 0) late = true;
        if (std::strcmp(word, "leave") == 0) leave_one_behind();
        if (std::strcmp(word, "deaf") == 0) std::signal(SIGINT, SIG_IGN), std::signal(SIGTERM, SIG_IGN);
        if (std::strncmp(word, "exit:", 5) == 0) status = std::atoi(word + 5);
        if (std::strncmp(word, "die:", 4) == 0) signal = std::atoi(word + 4);
    }
    if (late) std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 2));
    const double share = late ? seconds / 2 : seconds;
    std::vector<std::thread> team;
    for (int i = 0; i < threads; ++i)
        team.emplace_back([&] {
            if (same) hold_on_first();
            compute(share);
        });
    for (std::thread& t : team) t.join();
    if (signal != 0) std::raise(signal);
    return status;
}
