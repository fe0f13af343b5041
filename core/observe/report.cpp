#include "core/observe/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "core/base/cpulist.hpp"
#include "core/base/json.hpp"
#include "core/base/shown.hpp"
#include "core/base/units.hpp"

namespace strata::observe {
namespace {

std::vector<int> sorted_once(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

const machine::Core* core_of(const machine::Machine& machine, int pu) {
    for (const machine::Core& core : machine.cores)
        if (std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end()) return &core;
    return nullptr;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0
               ? "-"
               : fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// "0: 75 %, 1: 25 %"
std::string shares(const machine::ByMemory& bytes) {
    std::string text;
    const std::uint64_t all = machine::total(bytes);
    for (const auto& [memory, part] : bytes)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", memory, percent(part, all));
    return text.empty() ? "-" : text;
}

std::string count_text(const std::optional<long>& count) { return count ? std::to_string(*count) : "?"; }

/// Of a thread or a program, which may be another user's: on one line.
std::string plain(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return shown(name);
}

std::string name_of(const Process& process) {
    return plain(process.program.substr(process.program.rfind('/') + 1));
}

std::string or_dash(const std::vector<int>& numbers) {
    return numbers.empty() ? "-" : print_cpulist(numbers);
}

std::string thread_rows(const Process& process, const machine::Machine& machine) {
    std::string text =
        fmt::format("\n{} {}: threads\n{:>9} {:<16} {:>6} {:>6} {:>7} {:>12} {:>10} {:>10} {:>12}\n",
                    process.pid, name_of(process), "tid", "name", "on PU", "core", "domain", "allowed",
                    "CPU time", "migrations", "preempted");
    for (const Thread& thread : process.threads) {
        const machine::Core* core = core_of(machine, thread.cpu);
        text +=
            fmt::format("{:>9} {:<16} {:>6} {:>6} {:>7} {:>12} {:>10} {:>10} {:>12}\n", thread.tid,
                        plain(thread.name), thread.cpu, core != nullptr ? std::to_string(core->index) : "-",
                        core != nullptr ? std::to_string(core->domain) : "-", print_cpulist(thread.allowed),
                        print_seconds(thread.cpu_s), count_text(thread.migrations), thread.involuntary);
    }
    return text;
}

std::string page_rows(const Process& process, const machine::Machine& machine) {
    if (!process.pages_read)
        return fmt::format("\n{} {}: pages not read: {}\n", process.pid, name_of(process), process.why);
    std::string text = fmt::format(
        "\n{} {}: pages by memory{}\n  {:<14}", process.pid, name_of(process),
        process.share_read < 1 ? fmt::format(" (estimated from {:.1f} % of them)", 100 * process.share_read)
                               : "",
        "");
    for (const machine::Memory& memory : machine.memories)
        text += fmt::format(" {:>10}", fmt::format("memory {}", memory.os_index));
    text += "  policy\n";
    const auto row = [&](const std::string& name, const machine::ByMemory& bytes,
                         const std::string& policies) {
        text += fmt::format("  {:<14}", name);
        for (const machine::Memory& memory : machine.memories) {
            const auto at = bytes.find(memory.os_index);
            text += fmt::format(" {:>10}", at == bytes.end() ? "-" : print_size(at->second));
        }
        text += policies.empty() ? "\n" : "  " + policies + "\n";
    };
    for (const machine::Kind kind : machine::kKinds) {
        std::vector<machine::Region> own;
        std::copy_if(
            process.regions.begin(), process.regions.end(), std::back_inserter(own),
            [&](const machine::Region& region) { return region.kind == kind && !region.bytes.empty(); });
        if (own.empty()) continue;
        std::map<std::string, std::uint64_t> policies;
        for (const machine::Region& region : own) policies[region.policy] += machine::total(region.bytes);
        std::string words;
        for (const auto& [policy, bytes] : policies)
            if (!policy.empty()) words += (words.empty() ? "" : ", ") + policy;
        row(to_text(kind), machine::sum(own), words);
    }
    row("all", machine::sum(process.regions), "");
    return text;
}

std::string summary(const std::vector<const Process*>& shown, const machine::Machine& machine) {
    std::size_t threads = 0;
    std::uint64_t pages = 0, local = 0;
    int sharing = 0;
    std::vector<int> domains;
    for (const Process* process : shown) {
        const PlacementSummary p = placement_summary(*process, machine);
        threads += process->threads.size();
        pages += machine::total(p.pages);
        local += p.local;
        sharing += p.sharing;
        domains.insert(domains.end(), p.domains.begin(), p.domains.end());
    }
    std::string text =
        fmt::format("{} process{}, {} thread{}, on domain{} {}; {} in pages, {} of them local\n",
                    shown.size(), shown.size() == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
                    sorted_once(domains).size() == 1 ? "" : "s", or_dash(sorted_once(domains)),
                    print_size(pages), percent(local, pages));
    if (sharing > 0) text += fmt::format("{} threads are held on a PU together with another one\n", sharing);
    return text;
}

}  // namespace

PlacementSummary placement_summary(const Process& process, const machine::Machine& machine) {
    PlacementSummary p;
    std::map<int, int> alone_on;
    for (const Thread& thread : process.threads) {
        p.cpus.push_back(thread.cpu);
        if (const machine::Core* core = core_of(machine, thread.cpu)) p.domains.push_back(core->domain);
        if (thread.migrations) p.migrations = p.migrations.value_or(0) + *thread.migrations;
        if (thread.allowed.size() == 1) ++alone_on[thread.allowed.front()];
    }
    for (const auto& [pu, count] : alone_on)
        if (count > 1) p.sharing += count;
    p.cpus = sorted_once(p.cpus);
    p.domains = sorted_once(p.domains);
    p.pages = machine::sum(process.regions);
    for (const int domain : p.domains)
        for (const int index : machine.domains[static_cast<std::size_t>(domain)].memories)
            if (const auto at = p.pages.find(machine.memories[static_cast<std::size_t>(index)].os_index);
                at != p.pages.end())
                p.local += at->second;
    return p;
}

std::string table(const std::vector<Process>& processes, const machine::Machine& machine,
                  const TableOptions& show) {
    std::vector<const Process*> shown;
    for (const Process& process : processes)
        if (show.all || !is_launcher(process)) shown.push_back(&process);
    // Where there are only launchers (e.g. a shell alone), they are shown.
    if (shown.empty())
        for (const Process& process : processes) shown.push_back(&process);
    const std::size_t hidden = processes.size() - shown.size();
    std::size_t left_out = 0;
    if (shown.size() > show.most) {
        std::sort(shown.begin(), shown.end(), [](auto* a, auto* b) { return a->cpu_s() > b->cpu_s(); });
        left_out = shown.size() - show.most;
        shown.resize(show.most);
    }
    std::sort(shown.begin(), shown.end(), [](auto* a, auto* b) { return a->pid < b->pid; });
    std::string text = summary(shown, machine);
    text += fmt::format("\n{:>9} {:>5} {:<16} {:>7} {:>12} {:>7} {:>10} {:>9} {:>6}  {}\n", "pid", "rank",
                        "program", "threads", "on PU", "domain", "migrations", "pages", "local", "by memory");
    for (const Process* process : shown) {
        const PlacementSummary p = placement_summary(*process, machine);
        text += fmt::format(
            "{:>9} {:>5} {:<16} {:>7} {:>12} {:>7} {:>10} {:>9} {:>6}  {}\n", process->pid,
            process->rank ? std::to_string(*process->rank) : "-", name_of(*process).substr(0, 16),
            process->threads.size(), or_dash(p.cpus), or_dash(p.domains), count_text(p.migrations),
            process->pages_read ? print_size(machine::total(p.pages)) : "?",
            process->pages_read ? percent(p.local, machine::total(p.pages)) : "?", shares(p.pages));
    }
    if (left_out > 0) text += fmt::format("and {} processes that computed less\n", left_out);
    if (hidden > 0) text += fmt::format("and {} launchers (--all)\n", hidden);
    constexpr std::size_t kFew = 4;
    for (const Process* process : shown) {
        if (show.threads || shown.size() <= kFew) text += thread_rows(*process, machine);
        if (show.pages || shown.size() <= kFew) text += page_rows(*process, machine);
    }
    return text;
}

void where_json(std::ostream& out, const std::vector<Process>& processes, const machine::Machine& machine) {
    Json j(out);
    j.object().member("schema", "strata.where/1").key("processes").array();
    for (const Process& process : processes) {
        const PlacementSummary p = placement_summary(process, machine);
        j.object().member("pid", process.pid).member("parent", process.parent).member("rank", process.rank);
        j.member("program", process.program).members("command", process.command);
        j.member("launcher", is_launcher(process)).member("ended", process.ended);
        j.member("domains", print_cpulist(p.domains)).member("migrations", p.migrations);
        j.key("threads").array();
        for (const Thread& thread : process.threads) {
            const machine::Core* core = core_of(machine, thread.cpu);
            j.object().member("tid", thread.tid).member("name", thread.name).member("cpu", thread.cpu);
            if (core != nullptr) j.member("core", core->index).member("domain", core->domain);
            j.member("allowed", print_cpulist(thread.allowed)).member("cpu_s", thread.cpu_s);
            j.member("migrations", thread.migrations).member("voluntary", thread.voluntary);
            j.member("involuntary", thread.involuntary).end();
        }
        j.end();
        j.key("pages").object().member("read", process.pages_read).member("why", process.why);
        j.member("share_read", process.share_read).member("local_bytes", p.local);
        const auto by_memory = [&](const machine::ByMemory& bytes) {
            j.key("by_memory").object();
            for (const auto& [memory, count] : bytes) j.member(std::to_string(memory), count);
            j.end();
        };
        by_memory(p.pages);
        j.key("regions").array();
        for (const machine::Region& region : process.regions) {
            if (region.bytes.empty()) continue;
            j.object()
                .member("begin", fmt::format("{:x}", region.begin))
                .member("kind", to_text(region.kind));
            j.member("file", region.file)
                .member("policy", region.policy)
                .member("page_bytes", region.page_bytes);
            by_memory(region.bytes);
            j.end();
        }
        j.end().end().end();
    }
    j.end().end();
    out << '\n';
}

}  // namespace strata::observe
