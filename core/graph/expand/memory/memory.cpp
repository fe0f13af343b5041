#include "core/graph/expand/memory/memory.hpp"

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

/// Lays the arrays of one storage after the other out in the pool. Their origins are offsets within the pool.
class PoolArrays {
  public:
    explicit PoolArrays(std::vector<PatchArray>& arrays) : arrays_(arrays) {}

    /// The next arrays are of this label, in so many buffers.
    void begin(const LabelInfo& label, int buffers) {
        label_ = &label;
        buffers_ = static_cast<std::size_t>(buffers);
        components_ = static_cast<std::size_t>(label.components);
        begin_ = at_;
    }
    /// Bytes of these arrays. They fill whole pages.
    std::size_t end() {
        at_ = rounded(at_, kPage);
        return at_ - begin_;
    }

    void add_scalar() {
        const std::size_t each = rounded(components_ * label_->bytes, kLine);
        arrays_.push_back({here(), 0, 0, 1, static_cast<std::int64_t>(each), label_->components});
        at_ += buffers_ * each;
    }
    void add_window(const Box& window) {
        PatchArray array;
        array.y = window.extent(0), array.z = array.y * window.extent(1);
        add(array, static_cast<std::size_t>(window.volume()) * label_->bytes,
            -distance(array, window.lo, label_->bytes));
    }
    void add_block(const FieldBlock& block) {
        PatchArray array;
        array.y = block.row, array.z = block.plane;
        add(array, static_cast<std::size_t>(block.bytes),
            block.offset({0, 0, 0}) * static_cast<std::int64_t>(label_->bytes));
    }
    void add_list(int patch) {
        const std::int64_t count = label_->entries(patch);
        if (count < 0)
            throw Error(
                fmt::format("label '{}' cannot have that many values on patch {}", label_->name, patch))
                .given(fmt::format("{}", count))
                .allowed("0 or more");
        PatchArray array;
        array.count = count;
        add(array, static_cast<std::size_t>(count) * label_->bytes, 0);
    }

  private:
    /// `bytes`: of one component; `origin`: of the array in bytes, from its first value.
    void add(PatchArray array, std::size_t bytes, std::int64_t origin) {
        const std::size_t each = component_bytes(bytes, label_->bytes);
        array.origin = here(origin);
        array.component = static_cast<std::int64_t>(each / label_->bytes);
        array.buffer_stride = static_cast<std::int64_t>(each * components_);
        arrays_.push_back(array);
        at_ += buffers_ * each * components_;
    }
    [[nodiscard]] std::byte* here(std::int64_t bytes = 0) const {
        return reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(at_) + bytes);
    }

    std::vector<PatchArray>& arrays_;
    const LabelInfo* label_ = nullptr;
    std::size_t at_ = 0, begin_ = 0;
    std::size_t buffers_ = 0, components_ = 0;
};

std::string table_name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.arrays.{}", serial, process);
}

}  // namespace

Box all_values(const LabelInfo& of, int patch) {
    if (of.kind == Kind::field) return owned(of, patch);
    const std::int64_t count = of.entries(patch);
    if (count > std::numeric_limits<int>::max())
        throw Error(fmt::format("label '{}' has too many values on patch {} to be collected", of.name, patch))
            .given(fmt::format("{} values", count))
            .allowed("below 2^31")
            .remedy("smaller patches (grid.patch of a case)");
    return {{0, 0, 0}, {static_cast<int>(count), 1, 1}};
}

Memory::Memory(const Graph& graph, const Resolved& resolved, const Assignment& assignment,
               const Members& members, std::uint64_t serial)
    : members_(members),
      patches_(assignment.of(members.rank)),
      populations_(std::make_unique<Populations>(graph, resolved, patches_, members, serial)),
      objects_(std::make_unique<Objects>(graph, resolved, patches_)),
      halos_(
          std::make_unique<ParticleHalos>(graph, resolved, patches_, members, serial, populations_->pool())) {
    lay_out_fields(graph, resolved);
    find_arrays(graph, resolved);
    const std::size_t all = std::accumulate(places_.begin(), places_.end(), std::size_t{0},
                                            [](std::size_t sum, const Place& of) { return sum + of.bytes; });
    pool_ = SharedMemory(members, fmt::format("graph.{}.values.{}", serial, members.rank), all);
    for (PatchArray& array : arrays_)
        array.origin = pool_.data() + reinterpret_cast<std::intptr_t>(array.origin);
    arrays_.shrink_to_fit();
    place_objects();
    const std::vector<SumInPlace> in_place = sums_in_place(graph, resolved);
    lay_on_huge_pages(in_place);
    mark_missing(graph, resolved);
    for (const SumInPlace& sum : in_place) {
        places_[sum.result].first_array = places_[sum.windows].first_array;
        places_[sum.result].by_block = places_[sum.windows].by_block;
    }
    publish(serial);
}

/// Where the system gives shared memory none by itself. Not the results of sums in place, which are never
/// touched.
void Memory::lay_on_huge_pages(const std::vector<SumInPlace>& in_place) {
    if (members_.arena == nullptr || !members_.beside_one_memory || team::why_no_huge_pages().empty()) return;
    std::byte* at = pool_.data();
    for (const StorageId s : places_.ids()) {
        if (std::none_of(in_place.begin(), in_place.end(),
                         [s](const SumInPlace& sum) { return sum.result == s; }))
            team::begin_on_huge_pages(at, bytes(s));
        at += bytes(s);
    }
}

/// Ghosts of joined zones behind which there is no cell: all their bits are set, in all buffers. Nothing is
/// written there later: a storage is shared by labels of one grid, border and width only.
void Memory::mark_missing(const Graph& graph, const Resolved& resolved) {
    for (const StorageId s : places_.ids()) {
        if (places_[s].layout == Place::kNoLayout) continue;
        const FieldLayout& layout = this->layout(s);
        if (layout.halo == Int3{} || resolved.storages[s].contributions || !layout.division->grid->joined())
            continue;
        for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
            const int zone = layout.division->zone_of(layout.division->parts[b]);
            const Box all = layout.grown(zone, layout.blocks[b].owned, layout.halo);
            for (const Box& none : layout.division->grid->missing_in(zone, all, layout.on, layout.border))
                set_bits(block(s, b), none, label_of(graph, resolved.storages[s]),
                         resolved.storages[s].depth);
        }
    }
}

void Memory::lay_out_fields(const Graph& graph, const Resolved& resolved) {
    divisions_.reserve(graph.families().size()), single_.reserve(graph.families().size());
    block_of_.reserve(graph.families().size()), places_.resize(resolved.storages.size());
    for (const FamilyId f : graph.families().ids()) {
        const auto* grid = dynamic_cast<const Grid*>(graph.families()[f].get());
        divisions_.push_back(grid == nullptr ? Division{} : divide(*grid, patches_[f]));
        const bool apart =
            std::any_of(resolved.storages.begin(), resolved.storages.end(), [&](const Storage& storage) {
                const LabelInfo& label = label_of(graph, storage);
                return (storage.contributions || storage.apart) && label.kind == Kind::field &&
                       label.family == graph.families()[f].get();
            });
        single_.push_back(grid == nullptr || !apart ? Division{} : one_by_one(*grid, patches_[f]));
        cells_.emplace_back();
        block_of_.emplace_back();
        if (grid == nullptr) continue;
        cells_.back().reserve(patches_[f].size()), block_of_.back().reserve(patches_[f].size());
        for (const int patch : patches_[f]) {
            cells_.back().push_back(grid->box(patch));
            block_of_.back().push_back(divisions_.back().find(patch).part);
        }
    }
    for (const StorageId s : places_.ids()) {
        const Storage& storage = resolved.storages[s];
        const LabelInfo& label = label_of(graph, storage);
        if (label.kind != Kind::field || storage.onto != nullptr) continue;
        const FamilyId f = number_of(graph, *label.family);
        places_[s].layout = static_cast<std::uint32_t>(layouts_.size());
        layouts_.push_back(lay_out(storage.contributions || storage.apart ? single_[f] : divisions_[f],
                                   label.on, label.border, storage.ghosts, label.bytes));
    }
    layouts_.shrink_to_fit();
}

/// Offsets within the pool at first; the pool's address is added once it is known.
void Memory::find_arrays(const Graph& graph, const Resolved& resolved) {
    PoolArrays pool(arrays_);
    for (const StorageId s : resolved.storages.ids()) {
        const Storage& storage = resolved.storages[s];
        const LabelInfo& label = label_of(graph, storage);
        Place& place = places_[s];
        place.first_array = place.first_block = static_cast<std::uint32_t>(arrays_.size());
        pool.begin(label, storage.depth);
        if (label.kind == Kind::scalar) {
            pool.add_scalar();
        } else if (storage.onto != nullptr) {
            for (const int patch : patches_[number_of(graph, storage.onto->target())])
                pool.add_window(storage.onto->window(patch, label.on));
        } else if (label.kind == Kind::field) {
            for (const FieldBlock& block : layout(s).blocks) pool.add_block(block);
            // One by one, blocks are in the order of patches.
            if (!storage.contributions && !storage.apart) place.by_block = number_of(graph, *label.family);
        } else if (label.kind == Kind::object) {
            arrays_.resize(arrays_.size() + patches_[number_of(graph, *label.family)].size(),
                           {.component = 1, .count = 1});
        } else if (label.kind == Kind::list) {
            for (const int patch : patches_[number_of(graph, *label.family)]) pool.add_list(patch);
        }
        place.bytes = pool.end();
    }
    if (constexpr std::size_t few = 1 << 12; arrays_.size() < few) arrays_.shrink_to_fit();
}

/// They are not in the pool: addresses that mean something in this process alone.
void Memory::place_objects() {
    for (const StorageId s : places_.ids())
        for (int local = 0; local < objects_->count(s); ++local)
            arrays_[places_[s].first_array + static_cast<std::size_t>(local)].origin = objects_->at(s, local);
}

namespace {

/// The table of a process's arrays: where they are to be found by storage and patch; then all arrays, then
/// the blocks of patches.
struct TableEntry {
    std::uint64_t first = 0;   // byte in the table of the storage's first array
    std::uint64_t blocks = 0;  // the same of the blocks of its family's patches; 0: an array for each patch
};

}  // namespace

void Memory::publish(std::uint64_t serial) {
    if (members_.size == 1) return;
    const std::size_t arrays = places_.size() * sizeof(TableEntry);
    std::size_t bytes = arrays + arrays_.size() * sizeof(PatchArray);
    VectorBy<FamilyId, std::size_t> blocks;
    for (const auto& of : block_of_) {
        blocks.push_back(bytes);
        bytes += of.size() * sizeof(of[0]);
    }
    table_ = SharedMemory(members_, table_name(serial, members_.rank), bytes);
    auto* entry = table_.as<TableEntry>();
    for (const Place& of : places_)
        *entry++ = {arrays + of.first_array * sizeof(PatchArray), of.by_block ? blocks[of.by_block] : 0};
    std::copy(arrays_.begin(), arrays_.end(), reinterpret_cast<PatchArray*>(table_.data() + arrays));
    for (const FamilyId f : block_of_.ids())
        std::copy(block_of_[f].begin(), block_of_[f].end(),
                  reinterpret_cast<std::uint32_t*>(table_.data() + blocks[f]));
    members_.meet();
    for (int process = members_.first(); process < members_.first() + members_.on_node(); ++process)
        tables_.push_back(SharedMemory::of_other(members_, table_name(serial, process)));
}

const PatchArray& Memory::of(int process, StorageId storage, int local) const {
    if (process == members_.rank) return own(storage, local);
    const std::byte* table = tables_[static_cast<std::size_t>(process - members_.first())];
    const TableEntry& entry = reinterpret_cast<const TableEntry*>(table)[storage.number()];
    const auto* blocks = reinterpret_cast<const std::uint32_t*>(table + entry.blocks);
    return reinterpret_cast<const PatchArray*>(
        table + entry.first)[entry.blocks == 0 ? static_cast<std::uint32_t>(local) : blocks[local]];
}

}  // namespace strata::graph
