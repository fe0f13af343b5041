// The particles of each patch: their number and their arrays. This part of the warehouse changes its size
// while steps run.
//
// The labels of a set that move in a relocation lie in one set of arrays. A relocation writes others, which
// it takes from the pool, and gives these back: so a process has as many more as threads relocate at a time,
// not twice as many. Labels that no task needs after a relocation lie in a second set. Arrays grow when they
// must, with head room, and are kept: once numbers have settled nothing is allocated.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/access.hpp"
#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// Memory of one process for arrays that grow while steps run; all members of the node may read it. Pieces
/// that are given back are used again, for patches whose threads are in the same locality domain (`domain`):
/// their pages lie there. Calls may come from any thread.
class GrowingPool {
  public:
    GrowingPool(const Members& members, std::uint64_t serial);
    ~GrowingPool();
    /// At least so many bytes, on a cache line's border; their contents are not determined. Throws Error
    /// where memory does not suffice.
    [[nodiscard]] std::byte* take(std::size_t bytes, int domain);
    /// Takes back a piece of take() of so many bytes; it may not be used any more. Null: nothing happens.
    void give(std::byte* piece, std::size_t bytes, int domain) noexcept;
    /// Of all pieces, given back or not.
    [[nodiscard]] std::size_t bytes() const;

  private:
    const Members& members_;
    std::uint64_t serial_;
    mutable std::mutex lock_;
    struct Stretch {  // the rest of a slab
        std::byte* next = nullptr;
        std::size_t left = 0, total = 0;
    };
    std::vector<SharedMemory> slabs_;
    std::map<int, Stretch> stretches_;                                     // by domain
    std::map<std::pair<int, std::size_t>, std::vector<std::byte*>> free_;  // by domain and rounded size
};

/// The arrays of some labels of one patch, one after the other, with one capacity.
struct ParticleArrays {
    std::byte* base = nullptr;
    std::int64_t capacity = 0;
};

/// A set's particles on one patch. In memory that all members of the node read.
struct ParticlePatch {
    std::int64_t count = 0;
    std::int32_t domain = 0;  // of the thread that its tasks prefer
    ParticleArrays now;       // of the labels that move
    ParticleArrays scratch;   // of the others
    bool created = false;
    bool ordered = false;  // by cell and number, when last relocated
};

/// The place of a storage's values in a set of arrays. Arrays are apart by a line more than their length,
/// so that the same particle's values do not all fall in the same lines of the cache.
struct ParticleColumn {
    SetId set;
    bool moves = false;
    std::int64_t bytes = 0;  // of one component of one value
    int components = 1;
    std::int64_t pad = 0;     // bytes after each component's array, a multiple of `bytes`
    std::int64_t before = 0;  // bytes a particle in the columns before,
    std::int64_t padded = 0;  // and of pads there

    [[nodiscard]] const ParticleArrays& arrays(const ParticlePatch& patch) const {
        return moves ? patch.now : patch.scratch;
    }
    [[nodiscard]] std::byte* at(const ParticleArrays& arrays) const {
        return arrays.base + before * arrays.capacity + padded;
    }
    /// Bytes from one component's array to the next.
    [[nodiscard]] std::int64_t stride(const ParticleArrays& arrays) const {
        return bytes * arrays.capacity + pad;
    }
};

class Populations {
  public:
    /// No patch has particles at first. Collective over the members. `serial`: as of the Memory.
    Populations(const Graph& graph, const Resolved& resolved, const OwnPatches& patches,
                const Members& members, std::uint64_t serial);

    [[nodiscard]] bool is_particles(StorageId storage) const { return bool(column(storage).set); }
    [[nodiscard]] const ParticleColumn& column(StorageId storage) const {
        static const ParticleColumn none;
        return columns_.empty() ? none : columns_[storage];
    }
    [[nodiscard]] FamilyId family(SetId set) const { return sets_[set].family; }
    /// A patch of this process, by its number there; its address stays.
    [[nodiscard]] ParticlePatch& own(SetId set, int local) const { return patch(heads_.data(), set, local); }
    /// A patch of any process of the node.
    [[nodiscard]] const ParticlePatch& of(int process, SetId set, int local) const;
    /// The particles of a patch of this process that tasks name for the set's next relocation.
    [[nodiscard]] Moved& moved(SetId set, int local) { return moved_[set][static_cast<std::size_t>(local)]; }
    /// Room for so many in arrays of the labels that move.
    void room(SetId set, ParticleArrays& arrays, std::int64_t count, int domain);
    /// Arrays for so many particles of the patch in another order; their values are not determined.
    [[nodiscard]] ParticleArrays another(SetId set, const ParticlePatch& patch, std::int64_t count);
    /// The patch has so many in these arrays now. Its own are given back: nobody may read them any more.
    void replace(SetId set, ParticlePatch& patch, ParticleArrays by, std::int64_t count);
    /// The same in the patch's own arrays, which are large enough.
    void keep(SetId set, ParticlePatch& patch, std::int64_t count);
    /// Gives the patch so many particles; their values are not determined. For restarts, and for patches that
    /// come from another plan. Between steps only.
    void resize(SetId set, ParticlePatch& patch, std::int64_t count);
    /// The same for an image of a patch of another node, where it has another number. From any thread.
    void show(SetId set, ParticlePatch& image, std::int64_t count);
    /// The same for a patch that has none: throws Error where it has, or the count is negative.
    void create(const ParticleSet& set, int patch_number, ParticlePatch& patch, std::int64_t count);
    /// The values of one storage without gaps, component after component; and back, into a patch that has as
    /// many particles or none yet (throws Error).
    [[nodiscard]] std::vector<std::byte> read(StorageId storage, const ParticlePatch& patch) const;
    void write(StorageId storage, ParticlePatch& patch, std::span<const std::byte> values);
    /// The same from a patch of another plan of the same graph.
    void take_over(StorageId storage, const ParticlePatch& from, ParticlePatch& to);
    [[nodiscard]] GrowingPool& pool() { return pool_; }
    /// Of the table of all patches, which other processes read.
    [[nodiscard]] std::size_t table_bytes() const { return heads_.data() == nullptr ? 0 : heads_.size(); }

  private:
    struct Set {
        FamilyId family;
        std::int64_t moving = 0, moving_pads = 0;  // bytes a particle, and of pads
        std::int64_t staying = 0, staying_pads = 0;
    };
    void note_domains(const Graph& graph, const OwnPatches& patches);
    /// A process publishes, for each set, the number of patches before its own; then all patches.
    [[nodiscard]] ParticlePatch& patch(std::byte* heads, SetId set, int local) const;
    void grow(ParticleArrays& arrays, std::int64_t count, std::int64_t bytes, std::int64_t pads, int domain);

    const Members& members_;
    std::uint64_t serial_;
    std::mutex images_;
    VectorBy<SetId, Set> sets_;
    VectorBy<StorageId, ParticleColumn> columns_;
    SharedMemory heads_;
    GrowingPool pool_;
    VectorBy<SetId, std::vector<Moved>> moved_;  // [set][local patch]
};

}  // namespace strata::graph
