// Bodies from STL files: closed surfaces of triangles, and what is inside of them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace strata::mpm {

/// A closed surface of triangles. Immutable; may be asked by many threads.
class Solid {
  public:
    using Point = std::array<double, 3>;
    using Triangle = std::array<Point, 3>;

    /// Reads a file, binary or ASCII (Marshall Burns, Automated Fabrication, 1993, section 6.5; "solid" at
    /// the beginning of a binary file is told from ASCII by the file's size). Points become place + scale x.
    /// Throws Error naming the file and the triangle, from 1: for text that is no STL (and the line), a file
    /// that ends too early, coordinates that are no numbers or beyond 1e100, and a surface that is not
    /// closed.
    static Solid read(const std::filesystem::path& file, const Point& place, double scale);
    /// The same of triangles that are there already; `name` for messages.
    Solid(std::vector<Triangle> triangles, const std::string& name);

    /// Whether a point is inside: a ray from it along x crosses the surface an odd number of times. A ray
    /// that meets an edge or corner crosses as if it were a little above it, so each of the triangles there
    /// decides in the same way. Takes time proportional to the triangles of a column of a grid over the (y,
    /// z) plane.
    [[nodiscard]] bool contains(const Point& x) const;
    [[nodiscard]] const Point& low() const { return low_; }
    [[nodiscard]] const Point& high() const { return high_; }
    [[nodiscard]] const std::vector<Triangle>& triangles() const { return triangles_; }

  private:
    void check_closed(const std::string& name) const;
    /// The columns over which a triangle lies, the last ones included.
    struct Columns {
        int low[2], high[2];
    };
    [[nodiscard]] Columns columns_of(const Triangle& t) const;
    void make_columns();
    [[nodiscard]] int column(double x, int axis) const;

    std::vector<Triangle> triangles_;
    Point low_{}, high_{};
    int counts_[2] = {1, 1};  // of columns along y and z
    std::vector<std::int32_t> first_,
        members_;  // of column c: members_[first_[c]] .. members_[first_[c + 1]]
};

}  // namespace strata::mpm
