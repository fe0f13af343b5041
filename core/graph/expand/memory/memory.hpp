// The warehouse: memory for the versions of all labels, on the patches that one process has.
//
// Every storage of the resolved graph gets its memory once, from one allocation that all processes of the
// node can read: blocks of merged patches with a halo for fields (halo.hpp), an array for each patch for
// lists. Nothing is allocated or freed while steps run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/halos/halo.hpp"
#include "core/graph/expand/memory/copy.hpp"
#include "core/graph/expand/memory/objects.hpp"
#include "core/graph/expand/particles/particle_halo.hpp"
#include "core/graph/expand/particles/particles.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// The place of a storage's values on one patch: all that another process needs to read them.
struct PatchArray {
    std::byte* origin = nullptr;     // of index (0, 0, 0), or of the first value, in buffer 0
    std::int64_t y = 0, z = 0;       // in values: to the next row, the next plane
    std::int64_t component = 0;      // in values: to the next component
    std::int64_t buffer_stride = 0;  // in bytes: to the next buffer
    std::int64_t count = 0;          // values of a list
};

/// All values of a field or list on a patch, as a box: of a list along x, from 0 on. Throws Error where a
/// list has 2^31 values or more.
[[nodiscard]] Box all_values(const LabelInfo& of, int patch);

/// Bytes from the origin of an array to the value at some indices.
[[nodiscard]] inline std::int64_t distance(const PatchArray& array, const Int3& at, std::size_t bytes) {
    return (at[0] + at[1] * array.y + at[2] * array.z) * static_cast<std::int64_t>(bytes);
}
[[nodiscard]] inline Strides strides(const PatchArray& array, std::size_t bytes) {
    const auto b = static_cast<std::int64_t>(bytes);
    return {array.y * b, array.z * b, array.component * b};
}

/// A sum that is put together in the window of each patch itself: its values are the window's own ones.
struct SumInPlace {
    TaskId combine, maker;
    StorageId result, windows;
    std::vector<TaskId> users;  // tasks that read or change the sum, each on its own patch
};

class Memory {
  public:
    /// `serial`: tells this memory from others of the same processes. Collective over the members. Throws
    /// Error where memory does not suffice, with need and supply.
    Memory(const Graph& graph, const Resolved& resolved, const Assignment& assignment, const Members& members,
           std::uint64_t serial);

    /// Of a patch that this process has (by its number there), and of any patch of this node.
    [[nodiscard]] const PatchArray& own(StorageId storage, int local) const {
        const Place& of = places_[storage];
        const auto number = static_cast<std::size_t>(local);
        return arrays_[of.first_array + (of.by_block ? block_of_[of.by_block][number] : number)];
    }
    [[nodiscard]] const PatchArray& of(int process, StorageId storage, int local) const;

    /// Of a field.
    [[nodiscard]] const FieldLayout& layout(StorageId storage) const {
        return layouts_[places_[storage].layout];
    }
    [[nodiscard]] const Division& division(FamilyId family) const { return divisions_[family]; }
    [[nodiscard]] const OwnPatches& patches() const { return patches_; }
    /// Of a grid: the cells of each patch of this process, in their order.
    [[nodiscard]] const Box* cells(FamilyId family) const { return cells_[family].data(); }
    /// The array of a whole block of a field (indices as in the family).
    [[nodiscard]] const PatchArray& block(StorageId storage, std::size_t block) const {
        return arrays_[places_[storage].first_block + block];
    }
    /// The storages of particles, which are not among the above.
    [[nodiscard]] Populations& populations() const { return *populations_; }
    /// The objects of this process; own() has their addresses.
    [[nodiscard]] Objects& objects() const { return *objects_; }
    /// What patches see of the particles around them.
    [[nodiscard]] ParticleHalos& halos() const { return *halos_; }
    /// Bytes of everything but particles and objects, and of one storage, on this process.
    [[nodiscard]] std::size_t bytes() const { return pool_.size(); }
    [[nodiscard]] std::size_t bytes(StorageId storage) const { return places_[storage].bytes; }
    /// Of the tables in which other processes look up where values lie.
    [[nodiscard]] std::size_t table_bytes() const {
        return (table_.data() == nullptr ? 0 : table_.size()) + populations_->table_bytes();
    }

  private:
    void lay_out_fields(const Graph& graph, const Resolved& resolved);
    void find_arrays(const Graph& graph, const Resolved& resolved);
    void place_objects();
    void lay_on_huge_pages(const std::vector<SumInPlace>& in_place);
    void mark_missing(const Graph& graph, const Resolved& resolved);
    void publish(std::uint64_t serial);

    const Members& members_;
    OwnPatches patches_;
    std::unique_ptr<Populations> populations_;
    std::unique_ptr<Objects> objects_;
    std::unique_ptr<ParticleHalos> halos_;
    VectorBy<FamilyId, Division> divisions_;  // of grids
    VectorBy<FamilyId, Division> single_;     // a part for each patch
    std::vector<FieldLayout> layouts_;
    VectorBy<FamilyId, std::vector<Box>> cells_;               // [family][local]
    VectorBy<FamilyId, std::vector<std::uint32_t>> block_of_;  // [family][local]
    /// Where a storage's arrays begin: of fields one for each block, else for each patch. Those of a sum in
    /// place are the windows'.
    struct Place {
        static constexpr std::uint32_t kNoLayout = 0xffffffff;
        std::uint32_t first_array = 0, first_block = 0;
        std::uint32_t layout = kNoLayout;  // in layouts_
        FamilyId by_block;                 // of fields in blocks of several patches
        std::size_t bytes = 0;
    };
    VectorBy<StorageId, Place> places_;
    std::vector<PatchArray> arrays_;
    SharedMemory pool_, table_;
    std::vector<const std::byte*> tables_;  // [process of this node]
};

/// The sums to which one task contributes, and that are used on their own patches alone and within the round.
/// Then only values with contributions of other patches need to be touched. Depends on the graph only, not on
/// the layout.
[[nodiscard]] std::vector<SumInPlace> sums_in_place(const Graph& graph, const Resolved& resolved);

/// The label that gives a storage its shape.
[[nodiscard]] inline const LabelInfo& label_of(const Graph& graph, const Storage& storage) {
    return graph.labels()[storage.label];
}

/// The values of a field that a patch owns.
[[nodiscard]] inline Box owned(const LabelInfo& field, int patch) {
    return static_cast<const Grid&>(*field.family).owned(patch, field.on, field.border);
}
[[nodiscard]] inline Int3 extent_of(const Box& box) { return {box.extent(0), box.extent(1), box.extent(2)}; }

}  // namespace strata::graph
