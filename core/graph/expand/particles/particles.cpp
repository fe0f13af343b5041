#include "core/graph/expand/particles/particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"
#include "core/graph/expand/assign/home.hpp"

namespace strata::graph {

namespace {

constexpr std::size_t kLine = 64, kLeastSlab = std::size_t{4} << 20;

/// Sixteen sizes for each power of two, in whole lines: pieces that are given back fit others.
std::size_t size_class(std::size_t bytes) {
    bytes = std::max(bytes, kLine * 4);
    const std::size_t step = std::max(kLine, std::bit_floor(bytes) / 16);
    return (bytes + step - 1) / step * step;
}

/// With room for a sixteenth more, and for a quarter where the first room did not suffice: most numbers
/// hardly change, and those that grow do so again. In whole cache lines whatever the values; an odd number of
/// them, so that arrays are not powers of two apart.
std::int64_t capacity_for(std::int64_t count, bool first) {
    return ((count + count / (first ? 16 : 4)) / 64 | 1) * 64 + 64 * 2;
}

std::string heads_name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.populations.{}", serial, process);
}

std::size_t room_for_firsts(std::size_t sets) {
    return (sets * sizeof(std::uint64_t) + kLine - 1) / kLine * kLine;
}

}  // namespace

GrowingPool::GrowingPool(const Members& members, std::uint64_t serial) : members_(members), serial_(serial) {}
GrowingPool::~GrowingPool() = default;

std::byte* GrowingPool::take(std::size_t bytes, int domain) {
    const std::size_t size = size_class(bytes);
    const std::scoped_lock guard(lock_);
    std::vector<std::byte*>& free = free_[{domain, size}];
    if (!free.empty()) {
        std::byte* piece = free.back();
        free.pop_back();
        return piece;
    }
    Stretch& in = stretches_[domain];
    if (in.left < size) {  // twice as much each time: few slabs, whatever is needed in the end
        const std::size_t slab = std::max({size, kLeastSlab, in.total});
        slabs_.emplace_back(
            members_, fmt::format("graph.{}.growing.{}.{}", serial_, members_.rank, slabs_.size()), slab);
        in.next = slabs_.back().data();
        in.left = slab;
        in.total += slab;
    }
    std::byte* piece = in.next;
    in.next += size, in.left -= size;
    return piece;
}

void GrowingPool::give(std::byte* piece, std::size_t bytes, int domain) noexcept {
    if (piece == nullptr) return;
    const std::scoped_lock guard(lock_);
    free_[{domain, size_class(bytes)}].push_back(piece);
}

std::size_t GrowingPool::bytes() const {
    const std::scoped_lock guard(lock_);
    std::size_t all = 0;
    for (const auto& [domain, stretch] : stretches_) all += stretch.total;
    return all;
}

Populations::Populations(const Graph& graph, const Resolved& resolved, const OwnPatches& patches,
                         const Members& members, std::uint64_t serial)
    : members_(members), serial_(serial), pool_(members, serial) {
    std::vector<std::uint64_t> first;
    std::size_t heads = 0;
    for (const ParticleSet& set : graph.particle_sets()) {
        sets_.push_back({number_of(graph, *set.grid), 0, 0, 0, 0});
        first.push_back(heads);
        const std::size_t own = patches[sets_.back().family].size();
        heads += own;
        moved_.emplace_back(own);
    }
    if (!sets_.empty()) {
        heads_ = SharedMemory(members, heads_name(serial, members.rank),
                              room_for_firsts(sets_.size()) + heads * sizeof(ParticlePatch));
        std::copy(first.begin(), first.end(), heads_.as<std::uint64_t>());
        if (!members.domains.empty()) note_domains(graph, patches);
    }
    if (sets_.empty()) return;
    columns_.resize(resolved.storages.size());
    for (const ResolvedTask& task : resolved.tasks)
        if (task.what == ResolvedTask::What::relocate)
            for (const ResolvedUse& use : task.uses) columns_[use.storage].moves = true;
    for (const StorageId s : resolved.storages.ids()) {
        const Storage& storage = resolved.storages[s];
        const LabelInfo& label = graph.labels()[storage.label];
        if (label.kind != Kind::particles || storage.contributions) continue;
        ParticleColumn& column = columns_[s];
        // Kept labels move, also where no relocation takes part.
        column.moves = column.moves || storage.kept;
        column.set = label.particle_set;
        column.bytes = static_cast<std::int64_t>(label.bytes);
        column.components = label.components;
        column.pad = static_cast<std::int64_t>(std::lcm(kLine, label.bytes));
        Set& set = sets_[column.set];
        std::int64_t& bytes = column.moves ? set.moving : set.staying;
        std::int64_t& pads = column.moves ? set.moving_pads : set.staying_pads;
        column.before = bytes;
        column.padded = pads;
        bytes += column.bytes * column.components;
        pads += column.pad * column.components;
    }
}

void Populations::note_domains(const Graph& graph, const OwnPatches& patches) {
    for (const SetId s : sets_.ids()) {
        const FamilyId f = sets_[s].family;
        const std::vector<int> home =
            home_threads(*graph.families()[f], patches[f], static_cast<int>(members_.domains.size()));
        for (std::size_t i = 0; i < home.size(); ++i)
            own(s, static_cast<int>(i)).domain = members_.domains[static_cast<std::size_t>(home[i])];
    }
}

ParticlePatch& Populations::patch(std::byte* heads, SetId set, int local) const {
    const std::uint64_t first = reinterpret_cast<const std::uint64_t*>(heads)[set.number()];
    return reinterpret_cast<ParticlePatch*>(
        heads + room_for_firsts(sets_.size()))[first + static_cast<std::uint64_t>(local)];
}

const ParticlePatch& Populations::of(int process, SetId set, int local) const {
    if (process == members_.rank) return own(set, local);
    return patch(SharedMemory::of_other(members_, heads_name(serial_, process)), set, local);
}

std::vector<std::byte> Populations::read(StorageId storage, const ParticlePatch& patch) const {
    const ParticleColumn& column = this->column(storage);
    const ParticleArrays& arrays = column.arrays(patch);
    const auto length = static_cast<std::size_t>(patch.count * column.bytes);
    std::vector<std::byte> values(length * static_cast<std::size_t>(column.components));
    for (int c = 0; c < column.components && length > 0; ++c)
        std::memcpy(values.data() + static_cast<std::size_t>(c) * length,
                    column.at(arrays) + c * column.stride(arrays), length);
    return values;
}

void Populations::write(StorageId storage, ParticlePatch& patch, std::span<const std::byte> values) {
    const ParticleColumn& column = this->column(storage);
    const auto each = static_cast<std::size_t>(column.bytes * column.components);
    const auto count = static_cast<std::int64_t>(values.size() / each);
    if (values.size() % each != 0 || (patch.created && patch.count != count))
        throw Error("values of particles have another size than those of the other labels")
            .given(fmt::format("{} bytes", values.size()))
            .allowed(fmt::format("{} particles of {} bytes", patch.count, each));
    if (!patch.created) resize(column.set, patch, count);
    patch.ordered = false;
    const ParticleArrays& arrays = column.arrays(patch);
    const auto length = static_cast<std::size_t>(count * column.bytes);
    for (int c = 0; c < column.components && length > 0; ++c)
        std::memcpy(column.at(arrays) + c * column.stride(arrays),
                    values.data() + static_cast<std::size_t>(c) * length, length);
}

void Populations::take_over(StorageId storage, const ParticlePatch& from, ParticlePatch& to) {
    const ParticleColumn& column = this->column(storage);
    if (!to.created) resize(column.set, to, from.count);
    to.ordered = false;
    const ParticleArrays &source = column.arrays(from), &target = column.arrays(to);
    for (int c = 0; c < column.components && from.count > 0; ++c)
        std::memcpy(column.at(target) + c * column.stride(target),
                    column.at(source) + c * column.stride(source),
                    static_cast<std::size_t>(from.count * column.bytes));
}

void Populations::grow(ParticleArrays& arrays, std::int64_t count, std::int64_t bytes, std::int64_t pads,
                       int domain) {
    if (count <= arrays.capacity || bytes == 0) return;
    const auto size = [&](std::int64_t capacity) {
        return static_cast<std::size_t>(bytes * capacity + pads);
    };
    const std::int64_t capacity = capacity_for(count, arrays.capacity == 0);
    std::byte* base = pool_.take(size(capacity), domain);
    pool_.give(arrays.base, size(arrays.capacity), domain);
    arrays = {base, capacity};
}

void Populations::room(SetId set, ParticleArrays& arrays, std::int64_t count, int domain) {
    const Set& of = sets_[set];
    grow(arrays, count, of.moving, of.moving_pads, domain);
}

ParticleArrays Populations::another(SetId set, const ParticlePatch& patch, std::int64_t count) {
    const Set& of = sets_[set];
    std::int64_t capacity = patch.now.capacity;  // pieces of one size are used again and again
    if (count > capacity) capacity = capacity_for(count, capacity == 0);
    if (of.moving == 0 || capacity == 0) return {};
    return {pool_.take(static_cast<std::size_t>(of.moving * capacity + of.moving_pads), patch.domain),
            capacity};
}

void Populations::replace(SetId set, ParticlePatch& patch, ParticleArrays by, std::int64_t count) {
    const Set& of = sets_[set];
    pool_.give(patch.now.base, static_cast<std::size_t>(of.moving * patch.now.capacity + of.moving_pads),
               patch.domain);
    patch.now = by;
    keep(set, patch, count);
}

void Populations::keep(SetId set, ParticlePatch& patch, std::int64_t count) {
    const Set& of = sets_[set];
    grow(patch.scratch, count, of.staying, of.staying_pads, patch.domain);
    patch.count = count;
}

void Populations::resize(SetId set, ParticlePatch& patch, std::int64_t count) {
    const Set& of = sets_[set];
    grow(patch.now, count, of.moving, of.moving_pads, patch.domain);
    grow(patch.scratch, count, of.staying, of.staying_pads, patch.domain);
    patch.count = count;
    patch.created = true;
    patch.ordered = false;
}

void Populations::show(SetId set, ParticlePatch& image, std::int64_t count) {
    const std::scoped_lock guard(images_);
    if (!image.created || image.count != count) resize(set, image, count);
}

void Populations::create(const ParticleSet& set, int patch_number, ParticlePatch& patch, std::int64_t count) {
    const auto refuse = [&](const char* why) {
        return Error(fmt::format("particles '{}' on patch {} of '{}': {}", set.name, patch_number,
                                 set.grid->name(), why),
                     kFailure)
            .given(fmt::format("{} particles", count));
    };
    if (count < 0) throw refuse("a negative number is created").allowed("0 or more");
    if (count > INT32_MAX)
        throw refuse("one patch cannot have so many").allowed(fmt::format("at most {}", INT32_MAX));
    if (patch.created) throw refuse("they are created twice").remedy("call Here::create once for each patch");
    resize(set.id, patch, count);
}

}  // namespace strata::graph
