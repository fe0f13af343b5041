#include "core/launch/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/launch/likwid.hpp"

namespace strata::launch {
namespace {

/// More threads than this on one node is a slip of the finger, and products of two stay far from overflow.
constexpr int kMost = 1 << 16;

constexpr std::pair<Bind, const char*> kBindNames[] = {{Bind::core, "core"},
                                                       {Bind::cache, "cache"},
                                                       {Bind::numa, "numa"},
                                                       {Bind::package, "package"},
                                                       {Bind::none, "none"}};

std::vector<int> united(const std::vector<std::vector<int>>& sets) {
    std::vector<int> all;
    for (const auto& set : sets) all.insert(all.end(), set.begin(), set.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace

Layout parse_layout(std::string_view text) {
    Layout layout;
    const std::vector<std::string_view> parts = split(text, 'x');
    const auto processes = parse_number<int>(parts.front(), 1, kMost);
    const auto threads = parse_number<int>(parts.back(), 1, kMost);
    if (parts.size() != 2 || !processes || !threads) {
        throw Error("the layout is not of the form PxT")
            .given(fmt::format("--layout {}", text))
            .allowed(fmt::format("processes x threads, both from 1 to {}", kMost))
            .remedy("--layout 2x1 for two processes of one thread");
    }
    layout.processes = *processes, layout.threads = *threads;
    return layout;
}

void parse_bind(std::string_view text, Layout& layout) {
    for (const auto& [bind, name] : kBindNames) {
        if (text != name) continue;
        layout.bind = bind;
        return;
    }
    if (auto list = parse_numbers(text); list && !list->list.empty()) {
        layout.bind = Bind::list;
        layout.list = std::move(*list);
        return;
    }
    if (is_likwid(text)) {
        layout.bind = Bind::list;
        layout.list = {false, {}, std::string(text)};  // with_likwid_list() finds the PUs
        return;
    }
    throw Error("unknown way to bind")
        .given(fmt::format("--bind {}", text))
        .allowed(
            "core, cache, numa, package, none, a list of PUs such as 0-3,8 (the system's numbers), or "
            "likwid: and a string of likwid-pin's such as likwid:S0:0-3@S1:0-3")
        .remedy("--bind core");
}

std::string to_text(const Layout& layout) { return fmt::format("{}x{}", layout.processes, layout.threads); }

std::string bind_text(const Layout& layout) {
    for (const auto& [bind, name] : kBindNames)
        if (layout.bind == bind) return name;
    return layout.list.text;
}

std::vector<int> Placement::pus(int process) const {
    return united(threads.at(static_cast<size_t>(process)));
}

std::vector<int> Placement::pus() const {
    std::vector<std::vector<int>> all;
    for (const auto& process : threads) all.push_back(united(process));
    return united(all);
}

Memories Placement::memory_of(int process) const {
    return memory.empty() ? Memories{} : memory.at(static_cast<size_t>(process));
}

std::string encode(const Placement& placement) {
    std::vector<std::string> processes;
    for (size_t p = 0; p < placement.threads.size(); ++p) {
        std::vector<std::string> lists;
        for (const auto& pus : placement.threads[p]) lists.push_back(print_cpulist(pus));
        std::string word = fmt::format("{}", fmt::join(lists, ":"));
        if (!placement.memory.empty()) word += '@' + encode(placement.memory[p]);
        processes.push_back(std::move(word));
    }
    return fmt::format("{}", fmt::join(processes, ";"));
}

Placement decode(const std::string& word, const Layout& layout) {
    Placement placement;
    placement.layout = layout;
    for (const std::string_view process : split(word, ';')) {
        const std::vector<std::string_view> parts = split(process, '@');
        auto& threads = placement.threads.emplace_back();
        for (const std::string_view pus : split(parts.front(), ':')) threads.push_back(parse_cpulist(pus));
        if (parts.size() > 1) placement.memory.push_back(decode_memories(parts[1]));
    }
    return placement;
}

}  // namespace strata::launch
