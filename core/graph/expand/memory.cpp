#include "core/graph/expand/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

constexpr std::size_t kLine = 64, kPage = 4096;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

/// Bytes from one component's array to the next: whole values and whole cache lines.
std::size_t component_bytes(std::size_t bytes, std::size_t value) {
    return rounded(bytes, std::lcm(kLine, value));
}

/// A part for each patch: for private windows.
Division one_by_one(const Grid& grid, const std::vector<int>& patches) {
    Division all;
    all.grid = &grid;
    all.patches = patches;
    for (std::uint32_t i = 0; i < patches.size(); ++i) {
        all.parts.push_back({grid.box(patches[i]), i, i + 1});
        all.by_number.push_back(i);
    }
    return all;
}

/// In all buffers and components.
void set_bits(const PatchArray& array, const Box& box, const LabelInfo& of, int buffers) {
    const auto value = static_cast<std::int64_t>(of.bytes);
    const std::size_t row = static_cast<std::size_t>(box.extent(0)) * of.bytes;
    for (int buffer = 0; buffer < buffers; ++buffer)
        for (int c = 0; c < of.components; ++c)
            for (int z = box.lo[2]; z < box.hi[2]; ++z)
                for (int y = box.lo[1]; y < box.hi[1]; ++y)
                    std::memset(array.origin + buffer * array.buffer_stride + c * array.component * value +
                                    distance(array, {box.lo[0], y, z}, of.bytes),
                                0xff, row);
}

std::string table_name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.arrays.{}", serial, process);
}

}  // namespace

Box all_values(const LabelInfo& of, int patch) {
    if (of.kind == Kind::field) return owned(of, patch);
    const std::int64_t count = of.entries(patch);
    if (count > std::numeric_limits<int>::max())
        throw Error(fmt::format("label '{}' has too many values on patch {} to be collected", of.name, patch))
            .given(fmt::format("{}", count))
            .allowed("below 2^31");
    return {{0, 0, 0}, {static_cast<int>(count), 1, 1}};
}

Memory::Memory(const Graph& graph, const Resolved& resolved, const Assignment& assignment,
               const Members& members, std::uint64_t serial)
    : members_(members),
      patches_(assignment.of(members.rank)),
      populations_(std::make_unique<Populations>(graph, resolved, patches_, members, serial)),
      objects_(std::make_unique<Objects>(graph, resolved, patches_)),
      halos_(std::make_unique<ParticleHalos>(graph, resolved, patches_, members, serial)) {
    lay_out_fields(graph, resolved);
    find_arrays(graph, resolved);
    const std::size_t all = std::accumulate(bytes_.begin(), bytes_.end(), std::size_t{0});
    pool_ = SharedMemory(members, fmt::format("graph.{}.values.{}", serial, members.rank), all);
    for (PatchArray& array : arrays_)
        array.origin = pool_.data() + reinterpret_cast<std::intptr_t>(array.origin);
    for (auto& blocks : block_arrays_)
        for (PatchArray& array : blocks)
            array.origin = pool_.data() + reinterpret_cast<std::intptr_t>(array.origin);
    place_objects();
    const std::vector<SumInPlace> in_place = sums_in_place(graph, resolved);
    lay_on_huge_pages(in_place);
    mark_missing(graph, resolved);
    for (const SumInPlace& sum : in_place) {
        const auto from = static_cast<std::ptrdiff_t>(first_array_[sum.windows]);
        const auto to = static_cast<std::ptrdiff_t>(first_array_[sum.result]);
        const FamilyId family = number_of(graph, *label_of(graph, resolved.storages[sum.result]).family);
        std::copy_n(arrays_.begin() + from, patches_[family].size(), arrays_.begin() + to);
    }
    publish(serial);
}

/// Where the system gives shared memory none by itself. Not the results of sums in place, which are never
/// touched.
void Memory::lay_on_huge_pages(const std::vector<SumInPlace>& in_place) {
    if (members_.arena == nullptr || !members_.beside_one_memory || team::why_no_huge_pages().empty()) return;
    std::byte* at = pool_.data();
    for (const StorageId s : bytes_.ids()) {
        if (std::none_of(in_place.begin(), in_place.end(),
                         [s](const SumInPlace& sum) { return sum.result == s; }))
            team::begin_on_huge_pages(at, bytes_[s]);
        at += bytes_[s];
    }
}

/// Ghosts of joined zones behind which there is no cell: all their bits are set, in all buffers. Nothing is
/// written there later: a storage is shared by labels of one grid, border and width only.
void Memory::mark_missing(const Graph& graph, const Resolved& resolved) {
    for (const StorageId s : layouts_.ids()) {
        const FieldLayout& layout = layouts_[s];
        if (layout.halo == Int3{} || resolved.storages[s].contributions || !layout.division->grid->joined())
            continue;
        for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
            const int zone = layout.division->zone_of(layout.division->parts[b]);
            const Box all = layout.grown(zone, layout.blocks[b].owned, layout.halo);
            for (const Box& none : layout.division->grid->missing_in(zone, all, layout.on, layout.border))
                set_bits(block_arrays_[s][b], none, label_of(graph, resolved.storages[s]),
                         resolved.storages[s].depth);
        }
    }
}

void Memory::lay_out_fields(const Graph& graph, const Resolved& resolved) {
    for (const FamilyId f : graph.families().ids()) {
        const auto* grid = dynamic_cast<const Grid*>(graph.families()[f].get());
        divisions_.push_back(grid == nullptr ? Division{} : divide(*grid, patches_[f]));
        single_.push_back(grid == nullptr ? Division{} : one_by_one(*grid, patches_[f]));
    }
    for (const Storage& storage : resolved.storages) {
        const LabelInfo& label = label_of(graph, storage);
        layouts_.emplace_back();
        if (label.kind != Kind::field || storage.onto != nullptr) continue;
        const FamilyId f = number_of(graph, *label.family);
        layouts_.back() = lay_out(storage.contributions || storage.apart ? single_[f] : divisions_[f],
                                  label.on, label.border, storage.ghosts, label.bytes);
    }
}

/// Offsets within the pool at first; the pool's address is added once it is known.
void Memory::find_arrays(const Graph& graph, const Resolved& resolved) {
    std::size_t at = 0;
    const auto here = [&](std::int64_t bytes = 0) {
        return reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(at) + bytes);
    };
    for (const StorageId s : resolved.storages.ids()) {
        const Storage& storage = resolved.storages[s];
        const LabelInfo& label = label_of(graph, storage);
        const auto depth = static_cast<std::size_t>(storage.depth);
        const auto components = static_cast<std::size_t>(label.components);
        const std::size_t begin = at;
        first_array_.push_back(arrays_.size());
        block_arrays_.emplace_back();
        if (label.kind == Kind::scalar) {
            arrays_.push_back({here(), 0, 0, 1, static_cast<std::int64_t>(kLine), label.components});
            at += depth * rounded(components * label.bytes, kLine);
            arrays_.back().buffer_stride =
                static_cast<std::int64_t>(rounded(components * label.bytes, kLine));
        } else if (storage.onto != nullptr) {
            for (const int patch : patches_[number_of(graph, storage.onto->target())]) {
                const Box window = storage.onto->window(patch, label.on);
                const auto volume = static_cast<std::size_t>(window.volume());
                const std::size_t each = component_bytes(volume * label.bytes, label.bytes);
                PatchArray array;
                array.y = window.extent(0), array.z = array.y * window.extent(1);
                array.component = static_cast<std::int64_t>(each / label.bytes);
                array.buffer_stride = static_cast<std::int64_t>(each * components);
                array.origin = here(-distance(array, window.lo, label.bytes));
                arrays_.push_back(array);
                at += depth * each * components;
            }
        } else if (label.kind == Kind::field) {
            const FieldLayout& layout = layouts_[s];
            for (const FieldBlock& block : layout.blocks) {
                const std::size_t each = component_bytes(static_cast<std::size_t>(block.bytes), label.bytes);
                const auto value = static_cast<std::int64_t>(label.bytes);
                PatchArray array;
                array.origin = here(block.offset({0, 0, 0}) * value);
                array.y = block.row, array.z = block.plane;
                array.component = static_cast<std::int64_t>(each / label.bytes);
                array.buffer_stride = static_cast<std::int64_t>(each * components);
                block_arrays_.back().push_back(array);
                at += depth * each * components;
            }
            for (const int patch : patches_[number_of(graph, *label.family)])
                arrays_.push_back(block_arrays_.back()[layout.division->find(patch).part]);
        } else if (label.kind == Kind::object) {
            arrays_.resize(arrays_.size() + patches_[number_of(graph, *label.family)].size(),
                           {.component = 1, .count = 1});
        } else if (label.kind == Kind::list) {
            for (const int patch : patches_[number_of(graph, *label.family)]) {
                const std::int64_t count = label.entries(patch);
                if (count < 0)
                    throw Error(
                        fmt::format("label '{}' cannot have that many values on patch {}", label.name, patch))
                        .given(fmt::format("{}", count))
                        .allowed("0 or more");
                const std::size_t each =
                    component_bytes(static_cast<std::size_t>(count) * label.bytes, label.bytes);
                PatchArray array{here(),
                                 0,
                                 0,
                                 static_cast<std::int64_t>(each / label.bytes),
                                 static_cast<std::int64_t>(each * components),
                                 count};
                arrays_.push_back(array);
                at += depth * each * components;
            }
        }
        at = rounded(at, kPage);
        bytes_.push_back(at - begin);
    }
}

/// They are not in the pool: addresses that mean something in this process alone.
void Memory::place_objects() {
    for (const StorageId s : first_array_.ids())
        for (int local = 0; local < objects_->count(s); ++local)
            arrays_[first_array_[s] + static_cast<std::size_t>(local)].origin = objects_->at(s, local);
}

/// A table for the others: the number of storages, the first array of each, the arrays.
void Memory::publish(std::uint64_t serial) {
    if (members_.size == 1) return;
    const std::size_t n = first_array_.size();
    table_ = SharedMemory(members_, table_name(serial, members_.rank),
                          (n + 1) * sizeof(std::uint64_t) + arrays_.size() * sizeof(PatchArray));
    auto* numbers = table_.as<std::uint64_t>();
    numbers[0] = n;
    std::copy(first_array_.begin(), first_array_.end(), numbers + 1);
    if (!arrays_.empty()) std::memcpy(numbers + n + 1, arrays_.data(), arrays_.size() * sizeof(PatchArray));
    members_.meet();
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        tables_.push_back(SharedMemory::of_other(members_, table_name(serial, process)));
}

const PatchArray& Memory::of(int process, StorageId storage, int local) const {
    if (process == members_.rank) return own(storage, local);
    const auto* numbers =
        reinterpret_cast<const std::uint64_t*>(tables_[static_cast<std::size_t>(process - members_.first())]);
    const auto* arrays = reinterpret_cast<const PatchArray*>(numbers + numbers[0] + 1);
    return arrays[numbers[1 + storage.number()] + static_cast<std::uint64_t>(local)];
}

}  // namespace strata::graph
