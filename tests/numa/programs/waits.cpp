// SYNTHETIC: an OpenMP program whose time is known from where it runs, for the test of `strata tune`. It
// computes nothing. Each thread reads its share of a table page by page, and for each page waits in
// proportion to the distance (/sys/devices/system/node/nodeN/distance) between the memory of the CPU that it
// is on at that moment and the memory in which the page really lies, asked from move_pages(2). An emulator
// has no NUMA latency; this stands in for it, with the machine's own numbers.
//   waits [--share] [--ms N]
// The table is touched by the first thread, as most programs do. It is dealt over the threads with --share;
// without, only two threads find work, so that more of them have nothing to gain.
#include <omp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kPage = 4096, kPages = 2048, kSlices = 16;

std::vector<std::vector<int>> distances() {
    std::vector<std::vector<int>> table;
    for (int node = 0;; ++node) {
        std::ifstream row("/sys/devices/system/node/node" + std::to_string(node) + "/distance");
        if (!row) return table;
        table.emplace_back();
        for (int distance; row >> distance;) table.back().push_back(distance);
    }
}

int own_node() {
    unsigned cpu = 0, node = 0;
    syscall(SYS_getcpu, &cpu, &node, nullptr);
    return static_cast<int>(node);
}

void wait(double seconds) {
    timespec left{static_cast<time_t>(seconds),
                  static_cast<long>(1e9 * (seconds - static_cast<long>(seconds)))};
    while (nanosleep(&left, &left) != 0) {
    }
}

/// The sum over pages of distance / 10: 1 for each local page.
double cost(char* table, std::size_t begin, std::size_t end, const std::vector<std::vector<int>>& distance) {
    std::vector<void*> pages;
    for (std::size_t p = begin; p < end; ++p) pages.push_back(table + p * kPage);
    std::vector<int> nodes(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, nodes.data(), 0) != 0) std::exit(3);
    const auto& from = distance.at(static_cast<std::size_t>(own_node()));
    double sum = 0;
    for (const int node : nodes) sum += 0.1 * from.at(static_cast<std::size_t>(node));
    return sum;
}

}  // namespace

int main(int count, char** words) {
    bool share = false;
    double ms = 400;  // for one thread with all pages local
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(words[i], "--share") == 0) share = true;
        if (std::strcmp(words[i], "--ms") == 0 && i + 1 < count) ms = std::atof(words[++i]);
    }
    const auto distance = distances();
    auto* table = static_cast<char*>(
        mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (table == MAP_FAILED || distance.empty()) return 2;
    madvise(table, kPages * kPage, MADV_NOHUGEPAGE);
    for (std::size_t p = 0; p < kPages; ++p) table[p * kPage] = 1;
    const double local_s = 1e-3 * ms / static_cast<double>(kPages);
    double longest = 0;
#pragma omp parallel reduction(max : longest)
    {
        double mine = 0;
        const auto t = static_cast<std::size_t>(omp_get_thread_num());
        const auto all = static_cast<std::size_t>(omp_get_num_threads());
        const std::size_t workers = share ? all : std::min<std::size_t>(all, 2);
        // Without --share the last thread works beside the first: the two are as far apart as threads are.
        const std::size_t part = t == 0 ? 0 : share ? t : t == all - 1 ? 1 : workers;
        if (part < workers) {
            const std::size_t begin = kPages * part / workers, end = kPages * (part + 1) / workers;
            for (std::size_t s = 0; s < kSlices; ++s) {
                const std::size_t from = begin + (end - begin) * s / kSlices;
                const std::size_t to = begin + (end - begin) * (s + 1) / kSlices;
                const double seconds = local_s * cost(table, from, to, distance);
                wait(seconds);
                mine += seconds;
            }
        }
        longest = mine;
    }
    // What it asked for: an emulator on a busy machine wakes it later, by times that mean nothing here.
    std::printf("SYNTHETIC waited %.4f s\n", longest);
    return 0;
}
