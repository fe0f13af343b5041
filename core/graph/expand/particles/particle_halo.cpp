#include "core/graph/expand/particles/particle_halo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace strata::graph {

namespace {

std::string table_name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.particle halos.{}", serial, process);
}

}  // namespace

void HaloList::make_room(GrowingPool& pool, int domain, std::int64_t count, std::int64_t value,
                         int components) {
    if (count <= capacity && base != nullptr) return;
    // With room for a sixteenth more, and for a quarter where the first room did not suffice. Arrays are
    // whole lines, and a line apart.
    const std::int64_t lines = std::lcm(std::int64_t{64}, value);
    const std::int64_t each = ((count + count / (base == nullptr ? 16 : 4)) * value / lines + 2) * lines;
    const std::int64_t wanted = (each + lines) * components;
    std::byte* room = pool.take(static_cast<std::size_t>(wanted), domain);
    pool.give(base, static_cast<std::size_t>(bytes), domain);
    *this = {room, each / value, wanted, each + lines};
}

HaloLists::HaloLists(GrowingPool& pool) : pool_(pool) {}
HaloLists::~HaloLists() = default;

HaloList HaloLists::take(int domain, std::int64_t count, std::int64_t value, int components) {
    const std::int64_t lines = std::lcm(std::int64_t{64}, value);
    const std::int64_t least = ((count * value / lines + 1) * lines + lines) * components;
    HaloList list;
    {
        const std::scoped_lock guard(lock_);
        std::vector<HaloList>& free = free_[domain];
        auto best = free.end();
        for (auto each = free.begin(); each != free.end(); ++each) {
            const bool fits = each->bytes >= least, better = best != free.end() && best->bytes >= least;
            if (best == free.end() || (fits && (!better || each->bytes < best->bytes)) ||
                (!fits && !better && each->bytes > best->bytes))
                best = each;
        }
        if (best != free.end()) list = *best, *best = free.back(), free.pop_back();
    }
    if (list.bytes >= least) {
        const std::int64_t stride = list.bytes / components / lines * lines;
        return {list.base, (stride - lines) / value, list.bytes, stride};
    }
    list.capacity = 0;  // of values of another size, maybe
    list.make_room(pool_, domain, count, value, components);
    return list;
}

void HaloLists::give(const HaloList& list, int domain) {
    const std::scoped_lock guard(lock_);
    free_[domain].push_back(list);
}

ParticleHalos::ParticleHalos(const Graph& graph, const Resolved& resolved, const OwnPatches& patches,
                             const Members& members, std::uint64_t serial, GrowingPool& pool)
    : members_(members), serial_(serial), halos_(graph.particle_halos().size()), lists_(pool) {
    if (halos_ == 0) return;
    // Halos, then contributions: for each where it begins.
    std::vector<std::size_t> begins;
    std::size_t at = (halos_ + resolved.storages.size()) * sizeof(std::size_t), links = 0;
    std::vector<std::vector<std::size_t>> links_of;
    for (const ParticleHalo* halo : graph.particle_halos()) {
        const std::vector<int>& own = patches[number_of(graph, halo->source())];
        begins.push_back(at);
        at += own.size() * sizeof(HaloPatch);
        of_patches_.emplace_back(own.size());
        links_of.emplace_back();
        for (const int patch : own) links_of.back().push_back(halo->links(patch).size());
        links = std::accumulate(links_of.back().begin(), links_of.back().end(), links);
    }
    for (const Storage& storage : resolved.storages) {
        const LabelInfo& label = graph.labels()[storage.label];
        begins.push_back(at);
        if (storage.contributions && label.kind == Kind::particles)
            at += patches[number_of(graph, *label.family)].size() * sizeof(HaloList);
    }
    table_ = SharedMemory(members, table_name(serial, members.rank), at + links * sizeof(std::int64_t));
    std::copy(begins.begin(), begins.end(), table_.as<std::size_t>());
    auto* ends = reinterpret_cast<std::int64_t*>(table_.data() + at);
    for (std::size_t h = 0; h < halos_; ++h)
        for (std::size_t i = 0; i < links_of[h].size(); ++i) {
            patch(members.rank, HaloId(h), static_cast<int>(i)).ends = ends;
            ends += links_of[h][i];
        }
}

ParticlePatch& ParticleHalos::image(SetId set, int patch) { return images_[{set, patch}]; }

ParticleHalos::Back& ParticleHalos::back(StorageId storage, int patch) { return backs_[{storage, patch}]; }

HaloPatch& ParticleHalos::given(HaloId halo, int patch, std::size_t links) {
    Given& of = givens_[{halo, patch}];
    of.ends.resize(links);
    of.places.ends = of.ends.data();
    return of.places;
}

std::byte* ParticleHalos::table(int process) const {
    return process == members_.rank ? table_.data()
                                    : SharedMemory::of_other(members_, table_name(serial_, process));
}

HaloPatch& ParticleHalos::patch(int process, HaloId halo, int local) const {
    std::byte* all = table(process);
    const std::size_t begin = reinterpret_cast<const std::size_t*>(all)[halo.number()];
    return reinterpret_cast<HaloPatch*>(all + begin)[local];
}

HaloList& ParticleHalos::contributions(int process, StorageId storage, int local) const {
    std::byte* all = table(process);
    const auto number = halos_ + static_cast<std::size_t>(storage.number());
    return reinterpret_cast<HaloList*>(all + reinterpret_cast<const std::size_t*>(all)[number])[local];
}

}  // namespace strata::graph
