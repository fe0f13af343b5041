#include "methods/curvilinear/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.hpp"

namespace strata::flow {

Points whole_face(const Int3& cells, const Face& face) {
    Points all{{0, 0, 0}, cells};
    const auto a = static_cast<std::size_t>(face.axis);
    all.begin[a] = all.end[a] = face.upper ? cells[a] : 0;
    return all;
}

Face face_of(const GridSource& source, int zone, const Points& points, const std::string& what) {
    const Int3& cells = source.zones()[static_cast<std::size_t>(zone)].cells;
    const auto refuse = [&](const std::string& why) {
        return Error(fmt::format("{}: {} of {}", what, why, zone_text(source, zone)))
            .given("nodes " + range_text(source, zone, points))
            .allowed(
                fmt::format("nodes {}, at an end along one axis", range_text(source, zone, {{}, cells})));
    };
    int across = -1;
    for (std::size_t a = 0; a < 3; ++a) {
        if (points.begin[a] < 0 || points.end[a] > cells[a] || points.begin[a] > points.end[a])
            throw refuse("nodes that are none");
        if (points.begin[a] < points.end[a]) continue;
        if (across >= 0 || (points.begin[a] != 0 && points.begin[a] != cells[a]))
            throw refuse("nodes that are no part of a face");
        across = static_cast<int>(a);
    }
    if (across < 0) throw refuse("nodes that are no part of a face");
    return {across, points.begin[static_cast<std::size_t>(across)] != 0};
}

Int3 donor_point(const JoinRange& join, const Int3& point) {
    Int3 there = join.donor_points.begin;
    for (std::size_t a = 0; a < 3; ++a) {
        const int to = join.transform[a];
        there[static_cast<std::size_t>(std::abs(to) - 1)] +=
            (to < 0 ? -1 : 1) * (point[a] - join.points.begin[a]);
    }
    return there;
}

Points upward(const Points& points) {
    Points up;
    for (std::size_t a = 0; a < 3; ++a) {
        up.begin[a] = std::min(points.begin[a], points.end[a]);
        up.end[a] = std::max(points.begin[a], points.end[a]);
    }
    return up;
}

JoinRange other_side(const JoinRange& join) {
    JoinRange other{join.donor, upward(join.donor_points), join.zone, {}, {}, graph::kNoRotation, {}};
    for (std::size_t a = 0; a < 3; ++a) {
        const int to = join.transform[a];
        other.transform[static_cast<std::size_t>(std::abs(to) - 1)] =
            (to < 0 ? -1 : 1) * (static_cast<int>(a) + 1);
    }
    // Axes that run backwards begin at this side's end.
    for (std::size_t a = 0; a < 3; ++a) {
        const bool back = join.transform[a] < 0;
        other.donor_points.begin[a] = back ? join.points.end[a] : join.points.begin[a];
        other.donor_points.end[a] = back ? join.points.begin[a] : join.points.end[a];
    }
    // x = R y + s, so y = R^T x - R^T s.
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) {
            other.turn[r][c] = join.turn[c][r];
            other.shift[r] -= join.turn[c][r] * join.shift[c];
        }
    return other;
}

JoinRange part_of(const JoinRange& join, const Points& points) {
    JoinRange part = join;
    part.points = points;
    part.donor_points = {donor_point(join, points.begin), donor_point(join, points.end)};
    return part;
}

graph::Rotation turn_about(int axis, double degrees) {
    const double quarters = degrees / 90, angle = degrees * std::numbers::pi / 180;
    double c = std::cos(angle), s = std::sin(angle);
    if (quarters == std::round(quarters)) c = std::round(c), s = std::round(s);
    graph::Rotation turn = graph::kNoRotation;
    const auto a = static_cast<std::size_t>((axis + 1) % 3), b = static_cast<std::size_t>((axis + 2) % 3);
    turn[a][a] = turn[b][b] = c;
    turn[a][b] = -s, turn[b][a] = s;
    return turn;
}

}  // namespace strata::flow
