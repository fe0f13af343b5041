// The stages in which a plan is made, and the types of their outputs. build.cpp calls them in order. A
// stage's output is constant for later ones; parts of the plan itself go to PlanParts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/levels.hpp"
#include "core/graph/expand/halos/sweep.hpp"
#include "core/graph/expand/messages/channel.hpp"
#include "core/graph/expand/stages/inputs.hpp"
#include "core/graph/expand/stages/plan_parts.hpp"
#include "core/graph/expand/stages/sums.hpp"

namespace strata::graph::detail {

// ---- Operations and their threads (numbering.cpp) ----

/// Adds operations to both programs, and keeps the thread of each.
class Operations {
  public:
    explicit Operations(PlanParts& plan) : plan_(plan) {}
    std::uint32_t add(int phase, OpKind kind, const std::string& name, int patch, int thread,
                      bool seen = true);
    void reserve(int phase, std::size_t count);
    struct OpThread {
        int thread = 0;
        bool seen = true;  // other threads or processes look at its flag
    };
    /// [operation]
    [[nodiscard]] const std::vector<OpThread>& threads(int phase) const {
        return threads_[static_cast<std::size_t>(phase)];
    }

  private:
    PlanParts& plan_;
    std::array<std::vector<OpThread>, 2> threads_;
};

/// The operations of a resolved task: one for each of this process's patches, or one.
struct TaskOps {
    int phase = 0;
    FamilyId family;  // none: one operation for the process
    std::uint32_t first = 0, count = 0;
    TaskId leave, gather;      // relocations: their other operations, further entries of Numbered::tasks
    std::uint32_t up = kNone;  // reductions over several processes: brings this process's part to the root;
                               // gates: lists what this process has for the others
    RequestRole::What gate = RequestRole::none;  // of requests: their gates are declared as reductions
    TaskId arrived, taken;                       // gates: their other operations, as of relocations
    std::vector<int> locals;              // of a task on some patches: those of this process, ascending
    std::vector<std::uint32_t> by_local;  // and for each of this process's patches its operation, or kNone

    /// Of a patch without one: kNone.
    [[nodiscard]] std::uint32_t op(int local) const {
        return by_local.empty() ? first + static_cast<std::uint32_t>(local)
                                : by_local[static_cast<std::size_t>(local)];
    }
    /// The patch of its `number`-th operation.
    [[nodiscard]] int local(std::uint32_t number) const {
        return by_local.empty() ? static_cast<int>(number) : locals[number];
    }
    /// All places that an operation may have for local patches.
    [[nodiscard]] int places() const { return static_cast<int>(by_local.empty() ? count : by_local.size()); }
};

/// The time at which a halo is filled, and the values: as soon as the task `maker` has made them. For readers
/// in a part of the step that may be left out (Scope::when), when that part begins: writers wait for readers,
/// and where no reader runs, none would wait for the copy.
struct FillKey {
    TaskId maker;
    StorageId storage;
    ScopeId scope;  // the part's, else none;
    int lag = 0;    // and which version it reads: as the readers' waits and uses say
    int back = 0;
    friend auto operator<=>(const FillKey&, const FillKey&) = default;
};
[[nodiscard]] FillKey fill_key(const PlanInputs& in, TaskId reader, const Before& before);
/// The scope in which such copies run.
[[nodiscard]] inline ScopeId scope_of(const PlanInputs& in, const FillKey& key) {
    return key.scope ? key.scope : in.task(key.maker).scope;
}

/// The halos that one task's version needs filled, and the operations that fill them.
struct FillGroup {
    FillKey key;
    Int3 width{};
    std::vector<HaloReader> readers;
    /// Some rounds may have no reader: that after the last round of a loop, say. Readers then do not keep the
    /// next writer of the values from going ahead of the copies; it waits for these themselves.
    bool may_be_unread = false;
    Fills fills;
    /// [fill] -> its operation. Fills of one block from one source patch follow each other and share one.
    std::vector<std::uint32_t> op_of;

    /// (source patch, operation), ascending.
    [[nodiscard]] std::vector<std::pair<int, std::uint32_t>> by_source() const;
};

struct Numbered {
    VectorBy<ScopeId, int> phase_of;                // 0 start, 1 step
    VectorBy<ScopeId, std::uint16_t> scopes;        // its number in its program
    VectorBy<ScopeId, std::int64_t*> bases;         // a repeat's round base
    VectorBy<FamilyId, std::vector<int>> home;      // [family][local]: the thread that its tasks prefer
    VectorBy<FamilyId, std::vector<char>> at_edge;  // [family][local]: a neighbour is another thread's
    VectorBy<TaskId, TaskOps> tasks;                // of Resolved::tasks, then parts of relocations
    std::map<TaskId, PatchLevels> sweeps;           // tasks with an order of their own
    std::vector<FillGroup> groups;
    std::map<FillKey, std::size_t> group_of;
    /// Kept fields that the start alone makes, and all of their halos: Plan::fill_halos() fills them.
    std::vector<std::pair<StorageId, Fills>> of_start;

    /// The buffer that a use of a storage means, from an address in its buffer 0.
    [[nodiscard]] RoundAddress address(int phase, const Storage& of, std::byte* base,
                                       std::int64_t buffer_stride, int back) const;
};
[[nodiscard]] Numbered number(const PlanInputs& in, Operations& operations, PlanParts& plan);

// ---- Values that are needed of other nodes (needs.cpp) ----

/// Values of one patch that are needed from another process: boxes, or entries of a list (of a field: of all
/// that the patch owns, x fastest).
struct Need {
    std::vector<Box> boxes;
    std::vector<std::int32_t> entries;
};
/// No maker: it was there before the step. No storage: these are no values but particles.
struct NeedKey {
    TaskId maker;
    StorageId storage;
    int patch = -1;
    friend auto operator<=>(const NeedKey&, const NeedKey&) = default;
};
using NeedsOfProcess = std::map<NeedKey, Need>;

/// Room for the values of a patch of another node that this process needs, laid out as the owner's memory.
struct Image {
    PatchArray array;
    std::size_t number = 0;
};

/// Empty where all processes are on one node.
struct Needs {
    std::vector<NeedsOfProcess> here, asked;  // [process]: of its values, needed here; of ours, needed there
    std::map<std::pair<StorageId, int>, Image> images;  // (storage, patch)
};
[[nodiscard]] Needs find_needs(const PlanInputs& in, const Numbered& numbered, PlanParts& plan);

// ---- Streams of messages (messages.cpp) ----

/// One end of a stream of messages: values of one task (of a sweep: on one patch), for or from one process.
struct Stream {
    enum class What : std::uint8_t { values, leavers, part_of_reduction, reduced, gate } what = What::values;
    TaskId maker;
    int process = -1;
    Channel* channel = nullptr;
    /// Values: those in a message. Outgoing leavers: the patches here that particles may leave for that
    /// process.
    std::vector<NeedKey> keys;
    std::uint32_t first = kNone, second = kNone;  // operations: pack and send, or receive and unpack
};

struct Streams {
    std::vector<Stream> outgoing, incoming;
    struct OfTask {
        std::vector<std::size_t> outgoing, incoming;  // numbers in the above
    };
    VectorBy<TaskId, OfTask> of;                                                     // [task]
    using OfValues = std::map<std::pair<StorageId, int>, std::vector<std::size_t>>;  // (storage, patch)
    OfValues packing, unpacking;  // -> of outgoing, of incoming

    /// The operation that puts the values of a task of another node's process into images here.
    [[nodiscard]] std::uint32_t image_op(TaskId task, int process) const;
    /// The same for one patch: a sweep has a message for each of them.
    [[nodiscard]] std::uint32_t image_op(TaskId task, int process, int patch) const;
    std::map<std::pair<TaskId, int>, std::size_t> of_patch;  // (sweep, patch) -> of incoming
};
[[nodiscard]] Streams number_streams(const PlanInputs& in, const Numbered& numbered, const Needs& needs,
                                     Operations& operations, PlanParts& plan);

// ---- Flags and partial results that other processes of the node read (flags.cpp) ----

class SharedFlags {
  public:
    /// Of another process of the node: the flag of a task's operation for its patch number `local`; null
    /// where it has none.
    [[nodiscard]] const Flag* flag(int process, TaskId task, int local) const;
    /// Of another process of the node: its copies of a group that may be unread, by source patch.
    struct Copy {
        std::uint64_t patch;
        const Flag* flag;
    };
    [[nodiscard]] std::span<const Copy> copies(int process, std::size_t group) const;
    /// A process's part of a reduction.
    [[nodiscard]] std::byte* partial(int process, TaskId task) const {
        return partials[static_cast<std::size_t>(process - first)] + partial_at[task];
    }

    int first = 0;  // process of the node
    std::size_t begins = 0, tasks = 0;
    std::vector<const std::byte*> directories;  // [process of the node]
    std::vector<std::byte*> partials;           // [process of the node]
    VectorBy<TaskId, std::size_t> partial_at;   // the same in all processes
};
/// Gives every operation its flag. Collective over the members.
[[nodiscard]] SharedFlags share_flags(const PlanInputs& in, const Numbered& numbered,
                                      const Operations& operations, PlanParts& plan);

// ---- Positions in programs (positions.cpp) ----

/// Where in a program an operation is: within a round of its scope, all operations are in this order.
struct Position {
    ScopeId scope = kStart;
    int at = -1;  // in ResolvedScope::order; -1: before all
    /// In the order of one task's operations.
    enum Part : int { own, pack, send, receive, unpack, fill, last } part = own;
};
[[nodiscard]] Position position_of(const PlanInputs& in, TaskId task, Position::Part part);
[[nodiscard]] Position position_of(const PlanInputs& in, const FillKey& key);
/// The other's last round before this operation: 0 the present one of its scope, 1 the one before. Of a scope
/// that this one is not in, 0: the last round that it finds done.
[[nodiscard]] int rounds_since(const PlanInputs& in, const Position& other, const Position& here);

// ---- Calls: the data that each operation works on ----

/// An operation that reads images.
struct Reader {
    int phase = 0;
    std::uint32_t op = kNone;
    Position position;
};

/// The arrays of any patch: of another node's, its image. Keeps the readers of each image; an image
/// is written again after all of them.
class Arrays {
  public:
    Arrays(const PlanInputs& in, const Needs& needs)
        : in_(in), needs_(needs), readers_(needs.images.size()) {}
    [[nodiscard]] const PatchArray& of(StorageId storage, int patch, const Reader& reader);
    [[nodiscard]] const std::vector<Reader>& readers(const Image& image) const {
        return readers_[image.number];
    }

  private:
    const PlanInputs& in_;
    const Needs& needs_;
    std::vector<std::vector<Reader>> readers_;  // [number of the image]
};

/// (task, use) -> [thread] the places of its contributions to a scalar, one for each call of this process.
using ContributionSlots = std::map<Contributor, std::vector<Contributions>>;
/// (reduction, process of another node) -> the place of its part of the reduction here.
using ReceivedParts = std::map<std::pair<TaskId, int>, std::byte*>;

/// The calls on the halo of one of this process's patches (particle_halo_calls.cpp).
class HaloCalls {
  public:
    HaloCalls(const PlanInputs& in, const ParticleHalo& halo, int patch);
    /// `all`: keeps what calls refer to.
    [[nodiscard]] HaloRenewal renewal(TaskId task, ProgramData& all) const;
    [[nodiscard]] HaloRead read(const ResolvedUse& use, ProgramData& all) const;
    [[nodiscard]] HaloSum sum(const ResolvedUse& use) const;
    /// Adds one task's contributions to the patch's particles: its own, then those of patches around.
    void add_parts(const Contributor& from, std::vector<HaloCombineCall::Part>& parts) const;

    // Messages. The patch is the sender's: of this process (outgoing), or of another node.
    [[nodiscard]] ParticleParcel all_of(StorageId storage, bool outgoing) const;
    /// Of its particles those in the halos of the process at the other end, or of this one.
    void add_places(int process, bool outgoing, std::vector<HaloPlaces>& places) const;
    [[nodiscard]] ParticleParcel back(StorageId lists, int process, bool outgoing, ProgramData& all) const;

  private:
    /// A link of a patch of another node: this patch's particles are in its halo.
    struct Given {
        int patch;
        std::size_t link;
        Int3 shift;
    };
    [[nodiscard]] std::vector<Given> givens() const;
    [[nodiscard]] HaloPatch& given() const;
    [[nodiscard]] static std::size_t number_of_given(const std::vector<Given>& all, int patch,
                                                     std::size_t link);
    [[nodiscard]] std::vector<HaloPlaces> places_of_back() const;
    [[nodiscard]] ParticleHalos::Back& back_of(StorageId lists) const;
    [[nodiscard]] HaloTarget target(int patch, const Int3& shift) const;
    [[nodiscard]] bool is_on_node(int patch) const;
    [[nodiscard]] const ParticlePatch& particles(int patch) const;
    [[nodiscard]] HaloPatch& halo_of(int patch) const;
    [[nodiscard]] std::span<const HaloSource> sources(ProgramData& all) const;

    const PlanInputs& in_;
    const ParticleHalo& halo_;
    const int patch_;
    const FamilyId family_;
};
/// Whether messages have of the particles that a task makes those alone that are in halos: all of them, where
/// that is not known yet.
[[nodiscard]] inline bool sends_halos_alone(const PlanInputs& in, const Numbered& numbered, TaskId maker) {
    return numbered.tasks[maker].phase == 1 && !in.is(maker, ResolvedTask::What::relocate);
}
/// For patches that get their kept values from elsewhere.
void make_halos_again(const PlanInputs& in, PlanParts& plan);

/// Relocations (relocation_calls.cpp). Collective over the members.
void make_relocations(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                      PlanParts& plan);
/// Requests and answers (requests_calls.cpp). Collective over the members.
void make_requests(const PlanInputs& in, const Numbered& numbered, const Streams& streams, PlanParts& plan);
/// Tasks of a solver (task_calls.cpp).
[[nodiscard]] ContributionSlots make_tasks(const PlanInputs& in, const Numbered& numbered, Arrays& arrays,
                                           PlanParts& plan);
/// Copies into halos (fill_calls.cpp).
void make_fills(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan);
/// Sums of contributions to fields and lists (sum_calls.cpp).
void make_combines(const PlanInputs& in, const Numbered& numbered, Arrays& arrays, PlanParts& plan);
/// Reductions to scalars (reduction_calls.cpp).
[[nodiscard]] ReceivedParts make_reductions(const PlanInputs& in, const Numbered& numbered,
                                            const Streams& streams, const SharedFlags& shared,
                                            const ContributionSlots& slots, PlanParts& plan);
/// Packing, sending, receiving, unpacking (message_calls.cpp).
void make_messages(const PlanInputs& in, const Numbered& numbered, const Needs& needs, const Streams& streams,
                   const SharedFlags& shared, const ReceivedParts& received, PlanParts& plan);

// ---- Waits of each operation (waits.cpp) ----

void make_waits(const PlanInputs& in, const Numbered& numbered, const Needs& needs, const Streams& streams,
                const SharedFlags& shared, const Arrays& arrays, PlanParts& plan);

// ---- The order in which threads go through their operations (order.cpp) ----

void make_programs(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                   const Operations& operations, PlanParts& plan);

// ---- All of them (build.cpp) ----

/// Collective over the members. Throws Error.
[[nodiscard]] PlanParts build(const PlanInputs& in);

}  // namespace strata::graph::detail
