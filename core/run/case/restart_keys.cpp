// Which keys a restart may change, and what it says of others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/run/case/case.hpp"

namespace strata::graph {

namespace {

constexpr std::size_t kShown = 8;  // differences that an error names

const std::string* value_in(const CaseSchema::Values& values, const std::string& name) {
    for (const auto& [key, value] : values)
        if (key == name) return &value;
    return nullptr;
}

}  // namespace

const CaseSchema::Entry* CaseSchema::entry(const std::string& name) const {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
    return found == entries_.end() ? nullptr : &*found;
}

const CaseSchema::Entry* CaseSchema::meant(const std::string& name) const {
    if (const Entry* own = entry(full(name))) return own;
    const Entry* common = entry(name);
    return common != nullptr && common->common ? common : nullptr;
}

CaseSchema& CaseSchema::instead_of_restart(std::string advice) {
    instead_of_restart_ = std::move(advice);
    return *this;
}

Restart CaseSchema::restart_of(const Entry& entry) const {
    const auto& [key, fixing] = entry.about.same_with;
    if (!key.empty()) {
        const Values all = values();
        const std::string* value = value_in(all, key);
        for (const std::string& each : fixing)
            if (value != nullptr && *value == '"' + each + '"') return Restart::same;
    }
    if (entry.about.restart == Restart::same && !entry.about.decides) return Restart::any;
    return entry.about.restart;
}

std::string CaseSchema::restart_words(const Entry& entry) const {
    if (entry.about.decides && entry.about.restart == Restart::same) return "";
    const auto& [key, fixing] = entry.about.same_with;
    return "; a restart may change it" +
           (key.empty() ? "" : fmt::format(", unless {} is {}", key, fmt::join(fixing, " or ")));
}

CaseSchema::Values CaseSchema::values_for_restart() const {
    Values kept, all = values();
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (restart_of(entries_[i]) != Restart::any) kept.push_back(std::move(all[i]));
    return kept;
}

std::vector<std::string> CaseSchema::end_keys() const {
    std::vector<std::string> all;
    for (const Entry& each : entries_)
        if (each.about.restart == Restart::end) all.push_back(each.name);
    return all;
}

bool CaseSchema::same_end(const Values& then) const {
    const Values now = values();
    const std::vector<std::string> ends = end_keys();
    return std::all_of(ends.begin(), ends.end(), [&](const std::string& name) {
        const std::string* before = value_in(then, name);
        return before != nullptr && *before == *value_in(now, name);
    });
}

void CaseSchema::expect_restart(const Values& then, const std::string& checkpoint) const {
    if (const std::vector<std::string> former = former_keys_in(then); !former.empty())
        throw Error("the checkpoint is of a former version, whose cases had other keys")
            .at(file_)
            .given(fmt::format("{} in the checkpoint {}", fmt::join(former, ", "), checkpoint))
            .allowed("a checkpoint of a case in its present form")
            .remedy("start anew, without --restart, or end that run with the version that began it");
    const Values now = values();
    std::vector<std::string> differ, may_change;
    const Entry* first = nullptr;
    std::string first_name;
    const auto note = [&](const std::string& name, const Entry* of, const std::string& here,
                          const std::string& before) {
        if (differ.empty()) first = of, first_name = name;
        const std::string line = of != nullptr && of->line > 0 ? fmt::format(" (line {})", of->line) : "";
        differ.push_back(fmt::format("{}{} is {}, in the checkpoint {}", spelled(name), line, here, before));
    };
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& each = entries_[i];
        if (restart_of(each) != Restart::same) {
            may_change.push_back(spelled(each.name));
            continue;
        }
        const std::string* before = value_in(then, each.name);
        const std::string& here = now[i].second;
        // A version of Strata that did not know the key did what its default says.
        if (before != nullptr ? *before != here : each.about.required || here != each.default_text)
            note(each.name, &each, here, before == nullptr ? "not there" : *before);
    }
    for (const auto& [name, before] : then)
        if (entry(name) == nullptr) note(name, nullptr, "not there", before);
    if (differ.empty()) return;
    const std::size_t all = differ.size();
    if (all > kShown) differ.resize(kShown), differ.push_back(fmt::format("and {} more", all - kShown));
    Error error("the checkpoint is of another case: its state depends on keys that differ");
    error.at(file_, first == nullptr ? 0 : first->line, spelled(first_name));
    error.given(fmt::format("{}; the checkpoint is {}", fmt::join(differ, "; "), checkpoint));
    error.allowed(
        fmt::format("the checkpoint's values; a restart may change {} alone", fmt::join(may_change, ", ")));
    throw error.remedy("give these keys the checkpoint's values, or start anew, without --restart" +
                       (instead_of_restart_.empty() ? "" : "; " + instead_of_restart_));
}

}  // namespace strata::graph
