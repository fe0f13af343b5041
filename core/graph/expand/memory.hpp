// The warehouse: where the versions of all labels lie, for the patches that one process has.
//
// Every storage of the resolved graph gets its memory once, from one allocation that all processes of the
// node can read: blocks of merged patches with a halo for fields (halo.hpp), an array for each patch for
// lists. Nothing is allocated or freed while steps run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/expand/assignment.hpp"
#include "core/graph/expand/halo.hpp"
#include "core/graph/expand/members.hpp"
#include "core/graph/expand/particles.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// Where the values of a storage lie for one patch: all that another process needs to read them.
struct PatchArray {
    std::byte* origin = nullptr;     // of index (0, 0, 0), or of the first value, in buffer 0
    std::int64_t y = 0, z = 0;       // in values: to the next row, the next plane
    std::int64_t component = 0;      // in values: to the next component
    std::int64_t buffer_stride = 0;  // in bytes: to the next buffer
    std::int64_t count = 0;          // values of a list
};

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
        return arrays_[first_array_[storage] + static_cast<std::size_t>(local)];
    }
    [[nodiscard]] const PatchArray& of(int process, StorageId storage, int local) const;

    [[nodiscard]] const FieldLayout& layout(StorageId storage) const { return layouts_[storage]; }
    [[nodiscard]] const Division& division(FamilyId family) const { return divisions_[family]; }
    [[nodiscard]] const OwnPatches& patches() const { return patches_; }
    /// The array of a whole block of a field (indices as in the family).
    [[nodiscard]] const PatchArray& block(StorageId storage, std::size_t block) const {
        return block_arrays_[storage][block];
    }
    /// The storages of particles, which the above know nothing of.
    [[nodiscard]] Populations& populations() const { return *populations_; }
    /// Bytes of everything but particles, and of one storage, on this process.
    [[nodiscard]] std::size_t bytes() const { return pool_.size(); }
    [[nodiscard]] std::size_t bytes(StorageId storage) const { return bytes_[storage]; }

  private:
    void lay_out_fields(const Graph& graph, const Resolved& resolved);
    void find_arrays(const Graph& graph, const Resolved& resolved);
    void lay_on_huge_pages(const std::vector<SumInPlace>& in_place);
    void publish(std::uint64_t serial);

    const Members& members_;
    OwnPatches patches_;
    std::unique_ptr<Populations> populations_;
    VectorBy<FamilyId, Division> divisions_;  // of grids
    VectorBy<FamilyId, Division> single_;     // a part for each patch
    VectorBy<StorageId, FieldLayout> layouts_;
    VectorBy<StorageId, std::vector<PatchArray>> block_arrays_;  // [storage][block]
    VectorBy<StorageId, std::size_t> first_array_, bytes_;
    std::vector<PatchArray> arrays_;
    SharedMemory pool_, table_;
    std::vector<const std::byte*> tables_;  // [process of this node]
};

/// Where one task contributes, and the sum is used on its own patches alone and within the round: then only
/// what comes from other patches needs to be touched. A function of the graph, whatever the layout.
[[nodiscard]] std::vector<SumInPlace> sums_in_place(const Graph& graph, const Resolved& resolved);

/// The label whose shape a storage has.
[[nodiscard]] inline const LabelInfo& label_of(const Graph& graph, const Storage& storage) {
    return graph.labels()[storage.label];
}

}  // namespace strata::graph
