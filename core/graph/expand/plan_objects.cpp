// Objects go to the new owners of their patches.
#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

namespace {

using Bytes = std::vector<std::byte>;

/// [member] -> the bytes for it, from each member: its bytes for this one. Through shared memory where all
/// are on one node.
std::vector<Bytes> exchange(const Members& members, std::uint64_t serial, const std::vector<Bytes>& to) {
    if (members.messages != nullptr) return members.messages->exchange(to);
    const auto name = [&](int process) { return fmt::format("graph.{}.objects.{}", serial, process); };
    std::vector<std::size_t> ends{0};
    for (const Bytes& each : to) ends.push_back(ends.back() + each.size());
    const std::size_t table = ends.size() * sizeof(std::size_t);
    const SharedMemory mine(members, name(members.rank), table + ends.back());
    std::memcpy(mine.data(), ends.data(), table);
    for (std::size_t i = 0; i < to.size(); ++i)
        if (!to[i].empty()) std::memcpy(mine.data() + table + ends[i], to[i].data(), to[i].size());
    members.meet();
    std::vector<Bytes> from;
    for (int process = 0; process < members.size; ++process) {
        const std::byte* theirs =
            process == members.rank ? mine.data() : SharedMemory::of_other(members, name(process));
        const auto* part = reinterpret_cast<const std::size_t*>(theirs) + members.rank;
        from.emplace_back(theirs + table + part[0], theirs + table + part[1]);
    }
    members.meet();  // nobody frees what others read
    return from;
}

/// Calls each(storage, patch, owner before, owner now) for all objects that live from step to step.
template <class Each>
void each_kept(const Plan& old, const Plan& plan, Each each) {
    for (const StorageId s : plan.resolved().storages.ids()) {
        if (!plan.resolved().storages[s].kept || !plan.memory().objects().is_object(s)) continue;
        const FamilyId f =
            number_of(plan.graph(), *label_of(plan.graph(), plan.resolved().storages[s]).family);
        const std::vector<int>&before = old.assignment().owner[f], &now = plan.assignment().owner[f];
        for (std::size_t p = 0; p < now.size(); ++p)
            each(s, old.assignment().local[f][p], plan.assignment().local[f][p], before[p], now[p]);
    }
}

}  // namespace

void Plan::take_over_objects(const Plan& old, std::uint64_t serial) const {
    std::vector<Bytes> sent(static_cast<std::size_t>(members_.size));
    bool moved = false;
    each_kept(old, *this, [&](StorageId s, int local_before, int local_now, int before, int now) {
        moved = moved || before != now;
        if (before != members_.rank) return;
        if (now == before) {
            memory_.objects().take(s, local_now, old.memory_.objects(), s, local_before);
            memory_.objects().made(s, local_now) = old.memory_.objects().made(s, local_before);
            return;
        }
        const Bytes packed = old.memory_.objects().read(s, local_before);
        const std::size_t bytes = packed.size();
        Bytes& out = sent[static_cast<std::size_t>(now)];
        const auto* size = reinterpret_cast<const std::byte*>(&bytes);
        out.insert(out.end(), size, size + sizeof bytes);
        out.insert(out.end(), packed.begin(), packed.end());
    });
    if (!moved) return;  // all see the same owners
    const std::vector<Bytes> had = exchange(members_, serial, sent);
    std::vector<const std::byte*> next;
    for (const Bytes& from : had) next.push_back(from.data());
    each_kept(old, *this, [&](StorageId s, int, int local_now, int before, int now) {
        if (now != members_.rank || before == now) return;
        const std::byte*& in = next[static_cast<std::size_t>(before)];
        std::size_t bytes = 0;
        std::memcpy(&bytes, in, sizeof bytes);
        memory_.objects().write(s, local_now, {in + sizeof bytes, bytes});
        in += sizeof bytes + bytes;
    });
}

}  // namespace strata::graph
