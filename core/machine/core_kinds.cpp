#include "core/machine/core_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <vector>

namespace strata::machine {
namespace {

/// What hwloc tells in numbers: the capacity is Linux's estimate of a core's speed, 1024 for the fastest.
constexpr const char* kCapacity = "LinuxCapacity";
constexpr const char* kMaxMhz = "FrequencyMaxMHz";
constexpr std::array kNumbers = {kCapacity, kMaxMhz, "FrequencyBaseMHz"};

bool is_number(const std::string& name) {
    return std::find(kNumbers.begin(), kNumbers.end(), name) != kNumbers.end();
}

std::optional<std::string> text_of(const CoreKind& kind, const std::string& name) {
    for (const auto& [key, value] : kind.info)
        if (key == name) return value;
    return std::nullopt;
}

/// A number, or the two ends of "1006-1024".
struct Ends {
    double low = 0, high = 0;
};

std::optional<Ends> ends_of(const CoreKind& kind, const std::string& name) {
    const auto text = text_of(kind, name);
    if (!text) return std::nullopt;
    char* rest = nullptr;
    const double low = std::strtod(text->c_str(), &rest);
    const double high = *rest == '-' ? std::strtod(rest + 1, &rest) : low;
    if (rest == text->c_str() || *rest != '\0' || !(low > 0) || !(high >= low)) return std::nullopt;
    return Ends{low, high};
}

/// Whether all that is said of two kinds agrees, and numbers that are close are what sets them apart. Those
/// of a joined kind are its ends, so that no chain of small steps joins what is apart.
bool are_close(const CoreKind& a, const CoreKind& b) {
    if (a.info.size() != b.info.size()) return false;
    bool apart = false;
    for (const auto& [name, text] : a.info) {
        const auto other = text_of(b, name);
        if (!other) return false;
        if (text == *other) continue;
        const auto one = ends_of(a, name), two = ends_of(b, name);
        if (!is_number(name) || !one || !two) return false;
        const double low = std::min(one->low, two->low), high = std::max(one->high, two->high);
        if (high - low >= kKindsApart * high) return false;
        apart = true;
    }
    return apart;
}

void join(CoreKind& whole, const CoreKind& part) {
    for (auto& [name, text] : whole.info) {
        const auto one = ends_of(whole, name), two = ends_of(part, name);
        if (!is_number(name) || !one || !two || text == *text_of(part, name)) continue;
        text = fmt::format("{:.0f}-{:.0f}", std::min(one->low, two->low), std::max(one->high, two->high));
    }
    whole.cores.insert(whole.cores.end(), part.cores.begin(), part.cores.end());
    std::sort(whole.cores.begin(), whole.cores.end());
    whole.efficiency = std::max(whole.efficiency, part.efficiency);
}

/// Slowest first, where that is known.
void order(std::vector<CoreKind>& kinds) {
    const auto all = [&](const auto& known) { return std::all_of(kinds.begin(), kinds.end(), known); };
    const auto capacity = [](const CoreKind& kind) { return ends_of(kind, kCapacity); };
    std::set<int> efficiencies;
    std::set<double> capacities;
    for (const CoreKind& kind : kinds) {
        efficiencies.insert(kind.efficiency);
        if (const auto known = capacity(kind)) capacities.insert(known->high);
    }
    const bool by_efficiency =
        efficiencies.size() == kinds.size() && all([](const CoreKind& kind) { return kind.efficiency >= 0; });
    const bool by_capacity = capacities.size() == kinds.size() &&
                             all([&](const CoreKind& kind) { return capacity(kind).has_value(); });
    std::stable_sort(kinds.begin(), kinds.end(), [&](const CoreKind& a, const CoreKind& b) {
        if (by_efficiency) return a.efficiency < b.efficiency;
        return by_capacity && capacity(a)->high < capacity(b)->high;
    });
    for (size_t i = 0; i < kinds.size(); ++i) {
        kinds[i].index = static_cast<int>(i);
        kinds[i].efficiency = by_efficiency || by_capacity ? kinds[i].index : -1;
    }
}

}  // namespace

void join_close_kinds(Machine& machine) {
    std::vector<CoreKind> kinds;
    std::set<int> unknown;
    for (const Core& core : machine.cores) unknown.insert(core.index);
    for (auto kind = machine.core_kinds.rbegin(); kind != machine.core_kinds.rend(); ++kind) {
        if (kind->cores.empty()) continue;  // all of its PUs are offline
        for (const int core : kind->cores) unknown.erase(core);
        const auto close = std::find_if(kinds.begin(), kinds.end(),
                                        [&](const CoreKind& known) { return are_close(known, *kind); });
        if (close == kinds.end())
            kinds.push_back(*kind);
        else
            join(*close, *kind);
    }
    std::reverse(kinds.begin(), kinds.end());
    if (!kinds.empty() && !unknown.empty())
        kinds.push_back({0, -1, std::vector<int>(unknown.begin(), unknown.end()), {}});
    order(kinds);
    for (const CoreKind& kind : kinds)
        for (const int core : kind.cores) machine.cores[static_cast<size_t>(core)].kind = kind.index;
    machine.core_kinds = std::move(kinds);
}

bool kinds_are_ordered(const Machine& machine) {
    return machine.core_kinds.size() > 1 && machine.core_kinds.front().efficiency >= 0;
}

std::string kind_text(const CoreKind& kind) {
    std::string text = text_of(kind, "CoreType").value_or("");
    const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
    if (const auto capacity = text_of(kind, kCapacity)) add("capacity " + *capacity);
    if (const auto mhz = ends_of(kind, kMaxMhz)) add(fmt::format("up to {:.2f} GHz", mhz->high / 1000));
    return text;
}

}  // namespace strata::machine
