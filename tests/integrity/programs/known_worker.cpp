// A worker whose check is known: of its results it checks all, most (four fifths), half, or none. What the
// injector says of it is known, too. A second argument `pair`: two workers, of which each checks what the
// other one computed. Neither begins a round before both have reported: it sleeps in a system call then, as
// one that waits for orders.
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kWords = 1 << 15;

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// Each word goes its own way, so that a fault stays where it was.
std::uint64_t passes(std::uint64_t word) {
    for (int i = 0; i < 40; ++i)
        word = (word ^ word << 7 ^ static_cast<std::uint64_t>(i)) * 0x9ddfea08eb382d69ULL;
    return word;
}

struct Common {
    std::atomic<std::uint64_t> steps[2];
    std::uint64_t words[2][kWords];
};

void meet(Common& common, int side, std::uint64_t step) {
    common.steps[side] = step;
    while (common.steps[1 - side] < step) sched_yield();
}

void work_beside(Common& common, int side, int partner, std::size_t checked) {
    std::uint64_t(&mine)[kWords] = common.words[side];
    const std::uint64_t(&theirs)[kWords] = common.words[1 - side];
    const auto first = [](std::uint64_t round, int of, std::size_t i) {
        return mixed((2 * round + static_cast<std::uint64_t>(of)) * kWords + i);
    };
    for (std::uint64_t round = 0;; ++round) {
        for (std::size_t i = 0; i < kWords; ++i) mine[i] = first(round, side, i);
        for (std::uint64_t& word : mine) word = passes(word);
        meet(common, side, 2 * round + 1);
        const char* said = "right\n";
        for (std::size_t i = 0; i < checked; ++i)
            if (theirs[i] != passes(first(round, 1 - side, i))) said = "\"finding\"\n";
        meet(common, side, 2 * round + 2);
        if (write(1, said, __builtin_strlen(said)) < 0) _exit(1);
        char reported = 1;
        if (send(partner, &reported, 1, 0) != 1 || recv(partner, &reported, 1, 0) != 1) _exit(1);
    }
}

void work(std::size_t checked) {
    static std::vector<std::uint64_t> words(kWords);
    for (std::uint64_t round = 0;; ++round) {
        for (std::size_t i = 0; i < kWords; ++i) words[i] = mixed(round * kWords + i);
        for (std::size_t i = 0; i < kWords; ++i) words[i] = passes(words[i]);
        const char* said = "right\n";
        for (std::size_t i = 0; i < checked; ++i)
            if (words[i] != passes(mixed(round * kWords + i))) said = "\"finding\"\n";
        if (write(1, said, __builtin_strlen(said)) < 0) _exit(1);
    }
}

}  // namespace

int main(int count, char** given) {
    const std::string which = given[1];
    const std::size_t checked = which == "all"    ? kWords
                                : which == "most" ? kWords * 4 / 5
                                : which == "half" ? kWords / 2
                                                  : 0;
    if (count > 2) {
        void* memory =
            mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) return 1;
        for (const int side : {0, 1})
            if (fork() == 0) work_beside(*static_cast<Common*>(memory), side, ends[side], checked);
    } else if (fork() == 0) {
        work(checked);
    }
    while (wait(nullptr) > 0) {
    }
}
