// Boxes of values from one strided array to another: into halos, into and out of messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/graph/declare/label.hpp"

namespace strata::graph {

/// Distances in bytes from a value to the next along y, along z, and to the same value of the next component.
/// Along x values are next to each other.
struct Strides {
    std::int64_t row = 0, plane = 0, component = 0;
    friend bool operator==(const Strides&, const Strides&) = default;
};

/// The strides of a box without gaps, x fastest, component after component: its form in a message.
[[nodiscard]] constexpr Strides packed(const Int3& extent, std::size_t bytes) {
    const auto row = static_cast<std::int64_t>(bytes) * extent[0];
    return {row, row * extent[1], row * extent[1] * extent[2]};
}

/// A box to be copied: where its first value lies in both arrays. The two must not overlap. Any alignment.
struct BoxCopy {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;
    Strides to_strides, from_strides;
    Int3 extent{};
    std::int32_t components = 1;
    std::uint32_t bytes = 0;  // of one component of one value
    /// 0: along x values are next to each other in both. Else, of turned axes: in bytes, from a value to the
    /// next in `from`; any strides may be negative.
    std::int64_t from_step = 0;

    /// Bytes that are copied; the length of its packed form.
    [[nodiscard]] std::int64_t volume() const {
        return std::int64_t{extent[0]} * extent[1] * extent[2] * components * bytes;
    }
    friend bool operator==(const BoxCopy&, const BoxCopy&) = default;
};

/// Takes the strides of the source, which are along its own axes, along those of the target (`map`: from the
/// source's indices to the target's). `from` is then the value that goes to `to`.
void turn(BoxCopy& box, const IndexMap& map);

/// Multiplies the vectors at `to`, of three doubles or floats, by a matrix (`from` does not matter). Zeros of
/// the matrix add nothing, so quarter turns are exact.
void turn_vectors(const BoxCopy& box, const Rotation& by) noexcept;

/// Copies it. Nothing where an extent is 0.
void copy_box(const BoxCopy& box) noexcept;

/// The box of `copy`, which has no turned axes (whose `to` and `to_strides` do not matter) without gaps to
/// `message`, and from there to `copy.to` (`from` does not matter). Return the place after it in the message.
std::byte* pack_box(BoxCopy copy, std::byte* message) noexcept;
const std::byte* unpack_box(BoxCopy copy, const std::byte* message) noexcept;

}  // namespace strata::graph
