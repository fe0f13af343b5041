// A program that says where its threads and pages are, for the tests of placement. One JSON object on
// standard output when its pages are touched, a second one ("final") when it ends:
//   {"threads": [{"cpu": 0, "allowed": "0-1", "pages": {"0": 128}}, ...], "pages": {"0": 256},
//    "policy": 0, "text": {"1": 12}, "pid": 71}
// Pages are counted with move_pages(2), each page of the memory that was touched. Linked statically, so that
// it runs where there is nothing else.
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096;
using Counts = std::map<int, long>;

struct Asked {
    std::size_t mib = 4;
    int threads = 1;
    bool by_threads = false;  // each thread touches its own block; else the first thread touches all
    double hold_s = 0;        // stays alive so long after the report
    int forks = 0;            // children, each a copy of this program's work
    bool text = false;        // also says where its own text lies
    int bind_to = -1;         // binds itself to this CPU, against whatever it was given
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

std::string text_of(const Counts& counts) {
    std::string text;
    for (const auto& [node, count] : counts)
        text += (text.empty() ? "\"" : ", \"") + std::to_string(node) + "\": " + std::to_string(count);
    return "{" + text + "}";
}

std::string allowed() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::string text;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) text += (text.empty() ? "" : ",") + std::to_string(cpu);
    return text;
}

Counts own_text() {
    Counts counts;
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[512], path[256] = "";
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (maps == nullptr || n < 0) return counts;
    path[n] = '\0';
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        unsigned long begin = 0, end = 0;
        char rights[8] = "";
        if (std::sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
        if (rights[2] != 'x' || std::strstr(line, path) == nullptr) continue;
        for (unsigned long at = begin; at < end; at += kPage)
            [[maybe_unused]] const volatile char seen = *reinterpret_cast<const char*>(at);
        for (const auto& [node, count] : where(reinterpret_cast<const char*>(begin), end - begin))
            counts[node] += count;
    }
    std::fclose(maps);
    return counts;
}

void work(const Asked& asked) {
    if (asked.bind_to >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(asked.bind_to, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    const std::size_t bytes = std::max<std::size_t>(asked.mib << 20, kPage),
                      threads = static_cast<std::size_t>(asked.threads);
    auto* memory = static_cast<char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED) std::exit(3);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    const std::size_t block = bytes / threads / kPage * kPage;
    std::vector<int> cpus(threads, -1);
    std::vector<std::string> sets(threads);
    const auto touch = [&](std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; at += kPage) memory[at] = 1;
    };
    if (!asked.by_threads) touch(0, bytes);
    // Threads take their CPUs as OpenMP's would: one for each place of STRATA_CPUS that this process was
    // given.
    std::vector<std::thread> crew;
    const std::string places = allowed();
    std::vector<int> list;
    for (std::size_t at = 0; at < places.size();
         at = places.find(',', at) == std::string::npos ? places.size() : places.find(',', at) + 1)
        list.push_back(std::atoi(places.c_str() + at));
    for (std::size_t t = 0; t < threads; ++t)
        crew.emplace_back([&, t] {
            if (list.size() == threads) {
                cpu_set_t set;
                CPU_ZERO(&set);
                CPU_SET(list[t], &set);
                sched_setaffinity(0, sizeof set, &set);
            }
            if (asked.by_threads) touch(t * block, t + 1 == threads ? bytes : (t + 1) * block);
            cpus[t] = sched_getcpu();
            sets[t] = allowed();
        });
    for (std::thread& thread : crew) thread.join();
    int policy = -1;
    syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0);
    std::string report = "{\"pid\": " + std::to_string(getpid()) + ", \"threads\": [";
    for (std::size_t t = 0; t < threads; ++t)
        report += std::string(t == 0 ? "" : ", ") + "{\"cpu\": " + std::to_string(cpus[t]) +
                  ", \"allowed\": \"" + sets[t] + "\", \"pages\": " +
                  text_of(where(memory + t * block, t + 1 == threads ? bytes - t * block : block)) + "}";
    const char* rank = std::getenv("STRATA_RANK");
    report += "], \"pages\": " + text_of(where(memory, bytes)) + ", \"policy\": " + std::to_string(policy) +
              ", \"rank\": " + (rank == nullptr ? "null" : rank);
    if (asked.text) report += ", \"text\": " + text_of(own_text());
    report += "}\n";
    // One write, so that lines of several processes stay whole.
    if (write(STDOUT_FILENO, report.data(), report.size()) < 0) std::exit(4);
    if (asked.hold_s > 0) usleep(static_cast<useconds_t>(asked.hold_s * 1e6));
}

}  // namespace

int main(int argc, char** argv) {
    Asked asked;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : "0"; };
        if (word == "--mib")
            asked.mib = std::strtoul(value(), nullptr, 10);
        else if (word == "--threads")
            asked.threads = std::max(1, std::atoi(value()));
        else if (word == "--touch")
            asked.by_threads = std::strcmp(value(), "threads") == 0;
        else if (word == "--hold")
            asked.hold_s = std::atof(value());
        else if (word == "--forks")
            asked.forks = std::atoi(value());
        else if (word == "--bind")
            asked.bind_to = std::atoi(value());
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
    return failed != 0;
}
