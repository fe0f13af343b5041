#include "core/launch/memory_policy.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

constexpr int kHighestNumber = 1 << 16;
constexpr std::pair<Policy, const char*> kNames[] = {{Policy::inherit, "inherit"},
                                                     {Policy::first_touch, "first-touch"},
                                                     {Policy::interleave, "interleave"},
                                                     {Policy::local, "local"},
                                                     {Policy::bind, "bind"}};

const char* name_of(Policy policy) {
    return std::find_if(std::begin(kNames), std::end(kNames), [&](auto& n) { return n.first == policy; })
        ->second;
}

bool read_number(std::string_view& text, int& value) {
    value = take_number<int>(text).value_or(-1);
    return value >= 0 && value <= kHighestNumber;
}

/// One item of a list: "8", "0-3" or "0-14:2".
bool read_range(std::string_view& text, std::vector<int>& list) {
    int first = 0, step = 1;
    if (!read_number(text, first)) return false;
    int last = first;
    if (take(text, "-") && (!read_number(text, last) || last < first)) return false;
    if (take(text, ":") && (!read_number(text, step) || step < 1)) return false;
    for (int i = first; i <= last; i += step) list.push_back(i);
    return true;
}

void sort_unique(std::vector<int>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Memory that programs use without asking for it by name.
bool is_ordinary(const machine::Memory& memory) { return memory.kind == "DRAM" || memory.kind == "unknown"; }

std::vector<unsigned long> mask_of(const std::vector<int>& nodes) {
    constexpr size_t bits = 8 * sizeof(unsigned long);
    std::vector<unsigned long> mask(static_cast<size_t>(nodes.back()) / bits + 1, 0UL);
    for (const int node : nodes)
        mask[static_cast<size_t>(node) / bits] |= 1UL << (static_cast<size_t>(node) % bits);
    return mask;
}

}  // namespace

std::optional<Numbers> parse_numbers(std::string_view text) {
    Numbers numbers;
    numbers.text = text;
    if (text.substr(0, 3) == "os:") {
        numbers.marked = true;
        text.remove_prefix(3);
    }
    do {
        if (!read_range(text, numbers.list)) return std::nullopt;
    } while (take(text, ","));
    if (!text.empty()) return std::nullopt;
    return numbers;
}

MemoryWish parse_memory(std::string_view text) {
    const size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    for (const auto& [policy, name] : kNames) {
        if (word != name || policy == Policy::inherit) continue;
        MemoryWish wish{policy, {}};
        const bool takes_list = policy == Policy::bind || policy == Policy::interleave;
        const bool has_list = colon != std::string_view::npos;
        if (!has_list && policy != Policy::bind) return wish;
        if (!has_list || !takes_list) break;
        auto list = parse_numbers(text.substr(colon + 1));
        if (!list) break;
        wish.list = std::move(*list);
        return wish;
    }
    throw Error("unknown memory policy")
        .given(fmt::format("--memory {}", text))
        .allowed(
            "first-touch, interleave, interleave:LIST, local, bind:LIST; LIST such as 0-3 or 0,8 (the "
            "system's numbers of the memories)")
        .remedy("strata machine lists the memories");
}

Huge parse_huge(std::string_view text) {
    if (text == "as-is") return Huge::as_is;
    if (text == "on") return Huge::on;
    if (text == "off") return Huge::off;
    throw Error("unknown way with huge pages")
        .given(fmt::format("--huge-pages {}", text))
        .allowed("as-is, on, off")
        .remedy("--huge-pages on");
}

std::string to_text(const MemoryWish& wish) {
    return wish.list.text.empty() ? name_of(wish.policy)
                                  : fmt::format("{}:{}", name_of(wish.policy), wish.list.text);
}

std::string to_text(const Memories& memories) {
    if (memories.huge != Huge::as_is) {
        Memories plain = memories;
        plain.huge = Huge::as_is;
        return to_text(plain) + (memories.huge == Huge::on ? ", huge pages" : ", no huge pages");
    }
    const std::string nodes = print_cpulist(memories.nodes);
    const char* plural = memories.nodes.size() == 1 ? "memory" : "memories";
    switch (memories.policy) {
        case Policy::inherit:
            return "as inherited";
        case Policy::first_touch:
            return "where a thread first touches each page";
        case Policy::interleave:
            return fmt::format("page by page over {} P#{}", plural, nodes);
        case Policy::local:
        case Policy::bind:
            break;
    }
    return fmt::format("only in {} P#{}", plural, nodes);
}

std::string encode(const Memories& memories) {
    constexpr const char* kHuge[] = {"", "+", "-"};
    return fmt::format("{}{}={}", name_of(memories.policy), kHuge[static_cast<int>(memories.huge)],
                       print_cpulist(memories.nodes));
}

Memories decode_memories(std::string_view word) {
    const size_t equal = word.find('=');
    std::string_view said = word.substr(0, equal);
    Huge huge = Huge::as_is;
    if (!said.empty() && (said.back() == '+' || said.back() == '-')) {
        huge = said.back() == '+' ? Huge::on : Huge::off;
        said.remove_suffix(1);
    }
    for (const auto& [policy, name] : kNames)
        if (equal != std::string_view::npos && said == name)
            return {policy, parse_cpulist(word.substr(equal + 1)), huge};
    throw Error("not memories of a placement").given(std::string(word)).allowed("POLICY=LIST");
}

std::vector<int> memories_named(const machine::Machine& machine, const Numbers& list,
                                const std::string& key) {
    std::vector<int> nodes, known;
    for (const machine::Memory& m : machine.memories) known.push_back(m.os_index);
    for (const int number : list.list) {
        if (std::find(known.begin(), known.end(), number) == known.end())
            throw Error("there is no such memory")
                .given(fmt::format("{}, of which {}", key, number))
                .allowed(fmt::format("{} of this machine", print_cpulist(known)))
                .remedy("strata machine lists the memories");
        const auto& allowed = machine.allowed.memories;
        if (std::find(allowed.begin(), allowed.end(), number) == allowed.end())
            throw Error("this process may not use that memory")
                .given(fmt::format("{}, of which {}", key, number))
                .allowed(fmt::format("{} (Mems_allowed_list in /proc/self/status)", print_cpulist(allowed)))
                .remedy("ask the batch system or administrator for the memories of this cpuset");
        nodes.push_back(number);
    }
    sort_unique(nodes);
    return nodes;
}

std::vector<int> memories_near(const machine::Machine& machine, const std::vector<int>& pus) {
    std::vector<int> nodes;
    for (const machine::Domain& domain : machine.domains) {
        const bool used = std::any_of(domain.pus.begin(), domain.pus.end(), [&](int pu) {
            return std::find(pus.begin(), pus.end(), pu) != pus.end();
        });
        if (!used) continue;
        std::vector<int> ordinary, any;
        for (const int index : domain.memories) {
            const machine::Memory& memory = machine.memories[static_cast<size_t>(index)];
            any.push_back(memory.os_index);
            if (is_ordinary(memory)) ordinary.push_back(memory.os_index);
        }
        const std::vector<int>& chosen = ordinary.empty() ? any : ordinary;
        nodes.insert(nodes.end(), chosen.begin(), chosen.end());
    }
    sort_unique(nodes);
    std::vector<int> usable;
    std::set_intersection(nodes.begin(), nodes.end(), machine.allowed.memories.begin(),
                          machine.allowed.memories.end(), std::back_inserter(usable));
    return usable;
}

Memories memories_for(const machine::Machine& machine, const MemoryWish& wish, const std::vector<int>& own,
                      const std::vector<int>& all) {
    Memories memories{wish.policy, {}, Huge::as_is};
    switch (wish.policy) {
        case Policy::inherit:
            return memories;
        case Policy::first_touch:
            memories.near = memories_near(machine, own);
            return memories;
        case Policy::local:
            memories.nodes = memories_near(machine, own);
            break;
        case Policy::interleave:
            memories.nodes = wish.list.list.empty()
                                 ? memories_near(machine, all)
                                 : memories_named(machine, wish.list, "--memory " + to_text(wish));
            break;
        case Policy::bind:
            memories.nodes = memories_named(machine, wish.list, "--memory " + to_text(wish));
            break;
    }
    if (memories.nodes.empty())
        throw Error("no memory near these processors may be used")
            .given(fmt::format("--memory {} on PU {}", to_text(wish), print_cpulist(own)))
            .allowed(fmt::format("the system's memories {}", print_cpulist(machine.allowed.memories)))
            .remedy("--memory bind:LIST, or --memory first-touch");
    return memories;
}

bool hold_memory(const Memories& memories) {
    if (memories.huge == Huge::off && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) return false;
    if (memories.policy == Policy::inherit) return true;
    int mode = MPOL_BIND;
    if (memories.policy == Policy::first_touch) mode = MPOL_DEFAULT;
    if (memories.policy == Policy::interleave) mode = MPOL_INTERLEAVE;
    std::vector<unsigned long> mask;
    if (mode != MPOL_DEFAULT) mask = mask_of(memories.nodes);
    // The kernel reads one bit less than it is told (get_nodes() in mm/mempolicy.c).
    const unsigned long bits = mask.empty() ? 0 : mask.size() * 8 * sizeof(unsigned long) + 1;
    if (syscall(SYS_set_mempolicy, mode, mask.empty() ? nullptr : mask.data(), bits) == 0) return true;
    return errno == ENOSYS && (memories.nodes.empty() || memories.nodes == std::vector<int>{0});
}

std::string inherited_policy() {
    int mode = MPOL_DEFAULT;
    // The kernel wants room for all nodes it could have, and refuses more than a page (copy_nodes_to_user()).
    constexpr size_t most = 1 << 14;
    std::vector<unsigned long> mask(most / (8 * sizeof(unsigned long)), 0UL);
    if (syscall(SYS_get_mempolicy, &mode, mask.data(), most, nullptr, 0UL) != 0) return "";
    std::vector<int> nodes;
    for (size_t i = 0; i < most; ++i)
        if ((mask[i / (8 * sizeof(unsigned long))] >> (i % (8 * sizeof(unsigned long))) & 1UL) != 0)
            nodes.push_back(static_cast<int>(i));
    constexpr int flags = MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES;
    constexpr int preferred_many = 5;  // MPOL_PREFERRED_MANY, since Linux 5.15
    switch (mode & ~flags) {
        case MPOL_BIND:
            return "--membind=" + print_cpulist(nodes);
        case MPOL_INTERLEAVE:
            return "--interleave=" + print_cpulist(nodes);
        case MPOL_PREFERRED:
        case preferred_many:
            return "--preferred=" + print_cpulist(nodes);
        default:
            return "";
    }
}

}  // namespace strata::launch
