// Relocation, second operation: takes in arrivals, and puts all particles of a patch in order.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "core/graph/expand/particles/relocate.hpp"

namespace strata::graph {

namespace {

/// One that stays (its place here) or comes (stayers' places, then the number among those that come).
struct Entry {
    std::int64_t id;
    std::uint32_t at;
};
/// Of each thread, for as long as it lives: no allocation once numbers have settled.
struct Room {
    std::vector<Arrival> arrivals;
    std::vector<std::uint32_t> next;  // [cell]
    std::vector<Entry> entries;
    std::vector<std::uint32_t> order;
};

Room& room() {
    static thread_local Room mine;
    return mine;
}

/// Cells with more are sorted by a method for many.
constexpr std::uint32_t kFew = 24;

class Arrive {
  public:
    Arrive(ArriveCall& call, Worker& worker)
        : call_(call),
          of_(*call.of),
          own_(*call.own),
          here_(*own_.here),
          room_(room()),
          turn_(worker.epoch(of_.scope) & 1U) {}

    void go() {
        room_.arrivals.clear();
        call_.collect(turn_, room_.arrivals);
        const std::int64_t stay = here_.count - own_.gone;
        const std::int64_t count = stay + static_cast<std::int64_t>(room_.arrivals.size());
        if (count > INT32_MAX) throw call_.too_many(count);
        sort(static_cast<std::size_t>(count));
        here_.ordered = of_.movers_named;
        if (count == here_.count && room_.arrivals.empty() && own_.gone == 0 && in_order()) return;
        const ParticleArrays sorted = of_.all->another(of_.set->id, here_, count);
        for (const ParticleColumn& column : of_.moved) move(column, sorted, count);
        of_.all->replace(of_.set->id, here_, sorted, count);
    }

  private:
    /// By cell, by counting; within a cell by id.
    void sort(std::size_t count) {
        const auto cells = static_cast<std::size_t>(own_.box.volume());
        std::vector<std::uint32_t>& next = room_.next;
        next.assign(cells + 1, 0);
        const auto before = static_cast<std::size_t>(here_.count);
        const std::uint32_t* keys = own_.keys.data();
        for (std::size_t i = 0; i < before; ++i)
            if (keys[i] != LeaveCall::kGone) ++next[keys[i] + 1];
        for (const Arrival& each : room_.arrivals) ++next[each.key + 1];
        for (std::size_t c = 1; c <= cells; ++c) next[c] += next[c - 1];
        if (room_.entries.size() < count) room_.entries.resize(count + count / 4);
        Entry* entries = room_.entries.data();
        const auto* ids = reinterpret_cast<const std::int64_t*>(of_.id.at(here_.now));
        for (std::size_t i = 0; i < before; ++i)
            if (keys[i] != LeaveCall::kGone)
                entries[next[keys[i]]++] = {ids[i], static_cast<std::uint32_t>(i)};
        auto number = static_cast<std::uint32_t>(before);
        for (const Arrival& each : room_.arrivals) entries[next[each.key]++] = {each.id, number++};
        std::uint32_t first = 0;
        for (std::size_t c = 0; c < cells; ++c) {  // next[c] is now where the next cell begins
            sort_cell(entries + first, next[c] - first);
            first = next[c];
        }
    }
    void sort_cell(Entry* entries, std::uint32_t count) const {
        if (count > kFew) {
            if (!std::is_sorted(entries, entries + count, by_id)) std::sort(entries, entries + count, by_id);
        } else {
            for (std::uint32_t i = 1; i < count; ++i) {
                const Entry one = entries[i];
                std::uint32_t j = i;
                for (; j > 0 && entries[j - 1].id > one.id; --j) entries[j] = entries[j - 1];
                entries[j] = one;
            }
        }
        for (std::uint32_t i = 1; i < count; ++i)
            if (entries[i].id == entries[i - 1].id) throw call_.twice(entries[i].id);
    }
    static bool by_id(const Entry& a, const Entry& b) { return a.id < b.id; }
    [[nodiscard]] bool in_order() const {
        for (std::int64_t i = 0; i < here_.count; ++i)
            if (room_.entries[static_cast<std::size_t>(i)].at != i) return false;
        return true;
    }

    void list_order(std::int64_t count) {
        const auto before = static_cast<std::uint32_t>(here_.count);
        if (room_.order.size() < static_cast<std::size_t>(count))
            room_.order.resize(static_cast<std::size_t>(count + count / 4));
        for (std::int64_t i = 0; i < count; ++i) {
            const std::uint32_t at = room_.entries[static_cast<std::size_t>(i)].at;
            const bool comes = at >= before;
            room_.order[static_cast<std::size_t>(i)] = comes ? 0 : at;
            if (comes) room_.arrivals[at - before].to = static_cast<std::uint32_t>(i);
        }
        listed_ = true;
    }

    void move(const ParticleColumn& column, const ParticleArrays& sorted, std::int64_t count) {
        if (!listed_) list_order(count);
        for (int c = 0; c < column.components; ++c) {
            const std::byte* from = column.at(here_.now) + c * column.stride(here_.now);
            std::byte* to = column.at(sorted) + c * column.stride(sorted);
            if (column.bytes == 8)
                gather<std::uint64_t>(from, to, count);
            else if (column.bytes == 4)
                gather<std::uint32_t>(from, to, count);
            else if (here_.count > 0)
                for (std::int64_t i = 0; i < count; ++i)
                    std::memcpy(to + i * column.bytes,
                                from + room_.order[static_cast<std::size_t>(i)] * column.bytes,
                                static_cast<std::size_t>(column.bytes));
            for (const Arrival& each : room_.arrivals)
                std::memcpy(to + each.to * column.bytes,
                            column.at(*each.from) + c * column.stride(*each.from) + each.at * column.bytes,
                            static_cast<std::size_t>(column.bytes));
        }
    }
    /// Arrivals get the first one's value, until theirs is put in place.
    template <class T>
    void gather(const std::byte* from, std::byte* to, std::int64_t count) const {
        if (here_.count == 0) return;
        const T* source = reinterpret_cast<const T*>(from);
        T* target = reinterpret_cast<T*>(to);
        const std::uint32_t* order = room_.order.data();
        for (std::int64_t i = 0; i < count; ++i) target[i] = source[order[i]];
    }

    ArriveCall& call_;
    const SetRelocation& of_;
    LeaveCall& own_;
    ParticlePatch& here_;
    Room& room_;
    std::uint32_t turn_;
    bool listed_ = false;
};

}  // namespace

void ArriveCall::collect(std::uint32_t buffer, std::vector<Arrival>& arrivals) const {
    const ParticleColumn& position = of->position;
    const Box& box = own->box;
    const auto add = [&](const ParticleArrays& from, std::int32_t at) {
        std::int64_t key = 0;
        for (int c = of->cells.directions - 1; c >= 0; --c) {
            const std::byte* values = position.at(from) + c * position.stride(from);
            const double x = position.bytes == sizeof(double)
                                 ? reinterpret_cast<const double*>(values)[at]
                                 : static_cast<double>(reinterpret_cast<const float*>(values)[at]);
            const auto a = static_cast<std::size_t>(c);
            key = key * box.extent(c) + static_cast<std::int64_t>(of->cells.of(a, x)) - box.lo[a];
        }
        const std::int64_t id = reinterpret_cast<const std::int64_t*>(of->id.at(from))[at];
        arrivals.push_back({&from, id, at, static_cast<std::uint32_t>(key), 0});
    };
    const int patch = own->patch;
    for (const PatchLeavers* each : from) {
        const PatchLeavers& there = each[buffer];
        if (there.count == 0) continue;
        const Leaver *begin = there.leavers, *end = begin + there.count;
        const Leaver* next =
            std::lower_bound(begin, end, patch, [](const Leaver& a, int to) { return a.to < to; });
        for (; next != end && next->to == patch; ++next) add(there.from, next->at);
    }
    for (const ProcessLeavers* each : all) {
        const ProcessLeavers& there = each[buffer];
        const ProcessLeavers::Entry *begin = there.entries, *end = begin + there.count;
        const ProcessLeavers::Entry* next = std::lower_bound(
            begin, end, patch, [](const ProcessLeavers::Entry& a, int to) { return a.to < to; });
        for (; next != end && next->to == patch; ++next)
            for (std::int64_t i = next->first; i < next->first + next->count; ++i)
                add(next->from->from, next->from->leavers[i].at);
    }
}

Error ArriveCall::too_many(std::int64_t count) const {
    return Error(fmt::format("patch {} of '{}' cannot have so many particles", own->patch,
                             of->set->grid->name()),
                 kFailure)
        .given(fmt::format("{}", count))
        .allowed(fmt::format("at most {}", INT32_MAX));
}

Error ArriveCall::twice(std::int64_t id) const {
    return Error(fmt::format("two particles of '{}' on patch {} of '{}' have one number", of->set->name,
                             own->patch, of->set->grid->name()),
                 kFailure)
        .given(fmt::format("'{}.id' = {}, twice in one cell", of->set->name, id))
        .remedy("give each particle a number of its own when it is created");
}

Outcome ArriveCall::go(void* what, Worker& worker) {
    auto& call = *static_cast<ArriveCall*>(what);
    if (call.own->listed)
        call.merge(worker.epoch(call.of->scope) & 1U);
    else
        Arrive(call, worker).go();
    return Outcome::done;
}

}  // namespace strata::graph
