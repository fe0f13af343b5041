#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

void GridSource::blanks(int zone, const Box& nodes, std::int32_t* blank) const {
    (void)zone;
    std::fill_n(blank, nodes.volume(), 1);
}

Box GridSource::node_box(int zone) const {
    const Int3& cells = zones()[static_cast<std::size_t>(zone)].cells;
    return {{0, 0, 0}, {cells[0] + 1, cells[1] + 1, dimensions() == 3 ? cells[2] + 1 : 1}};
}

Face given_face(const ZoneShape& shape, const Face& face) {
    const auto a = static_cast<std::size_t>(face.axis);
    return {shape.axes[a], face.upper == (shape.step[a] > 0)};
}

Int3 given_node(const ZoneShape& shape, const Int3& node) {
    Int3 given{};
    for (std::size_t a = 0; a < 3; ++a)
        given[static_cast<std::size_t>(shape.axes[a])] = shape.first[a] + shape.step[a] * node[a];
    return given;
}

Int3 given_cell(const ZoneShape& shape, const Int3& cell) {
    // Cell i lies between the nodes i and i + 1.
    Int3 lower = cell;
    for (std::size_t a = 0; a < 3; ++a) lower[a] += shape.step[a] < 0 ? 1 : 0;
    return given_node(shape, lower);
}

namespace {

const ZoneShape& shape_of(const GridSource& source, int zone) {
    return source.zones()[static_cast<std::size_t>(zone)];
}

/// Indices from 0 as a user counts them; those of a plane have two, unless its file has three.
std::string index_text(const GridSource& source, int zone, Int3 at) {
    const Int3& axes = shape_of(source, zone).axes;
    if (source.dimensions() == 2) at[static_cast<std::size_t>(axes[2])] = 0;
    return source.dimensions() == 2 && axes == Int3{0, 1, 2}
               ? fmt::format("({}, {})", at[0] + 1, at[1] + 1)
               : fmt::format("({}, {}, {})", at[0] + 1, at[1] + 1, at[2] + 1);
}

}  // namespace

std::string zone_text(const GridSource& source, int zone) {
    const ZoneShape& shape = shape_of(source, zone);
    return fmt::format("zone {}", shape.origin + 1) + (shape.name.empty() ? "" : " (" + shape.name + ")");
}

std::string face_text(const GridSource& source, int zone, const Face& face) {
    const Face given = given_face(shape_of(source, zone), face);
    return fmt::format("{}-{}", "ijk"[given.axis], given.upper ? "max" : "min");
}

char axis_text(const GridSource& source, int zone, std::size_t axis) {
    return "ijk"[shape_of(source, zone).axes[axis]];
}

std::string node_text(const GridSource& source, int zone, const Int3& node) {
    return index_text(source, zone, given_node(shape_of(source, zone), node));
}

std::string cell_text(const GridSource& source, int zone, const Int3& cell) {
    return index_text(source, zone, given_cell(shape_of(source, zone), cell));
}

std::string range_text(const GridSource& source, int zone, const Points& points) {
    Int3 low = given_node(shape_of(source, zone), points.begin),
         high = given_node(shape_of(source, zone), points.end);
    for (std::size_t a = 0; a < 3; ++a)
        if (low[a] > high[a]) std::swap(low[a], high[a]);
    return index_text(source, zone, low) + " to " + index_text(source, zone, high);
}

}  // namespace strata::flow
