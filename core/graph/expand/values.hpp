// The values that a patch owns, out of the warehouse and into it: for files, other plans and checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/declare/label.hpp"
#include "core/graph/execute/waits.hpp"
#include "core/graph/expand/memory/copy.hpp"

namespace strata::graph {

class Plan;
struct PatchArray;

/// How a patch's own values of a label are copied from one array's buffer to another's (`from` and `to` are
/// the addresses of their origins).
[[nodiscard]] BoxCopy values_copy(const LabelInfo& label, int patch, const PatchArray& from_array,
                                  const std::byte* from, const PatchArray& to_array, std::byte* to);

/// A kept version of a label: the one that a label has now, or had some generations ago.
struct Kept {
    LabelId label;
    StorageId storage;
    int back = 0;
    std::uint16_t scope = 0;  // of the step's program; its rounds turn the storage
    int depth = 1;
};
/// All versions that the next step may read, by label and age. A checkpoint holds them.
[[nodiscard]] std::vector<Kept> kept_versions(const Plan& plan);

/// The values that the `local`-th patch of this process owns, without gaps, component after component;
/// `rounds`: of the scope so far. Of a scalar: local is 0.
[[nodiscard]] std::vector<std::byte> read_values(const Plan& plan, const Kept& kept, int local, Epoch rounds);
/// The same into a vector; its memory is used again.
void read_values(const Plan& plan, const Kept& kept, int local, Epoch rounds, std::vector<std::byte>& into);
/// Their place, of a label that has no particles: `from`, its strides and the extent; for readers in place
/// while no step is taken.
[[nodiscard]] BoxCopy values_in_place(const Plan& plan, const Kept& kept, int local, Epoch rounds);
/// The reverse. Throws Error where the size is another one.
void write_values(const Plan& plan, const Kept& kept, int local, Epoch rounds,
                  std::span<const std::byte> values);

}  // namespace strata::graph
