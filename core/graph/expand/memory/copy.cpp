#include "core/graph/expand/memory/copy.hpp"

#include <array>
#include <cstring>

namespace strata::graph {
namespace {

/// A box with as few and as long loops as it allows.
struct Loops {
    std::int64_t row = 0;  // values next to each other
    std::int64_t rows = 0, planes = 0;
    std::int64_t to_row = 0, from_row = 0, to_plane = 0, from_plane = 0;
};

Loops loops_of(const BoxCopy& box) {
    Loops loops{box.extent[0],        box.extent[1],        box.extent[2],         box.to_strides.row,
                box.from_strides.row, box.to_strides.plane, box.from_strides.plane};
    const auto bytes = static_cast<std::int64_t>(box.bytes);
    const auto outward = [&] {
        loops.rows = loops.planes;
        loops.to_row = loops.to_plane;
        loops.from_row = loops.from_plane;
        loops.planes = 1;
    };
    // One row a plane: the planes are the rows.
    if (loops.rows == 1) outward();
    // Planes that continue each other's rows at the same distance.
    if (loops.to_plane == loops.rows * loops.to_row && loops.from_plane == loops.rows * loops.from_row) {
        loops.rows *= loops.planes;
        loops.planes = 1;
    }
    // Rows without gaps.
    if (loops.to_row == loops.row * bytes && loops.from_row == loops.row * bytes) {
        loops.row *= loops.rows;
        loops.rows = 1;
        outward();
    }
    return loops;
}

bool nothing(const BoxCopy& box) { return box.extent[0] <= 0 || box.extent[1] <= 0 || box.extent[2] <= 0; }

/// `one(to, from)` for each row of each component.
template <class One>
void each_row(const BoxCopy& box, const Loops& loops, One one) {
    for (std::int64_t c = 0; c < box.components; ++c)
        for (std::int64_t z = 0; z < loops.planes; ++z) {
            std::byte* to = box.to + c * box.to_strides.component + z * loops.to_plane;
            const std::byte* from = box.from + c * box.from_strides.component + z * loops.from_plane;
            for (std::int64_t y = 0; y < loops.rows; ++y, to += loops.to_row, from += loops.from_row)
                one(to, from);
        }
}

/// A length that the compiler knows becomes a load and a store or two instead of a call.
template <std::size_t Bytes>
void copy_short(const BoxCopy& box, const Loops& loops) {
    each_row(box, loops, [](std::byte* to, const std::byte* from) { std::memcpy(to, from, Bytes); });
}

/// Value by value: along x of the target they are a step apart in the source.
template <std::size_t Bytes>
void copy_steps(const BoxCopy& box) {
    const Loops loops{1,
                      box.extent[1],
                      box.extent[2],
                      box.to_strides.row,
                      box.from_strides.row,
                      box.to_strides.plane,
                      box.from_strides.plane};
    each_row(box, loops, [&](std::byte* to, const std::byte* from) {
        const std::size_t bytes = Bytes == 0 ? box.bytes : Bytes;
        for (int x = 0; x < box.extent[0]; ++x, to += bytes, from += box.from_step)
            std::memcpy(to, from, bytes);
    });
}

void copy_turned(const BoxCopy& box) {
    switch (box.bytes) {
        case 1:
            return copy_steps<1>(box);
        case 4:
            return copy_steps<4>(box);
        case 8:
            return copy_steps<8>(box);
        default:
            return copy_steps<0>(box);
    }
}

}  // namespace

void turn(BoxCopy& box, const IndexMap& map) {
    const Strides source = box.from_strides;
    const std::array<std::int64_t, 3> along{box.bytes, source.row, source.plane};
    const auto step = [&](std::size_t a) {
        return map.backwards(a) ? -along[map.axis(a)] : along[map.axis(a)];
    };
    box.from_strides = {step(1), step(2), source.component};
    box.from_step = step(0) == along[0] ? 0 : step(0);
}

namespace {

template <class T>
void turn_vectors_of(const BoxCopy& box, const Rotation& by) {
    const auto turned = [&](std::size_t row, const std::array<double, 3>& v) {
        double sum = 0;
        bool first = true;
        for (std::size_t c = 0; c < 3; ++c) {
            if (by[row][c] == 0) continue;
            const double term = by[row][c] * v[c];
            sum = first ? term : sum + term;
            first = false;
        }
        return static_cast<T>(sum);
    };
    for (int z = 0; z < box.extent[2]; ++z)
        for (int y = 0; y < box.extent[1]; ++y)
            for (int x = 0; x < box.extent[0]; ++x) {
                std::byte* const at = box.to + z * box.to_strides.plane + y * box.to_strides.row +
                                      x * static_cast<std::int64_t>(sizeof(T));
                std::array<T*, 3> parts;
                std::array<double, 3> v;
                for (std::size_t c = 0; c < 3; ++c) {
                    parts[c] =
                        reinterpret_cast<T*>(at + static_cast<std::int64_t>(c) * box.to_strides.component);
                    v[c] = *parts[c];
                }
                for (std::size_t c = 0; c < 3; ++c) *parts[c] = turned(c, v);
            }
}

}  // namespace

void turn_vectors(const BoxCopy& box, const Rotation& by) noexcept {
    box.bytes == sizeof(double) ? turn_vectors_of<double>(box, by) : turn_vectors_of<float>(box, by);
}

void copy_box(const BoxCopy& box) noexcept {
    if (nothing(box)) return;
    if (box.from_step != 0) return copy_turned(box);
    const Loops loops = loops_of(box);
    const auto row = static_cast<std::size_t>(loops.row) * box.bytes;
    switch (row) {
        case 1:
            return copy_short<1>(box, loops);
        case 2:
            return copy_short<2>(box, loops);
        case 4:
            return copy_short<4>(box, loops);
        case 8:
            return copy_short<8>(box, loops);
        case 12:
            return copy_short<12>(box, loops);
        case 16:
            return copy_short<16>(box, loops);
        case 24:
            return copy_short<24>(box, loops);
        case 32:
            return copy_short<32>(box, loops);
        case 40:
            return copy_short<40>(box, loops);
        case 48:
            return copy_short<48>(box, loops);
        case 64:
            return copy_short<64>(box, loops);
        default:
            each_row(box, loops, [row](std::byte* to, const std::byte* from) { std::memcpy(to, from, row); });
    }
}

std::byte* pack_box(BoxCopy copy, std::byte* message) noexcept {
    copy.to = message;
    copy.to_strides = packed(copy.extent, copy.bytes);
    copy_box(copy);
    return message + copy.volume();
}

const std::byte* unpack_box(BoxCopy copy, const std::byte* message) noexcept {
    copy.from = message;
    copy.from_strides = packed(copy.extent, copy.bytes);
    copy_box(copy);
    return message + copy.volume();
}

}  // namespace strata::graph
