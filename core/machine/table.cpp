// The facts as a table for people: what one wants to know at a glance, each on one line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/cpulist.hpp"
#include "core/base/units.hpp"
#include "core/machine/core_kinds.hpp"
#include "core/machine/machine.hpp"

namespace strata::machine {
namespace {

std::string plural(size_t count, const char* one, const std::string& many = {}) {
    return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? std::string(one) + "s" : many);
}

class Table {
  public:
    void row(const std::string& name, const std::string& value) {
        if (!value.empty()) text_ += fmt::format("{:<12} {}\n", name, value);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

size_t pu_count(const Machine& machine) {
    return std::accumulate(machine.cores.begin(), machine.cores.end(), size_t{0},
                           [](size_t sum, const Core& core) { return sum + core.pus.size(); });
}

std::string processors(const Machine& machine) {
    std::string text =
        fmt::format("{}, {}, {}", plural(machine.packages.size(), "package"),
                    plural(machine.domains.size(), "domain"), plural(machine.cores.size(), "core"));
    const size_t pus = pu_count(machine);
    text += pus == machine.cores.size() ? ", no SMT" : fmt::format(", {} PUs (SMT)", pus);
    return text;
}

/// Where the processor is a hybrid, a line for each kind, as `strata launch --core-kind` takes it: "kind 1
/// (performance): cores 0-5, IntelCore, up to 4.70 GHz".
void kinds(Table& table, const Machine& machine) {
    if (machine.core_kinds.size() < 2) return;
    for (const CoreKind& kind : machine.core_kinds) {
        std::string word;
        if (kinds_are_ordered(machine) && kind.index == machine.core_kinds.back().index)
            word = " (performance)";
        if (kinds_are_ordered(machine) && kind.index == 0) word = " (efficiency)";
        const std::string known = kind_text(kind);
        table.row(
            "", fmt::format("kind {}{}: {} {}{}", kind.index, word, kind.cores.size() == 1 ? "core" : "cores",
                            print_cpulist(kind.cores), known.empty() ? "" : ", " + known));
    }
}

std::string frequency(const Machine& machine) {
    if (machine.cores.empty() || !machine.cores.front().max_mhz) return {};
    const Core& core = machine.cores.front();
    std::string text = fmt::format("up to {:.2f} GHz", *core.max_mhz / 1000.0);
    if (core.base_mhz) text += fmt::format(", base {:.2f} GHz", *core.base_mhz / 1000.0);
    if (core.governor) text += ", governor " + *core.governor;
    if (machine.turbo) text += *machine.turbo ? ", turbo on" : ", turbo off";
    return text;
}

void caches(Table& table, const Machine& machine) {
    struct Same {
        size_t count = 0, cores = 0;
    };
    std::map<std::tuple<int, std::string, std::uint64_t>, Same> groups;
    for (const Cache& cache : machine.caches) {
        Same& same = groups[{cache.level, cache.type, cache.size_bytes}];
        ++same.count;
        same.cores = std::max(same.cores, cache.cores.size());
    }
    for (const auto& [key, same] : groups) {
        const auto& [level, type, size] = key;
        const std::string shared = same.cores == 1 ? "one core" : fmt::format("{} cores", same.cores);
        table.row(fmt::format("L{}{}", level,
                              type == "data"          ? "d"
                              : type == "instruction" ? "i"
                                                      : ""),
                  fmt::format("{} x {}, each of {}", same.count, print_size(size), shared));
    }
}

std::string memory(const Machine& machine, const Memory& memory) {
    std::string text = print_size(memory.total_bytes);
    if (memory.kind != "unknown") text += " " + memory.kind;
    if (memory.free_bytes) text += fmt::format(", {} free", print_size(*memory.free_bytes));
    if (memory.page_cache_bytes) text += fmt::format(", {} page cache", print_size(*memory.page_cache_bytes));
    if (memory.domain) {
        const Domain& domain = machine.domains[static_cast<size_t>(*memory.domain)];
        text += fmt::format("; domain {}: PUs {}", domain.index, print_cpulist(domain.pus));
    } else {
        text += fmt::format("; no cores of its own, nearest domain {}", memory.nearest_domain);
    }
    for (const HugePagePool& pool : memory.huge_pages)
        if (pool.total > 0)
            text += fmt::format("; {} huge pages of {}, {} free", pool.total, print_size(pool.size_bytes),
                                pool.free);
    return text;
}

/// As many lines as one still reads at a glance; a machine with more memories is summed up.
constexpr size_t kManyLines = 16;

void memories(Table& table, const Machine& machine) {
    if (machine.memories.size() <= kManyLines) {
        for (const Memory& each : machine.memories)
            table.row(fmt::format("memory {}", each.os_index), memory(machine, each));
        return;
    }
    std::map<std::pair<std::uint64_t, std::string>, std::vector<int>> alike;
    for (const Memory& each : machine.memories) alike[{each.total_bytes, each.kind}].push_back(each.os_index);
    for (const auto& [what, numbers] : alike)
        table.row("memories",
                  fmt::format("{} x {}{}: {}", numbers.size(), print_size(what.first),
                              what.second == "unknown" ? "" : " " + what.second, print_cpulist(numbers)));
}

void distances(Table& table, const Machine& machine) {
    if (!machine.distances || machine.distances->matrix.size() < 2) return;
    const Distances& distances = *machine.distances;
    const auto number_of = [&](size_t i) {
        return machine.memories[static_cast<size_t>(distances.memories[i])].os_index;
    };
    if (distances.matrix.size() > kManyLines) {
        std::map<double, size_t> pairs;
        for (const auto& row : distances.matrix)
            for (const double value : row) ++pairs[value];
        std::string text;
        for (const auto& [value, times] : pairs)
            text += fmt::format("{}{:.0f} ({} pairs)", text.empty() ? "" : ", ", value, times);
        table.row("distances", text);
        return;
    }
    for (size_t i = 0; i < distances.matrix.size(); ++i) {
        std::string text = fmt::format("memory {:<3}", number_of(i));
        for (const double value : distances.matrix[i]) text += fmt::format(" {:3.0f}", value);
        table.row(i == 0 ? "distances" : "", text);
    }
}

/// A line each for what a program may want to be near to; disks share one.
void devices(Table& table, const Machine& machine) {
    for (const char* type : {"gpu", "network", "other"})
        for (const Device& device : machine.devices)
            if (device.type == type)
                table.row(type,
                          fmt::format("{}{}{}", device.name, device.info.empty() ? "" : ": " + device.info,
                                      device.domain ? fmt::format("; near domain {}", *device.domain) : ""));
    std::string disks;
    for (const Device& device : machine.devices)
        if (device.type == "storage")
            disks += fmt::format("{}{}{}", disks.empty() ? "" : ", ", device.name,
                                 device.info.empty() ? "" : " (" + device.info + ")");
    table.row("storage", disks);
}

std::string allowed(const Machine& machine) {
    const Allowed& allowed = machine.allowed;
    std::string text =
        fmt::format("PUs {} ({} of {})", print_cpulist(allowed.pus), allowed.pus.size(), pu_count(machine));
    if (allowed.cgroup.cpu_quota) {
        text += fmt::format(", held to {:.3g} CPUs' worth of time by a quota (cgroup v{})",
                            *allowed.cgroup.cpu_quota, allowed.cgroup.version.value_or(0));
    }
    if (machine.memories.size() > allowed.memories.size())
        text += fmt::format(", memories {} of {}", print_cpulist(allowed.memories), machine.memories.size());
    if (allowed.cgroup.memory_limit_bytes)
        text += fmt::format(", {} of memory (cgroup v{})", print_size(*allowed.cgroup.memory_limit_bytes),
                            allowed.cgroup.version.value_or(0));
    return text;
}

std::string counters(const Machine& machine) {
    const Counters& counters = machine.counters;
    std::string text = fmt::format("{}", fmt::join(counters.events, ", "));
    if (text.empty()) text = "none";
    if (!counters.hardware) text += "; no hardware counters: " + counters.why;
    return text;
}

void system_rows(Table& table, const Machine& machine) {
    table.row("huge pages", fmt::format("transparent: {}, shared memory: {}",
                                        machine.huge_pages.transparent.value_or("not offered"),
                                        machine.huge_pages.shmem.value_or("not offered")));
    table.row("counters", counters(machine));
    const PagePlacement& placement = machine.placement;
    table.row("placement", placement.why.empty() ? std::string(placement.word())
                                                 : fmt::format("{} ({})", placement.word(), placement.why));
    const Privileges& rights = machine.privileges;
    std::string share = "a measured program beside other load gets ";
    if (rights.cgroup_cpu_writable) {
        share += "a cgroup of its own";
    } else if (rights.autogroup) {
        share += rights.autogroup_nice ? "a session of its own with raised weight" : "a session of its own";
    } else {
        share += "no share of its own: cgroups are not writable, and sessions are no groups here";
    }
    table.row("own share", share);
}

}  // namespace

std::string machine_table(const Machine& machine) {
    Table table;
    if (!machine.is_system()) table.row("described by", machine.source);
    std::string name = machine.hostname;
    const auto add = [&name](const char* separator, const std::string& text) {
        if (!text.empty()) name += (name.empty() ? "" : separator) + text;
    };
    add(": ", machine.os);
    add(", kernel ", machine.kernel);
    add(", ", machine.arch);
    if (machine.virtualisation) add(", a guest of ", *machine.virtualisation);
    if (machine.container) add(", in a container: ", *machine.container);
    table.row("machine", name);
    table.row("processor", machine.cpu_model);
    table.row("", processors(machine));
    kinds(table, machine);
    table.row("clock", frequency(machine));
    caches(table, machine);
    memories(table, machine);
    distances(table, machine);
    devices(table, machine);
    table.row("allowed", allowed(machine));
    if (machine.is_system()) system_rows(table, machine);
    return table.text();
}

}  // namespace strata::machine
