#include "core/launch/placement_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

constexpr const char* kForm =
    "process N [thread N] pu|core|cache|numa|package LIST [memory LIST | memory interleave LIST]";

/// A number, a range or all.
struct Span {
    bool all = false;
    std::vector<int> list;
};

struct Line {
    int number = 0;
    Span processes, threads{true, {}};
    std::string kind;
    Numbers objects;
    MemoryWish memory;
};

class Reader {
  public:
    Reader(const machine::Machine& machine, const Wish& wish) : machine_(machine), wish_(wish) {}
    Placement read();

  private:
    [[nodiscard]] Error error(int line, const std::string& message, const std::string& key) const {
        return Error(message).at(wish_.file, line, key);
    }
    void read_lines();
    Line parse(int number, std::istringstream& words) const;
    Span span(int line, const std::string& key, std::istringstream& words) const;
    Numbers numbers(int line, const std::string& key, std::istringstream& words) const;
    void find_layout();
    void check(const Line& line, const Span& span, const char* key, int count) const;
    void apply(const Line& line);
    std::vector<std::vector<int>> sets(const Line& line) const;
    std::vector<int> pus_of(const Line& line, int number) const;
    std::vector<int> pus_of_core(const Line& line, int number) const;
    std::vector<int> set_of(const Line& line, int number) const;
    [[nodiscard]] Error absent(const Line& line, int number, const std::string& allowed) const;

    const machine::Machine& machine_;
    const Wish& wish_;
    std::vector<Line> lines_;
    Placement placement_;
};

Span Reader::span(int line, const std::string& key, std::istringstream& words) const {
    std::string word;
    words >> word;
    if (word == "*") return {true, {}};
    const auto list = parse_numbers(word);
    if (!list || list->marked)
        throw error(line, fmt::format("not a number of a {}", key), key)
            .given(word.empty() ? "nothing" : word)
            .allowed("a number such as 3, a range such as 0-3, or *");
    return {false, list->list};
}

Numbers Reader::numbers(int line, const std::string& key, std::istringstream& words) const {
    std::string word;
    words >> word;
    const auto list = parse_numbers(word);
    const bool may_be_marked = key == "pu" || key == "core" || key == "memory";
    if (!list || (list->marked && !may_be_marked))
        throw error(line, "not a list of numbers", key)
            .given(word.empty() ? "nothing" : word)
            .allowed(
                "numbers and ranges such as 0-3,8 (of PUs and memories the system's numbers, of others "
                "hwloc's; "
                "core os:0-3,8: the system's)");
    return *list;
}

Line Reader::parse(int number, std::istringstream& words) const {
    Line line;
    line.number = number;
    std::string word;
    words >> word;
    if (word != "process")
        throw error(number, "a line of a placement file names a process first", word)
            .given(word)
            .allowed(kForm);
    line.processes = span(number, "process", words);
    words >> word;
    if (word == "thread") {
        line.threads = span(number, "thread", words);
        words >> word;
    }
    for (const char* kind : {"pu", "core", "cache", "numa", "package"})
        if (word == kind && words) line.kind = kind;
    if (line.kind.empty())
        throw error(number, "unknown kind of object", word).given(words ? word : "nothing").allowed(kForm);
    line.objects = numbers(number, line.kind, words);
    if (!(words >> word)) return line;
    if (word != "memory") throw error(number, "unknown word", word).given(word).allowed(kForm);
    line.memory.policy = Policy::bind;
    const auto here = words.tellg();
    if (words >> word && word == "interleave")
        line.memory.policy = Policy::interleave;
    else
        words.clear(), words.seekg(here);
    line.memory.list = numbers(number, "memory", words);
    if (words >> word)
        throw error(number, "unknown word after the memories", word).given(word).allowed(kForm);
    return line;
}

void Reader::read_lines() {
    std::istringstream in;
    try {
        in.str(read_named(wish_.file, "the placement file"));
    } catch (Error& error) {
        throw error.given("--placement " + wish_.file)
            .allowed("a file of lines: " + std::string(kForm))
            .remedy("check the path; docs/launch.md has an example");
    }
    int number = 0;
    for (std::string text; std::getline(in, text);) {
        ++number;
        text = text.substr(0, text.find('#'));
        std::istringstream words(text);
        if (text.find_first_not_of(" \t\r") != std::string::npos) lines_.push_back(parse(number, words));
    }
    if (!lines_.empty()) return;
    throw error(0, "the placement file places nothing", "").allowed(kForm);
}

void Reader::find_layout() {
    placement_.layout = wish_.layout;
    if (!wish_.layout_given) {
        int processes = 1, threads = 1;
        for (const Line& line : lines_) {
            for (const int p : line.processes.list) processes = std::max(processes, p + 1);
            for (const int t : line.threads.list) threads = std::max(threads, t + 1);
            // All threads of a process on a list of objects: one each.
            if (line.threads.all && line.processes.list.size() <= 1)
                threads = std::max(threads, static_cast<int>(line.objects.list.size()));
        }
        placement_.layout.processes = processes;
        placement_.layout.threads = threads;
    }
    const Layout& layout = placement_.layout;
    placement_.threads.assign(static_cast<size_t>(layout.processes),
                              std::vector<std::vector<int>>(static_cast<size_t>(layout.threads)));
}

void Reader::check(const Line& line, const Span& span, const char* key, int count) const {
    for (const int n : span.list)
        if (n >= count)
            throw error(line.number, fmt::format("the layout has no such {}", key), key)
                .given(fmt::format("{} {}", key, n))
                .allowed(fmt::format("0 to {} (layout {})", count - 1, to_text(placement_.layout)))
                .remedy("change the line, or --layout");
}

Error Reader::absent(const Line& line, int number, const std::string& allowed) const {
    return error(line.number, fmt::format("there is no such {}", line.kind == "numa" ? "domain" : line.kind),
                 line.kind)
        .given(fmt::format("{} {}{}", line.kind, line.objects.marked ? "os:" : "", number))
        .allowed(allowed)
        .remedy("strata machine shows what there is");
}

/// Of a core with a number of the system's, which counts the cores of each package.
std::vector<int> Reader::pus_of_core(const Line& line, int number) const {
    std::vector<int> pus, known, of_that_number;
    for (const machine::Core& core : machine_.cores) {
        known.push_back(core.os_index);
        if (core.os_index == number) of_that_number.push_back(core.index), pus = core.pus;
    }
    if (pus.empty()) throw absent(line, number, "os:" + print_cpulist(known));
    if (of_that_number.size() > 1)
        throw error(line.number, "several cores have this number of the system's", "core")
            .given(fmt::format("core os:{}", number))
            .allowed(fmt::format("hwloc's numbers, here core {}", print_cpulist(of_that_number)))
            .remedy("name the core by hwloc's number, or its PU by pu");
    return pus;
}

/// All PUs of an object of the machine.
std::vector<int> Reader::pus_of(const Line& line, int number) const {
    const auto at = [&](const auto& objects) {
        if (static_cast<size_t>(number) < objects.size()) return &objects[static_cast<size_t>(number)];
        throw absent(line, number,
                     objects.empty() ? "none of this machine" : fmt::format("0 to {}", objects.size() - 1));
    };
    std::vector<int> pus;
    if (line.kind == "pu") {
        for (const machine::Core& core : machine_.cores)
            pus.insert(pus.end(), core.pus.begin(), core.pus.end());
        if (std::find(pus.begin(), pus.end(), number) == pus.end())
            throw absent(line, number, print_cpulist(pus));
        return {number};
    }
    if (line.kind == "core") return line.objects.marked ? pus_of_core(line, number) : at(machine_.cores)->pus;
    if (line.kind == "numa") return at(machine_.domains)->pus;
    if (line.kind == "package") return at(machine_.packages)->pus;
    std::vector<machine::Cache> last;
    int level = 0;
    for (const machine::Cache& cache : machine_.caches) level = std::max(level, cache.level);
    for (const machine::Cache& cache : machine_.caches)
        if (cache.level == level && cache.type != "instruction") last.push_back(cache);
    for (const int core : at(last)->cores) {
        const auto& more = machine_.cores[static_cast<size_t>(core)].pus;
        pus.insert(pus.end(), more.begin(), more.end());
    }
    return pus;
}

/// The PUs of an object that this process may use.
std::vector<int> Reader::set_of(const Line& line, int number) const {
    std::vector<int> pus = pus_of(line, number), usable;
    std::sort(pus.begin(), pus.end());
    std::set_intersection(pus.begin(), pus.end(), machine_.allowed.pus.begin(), machine_.allowed.pus.end(),
                          std::back_inserter(usable));
    if (usable.empty())
        throw error(line.number, "this process may not use that object", line.kind)
            .given(fmt::format("{} {}, the system's PU {}", line.kind, number, print_cpulist(pus)))
            .allowed(fmt::format("the system's PU {}", print_cpulist(machine_.allowed.pus)))
            .remedy("ask the batch system for it");
    // A core is one place, as everywhere: its first PU. Wider objects are held as they are.
    if (line.kind == "core") usable.erase(usable.begin() + 1, usable.end());
    return usable;
}

std::vector<std::vector<int>> Reader::sets(const Line& line) const {
    std::vector<std::vector<int>> sets;
    for (const int number : line.objects.list) sets.push_back(set_of(line, number));
    return sets;
}

void Reader::apply(const Line& line) {
    const Layout& layout = placement_.layout;
    check(line, line.processes, "process", layout.processes);
    check(line, line.threads, "thread", layout.threads);
    const auto members = [](const Span& span, int count) {
        std::vector<int> list = span.list;
        if (span.all)
            for (int i = 0; i < count; ++i) list.push_back(i);
        return list;
    };
    const std::vector<int> processes = members(line.processes, layout.processes),
                           threads = members(line.threads, layout.threads);
    const auto found = sets(line);
    const size_t wanted = processes.size() * threads.size();
    if (found.size() != 1 && found.size() != wanted)
        throw error(line.number, "neither one object for all threads of the line nor one for each", line.kind)
            .given(fmt::format("{} {} for {} threads", found.size(), line.kind, wanted))
            .allowed(fmt::format("1 or {}", wanted));
    size_t next = 0;
    for (const int p : processes) {
        for (const int t : threads) {
            auto& place = placement_.threads[static_cast<size_t>(p)][static_cast<size_t>(t)];
            if (!place.empty())
                throw error(line.number, "this thread has a place already", "thread")
                    .given(fmt::format("process {} thread {}", p, t))
                    .allowed("each thread once");
            place = found[found.size() == 1 ? 0 : next++];
        }
        if (line.memory.policy == Policy::inherit) continue;
        placement_.memory.resize(static_cast<size_t>(layout.processes));
        try {
            placement_.memory[static_cast<size_t>(p)] = memories_for(machine_, line.memory, {}, {});
        } catch (Error& unknown) {
            throw unknown.at(wish_.file, line.number, "memory");
        }
    }
}

Placement Reader::read() {
    read_lines();
    find_layout();
    for (const Line& line : lines_) apply(line);
    for (size_t p = 0; p < placement_.threads.size(); ++p)
        for (size_t t = 0; t < placement_.threads[p].size(); ++t)
            if (placement_.threads[p][t].empty())
                throw error(0, "the placement file leaves a thread without a place", "")
                    .given(fmt::format("nothing for process {} thread {}", p, t))
                    .allowed(fmt::format("a place for each thread of layout {}", to_text(placement_.layout)))
                    .remedy("add a line, or change --layout");
    if (wish_.memory.policy != Policy::inherit && !placement_.memory.empty())
        throw error(0, "the placement file and --memory both say where pages go", "memory")
            .given("--memory " + to_text(wish_.memory))
            .allowed("one of the two");
    placement_.why.push_back("threads: as " + wish_.file + " says");
    if (!placement_.memory.empty()) placement_.why.push_back("memory: as " + wish_.file + " says");
    return std::move(placement_);
}

}  // namespace

Placement place_from_file(const machine::Machine& machine, const Wish& wish) {
    return Reader(machine, wish).read();
}

}  // namespace strata::launch
