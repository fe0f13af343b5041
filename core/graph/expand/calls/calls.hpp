// Calls: an operation's function and the data it works on. They copy into halos, add up contributions, reduce
// (task_call.hpp has those of tasks). All is worked out before the first step, except the buffer that a round
// uses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/memory/copy.hpp"
#include "core/graph/expand/memory/stock.hpp"

namespace strata::graph {

/// The buffer that holds the version of `back` rounds ago, of `depth` that are used in turn (back < depth).
[[nodiscard]] inline std::uint32_t buffer_number(Epoch epoch, std::uint32_t back, std::uint32_t depth) {
    return depth == 2 ? (epoch - back) & 1U : (epoch % depth + depth - back) % depth;
}

/// An address that depends on the round where a storage has several buffers: with three of them, round 7 of
/// the scope uses buffer 7 % 3 = 1, and the version of the round before is in buffer 0.
struct RoundAddress {
    std::byte* base = nullptr;
    std::int64_t buffer_stride = 0;  // bytes from one buffer to the next
    std::uint32_t depth = 1;
    std::uint16_t scope = 0;  // its rounds are counted
    std::uint16_t back = 0;   // so many rounds ago the version was made

    [[nodiscard]] std::byte* at(Epoch epoch) const {
        if (depth == 1) return base;
        return base + static_cast<std::int64_t>(buffer_number(epoch, back, depth)) * buffer_stride;
    }
    [[nodiscard]] std::byte* at(const Worker& worker) const {
        return depth == 1 ? base : at(worker.epoch(scope));
    }
    friend bool operator==(const RoundAddress&, const RoundAddress&) = default;
};

/// A box or a list of entries that goes from one place to another, but for the places, and for the extent of
/// a box: the same for many copies, as of all that go from one block to another.
struct CopyShape {
    RoundAddress from, to;  // of the first value; the base is the copy's
    BoxCopy box;            // its geometry, where it is a box; without the extent, where the copy has that
    std::span<const std::int32_t>
        entries;  // of the source, in bytes from its first value, where it is a list
    std::int64_t from_component = 0, to_component = 0;  // lists: bytes to the next component
    std::int32_t components = 1;
    std::uint32_t bytes = 0;
    const Rotation* turn = nullptr;  // of the vectors in a box, after they were copied
    std::int32_t vector = 0;         // their first component

    friend bool operator==(const CopyShape& a, const CopyShape& b) {
        return a.box == b.box && a.from == b.from && a.to == b.to && a.entries.data() == b.entries.data() &&
               a.entries.size() == b.entries.size() && a.from_component == b.from_component &&
               a.to_component == b.to_component && a.components == b.components && a.bytes == b.bytes &&
               a.turn == b.turn && a.vector == b.vector;
    }
};

struct ValueCopy {
    std::byte *from = nullptr, *to = nullptr;  // the first value, in buffer 0
    const CopyShape* shape = nullptr;
    struct Extent {
        static constexpr int kBits = 21;
        std::uint64_t x : kBits = 0, y : kBits = 0, z : kBits = 0;
    };
    Extent extent;  // of a box; x = 0: the shape has it

    /// Its geometry, where it is a box.
    [[nodiscard]] BoxCopy box() const {
        BoxCopy all = shape->box;
        if (extent.x != 0)
            all.extent = {static_cast<int>(extent.x), static_cast<int>(extent.y), static_cast<int>(extent.z)};
        return all;
    }
    void go(const Worker& worker) const {
        copy(with(shape->from, from).at(worker), with(shape->to, to).at(worker));
    }
    /// Of one buffer.
    void go(Epoch buffer) const { copy(with(shape->from, from).at(buffer), with(shape->to, to).at(buffer)); }
    [[nodiscard]] static RoundAddress with(RoundAddress at, std::byte* base) {
        at.base = base;
        return at;
    }

  private:
    void copy(const std::byte* source, std::byte* target) const;
};
static_assert(sizeof(ValueCopy) == 32);

/// Memory that is set to zero before a task's function is called.
struct Clear {
    std::byte* at = nullptr;
    std::size_t bytes = 0;
    std::int32_t* times = nullptr;  // where it is counted
};

/// Copies into a halo, all from one patch. They lie behind it.
struct alignas(ValueCopy) FillCall {
    std::uint32_t count = 0;
    StorageId kept;  // the storage, if its values live from step to step

    [[nodiscard]] static FillCall& make(Stock& store, const std::vector<ValueCopy>& moves);
    [[nodiscard]] std::span<const ValueCopy> moves() const {
        return {reinterpret_cast<const ValueCopy*>(this + 1), count};
    }
    static Outcome go(void* what, Worker& worker);
    /// Bytes that it reads and writes.
    [[nodiscard]] OpWork work() const;
};

/// The sums of a field's values, row by row. Rows at a patch's edge are short, and loops over them end
/// oftener than a processor foresees: so every row of every region is listed. Most patches have the same
/// list.
struct SumRows {
    /// Rows of so many values to which the same parts contribute.
    struct Region {
        std::uint32_t sources = 0, length = 0, rows = 0;
        friend auto operator<=>(const Region&, const Region&) = default;
    };
    /// A box of the result or of a part: the place of its first value, and the distances of others, in
    /// values.
    struct BoxOrigin {
        std::int64_t at = 0;
        Strides strides;
    };
    std::vector<Region> regions;
    std::vector<std::uint32_t> parts;  // by region: its sources
    /// By region and row: the row's begin in the result, then in each of the sources, in values from the
    /// first.
    std::vector<std::int32_t> offsets;

    /// A box, and the parts that contribute to it, in the order of adding. Throws Error where a row is too
    /// far from the first value (2^31 values).
    void add(const Int3& extent, int components, const BoxOrigin& result,
             const std::vector<std::pair<std::uint32_t, BoxOrigin>>& from);
    friend auto operator<=>(const SumRows&, const SumRows&) = default;
};

/// Contributions to one patch, in the order of their tasks and patches.
struct CombineCall {
    /// Sums all rows, each value from 0 on in the order of its sources.
    using Add = void (*)(const SumRows& rows, std::byte* to, std::byte* const* parts);

    RoundAddress to;  // the result's first value
    std::int64_t bytes = 0;
    bool field = true;
    Add add = nullptr;
    std::span<const RoundAddress> parts;  // fields: in each part, the place of the result's first value
    const SumRows* rows = nullptr;
    struct Entries {
        RoundAddress from;
        std::span<const std::int32_t> here, there;  // entries; empty: all, in order
        std::int64_t from_component = 0;
    };
    std::span<const Entries> lists;
    std::int64_t count = 0, component = 0;  // lists: values, values to the next component
    int components = 1;
    Element element = Element::f64;
    static Outcome go(void* what, Worker& worker);
};

/// For doubles, floats and whole numbers of 8 and 4 bytes (these wrap around). Throws Error for other
/// elements.
[[nodiscard]] CombineCall::Add add_regions(Element element);

/// Contributions to a scalar, of one task's calls in one thread: at equal distances.
struct Contributions {
    const std::byte* first = nullptr;
    std::uint32_t stride = 0, count = 0;

    [[nodiscard]] const std::byte* at(std::uint32_t call) const { return first + std::size_t{call} * stride; }
};

/// A reduction's way through one process: contributions and the parts of its children become its own part, or
/// at the root the result. Processes are a tree of eight branches each: 0 has the children 1 to 8, 1 has 9 to
/// 16.
struct ReduceCall {
    const LabelInfo* label = nullptr;
    std::span<const Contributions> contributions;  // of this process's patches
    std::span<std::byte* const> children;          // partial results of other processes
    std::byte* mine = nullptr;                     // this process's partial result; not of the root
    RoundAddress result;                           // of the root: the scalar's place
    bool finishes = false;
    static Outcome go(void* what, Worker& worker);
};
/// Bytes of a partial result.
[[nodiscard]] std::size_t partial_bytes(const LabelInfo& label);
/// Writes the neutral element of the label's reduction: a contribution starts with it. Of a label that counts
/// its numbers: there are none.
void write_neutral(const LabelInfo& label, std::byte* to);

/// The value before the first reduction.
void write_first(const LabelInfo& label, std::byte* to);

/// The result, from the root's place to this process's.
struct FetchCall {
    RoundAddress from, to;
    std::size_t bytes = 0;
    static Outcome go(void* what, Worker& worker);
};

/// A decision on a scalar.
struct DecideCall {
    const std::function<bool(const void*)>* test = nullptr;
    RoundAddress scalar;
    bool more_if = true;                 // the answer of the test that means to go on
    std::int64_t* round_base = nullptr;  // set when a repeat ends
    static bool more(const void* what, Epoch epoch);
};

}  // namespace strata::graph
