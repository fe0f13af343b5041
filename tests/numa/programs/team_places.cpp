// A program that starts its own team and says where its members and the pages of an array of the arena are:
// member 0 prints one JSON object,
//   {"members": [{"rank": 0, "cpu": 0, "allowed": [0]}, ...], "pages": "0123...", "huge": 0}
// "pages" is a digit for each page of the array: the memory that move_pages(2) says it lies in, "-" for none.
// "huge" counts the bytes of it that this process maps as huge pages.
//
//   team_places PLACING MIB TOUCH [THEN...]
//     PLACING  first, interleave[:LIST], bound:M, blocked (by the members' own memories) or blocked:LIST
//     TOUCH    owners (each member its part), none, or the rank of one that touches all
//     THEN     collapse: each member lays its part on huge pages;   again:PLACING: another array like it
//
//   team_places crew FROM TO N: threads of the members' regions before and after cores change hands
#include <fmt/format.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/machine/limits.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::team;

namespace {

constexpr std::size_t kPage = 4096;

struct Where {
    int cpu = -1;
    char allowed[60] = {};
};

/// Like a list of CPUs, but in its own order.
std::vector<int> numbers(const std::string& text) {
    std::istringstream words(text);
    std::vector<int> found;
    for (std::string word; std::getline(words, word, ',');) found.push_back(std::stoi(word));
    return found;
}

Placing parse(const std::string& text, const Team& team) {
    const auto colon = text.find(':');
    const std::string how = text.substr(0, colon);
    const std::vector<int> list =
        colon == std::string::npos ? std::vector<int>{} : numbers(text.substr(colon + 1));
    if (how == "interleave") return Placing::interleave(list);
    if (how == "bound") return Placing::bound(list.at(0));
    if (how == "blocked")
        return Placing::blocked(list.empty() ? memories_of_members(team.placement()) : list);
    return Placing::first_touch();
}

/// A digit for each page. Only pages that this process maps have a place for it, so each is read first.
std::string digits(const char* begin, std::size_t bytes, bool touched) {
    std::vector<void*> pages;
    for (std::size_t at = 0; at < bytes; at += kPage) {
        if (touched) [[maybe_unused]]
            const volatile char seen = begin[at];
        pages.push_back(const_cast<char*>(begin + at));
    }
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) return "";
    std::string text;
    for (const int memory : status) text += memory < 0 ? '-' : static_cast<char>('0' + memory);
    return text;
}

/// From smaps: what begins within the array. Policies divide mappings at the borders of blocks.
long huge_bytes(const std::span<char> array) {
    const auto first = reinterpret_cast<std::uintptr_t>(array.data());
    std::ifstream smaps("/proc/self/smaps");
    unsigned long begin = 0, end = 0;
    long all = 0, kib = 0;
    for (std::string line; std::getline(smaps, line);) {
        std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end);
        if (std::sscanf(line.c_str(), "ShmemPmdMapped: %ld kB", &kib) == 1 && begin < first + array.size() &&
            end > first)
            all += kib * 1024;
    }
    return all;
}

int describe(Team& team, const std::vector<std::string>& words) {
    const auto rank = static_cast<std::size_t>(team.rank()), all = static_cast<std::size_t>(team.size());
    const std::size_t bytes = std::stoul(words.at(1)) << 20;
    auto members = team.arena().array<Where>("members", all);
    const auto field = team.arena().array<char>("field", bytes, parse(words.at(0), team));
    const std::size_t begin = bytes * rank / all, end = bytes * (rank + 1) / all;
    const std::string touch = words.at(2);
    if (touch == "owners") std::fill(field.begin() + long(begin), field.begin() + long(end), char(rank + 1));
    if (touch == std::to_string(rank)) std::fill(field.begin(), field.end(), char(1));
    for (std::size_t i = 3; i < words.size(); ++i) {
        if (words[i] == "collapse") collapse_pages(&field[begin], end - begin);
        if (words[i].rfind("again:", 0) == 0)
            static_cast<void>(
                team.arena().allocate(fmt::format("field {}", i), bytes, parse(words[i].substr(6), team)));
    }
    members[rank].cpu = sched_getcpu();
    fmt::format_to_n(members[rank].allowed, sizeof members[rank].allowed - 1, "{}",
                     print_cpulist(machine::own_affinity()));
    team.barrier();
    if (rank != 0) return 0;
    std::string text;
    for (std::size_t r = 0; r < all; ++r)
        text += fmt::format("{}{{\"rank\": {}, \"cpu\": {}, \"allowed\": \"{}\"}}", r == 0 ? "" : ", ", r,
                            members[r].cpu, static_cast<const char*>(members[r].allowed));
    const std::string pages =
        digits(field.data(), bytes, touch != "none");  // reads them: then they are mapped
    fmt::print("{{\"members\": [{}], \"pages\": \"{}\", \"huge\": {}}}\n", text, pages, huge_bytes(field));
    return 0;
}

/// Of each thread of each member's region: where it may run and where it runs. Each touches its part of an
/// array of its member's, whose pages are where the threads are.
std::string regions(Team& team, const std::string& when) {
    constexpr std::size_t most = 16, part = 16 * kPage;
    const auto rank = static_cast<std::size_t>(team.rank()), all = static_cast<std::size_t>(team.size());
    auto threads = team.arena().array<Where>("threads " + when, all * most);
    auto pages = team.arena().array<char>("pages " + when, all * most * part);
    team.crew().parallel_region([&](int thread, int) {
        const std::size_t mine = rank * most + static_cast<std::size_t>(thread);
        threads[mine].cpu = sched_getcpu();
        fmt::format_to_n(threads[mine].allowed, sizeof threads[mine].allowed - 1, "{}",
                         print_cpulist(machine::own_affinity()));
        std::fill_n(pages.begin() + static_cast<long>(mine * part), part, char(1));
    });
    team.barrier();
    std::string text;
    for (std::size_t r = 0; r < all; ++r) {
        text += r == 0 ? "[" : ", [";
        for (std::size_t i = r * most; i < (r + 1) * most && threads[i].allowed[0] != '\0'; ++i)
            text += fmt::format("{}{{\"cpu\": {}, \"allowed\": \"{}\", \"pages\": \"{}\"}}",
                                i == r * most ? "" : ", ", threads[i].cpu,
                                static_cast<const char*>(threads[i].allowed),
                                digits(&pages[i * part], part, true));
        text += "]";
    }
    return "[" + text + "]";
}

/// crew FROM TO N: the members' regions before and after N cores of FROM's go to TO, and when all have their
/// own number again.
int crews(Team& team, const std::vector<std::string>& words) {
    const int from = std::stoi(words.at(1)), to = std::stoi(words.at(2)), n = std::stoi(words.at(3));
    static_cast<void>(team.crew());
    team.barrier();
    const std::vector<int> own = team.crew().counts();
    const std::string before = regions(team, "before");
    team.barrier();
    if (team.rank() == 0) team.crew().move(from, to, n);
    team.barrier();
    const std::string moved = regions(team, "moved");
    team.barrier();
    if (team.rank() == 0) team.crew().set_counts(own);
    team.barrier();
    const std::string after = regions(team, "after");
    if (team.rank() == 0)
        fmt::print("{{\"before\": {}, \"moved\": {}, \"after\": {}}}\n", before, moved, after);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 3) {
        std::fputs("team_places PLACING MIB TOUCH [THEN...]\n", stderr);
        return 2;
    }
    return run(argc, argv,
               [&](Team& team) { return words[0] == "crew" ? crews(team, words) : describe(team, words); });
}
