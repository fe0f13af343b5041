#include "core/run/profile/counting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "core/base/error.hpp"
#include "core/run/profile/hardware.hpp"
#include "core/run/profile/record.hpp"
#include "core/run/profile/simulated.hpp"
#include "core/team/seats.hpp"

namespace strata::graph {

CountersWish read_counters_wish(const std::string& word) {
    const std::string prefix = "hardware=";
    CountersWish wish;
    wish.simulated = word == "simulated";
    if (wish.simulated || word == "hardware") return wish;
    std::size_t from = prefix.size();
    if (word.compare(0, from, prefix) == 0) {
        while (from <= word.size()) {
            const std::size_t comma = std::min(word.find(',', from), word.size());
            if (comma > from) wish.events.push_back(word.substr(from, comma - from));
            from = comma + 1;
        }
        if (!wish.events.empty()) return wish;
    }
    throw Error("how is to be counted?")
        .given("--counters " + word)
        .allowed("hardware, hardware=EVENT,EVENT (names of PAPI's), or simulated");
}

void Counts::merge(const Counts& other) {
    if (other.mode.empty()) return;
    if (mode.empty()) {
        *this = other;
        return;
    }
    if (mode != other.mode || events != other.events)
        throw Error("processes counted different events", kFailure)
            .given(fmt::format("{} ({}) and {} ({})", fmt::join(events, ", "), mode,
                               fmt::join(other.events, ", "), other.mode))
            .remedy("--counters hardware=EVENT,EVENT with events that all nodes have");
    for (const Row& from_row : other.rows) {
        auto to = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
            return row.kind == from_row.kind && row.name == from_row.name;
        });
        if (to == rows.end()) {
            rows.push_back(from_row);
            continue;
        }
        to->calls += from_row.calls;
        to->values += from_row.values;
        for (std::size_t e = 0; e < events.size(); ++e) to->events[e] += from_row.events[e];
    }
    for (std::size_t e = 0; e < events.size(); ++e) runtime[e] += other.runtime[e];
}

std::vector<Counts::Row> Counts::sorted() const {
    std::vector<Row> all = rows;
    std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
        const bool runs_a = a.kind != OpKind::task, runs_b = b.kind != OpKind::task;
        if (runs_a != runs_b) return runs_b;
        if (!a.events.empty() && a.events[0] != b.events[0]) return a.events[0] > b.events[0];
        return a.name < b.name;
    });
    return all;
}

Counting::Counting(std::size_t events) : events_(events) {}
Counting::~Counting() = default;

void Counting::follow(const Program& program, int threads) {
    slot_of_.clear();
    values_of_.clear();
    for (const Op& op : program.ops) {
        const auto next = static_cast<std::uint32_t>(slots_.size());
        slot_of_.push_back(slots_.try_emplace({op.kind, program.names.at(op.name)}, next).first->second);
        values_of_.push_back(program.work_of(op).values);
    }
    allow(slots_.size());
    while (tallies_.size() < static_cast<std::size_t>(threads)) tallies_.push_back(std::make_unique<Tally>());
    for (const auto& tally : tallies_) {
        tally->calls.resize(slots_.size());
        tally->readings.resize(slots_.size());
        tally->values.resize(slots_.size());
        tally->events.resize(slots_.size() * events_);
        tally->all.resize(events_);
    }
}

std::vector<Counts::Row> Counting::rows() const {
    std::vector<Counts::Row> all(slots_.size());
    for (const auto& [key, slot] : slots_) {
        Counts::Row& row = all[slot];
        row.kind = key.first;
        row.name = key.second;
        row.events.resize(events_);
        for (const auto& tally : tallies_) {
            row.calls += tally->calls[slot];
            row.values += tally->values[slot];
        }
    }
    return all;
}

std::unique_ptr<Counting> make_counting(const CountersWish& wish) {
    return wish.simulated ? make_simulated_counting() : make_hardware_counting(wish.events);
}

void prepare_counting(const CountersWish& wish, bool simulable, const std::vector<std::string>& arguments) {
    if (!wish.simulated) {
        static_cast<void>(make_counting(wish));
        return;
    }
    if (is_simulated()) return;
    check_simulation(simulable);
    const bool member =
        std::getenv(team::kSeatVariable) != nullptr || std::getenv(team::kRankVariable) != nullptr;
    if (member) start_simulation(simulable, arguments);
}

std::string counts_table(const Counts& counts) {
    if (counts.mode.empty()) return "";
    std::size_t width = 24, event_width = 0;
    for (const Counts::Row& row : counts.rows) width = std::max(width, row.name.size() + 12);
    for (const std::string& event : counts.events) event_width = std::max(event_width, event.size());
    const auto number = [](double value) {
        return value < 1e6 && value == static_cast<double>(static_cast<std::int64_t>(value))
                   ? fmt::format("{:.0f}", value)
                   : fmt::format("{:.4g}", value);
    };
    std::string text =
        fmt::format("counts {} by {}\n{:<{}} {:>10} {:<{}} {:>12} {:>12} {:>12}\n", counts.mode, counts.from,
                    "task", width, "calls", "event", event_width, "all calls", "a call", "a cell");
    const auto add = [&](const std::string& name, const Counts::Row& row, bool called) {
        for (std::size_t e = 0; e < counts.events.size(); ++e) {
            const double value = row.events[e];
            text += fmt::format("{:<{}} {:>10} {:<{}} {:>12} {:>12} {:>12}", e == 0 ? name : "", width,
                                e == 0 && called ? fmt::format("{}", row.calls) : "", counts.events[e],
                                event_width, number(value),
                                row.calls > 0 ? number(value / static_cast<double>(row.calls)) : "",
                                row.values > 0 ? number(value / row.values) : "");
            while (text.back() == ' ') text.pop_back();
            text += '\n';
        }
    };
    std::map<OpKind, Counts::Row> runtime;  // by kind; result.json has each operation
    for (const Counts::Row& row : counts.sorted()) {
        if (row.kind == OpKind::task) {
            add(row.name, row, true);
            continue;
        }
        Counts::Row& sum = runtime[row.kind];
        sum.calls += row.calls;
        sum.events.resize(counts.events.size());
        for (std::size_t e = 0; e < counts.events.size(); ++e) sum.events[e] += row.events[e];
    }
    for (const auto& [kind, row] : runtime) add(fmt::format("({})", name_of(kind)), row, true);
    Counts::Row between;
    between.events = counts.runtime;
    add("(waiting, scheduling)", between, false);
    return text;
}

}  // namespace strata::graph
