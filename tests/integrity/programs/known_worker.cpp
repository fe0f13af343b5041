// A worker whose check is known: of its results it checks all, half, or none. What the injector says of it is
// known, too.
#include <sys/wait.h>
#include <unistd.h>

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

int main(int, char** given) {
    const std::string which = given[1];
    const pid_t worker = fork();
    if (worker == 0) work(which == "all" ? kWords : which == "half" ? kWords / 2 : 0);
    wait(nullptr);
}
