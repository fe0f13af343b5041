#include "methods/curvilinear/origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace strata::flow {

namespace {

const ZoneShape& shape_of(const GridSource& source, int zone) {
    return source.zones()[static_cast<std::size_t>(zone)];
}

/// Where a box of a zone's points is in its origin.
Box in_origin(const GridSource& source, int zone, const Box& points, PointsAre are) {
    const ZoneShape& shape = shape_of(source, zone);
    Box box = points;
    for (std::size_t a = 0; a < 3; ++a) {
        // Cell i lies between the nodes i and i + 1.
        const int end = shape.first[a] + (are == PointsAre::nodes ? 1 : 0);
        const bool back = shape.step[a] < 0;
        box.lo[a] = back ? end - points.hi[a] : shape.first[a] + points.lo[a];
        box.hi[a] = back ? end - points.lo[a] : shape.first[a] + points.hi[a];
    }
    return box;
}

/// Reverses values along the axes that run backwards in the origin.
template <class Value>
void turn(const ZoneShape& shape, const Box& nodes, Value* values) {
    std::int64_t size = 1;
    for (std::size_t a = 0; a < 3; ++a) {
        const std::int64_t n = nodes.extent(static_cast<int>(a)), block = size * n;
        if (shape.step[a] < 0)
            for (Value* at = values; at < values + nodes.volume(); at += block)
                for (std::int64_t row = 0; row < n / 2; ++row)
                    std::swap_ranges(at + row * size, at + (row + 1) * size, at + (n - 1 - row) * size);
        size = block;
    }
}

}  // namespace

std::vector<Plot3dZone> origin_zones(const GridSource& source, PointsAre are, int variables) {
    std::vector<Plot3dZone> zones;
    for (int z = 0; z < static_cast<int>(source.zones().size()); ++z) {
        const ZoneShape& shape = shape_of(source, z);
        const auto origin = static_cast<std::size_t>(shape.origin);
        if (origin >= zones.size()) zones.resize(origin + 1, {{1, 1, 1}, variables});
        const Box all = are == PointsAre::nodes ? source.node_box(z) : Box{{0, 0, 0}, shape.cells};
        const Box box = in_origin(source, z, all, are);
        for (std::size_t a = 0; a < 3; ++a)
            zones[origin].points[a] = std::max(zones[origin].points[a], box.hi[a]);
    }
    return zones;
}

OriginValues::OriginValues(std::shared_ptr<const GridSource> source, const std::filesystem::path& path,
                           Plot3dContent content, const Plot3dKnown& known)
    : source_(std::move(source)), file_(path, content, known) {
    const auto nodes = origin_zones(*source_, PointsAre::nodes),
               cells = origin_zones(*source_, PointsAre::cells);
    const auto& found = file_.zones();
    const auto refuse = [&](const std::string& message) { return Error(message).at(file_.name()); };
    if (file_.form().dimensions != source_->dimensions())
        throw refuse("the file has other dimensions than the grid")
            .given(fmt::format("{} dimensions", file_.form().dimensions))
            .allowed(fmt::format("{}, as the grid has them", source_->dimensions()))
            .remedy("the file of a run on this grid");
    if (found.size() != nodes.size())
        throw refuse("the file has another number of zones than the grid")
            .given(fmt::format("{} zones", found.size()))
            .allowed(fmt::format("{} zones", nodes.size()))
            .remedy("the file of a run on this grid");
    if (found[0].points == cells[0].points) are_ = PointsAre::cells;
    const auto& wanted = are_ == PointsAre::cells ? cells : nodes;
    const auto size = [](const Plot3dZone& zone) {
        return fmt::format("{} x {} x {}", zone.points[0], zone.points[1], zone.points[2]);
    };
    for (std::size_t z = 0; z < wanted.size(); ++z)
        if (found[z].points != wanted[z].points)
            throw refuse(fmt::format("zone {} of the file has other sizes than that of the grid", z + 1))
                .given(size(found[z]))
                .allowed(fmt::format("{} nodes, or in all zones as many points as cells ({})", size(nodes[z]),
                                     size(cells[z])));
}

void OriginValues::points(int zone, int component, const Box& box, double* to) const {
    const ZoneShape& shape = shape_of(*source_, zone);
    file_.values(shape.origin, component, in_origin(*source_, zone, box, are_), to);
    turn(shape, box, to);
}

void OriginValues::cells(int zone, int component, const Box& cells, double* to) const {
    if (are_ == PointsAre::cells) return points(zone, component, cells, to);
    Box box = cells;
    const int dimensions = source_->dimensions();
    for (int d = 0; d < dimensions; ++d) ++box.hi[static_cast<std::size_t>(d)];
    std::vector<double> values(static_cast<std::size_t>(box.volume()));
    points(zone, component, box, values.data());
    const std::int64_t y = box.extent(0), z = y * box.extent(1);
    const int corners = dimensions == 3 ? 8 : 4;
    graph::for_each(cells, [&](int i, int j, int k) {
        const double* low = values.data() + (i - box.lo[0]) + y * (j - box.lo[1]) + z * (k - box.lo[2]);
        double sum = 0;
        for (int n = 0; n < corners; ++n) sum += low[(n & 1) + y * (n >> 1 & 1) + z * (n >> 2)];
        *to++ = sum / corners;
    });
}

OriginWriter::OriginWriter(std::shared_ptr<const GridSource> source, std::filesystem::path path,
                           Plot3dContent content, Plot3dForm form, int variables, PointsAre are)
    : source_(std::move(source)),
      zones_(origin_zones(*source_, are, variables)),
      writer_(std::move(path), content, (form.dimensions = source_->dimensions(), form), zones_) {}

void OriginWriter::create(const std::array<double, 4>& conditions) const {
    writer_.create(std::vector(zones_.size(), conditions));
}

void OriginWriter::cells(int zone, int component, const Box& cells, const double* from) const {
    const ZoneShape& shape = shape_of(*source_, zone);
    std::vector<double> values(from, from + cells.volume());
    turn(shape, cells, values.data());
    writer_.values(shape.origin, component, in_origin(*source_, zone, cells, PointsAre::cells),
                   values.data());
}

/// put(zone of the origin, box there, values) for the nodes that this zone writes.
template <class Value, class Put>
void OriginWriter::own_nodes(int zone, const Box& nodes, const Value* from, Put&& put) const {
    const ZoneShape& shape = shape_of(*source_, zone);
    const auto& points = zones_[static_cast<std::size_t>(shape.origin)].points;
    // The upper nodes of a zone that goes on in the origin belong to the next one there.
    Box own = nodes;
    const Box all = source_->node_box(zone), place = in_origin(*source_, zone, all, PointsAre::nodes);
    for (std::size_t a = 0; a < static_cast<std::size_t>(source_->dimensions()); ++a) {
        if (place.hi[a] == points[a]) continue;
        if (shape.step[a] > 0)
            own.hi[a] = std::min(own.hi[a], all.hi[a] - 1);
        else
            own.lo[a] = std::max(own.lo[a], all.lo[a] + 1);
    }
    if (own.empty()) return;
    std::vector<Value> values;
    values.reserve(static_cast<std::size_t>(own.volume()));
    const std::int64_t y = nodes.extent(0), z = y * nodes.extent(1);
    graph::for_each(own, [&](int i, int j, int k) {
        values.push_back(from[(i - nodes.lo[0]) + y * (j - nodes.lo[1]) + z * (k - nodes.lo[2])]);
    });
    turn(shape, own, values.data());
    put(shape.origin, in_origin(*source_, zone, own, PointsAre::nodes), values.data());
}

void OriginWriter::nodes(int zone, int component, const Box& nodes, const double* from) const {
    own_nodes(zone, nodes, from, [&](int origin, const Box& box, const double* values) {
        writer_.values(origin, component, box, values);
    });
}

void OriginWriter::blanks(int zone, const Box& nodes, const std::int32_t* from) const {
    own_nodes(zone, nodes, from, [&](int origin, const Box& box, const std::int32_t* values) {
        writer_.blanks(origin, box, values);
    });
}

void OriginWriter::nodes_of_grid(int zone, const Box& box) const {
    const int dimensions = source_->dimensions();
    std::vector<double> x(static_cast<std::size_t>(dimensions * box.volume()));
    source_->nodes(zone, box, x.data());
    for (int d = 0; d < dimensions; ++d) nodes(zone, d, box, x.data() + d * box.volume());
}

}  // namespace strata::flow
