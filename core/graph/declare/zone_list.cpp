// What is said of zones and their joins, and what of it cannot be.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/graph/declare/zones.hpp"

namespace strata::graph {

namespace {

std::size_t z_of(const Face& face) { return 2 * static_cast<std::size_t>(face.axis) + (face.upper ? 1 : 0); }

std::string text(const Int3& at) { return fmt::format("({}, {}, {})", at[0], at[1], at[2]); }

std::string text(const ZoneList::Points& points) {
    return fmt::format("points {} to {}", text(points.begin), text(points.end));
}

bool is_signed_permutation(const Int3& transform) {
    Int3 axes{std::abs(transform[0]), std::abs(transform[1]), std::abs(transform[2])};
    std::sort(axes.begin(), axes.end());
    return axes == Int3{1, 2, 3};
}

/// From the donor's cells to the zone's. A point and the cell above it have one number; where an axis runs
/// backwards, the cell above a point is the one below it for the donor.
IndexMap from_donor(const Int3& begin, const Int3& donor_begin, const Int3& transform) {
    IndexMap map;
    for (std::size_t a = 0; a < 3; ++a) {
        map.axes[a] = static_cast<std::int8_t>(transform[a]);
        const int there = donor_begin[map.axis(a)];
        map.shift[a] = map.backwards(a) ? begin[a] + there - 1 : begin[a] - there;
    }
    return map;
}

Rotation transposed(const Rotation& of) {
    Rotation other;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) other[i][j] = of[j][i];
    return other;
}

/// How far the products of the rows are from those of unit vectors at right angles.
double skewness(const Rotation& of) {
    double most = 0;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
            const double product = of[i][0] * of[j][0] + of[i][1] * of[j][1] + of[i][2] * of[j][2];
            const double off = std::abs(product - (i == j ? 1 : 0));
            if (std::isnan(off)) return off;
            most = std::max(most, off);
        }
    return most;
}

/// The donor's points that the transform makes of a zone's.
ZoneList::Points image(const ZoneList::Points& points, const Int3& donor_begin, const Int3& transform) {
    ZoneList::Points there{donor_begin, donor_begin};
    for (std::size_t a = 0; a < 3; ++a) {
        const auto b = static_cast<std::size_t>(std::abs(transform[a]) - 1);
        const int length = points.end[a] - points.begin[a];
        there.end[b] += transform[a] < 0 ? -length : length;
    }
    return there;
}

}  // namespace

int ZoneList::zone(const Box& cells, const Int3& patch_cells) {
    GridShape shape;
    shape.cells = cells, shape.patch_cells = patch_cells;
    Zone added;
    added.grid = std::make_unique<Grid>(fmt::format("{}, zone {}", name_, zones_.size()), shape);
    added.first_patch = patches_;
    if (added.grid->patches() > std::numeric_limits<int>::max() - patches_)
        throw Error(fmt::format("'{}' has too many patches", name_))
            .allowed(fmt::format("up to {}", std::numeric_limits<int>::max()))
            .remedy("fewer cells, or larger patches (grid.patch, mesh.NAME.patch of a case)");
    patches_ += added.grid->patches();
    around_ = around(around_, cells);
    zones_.push_back(std::move(added));
    return static_cast<int>(zones_.size()) - 1;
}

const ZoneList::Zone& ZoneList::at(int zone) const {
    if (zone < 0 || zone >= static_cast<int>(zones_.size()))
        throw Error(fmt::format("'{}' has no such zone", name_))
            .given(fmt::format("zone {}", zone))
            .allowed(zones_.empty() ? "none: no zone was added yet"
                                    : fmt::format("0 to {}", zones_.size() - 1));
    return zones_[static_cast<std::size_t>(zone)];
}

Face ZoneList::face_of(int zone, const Points& points) const {
    const Box& cells = at(zone).cells();
    const auto refuse = [&](const char* why) {
        return Error(fmt::format("'{}': these points of zone {} {}", name_, zone, why))
            .given(text(points))
            .allowed(
                fmt::format("within {} to {}, and along one axis only the first or only the last of these",
                            text(cells.lo), text(cells.hi)));
    };
    Face face;
    int across = 0;
    for (std::size_t a = 0; a < 3; ++a) {
        const int low = std::min(points.begin[a], points.end[a]),
                  high = std::max(points.begin[a], points.end[a]);
        if (low < cells.lo[a] || high > cells.hi[a]) throw refuse("lie outside it");
        if (low != high) continue;
        ++across;
        if (low != cells.lo[a] && low != cells.hi[a]) throw refuse("are not on a face of it");
        face = {static_cast<int>(a), low == cells.hi[a]};
    }
    if (across != 1) throw refuse("are not a part of one face");
    return face;
}

std::int8_t ZoneList::number_of(const Rotation& turn) {
    const auto at = std::find(rotations_.begin(), rotations_.end(), turn);
    const auto number = at - rotations_.begin();
    if (number > std::numeric_limits<std::int8_t>::max())
        throw Error(fmt::format("'{}' has too many rotations across joined faces", name_))
            .allowed(fmt::format("{}, with those of ghosts through several faces",
                                 std::numeric_limits<std::int8_t>::max()))
            .remedy("fewer layers of ghosts, or zones that are wider than these");
    if (at == rotations_.end()) rotations_.push_back(turn);
    return static_cast<std::int8_t>(number);
}

void ZoneList::join_parts(int zone, const Points& points, int donor, const Points& donor_points,
                          const Int3& transform, const Rotation& turn) {
    (void)at(zone), (void)at(donor);
    const auto refuse = [&](const std::string& why) {
        return Error(fmt::format("'{}': zone {} cannot be joined with zone {}: {}", name_, zone, donor, why));
    };
    if (!is_signed_permutation(transform))
        throw refuse("the transform is not a permutation of the axes with signs")
            .given(text(transform))
            .allowed("each of 1, 2 and 3 once, with either sign");
    for (std::size_t a = 0; a < 3; ++a)
        if (points.begin[a] > points.end[a])
            throw refuse(fmt::format("its points run downwards along {}", "xyz"[a]))
                .given(text(points))
                .allowed("begin <= end in each direction; the donor's may run downwards");
    const Face face = face_of(zone, points), donor_face = face_of(donor, donor_points);
    const Points there = image(points, donor_points.begin, transform);
    if (there.end != donor_points.end)
        throw refuse("the two ranges are not of one extent")
            .given(fmt::format("{} of zone {} and {} of zone {}, transform {}", text(points), zone,
                               text(donor_points), donor, text(transform)))
            .allowed(fmt::format("{} of zone {}", text(there), donor));
    const bool forward = transform[static_cast<std::size_t>(face.axis)] > 0;
    if (forward != (face.upper != donor_face.upper))
        throw refuse("across the face the transform leads out of the donor instead of into it")
            .given(
                fmt::format("{} along {}", transform[static_cast<std::size_t>(face.axis)], "xyz"[face.axis]))
            .allowed(
                fmt::format("{}: an upper face goes on forwards at a lower one, backwards at an upper one",
                            -transform[static_cast<std::size_t>(face.axis)]));
    if (const double off = skewness(turn); !(off <= 1e-12))
        throw refuse("the turn of vectors across the face is not orthogonal")
            .given(fmt::format("rows whose products are off by {:.3g}", off))
            .allowed("rows of length 1 at right angles to each other, to 1e-12");
    IndexMap map = from_donor(points.begin, donor_points.begin, transform), back = map.inverse();
    map.axes[3] = number_of(turn), back.axes[3] = number_of(transposed(turn));
    add(zone, face, points, donor, map);
    try {
        add(donor, donor_face, donor_points, zone, back);
    } catch (...) {
        zones_[static_cast<std::size_t>(zone)].faces[z_of(face)].pop_back();
        throw;
    }
}

void ZoneList::join(int zone, const Face& face, int donor, const Face& donor_face, const Int3& transform,
                    const Rotation& turn) {
    for (const Face& one : {face, donor_face})
        if (one.axis < 0 || one.axis > 2)
            throw Error(fmt::format("'{}': zones have no such face", name_))
                .given(fmt::format("axis {}", one.axis))
                .allowed("0 to 2");
    Points points{at(zone).cells().lo, at(zone).cells().hi};
    Points there{at(donor).cells().lo, at(donor).cells().hi};
    const auto only = [](Points& of, const Face& side) {
        const auto a = static_cast<std::size_t>(side.axis);
        of.begin[a] = of.end[a] = side.upper ? of.end[a] : of.begin[a];
    };
    only(points, face), only(there, donor_face);
    if (is_signed_permutation(transform))
        for (const int axis : transform)
            if (axis < 0) {
                const auto b = static_cast<std::size_t>(-axis - 1);
                std::swap(there.begin[b], there.end[b]);
            }
    join_parts(zone, points, donor, there, transform, turn);
}

void ZoneList::add(int zone, const Face& face, const Points& points, int donor, const IndexMap& from_donor) {
    Zone& of = zones_[static_cast<std::size_t>(zone)];
    Side side;
    for (std::size_t a = 0; a < 3; ++a) {
        side.cells.lo[a] = std::min(points.begin[a], points.end[a]);
        side.cells.hi[a] = std::max(points.begin[a], points.end[a]);
        side.beyond.lo[a] = side.cells.lo[a] == of.cells().lo[a] ? -kFar : side.cells.lo[a];
        side.beyond.hi[a] = side.cells.hi[a] == of.cells().hi[a] ? kFar : side.cells.hi[a];
    }
    const auto a = static_cast<std::size_t>(face.axis);
    side.beyond.lo[a] = side.cells.lo[a] = face.upper ? of.cells().hi[a] : -kFar;
    side.beyond.hi[a] = side.cells.hi[a] = face.upper ? kFar : of.cells().lo[a];
    side.donor = donor;
    side.from_donor = from_donor;
    side.to_donor = from_donor.inverse();
    std::vector<Side>& sides = of.faces[z_of(face)];
    for (const Side& other : sides)
        if (!common(other.cells, side.cells).empty())
            throw Error(fmt::format("'{}': a part of the {} face along {} of zone {} is joined twice", name_,
                                    face.upper ? "upper" : "lower", "xyz"[face.axis], zone))
                .given(fmt::format("with zone {} and with zone {}", other.donor, donor))
                .allowed("once, from either side")
                .remedy("a face that folds onto itself is joined in two halves");
    sides.push_back(side);
}

}  // namespace strata::graph
