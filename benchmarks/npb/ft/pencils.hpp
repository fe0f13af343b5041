#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/npb/common/group.hpp"

namespace strata::npb::ft {

/// A box of the grid's points, [begin, end) along x, y and z.
struct Box {
    std::array<std::int64_t, 3> begin{}, end{};
    [[nodiscard]] std::int64_t extent(std::size_t d) const { return end[d] - begin[d]; }
    bool operator==(const Box&) const = default;
};

/// Complex numbers of a box, real and imaginary parts apart, x running fastest. Rows begin on cache lines and
/// hold a whole number of eights; a line more for each row and plane keeps steps of a power of two out of one
/// set of the cache.
struct Field {
    double *re = nullptr, *im = nullptr;
    std::int64_t row = 0, layer = 0;

    [[nodiscard]] static std::int64_t row_of(const Box& box) { return (box.extent(0) + 7) / 8 * 8 + 8; }
    [[nodiscard]] static std::int64_t layer_of(const Box& box) { return row_of(box) * box.extent(1) + 8; }
    /// Doubles for the real or for the imaginary parts.
    [[nodiscard]] static std::size_t doubles(const Box& box) {
        return static_cast<std::size_t>(layer_of(box) * box.extent(2));
    }
    [[nodiscard]] static Field in(double* memory, const Box& box) {
        return {memory, memory + doubles(box), row_of(box), layer_of(box)};
    }
    /// Of the box's own point (x, y, z), counted from its first.
    [[nodiscard]] std::int64_t at(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return z * layer + y * row + x;
    }
};

/// How the grid lies over P = P1 x P2 processes, P1 the largest power of two with P1^2 <= P: as pencils along
/// x (y over P1, z over P2), along y (x over P1, z over P2) or along z (x over P1, y over P2).
class Pencils {
  public:
    /// Throws Error where processes are no power of two, or too many.
    Pencils(const std::array<std::int64_t, 3>& n, int processes);

    enum Along : std::size_t { x, y, z };
    [[nodiscard]] Box box(Along along, int rank) const;
    [[nodiscard]] int first() const { return first_; }
    [[nodiscard]] int second() const { return second_; }

  private:
    std::array<std::int64_t, 3> n_;
    int first_ = 1, second_ = 1;
};

/// Moves a field from pencils along one direction to pencils along another: each process sends every other
/// one what both their boxes hold, some planes at a time, so that messages are still in a cache when they are
/// sent and unpacked. What a process keeps goes straight to its place.
class Redistribution {
  public:
    Redistribution(const Pencils& pencils, Pencils::Along from, Pencils::Along to, Group& group);
    void run(const Field& from, const Field& to);
    /// Nothing needs to be moved: the boxes are the same.
    [[nodiscard]] bool idle() const { return out_.empty() && kept_.empty(); }
    /// Bytes of messages, out and in together, of a process with so many points.
    [[nodiscard]] static std::uint64_t bytes(std::int64_t points, std::int64_t planes);

  private:
    /// What goes to a process or comes from it: a box, counted from this process's first point.
    struct Piece {
        int peer;
        Box box;
    };
    struct Kept {
        Box from, to;
    };
    /// Planes of a piece that travel at once; the last ones may be fewer.
    [[nodiscard]] static std::int64_t planes_at_once(std::int64_t points, std::int64_t planes);
    /// body(a row's first point in the piece's box, its place in the messages, where its imaginary parts
    /// are), for planes [begin, end) of all pieces.
    template <class Body>
    void each_row(const std::vector<Piece>& pieces, std::int64_t begin, std::int64_t end, Body&& body);

    Group& group_;
    std::vector<Piece> out_, in_;  // pieces are of one shape: all counts are powers of two
    std::vector<Kept> kept_;       // one, or none
    std::array<std::int64_t, 3> extent_{};
    std::int64_t at_once_ = 1;
    std::vector<double> out_memory_, in_memory_;
    std::vector<Shift> shifts_;
};

}  // namespace strata::npb::ft
