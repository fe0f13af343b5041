// Halos of particles (declare/particle_halo.hpp) while a graph runs.
//
//   renew    one operation for each patch: looks through the particles of the patches around, and keeps the
//            places of those that are near, link after link (ParticleHalo::links)
//   read     a task that needs a label with a halo gets a list for as long as it runs: the patch's values,
//            copied, and behind them those in the halo, from the present arrays of their patches
//   sum      a task adds to a list of that form; a patch's combination then adds up, of all lists around, the
//            values at the places that its particles have there
//
// Who is in a halo is known from the positions at its renewal, which are a label of their own. So a restart,
// or a patch's new owner, finds the same members again (HaloRenewal::again).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/particles/particles.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph {

/// The halo of one patch. In memory that all members of the node read.
struct HaloPatch {
    std::int64_t own = 0, all = 0;  // particles of the patch, and with those in the halo
    std::int32_t* from = nullptr;   // [in the halo] its place on its patch; link after link
    std::int64_t capacity = 0;
    std::int64_t* ends = nullptr;  // [link] the end of its places in `from`

    [[nodiscard]] std::int64_t begin(std::size_t link) const { return link == 0 ? 0 : ends[link - 1]; }
};

/// The places of a patch's particles that are in one halo: of a link, of a list by links.
struct HaloPlaces {
    const HaloPatch* of = nullptr;
    std::size_t link = 0;
    [[nodiscard]] std::int64_t count() const { return of->ends[link] - of->begin(link); }
    [[nodiscard]] const std::int32_t* at() const { return of->from + of->begin(link); }
};

/// A list of values of own particles and of those in the halo: an array for each component.
struct HaloList {
    std::byte* base = nullptr;
    std::int64_t capacity = 0, bytes = 0;  // values of each component; bytes of it all
    std::int64_t stride = 0;               // bytes from one component to the next

    /// Room for so many values of so many bytes; its contents are then not determined.
    void make_room(GrowingPool& pool, int domain, std::int64_t count, std::int64_t value, int components);
};

/// Lists that tasks read, for as long as these run: a process needs as many as tasks read at a time, not one
/// for each patch. Calls may come from any thread.
class HaloLists {
  public:
    explicit HaloLists(GrowingPool& pool);
    ~HaloLists();
    /// The smallest that has room for so many values, or the largest, made larger; near the domain.
    [[nodiscard]] HaloList take(int domain, std::int64_t count, std::int64_t value, int components);
    void give(const HaloList& list, int domain);

  private:
    GrowingPool& pool_;
    std::mutex lock_;
    std::map<int, std::vector<HaloList>> free_;  // by domain
};

/// All halos of a process's patches.
class ParticleHalos {
  public:
    /// `serial`: as of the Memory. Collective over the members.
    ParticleHalos(const Graph& graph, const Resolved& resolved, const OwnPatches& patches,
                  const Members& members, std::uint64_t serial, GrowingPool& pool);
    /// Of a patch of any process of the node.
    [[nodiscard]] HaloPatch& patch(int process, HaloId halo, int local) const;
    /// Its list of contributions.
    [[nodiscard]] HaloList& contributions(int process, StorageId storage, int local) const;
    /// For the tasks of a patch of this process.
    [[nodiscard]] HaloMembers& members(HaloId halo, int local) {
        return of_patches_[halo][static_cast<std::size_t>(local)];
    }

    /// For what tasks of this process read.
    [[nodiscard]] HaloLists& lists() { return lists_; }

    // Over nodes: what this process has of patches of other nodes, and of its own for those.
    /// The particles of a patch of another node, as far as patches here see them. Its address stays.
    [[nodiscard]] ParticlePatch& image(SetId set, int patch);
    /// Contributions of that patch to the particles here, and where each of its links begins in them.
    struct Back {
        HaloList list;
        std::vector<std::int64_t> begins;
    };
    [[nodiscard]] Back& back(StorageId storage, int patch);
    /// The particles of a patch here that are in halos of other nodes, by `links` (HaloRenewal::given).
    [[nodiscard]] HaloPatch& given(HaloId halo, int patch, std::size_t links);

  private:
    [[nodiscard]] std::byte* table(int process) const;

    const Members& members_;
    std::uint64_t serial_;
    std::size_t halos_ = 0;
    SharedMemory table_;  // where each part begins; then the parts
    HaloLists lists_;
    VectorBy<HaloId, std::vector<HaloMembers>> of_patches_;
    struct Given {
        HaloPatch places;
        std::vector<std::int64_t> ends;
    };
    std::map<std::pair<SetId, int>, ParticlePatch> images_;
    std::map<std::pair<StorageId, int>, Back> backs_;
    std::map<std::pair<HaloId, int>, Given> givens_;
};

/// An image of a patch whose particles may be in a halo, and what is added to their positions there.
struct HaloSource {
    const ParticlePatch* patch = nullptr;
    Real3 shift{};
};

/// The box of a patch of another node, and what is added to positions of particles here for its halo.
struct HaloTarget {
    Real3 lo{}, hi{}, shift{};
};

/// Finds who is in the halo of a patch.
struct HaloRenewal {
    int directions = 3;
    double distance = 0;
    Real3 lo{}, hi{};  // the patch's box
    std::span<const HaloSource> links;
    std::span<const HaloTarget> targets;
    ParticlePatch* here = nullptr;
    HaloPatch* halo = nullptr;
    HaloPatch* given = nullptr;  // for the targets
    HaloMembers* members = nullptr;
    bool by_number = false;
    ParticleColumn position, number, renewed;
    std::byte* count = nullptr;  // the label that stands for the members
    GrowingPool* pool = nullptr;

    static Outcome go(void* what, Worker& worker);
    /// By the positions at the last renewal.
    void again() const;

  private:
    void find(const ParticleColumn& position) const;
    template <class Real>
    void find_members(const ParticleColumn& position) const;
};

/// A label that a task reads with a halo.
struct HaloRead {
    std::uint32_t use = 0;
    const ParticleColumn* column = nullptr;
    const ParticlePatch* here = nullptr;
    const HaloPatch* halo = nullptr;
    std::span<const HaloSource> links;
    Element element = Element::bytes;
    bool position = false;
    HaloList* list = nullptr;  // while the task runs
    HaloLists* lists = nullptr;

    /// Copies the values. Returns where they are.
    [[nodiscard]] UseData go() const;
    /// The task has run.
    void end() const;
};

/// A label to which a task adds with a halo.
struct HaloSum {
    std::uint32_t use = 0;
    const HaloPatch* halo = nullptr;
    std::int64_t bytes = 0;
    int components = 1;
    HaloList* list = nullptr;
    GrowingPool* pool = nullptr;
    int domain = 0;  // of ParticlePatch

    /// Zeros.
    [[nodiscard]] UseData go() const;
};

/// The sum of contributions to a patch's particles.
struct HaloCombineCall {
    /// A patch's list, and the particles here to which it contributes; none: it is this patch's own.
    struct Part {
        const HaloList* list = nullptr;
        HaloPlaces to;
        const std::int64_t* begin = nullptr;  // in the list; null: as the patch with these places has them
    };
    ParticleColumn column;
    const ParticlePatch* here = nullptr;
    Element element = Element::f64;
    std::span<const Part> parts;  // in the order of adding
    static Outcome go(void* what, Worker& worker);
};

}  // namespace strata::graph
