// A program that says where its threads and its pages are, for the tests of placement: OpenMP threads, as
// many as the runtime was told, and one JSON object on standard output once its memory is touched:
//   {"pid": 71, "rank": 0, "policy": 0, "memory": "7f12a4000000",
//    "threads": [{"cpu": 0, "allowed": [0, 1], "pages": {"0": 128}}, ...], "pages": {"0": 256},
//    "text": {"/bin/pages": {"1": 5}, ...}}
// "pages" counts pages by the system's number of the memory, asked from move_pages(2); of a thread: those of
// its block. "memory" is where the block of all threads begins, as numa_maps names it; "policy" is
// get_mempolicy(2)'s.
// Built with -DUSE_MPI it is an MPI program, each of whose ranks says so.
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <omp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#ifdef USE_MPI
#include <mpi.h>
#endif

namespace {

constexpr std::size_t kPage = 4096;
using Counts = std::map<int, long>;

struct Asked {
    std::size_t mib = 4;
    bool by_threads = false;  // each thread touches its own block; else the first thread touches all
    double hold_s = 0;        // stays alive so long after the report
    int forks = 0;            // children that do the same
    bool text = false;        // also says where its text and its libraries' lie
    int bind_to = -1;         // binds itself to this CPU, whatever it was given
    int memory = -1;          // binds its memory to this one, whatever policy it was given
};

struct Thread {
    int cpu = -1;
    std::string allowed;
    std::size_t begin = 0, end = 0;  // its block, in bytes
};

Counts where(const char* begin, std::size_t bytes) {
    Counts counts;
    std::vector<void*> pages;
    for (std::size_t at = 0; at < bytes; at += kPage) pages.push_back(const_cast<char*>(begin + at));
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) return counts;
    for (const int node : status) ++counts[node];
    return counts;
}

std::string to_json(const Counts& counts) {
    std::string text;
    for (const auto& [node, count] : counts)
        text += (text.empty() ? "\"" : ", \"") + std::to_string(node) + "\": " + std::to_string(count);
    return "{" + text + "}";
}

std::string allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ", ") + std::to_string(cpu);
    return "[" + text + "]";
}

void bind_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/// Where the executable mappings of files lie. Each page is read first: only then it has a place here.
std::string text_pages() {
    std::map<std::string, Counts> files;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long begin = 0, end = 0;
        char rights[8] = "", path[512] = "";
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %*s %*s %*s %511s", &begin, &end, rights, path) != 4 ||
            rights[2] != 'x' || path[0] != '/')
            continue;
        for (unsigned long at = begin; at < end; at += kPage)
            [[maybe_unused]] const volatile char seen = *reinterpret_cast<const char*>(at);
        for (const auto& [node, count] : where(reinterpret_cast<const char*>(begin), end - begin))
            files[path][node] += count;
    }
    std::string text;
    for (const auto& [path, counts] : files)
        text += (text.empty() ? "\"" : ", \"") + path + "\": " + to_json(counts);
    return "{" + text + "}";
}

std::string report(const Asked& asked, const char* memory, std::size_t bytes,
                   const std::vector<Thread>& threads) {
    int policy = -1;
    syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0);
    const char* rank = std::getenv("STRATA_RANK");
    std::ostringstream text;
    text << "{\"pid\": " << getpid() << ", \"rank\": " << (rank == nullptr ? "null" : rank)
         << ", \"policy\": " << policy << ", \"memory\": \"" << std::hex
         << reinterpret_cast<std::uintptr_t>(memory) << std::dec << "\", \"threads\": [";
    for (std::size_t t = 0; t < threads.size(); ++t)
        text << (t == 0 ? "" : ", ") << "{\"cpu\": " << threads[t].cpu
             << ", \"allowed\": " << threads[t].allowed << ", \"pages\": "
             << to_json(where(memory + threads[t].begin, threads[t].end - threads[t].begin)) << "}";
    text << "], \"pages\": " << to_json(where(memory, bytes));
    if (asked.text) text << ", \"text\": " << text_pages();
    text << "}\n";
    return text.str();
}

void work(const Asked& asked) {
    if (asked.bind_to >= 0) bind_to(asked.bind_to);
    const std::size_t pages = asked.mib * ((1UL << 20) / kPage), bytes = pages * kPage;
    // A mapping of its own, also in the eyes of numa_maps: the flags keep it from merging with a neighbour.
    auto* memory = static_cast<char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED) std::exit(3);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    if (asked.memory >= 0) {
        const unsigned long mask = 1UL << static_cast<unsigned>(asked.memory);
        if (syscall(SYS_mbind, memory, bytes, MPOL_BIND, &mask, 8 * sizeof mask, 0UL) != 0) std::exit(5);
    }
    const auto touch = [&](std::size_t begin, std::size_t end) {
        for (std::size_t at = begin; at < end; at += kPage) memory[at] = 1;
    };
    if (!asked.by_threads) touch(0, bytes);
    std::vector<Thread> threads;
#pragma omp parallel
    {
#pragma omp single
        threads.resize(static_cast<std::size_t>(omp_get_num_threads()));
        const auto t = static_cast<std::size_t>(omp_get_thread_num()), all = threads.size();
        const std::size_t begin = pages * t / all * kPage, end = pages * (t + 1) / all * kPage;
        if (asked.by_threads) touch(begin, end);
        threads[t] = {sched_getcpu(), allowed_cpus(), begin, end};
    }
    const std::string text = report(asked, memory, bytes, threads);
    // One write, so that lines of several processes stay whole.
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) std::exit(4);
    if (asked.hold_s > 0) usleep(static_cast<useconds_t>(asked.hold_s * 1e6));
}

}  // namespace

int main(int argc, char** argv) {
#ifdef USE_MPI
    MPI_Init(&argc, &argv);
#endif
    Asked asked;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : "0"; };
        if (word == "--mib")
            asked.mib = std::strtoul(value(), nullptr, 10);
        else if (word == "--touch")
            asked.by_threads = std::strcmp(value(), "threads") == 0;
        else if (word == "--hold")
            asked.hold_s = std::atof(value());
        else if (word == "--forks")
            asked.forks = std::atoi(value());
        else if (word == "--bind")
            asked.bind_to = std::atoi(value());
        else if (word == "--memory")
            asked.memory = std::atoi(value());
        else if (word == "--text")
            asked.text = true;
        else {
            std::fprintf(stderr, "pages: unknown option %s\n", word.c_str());
            return 2;
        }
    }
    for (int i = 0; i < asked.forks; ++i)
        if (fork() == 0) {
            work(asked);
            std::_Exit(0);
        }
    work(asked);
    int status = 0, failed = 0;
    while (wait(&status) > 0) failed |= status;
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return failed != 0;
}
