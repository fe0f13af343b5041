#include "core/launch/likwid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/launch/likwid_domains.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

constexpr std::string_view kPrefix = "likwid:";
constexpr const char* kForms =
    "0,2-4; S0:0-3; L:S0:0-3; S0; E:S0:4; E:S0:4:1:2; S:scatter; joined by @ (processes by _)";

constexpr const char* kOrder = " (physical cores first, then their SMT siblings)";

using Parts = std::vector<std::string_view>;

std::optional<int> number(std::string_view text) {
    return parse_number<int>(text, 0, (1 << 16) - 1);  // as in CPU lists
}

class Reader {
  public:
    Reader(const machine::Machine& machine, std::string_view whole)
        : machine_(machine), whole_(whole), domains_(likwid_domains(machine)) {}
    std::vector<std::vector<int>> read();

  private:
    std::vector<int> part(std::string_view part);
    std::vector<int> listed(std::string_view list, const std::vector<int>& pus, const std::string& of) const;
    std::vector<int> system_list(std::string_view list) const;
    std::vector<int> expression(const Parts& words) const;
    std::vector<int> spread(const Parts& words) const;
    [[nodiscard]] const LikwidDomain& domain(std::string_view name) const;
    [[nodiscard]] Error error(const char* message) const {
        return Error(message).given(fmt::format("--bind likwid:{}, of which {}", whole_, part_));
    }

    const machine::Machine& machine_;
    std::string_view whole_, part_;
    std::vector<LikwidDomain> domains_;
};

const LikwidDomain& Reader::domain(std::string_view name) const {
    for (const LikwidDomain& known : domains_)
        if (known.name == name && !known.cores.empty()) return known;
    std::map<char, std::vector<int>> numbers;
    for (const LikwidDomain& known : domains_)
        if (known.name != "N" && !known.cores.empty())
            numbers[known.name.front()].push_back(std::stoi(known.name.substr(1)));
    std::string allowed = "N";
    for (const auto& [kind, list] : numbers)
        allowed += list.size() == 1 ? fmt::format(", {}{}", kind, list.front())
                                    : fmt::format(", {}{}-{}", kind, list.front(), list.back());
    const bool known = std::any_of(domains_.begin(), domains_.end(),
                                   [&](const LikwidDomain& one) { return one.name == name; });
    throw error(known ? "this process may use no PU of that likwid domain" : "there is no such likwid domain")
        .allowed(allowed + " (node, sockets S, dies D, last level caches C, NUMA nodes M)")
        .remedy("likwid-pin -p lists the domains; strata machine shows what there is");
}

std::vector<int> Reader::listed(std::string_view list, const std::vector<int>& pus,
                                const std::string& of) const {
    std::vector<int> found;
    for (const std::string_view item : split(list, ',')) {
        const size_t dash = item.find('-');
        const auto first = number(item.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : number(item.substr(dash + 1));
        if (!first || !last) throw error("not a list of numbers in likwid's form").allowed("such as 0,2-4");
        const int count = static_cast<int>(pus.size());
        if (*first >= count || *last >= count)
            throw error("a number of the likwid string is not there")
                .allowed(fmt::format("0-{} of {}", count - 1, of));
        for (int i = *first;; i += *first <= *last ? 1 : -1) {
            found.push_back(pus[static_cast<size_t>(i)]);
            if (i == *last) break;
        }
    }
    return found;
}

std::vector<int> Reader::system_list(std::string_view list) const {
    const std::vector<int> usable = domains_.front().compact();
    size_t all = 0;
    for (const machine::Core& core : machine_.cores) all += core.pus.size();
    if (usable.size() < all)
        throw error("in a part of a machine likwid takes a plain list as numbers within that part")
            .allowed(fmt::format("L:N:{0} for that, or --bind {0} for the system's numbers (of {1})", list,
                                 print_cpulist(usable)));
    std::vector<int> numbered(static_cast<size_t>(*std::max_element(usable.begin(), usable.end())) + 1, -1);
    for (const int pu : usable) numbered[static_cast<size_t>(pu)] = pu;
    const std::vector<int> found = listed(list, numbered, "the system's PUs");
    if (std::find(found.begin(), found.end(), -1) != found.end())
        throw error("there is no such PU").allowed(print_cpulist(usable));
    return found;
}

/// E:DOMAIN:COUNT[:CHUNK:STRIDE[:OFFSET]]: CHUNK PUs from each STRIDE-th one on, core by core.
std::vector<int> Reader::expression(const Parts& words) const {
    constexpr const char* form = "E:DOMAIN:COUNT or E:DOMAIN:COUNT:CHUNK:STRIDE, counts from 1";
    if (words.size() != 3 && words.size() != 5 && words.size() != 6)
        throw error("not an expression of likwid's").allowed(form);
    std::vector<int> values = {1, 1, 1, 0};
    for (size_t i = 2; i < words.size(); ++i) {
        const auto value = number(words[i]);
        if (!value || (*value == 0 && i < 5)) throw error("not an expression of likwid's").allowed(form);
        values[i - 2] = *value;
    }
    const auto count = static_cast<size_t>(values[0]), chunk = static_cast<size_t>(values[1]),
               stride = static_cast<size_t>(values[2]);
    const LikwidDomain& of = domain(words[1]);
    const std::vector<int> pus = of.compact();
    std::vector<int> found;
    for (size_t at = static_cast<size_t>(values[3]); at < pus.size() && found.size() < count; at += stride)
        for (size_t i = at; i < std::min(at + chunk, pus.size()) && found.size() < count; ++i)
            found.push_back(pus[i]);
    if (found.size() < count)
        throw error("the expression asks for more PUs than the likwid domain has at that stride")
            .allowed(
                fmt::format("up to {} of the {} PUs of {} (likwid would begin again: two threads on a PU)",
                            found.size(), pus.size(), of.name))
            .remedy("a smaller count or stride");
    return found;
}

/// KIND:scatter[:COUNT] and KIND:balanced[:COUNT].
std::vector<int> Reader::spread(const Parts& words) const {
    std::vector<const LikwidDomain*> among;
    for (const LikwidDomain& one : domains_)
        if (one.name.substr(0, 1) == words[0] && !one.cores.empty()) among.push_back(&one);
    if (among.empty() || words.size() > 3)
        throw error("not a way to spread of likwid's").allowed("N, S, D, C or M, then :scatter or :balanced");
    size_t all = 0, longest = 0;
    for (const LikwidDomain* one : among) {
        all += one->compact().size();
        longest = std::max(longest, one->compact().size());
    }
    const auto asked = words.size() == 3 ? number(words[2]) : std::optional<int>(static_cast<int>(all));
    if (!asked || *asked == 0 || static_cast<size_t>(*asked) > all)
        throw error("not a number of threads for these likwid domains").allowed(fmt::format("1 to {}", all));
    const auto count = static_cast<size_t>(*asked);
    std::vector<int> found;
    if (words[1] == "scatter") {
        for (size_t turn = 0; turn < longest; ++turn)
            for (const LikwidDomain* one : among) {
                const std::vector<int> pus = one->physical_first();
                if (turn < pus.size() && found.size() < count) found.push_back(pus[turn]);
            }
        return found;
    }
    for (size_t i = 0; i < among.size(); ++i) {
        const std::vector<int> pus = among[i]->compact();
        const size_t share = count / among.size() + (i < count % among.size() ? 1 : 0);
        if (share > pus.size())
            throw error("a likwid domain has fewer PUs than its share")
                .allowed(fmt::format("up to {} in {}", pus.size(), among[i]->name));
        found.insert(found.end(), pus.begin(), pus.begin() + static_cast<std::ptrdiff_t>(share));
    }
    return found;
}

std::vector<int> Reader::part(std::string_view part) {
    part_ = part;
    if (part.empty())
        throw Error("an empty part of a likwid string")
            .given(fmt::format("--bind likwid:{}", whole_))
            .allowed(kForms);
    const Parts words = split(part, ':');
    if (words.size() == 1 && part.front() >= '0' && part.front() <= '9') return system_list(part);
    if (words.front() == "E") return expression(words);
    if (words.size() >= 2 && (words[1] == "scatter" || words[1] == "balanced")) return spread(words);
    if (words.front() == "L" && (words.size() == 2 || words.size() == 3)) {
        const LikwidDomain& of = domain(words.size() == 3 ? words[1] : "N");
        return listed(words.back(), of.physical_first(), of.name + kOrder);
    }
    if (words.size() > 2 || std::string_view("NSDCM").find(part.front()) == std::string_view::npos)
        throw error("not a part of a likwid string").allowed(kForms);
    const LikwidDomain& of = domain(words.front());
    if (words.size() == 1) return of.compact();
    if (words[1].empty())
        throw error("a likwid domain without numbers")
            .allowed(fmt::format("{0}:0-{1}, or {0} for all", of.name, of.compact().size() - 1));
    return listed(words[1], of.physical_first(), of.name + kOrder);
}

std::vector<std::vector<int>> Reader::read() {
    std::vector<std::vector<int>> processes;
    std::vector<int> seen;
    for (const std::string_view process : split(whole_, '_')) {
        std::vector<int>& pus = processes.emplace_back();
        for (const std::string_view each : split(process, '@'))
            for (const int pu : part(each)) {
                if (std::find(seen.begin(), seen.end(), pu) != seen.end())
                    throw error("a likwid string names one PU twice")
                        .allowed("each PU for one thread")
                        .remedy(fmt::format("leave out the system's PU {} here", pu));
                seen.push_back(pu);
                pus.push_back(pu);
            }
    }
    return processes;
}

}  // namespace

bool is_likwid(std::string_view bind) { return bind.substr(0, kPrefix.size()) == kPrefix; }

std::vector<std::vector<int>> likwid_pus(const machine::Machine& machine, std::string_view expression) {
    return Reader(machine, expression).read();
}

Wish with_likwid_list(const machine::Machine& machine, Wish wish) {
    if (wish.layout.bind != Bind::list || !is_likwid(wish.layout.list.text)) return wish;
    Layout& layout = wish.layout;
    const auto processes = likwid_pus(machine, std::string_view(layout.list.text).substr(kPrefix.size()));
    layout.list.list.clear();
    for (const auto& pus : processes) layout.list.list.insert(layout.list.list.end(), pus.begin(), pus.end());
    const auto parts = static_cast<int>(processes.size()), all = static_cast<int>(layout.list.list.size());
    if (!wish.layout_given) {
        // One part is dealt to the processes that an mpirun in the command names, several are one each.
        if (parts > 1) layout.processes = parts;
        if (all % layout.processes != 0)
            throw Error("the PUs of the likwid string cannot be dealt evenly")
                .given(fmt::format("--bind {}: {} PUs for {} processes", layout.list.text, all,
                                   layout.processes))
                .allowed("as many for each process")
                .remedy("--layout PxT says how many threads a process has");
        layout.threads = all / layout.processes;
    }
    for (const auto& pus : processes) {
        const bool agrees = parts == 1 || (parts == layout.processes && layout.stride == 1 &&
                                           static_cast<int>(pus.size()) == layout.threads);
        if (!agrees)
            throw Error("the likwid string and the layout disagree")
                .given(fmt::format("--bind {}, a process of which has {} PUs, with --layout {}",
                                   layout.list.text, pus.size(), to_text(layout)))
                .allowed(fmt::format("{} processes, each with T PUs, and no --stride", parts));
    }
    return wish;
}

std::string likwid_list(const machine::Machine& machine, const std::vector<int>& pus) {
    size_t all = 0;
    for (const machine::Core& core : machine.cores) all += core.pus.size();
    std::vector<int> numbers = pus;
    const bool whole = machine.allowed.pus.size() == all;
    if (!whole) {
        const std::vector<int> within =
            likwid_pus(machine, "L:N:0-" + std::to_string(machine.allowed.pus.size() - 1)).front();
        for (int& pu : numbers)
            pu = static_cast<int>(std::find(within.begin(), within.end(), pu) - within.begin());
    }
    std::vector<std::string> ranges;
    for (size_t i = 0, j = 0; i < numbers.size(); i = j) {
        for (j = i + 1; j < numbers.size() && numbers[j] == numbers[j - 1] + 1;) ++j;
        ranges.push_back(j - i == 1 ? std::to_string(numbers[i])
                                    : fmt::format("{}-{}", numbers[i], numbers[j - 1]));
    }
    return fmt::format("{}{}", whole ? "" : "L:N:", fmt::join(ranges, ","));
}

}  // namespace strata::launch
